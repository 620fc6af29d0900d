//! Containers and processes on a real engine.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;

use crate::support::lab::{LABEL, Lab, Named, docker};
use crate::support::remedy::with_remedy;
use crate::support::wait::wait_until_async;
use retrial_container::{ContainerSpec, GpuDevices, Mount};
use retrial_engine::api::{ExecSpec, ExecStatus};
use retrial_engine::{DockerEngine, Engine, EngineError};

fn shell(script: &str) -> ExecSpec {
    ExecSpec { command: vec!["/bin/sh".into(), "-c".into(), script.into()], ..ExecSpec::default() }
}

async fn started(lab: &Lab, name: &Named) -> String {
    let id = lab.engine.create_container(&lab.waiting(name)).await.unwrap();
    lab.engine.start_container(&id).await.unwrap();
    id
}

async fn ended(engine: &DockerEngine, exec: &str) -> ExecStatus {
    let mut status = ExecStatus::Running;
    wait_until_async("the process has ended", async || {
        status = engine.query_exec_status(exec).await.unwrap();
        !matches!(status, ExecStatus::Running)
    })
    .await;
    status
}

/// Its variables are read by runtimes for GPUs, and its labels are those of all its containers.
#[tokio::test]
#[ignore = "needs the lab"]
async fn an_images_own_settings_give_nothing() {
    let lab = Lab::here().await;
    let (made_from, name) = (Named::new("from"), Named::new("image"));
    docker(&["create", "--name", &made_from.0, &lab.busybox()]);
    let change = "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_IMEX_CHANNELS=0 KEPT=1";
    let image = format!("retrial-test-settings:{}", std::process::id());
    let label = format!("LABEL {LABEL}=image");
    let committed = ["commit", "--change", change, "--change", &label, &made_from.0, &image];
    docker(&committed);
    let gpus = Some(GpuDevices::All);
    let mut spec = ContainerSpec { image: image.clone(), gpus, ..lab.waiting(&name) };
    let environment = async |spec: &ContainerSpec| {
        let id = lab.engine.create_container(spec).await.unwrap();
        let created = lab.engine.inspect_container(&id).await.unwrap().unwrap();
        lab.engine.remove_container(&id).await.unwrap();
        assert_eq!(created.env.iter().filter(|one| one.starts_with("KEPT=1")).count(), 1);
        created.env.into_iter().find(|one| one.starts_with("NVIDIA_IMEX_CHANNELS")).unwrap()
    };
    assert_eq!(environment(&spec).await, "NVIDIA_IMEX_CHANNELS=");
    spec.env = vec![("NVIDIA_IMEX_CHANNELS".to_owned(), "1".to_owned())];
    assert_eq!(environment(&spec).await, "NVIDIA_IMEX_CHANNELS=1");
    // One of ours in which the label is empty, and somebody else's.
    spec.labels = BTreeMap::from([(LABEL.to_owned(), String::new())]);
    let own = lab.engine.create_container(&spec).await.unwrap();
    let stranger = format!("theirs-{}", std::process::id());
    docker(&["create", "--name", &stranger, &image]);
    let found = lab.engine.list_containers(&format!("{LABEL}=image")).await.unwrap();
    let all = lab.engine.list_containers(LABEL).await.unwrap();
    docker(&["rm", &own, &stranger]);
    docker(&["rmi", &image]);
    assert_eq!(found, []);
    assert!(all.iter().all(|one| one.id != own && one.name != stranger));
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_container_lives_and_dies() {
    let lab = Lab::here().await;
    let name = Named::new("life");
    let engine = &lab.engine;
    assert!(engine.inspect_container(&name.0).await.unwrap().is_none());

    let id = engine.create_container(&lab.waiting(&name)).await.unwrap();
    let created = engine.inspect_container(&id).await.unwrap().unwrap();
    assert_eq!((created.running, created.exit_code), (false, None));
    engine.start_container(&id).await.unwrap();
    let running = engine.inspect_container(&name.0).await.unwrap().unwrap();
    assert_eq!((&*running.name, &*running.id), (&*name.0, &*id));
    assert!(running.running);
    assert_eq!(running.labels[LABEL], name.0);

    let labelled = |label: String| async move {
        let found = engine.list_containers(&label).await.unwrap();
        found.into_iter().map(|container| container.id).collect::<Vec<_>>()
    };
    let own = labelled(format!("{LABEL}={}", name.0)).await;
    assert_eq!(own, std::slice::from_ref(&id));
    assert!(labelled(LABEL.into()).await.contains(&id));
    assert!(labelled(format!("{LABEL}=other")).await.is_empty());

    // The shell's trap turns TERM into a clean end: after the grace, its code would be 137.
    let heeds = shell("until [ -e /tmp/waits ]; do sleep 0.1; done");
    assert_eq!(engine.exec_attached(&id, &heeds).await.unwrap().code, 0);
    engine.stop_container(&id, 20).await.unwrap();
    let stopped = engine.inspect_container(&id).await.unwrap().unwrap();
    assert_eq!((stopped.running, stopped.exit_code), (false, Some(0)));
    engine.stop_container(&id, 20).await.unwrap();

    engine.remove_container(&id).await.unwrap();
    engine.remove_container(&id).await.unwrap();
    engine.stop_container(&id, 1).await.unwrap();
    assert!(engine.inspect_container(&id).await.unwrap().is_none());
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_container_is_killed_after_the_grace_period() {
    let lab = Lab::here().await;
    let name = Named::new("deaf");
    let mut spec = lab.waiting(&name);
    spec.command = vec!["-c".into(), "trap '' TERM; echo deaf; while :; do sleep 1; done".into()];
    let id = lab.engine.create_container(&spec).await.unwrap();
    lab.engine.start_container(&id).await.unwrap();
    wait_until_async("it ignores TERM", async || {
        lab.engine.read_container_log(&id, 5).await.unwrap() == "deaf\n"
    })
    .await;
    lab.engine.stop_container(&id, 2).await.unwrap();
    let stopped = lab.engine.inspect_container(&id).await.unwrap().unwrap();
    assert_eq!(stopped.exit_code, Some(137));
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn processes_with_and_without_their_output() {
    let lab = Lab::here().await;
    let name = Named::new("exec");
    let id = started(&lab, &name).await;
    let engine = &lab.engine;

    let mut spec = shell("echo out $WORD; echo err >&2; pwd; id -u; exit 3");
    spec.env = vec![("WORD".into(), "two words".into())];
    spec.workdir = Some("/tmp".into());
    spec.user = Some("1000".into());
    let output = engine.exec_attached(&id, &spec).await.unwrap();
    assert_eq!(output.code, 3);
    assert_eq!(output.stdout, "out two words\n/tmp\n1000\n");
    assert_eq!(output.stderr, "err\n");

    let exec = engine.exec_detached(&id, &shell("sleep 0.3; exit 7")).await.unwrap();
    assert_eq!(engine.query_exec_status(&exec).await.unwrap(), ExecStatus::Running);
    // Podman (4.3) reports the exit code of a detached process only minutes later.
    let podman = engine.info().product.starts_with("Podman");
    let expected = if podman { ExecStatus::Unknown } else { ExecStatus::Exited(7) };
    assert_eq!(ended(engine, &exec).await, expected);
    let unknown = engine.query_exec_status(&"0".repeat(64)).await.unwrap();
    assert_eq!(unknown, ExecStatus::Unknown);

    let long = engine.exec_attached(&id, &shell("yes 0123456789 | head -c 3000000")).await.unwrap();
    assert_eq!((long.code, long.stdout.len()), (0, 1 << 20));
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn exec_failures_are_reported() {
    let lab = Lab::here().await;
    let name = Named::new("nobash");
    let id = started(&lab, &name).await;
    let bash = ExecSpec {
        command: vec!["bash".into(), "-c".into(), "true".into()],
        ..ExecSpec::default()
    };
    // An attached process of a program that is not there ends with 126 or 127.
    match lab.engine.exec_attached(&id, &bash).await {
        Ok(output) => assert!(output.code >= 126, "{output:?}"),
        Err(error) => assert!(with_remedy(&error).contains("no such program"), "{error}"),
    }
    let error = lab.engine.exec_detached(&id, &bash).await.unwrap_err();
    assert!(with_remedy(&error).contains("no such program"), "{error}");

    let missing = lab.engine.exec_attached("retrial-no-such", &bash).await.unwrap_err();
    assert!(matches!(missing, EngineError::NoContainer { .. }), "{missing}");
    lab.engine.stop_container(&id, 0).await.unwrap();
    let stopped = lab.engine.exec_attached(&id, &shell("true")).await.unwrap_err();
    assert!(stopped.to_string().contains("running"), "{stopped}");
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn files_are_copied_until_the_receiver_stops() {
    let lab = Lab::here().await;
    let name = Named::new("copy");
    let id = started(&lab, &name).await;
    let make = "mkdir -p /results/a && echo figure > /results/a/summary.txt && ln -s /etc/passwd /results/link && head -c 200000 /dev/zero > /results/big";
    assert_eq!(lab.engine.exec_attached(&id, &shell(make)).await.unwrap().code, 0);

    let copy = |path: &'static str, most: usize| {
        let (engine, id) = (&lab.engine, &id);
        async move {
            let (to, mut chunks) = tokio::sync::mpsc::channel::<bytes::Bytes>(1);
            let receive = async move {
                let mut bytes = Vec::new();
                while bytes.len() < most
                    && let Some(chunk) = chunks.recv().await
                {
                    bytes.extend_from_slice(&chunk);
                }
                bytes
            };
            let (is_there, bytes) = tokio::join!(engine.copy_from_container(id, path, to), receive);
            is_there.map(|is_there| is_there.then_some(bytes))
        }
    };
    let bytes = copy("/results", usize::MAX).await.unwrap().unwrap();
    let mut archive = tar::Archive::new(&bytes[..]);
    let names: Vec<String> = archive
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().path().unwrap().display().to_string())
        .collect();
    assert!(names.contains(&"results/a/summary.txt".into()), "{names:?}");
    assert!(names.contains(&"results/link".into()), "{names:?}");

    assert!(copy("/no/such/path", 1).await.unwrap().is_none());
    let begun = copy("/results", 512).await.unwrap().unwrap();
    assert!(begun.len() < bytes.len(), "it ends when nobody receives");

    lab.engine.stop_container(&id, 0).await.unwrap();
    let stopped = copy("/results", usize::MAX).await.unwrap().unwrap();
    assert_eq!(stopped, bytes, "stopped as well");
    lab.engine.remove_container(&id).await.unwrap();
    let error = copy("/results", 1).await.unwrap_err();
    assert!(matches!(error, EngineError::NoContainer { .. }), "{error}");
}

type Change = fn(&mut ContainerSpec);

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_failed_start_is_explained_and_can_be_removed() {
    let lab = Lab::here().await;
    let cases: [(&str, Change, &str); 4] = [
        (
            "device",
            |spec| spec.devices = vec!["/dev/retrial-none".into()],
            "this host has no /dev/retrial-none",
        ),
        ("gpus", |spec| spec.gpus = Some(GpuDevices::All), "NVIDIA Container Toolkit"),
        ("group", |spec| spec.group_add = vec!["render".into()], "give its number"),
        ("program", |spec| spec.entrypoint = Some(vec!["bash".into()]), "no such program"),
    ];
    for (label, change, expected) in cases {
        // Podman (4.3) passes over a request for GPUs in silence.
        if label == "gpus" && lab.engine.info().product.starts_with("Podman") {
            continue;
        }
        let name = Named::new(label);
        let mut spec = lab.waiting(&name);
        change(&mut spec);
        // Podman already refuses to create what Docker refuses to start.
        let error = match lab.engine.create_container(&spec).await {
            Ok(id) => lab.engine.start_container(&id).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(with_remedy(&error).contains(expected), "{label}: {error}");
        assert!(!error.is_unavailable());
        lab.engine.remove_container(&name.0).await.unwrap();
        assert!(lab.engine.inspect_container(&name.0).await.unwrap().is_none());
    }
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn create_failures_are_reported() {
    let lab = Lab::here().await;
    let name = Named::new("twice");
    let spec = lab.waiting(&name);
    lab.engine.create_container(&spec).await.unwrap();
    let error = with_remedy(&lab.engine.create_container(&spec).await.unwrap_err());
    assert!(error.contains(&name.0), "{error}");
    assert!(error.contains("retrial clean"), "{error}");

    let other = Named::new("image");
    let mut spec = lab.waiting(&other);
    spec.image = "retrial-no-such-image:1".into();
    let error = with_remedy(&lab.engine.create_container(&spec).await.unwrap_err());
    assert!(error.contains("retrial-no-such-image:1"), "{error}");
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_container_can_be_removed_concurrently() {
    let lab = Lab::here().await;
    let name = Named::new("both");
    let id = started(&lab, &name).await;
    let all = (0..4).map(|_| lab.engine.remove_container(&id));
    for removed in futures_util::future::join_all(all).await {
        removed.unwrap();
    }
    assert!(lab.engine.inspect_container(&id).await.unwrap().is_none());
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn the_log_of_the_first_process() {
    let lab = Lab::here().await;
    let name = Named::new("log");
    let mut spec = lab.waiting(&name);
    spec.command = vec!["-c".into(), "for i in 1 2 3; do echo line $i; done; echo bad >&2".into()];
    let id = lab.engine.create_container(&spec).await.unwrap();
    lab.engine.start_container(&id).await.unwrap();
    wait_until_async("it has ended", async || {
        !lab.engine.inspect_container(&id).await.unwrap().unwrap().running
    })
    .await;
    let log = lab.engine.read_container_log(&id, 2).await.unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    let log = lab.engine.read_container_log(&id, 10).await.unwrap();
    assert!(log.contains("line 1\n") && log.contains("bad\n"), "{log}");
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn mounts_show_writes_of_both_sides() {
    let lab = Lab::here().await;
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("nonce"), "seen").unwrap();
    let name = Named::new("mount");
    let mut spec = lab.waiting(&name);
    spec.mounts = vec![Mount {
        source: directory.path().to_str().unwrap().into(),
        target: "/.retrial".into(),
        read_only: false,
    }];
    let id = lab.engine.create_container(&spec).await.unwrap();
    lab.engine.start_container(&id).await.unwrap();
    let script = shell("cat /.retrial/nonce; echo back > /.retrial/answer");
    let output = lab.engine.exec_attached(&id, &script).await.unwrap();
    assert_eq!(output.stdout, "seen");
    let answer = std::fs::read_to_string(directory.path().join("answer")).unwrap();
    assert_eq!(answer, "back\n");
}

#[tokio::test]
async fn an_unreachable_engine_is_reported() {
    let unreachable = |endpoint: &'static str| async move {
        DockerEngine::connect(Some(endpoint)).await.unwrap_err().to_string()
    };
    let missing = unreachable("unix:///no/such/docker.sock").await;
    assert!(missing.contains("no such socket"), "{missing}");
    assert!(missing.contains("(--engine)"), "{missing}");
    let refused = unreachable("tcp://127.0.0.1:1").await;
    assert!(refused.contains("connection refused"), "{refused}");

    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("docker.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    drop(listener);
    let dead = DockerEngine::connect(socket.to_str()).await.unwrap_err();
    assert!(dead.to_string().contains("connection refused"), "{dead}");
}

/// Root may use every socket, so the test then runs itself once more as another user.
#[tokio::test]
async fn a_socket_without_permission_is_reported() {
    const SOCKET: &str = "RETRIAL_TEST_FORBIDDEN_SOCKET";
    if let Ok(socket) = std::env::var(SOCKET) {
        let error = DockerEngine::connect(Some(&socket)).await.unwrap_err();
        assert!(matches!(error, EngineError::Forbidden { .. }), "{error:?}");
        assert!(with_remedy(&error).contains("usermod -aG "), "{error}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let open = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(directory.path(), open(0o755)).unwrap();
    let socket = directory.path().join("docker.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::fs::set_permissions(&socket, open(0o600)).unwrap();
    let mut again = if rustix::process::geteuid().is_root() {
        let copy = directory.path().join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let mut other = std::process::Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy);
        other
    } else {
        std::fs::set_permissions(&socket, open(0)).unwrap();
        std::process::Command::new(std::env::current_exe().unwrap())
    };
    let output = again
        .args(["--exact", "real::a_socket_without_permission_is_reported"])
        .env(SOCKET, &socket)
        .current_dir("/")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
}
