//! An engine that goes away and comes back, on an engine of this test's own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::process::Command;

use crate::support::lab::{self, Lab, Named};
use crate::support::wait::wait_until_async;
use retrial_engine::api::{ExecSpec, ExecStatus};
use retrial_engine::{DockerEngine, Engine};
use tokio::sync::mpsc::unbounded_channel;

/// The lab's script: `start`, `kill`, `remove` of an engine by name. Returns its output.
fn engine(action: &str, name: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/engine");
    let output = Command::new(script).args([action, name]).output().unwrap();
    assert!(
        output.status.success(),
        "engine {action} {name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Removes the engine, however the test ends.
struct Own(String);

impl Drop for Own {
    fn drop(&mut self) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/engine");
        let _ = Command::new(script).args(["remove", &self.0]).output();
    }
}

#[tokio::test]
#[ignore = "needs root and the lab"]
async fn a_killed_engine_is_unavailable_and_containers_keep_running() {
    let lab = Lab::here().await;
    let own = Own(format!("restart-{}", std::process::id()));
    let url = engine("start", &own.0);
    let docker = DockerEngine::connect(Some(&url)).await.unwrap();
    let (to, _from) = unbounded_channel();
    docker.pull_image(&lab.busybox(), None, to).await.unwrap();
    let name = Named::new("restart");
    let id = docker.create_container(&lab.waiting(&name)).await.unwrap();
    docker.start_container(&id).await.unwrap();
    let sleep = ExecSpec { command: vec!["sleep".into(), "300".into()], ..ExecSpec::default() };
    let exec = docker.exec_detached(&id, &sleep).await.unwrap();

    // A call that the engine is answering when it dies.
    let listening = tokio::spawn({
        let (docker, id, sleep) = (docker.clone(), id.clone(), sleep.clone());
        async move { docker.exec_attached(&id, &sleep).await }
    });
    wait_until_async("both processes run", async || {
        let processes = lab::docker(&["-H", &url, "top", &id]);
        processes.matches("sleep 300").count() == 2
    })
    .await;
    engine("kill", &own.0);

    let error = docker.query_exec_status(&exec).await.unwrap_err();
    assert!(error.is_unavailable(), "{error:?}");
    let error = docker.inspect_container(&id).await.unwrap_err();
    assert!(error.is_unavailable(), "{error:?}");
    let error = listening.await.unwrap().unwrap_err();
    assert!(error.is_unavailable(), "{error:?}");
    let error = DockerEngine::connect(Some(&url)).await.unwrap_err();
    assert!(error.is_unavailable(), "{error:?}");
    assert!(error.to_string().contains("connection refused"), "{error}");

    // The same client continues when the engine is back: it holds no connection.
    engine("start", &own.0);
    let container = docker.inspect_container(&id).await.unwrap().unwrap();
    assert!(container.running, "{container:?}");
    assert_eq!(docker.query_exec_status(&exec).await.unwrap(), ExecStatus::Unknown);
    let still = ExecSpec {
        command: vec!["/bin/sh".into(), "-c".into(), "ps | grep -c '[s]leep 300'".into()],
        ..ExecSpec::default()
    };
    let output = docker.exec_attached(&id, &still).await.unwrap();
    assert_eq!(output.stdout.trim(), "2", "both processes live on");
    docker.remove_container(&id).await.unwrap();
}
