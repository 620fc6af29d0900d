//! An engine that is unavailable for a while, at any one call of a run with services; the engine is played.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use retrial_engine::api::{ExecOutput, ExecStatus};
use retrial_run::{SessionOptions, execute_plan};

use crate::fake::Fake;
use crate::faults::{
    Play, count, disconnected, engine, engine_without_image, refused, sight, step,
};
use crate::lab::{case, recipe_with};
use crate::support::wait::wait_until_async;

/// A recipe with a service in the run's container and one in its own, each ready by a probe.
fn with_services() -> Play {
    let keys = "services:
  inside: { run: serve, ready: { command: 'true', timeout: 30s } }
  own: { run: serve, ready: { port: 8000, timeout: 30s }, container: { ipc: private } }";
    let cases = case("main", "true", "results: /results\nneeds: [inside, own]");
    Play::of(&recipe_with(keys, &cases))
}

/// An engine whose services run until they are told to end.
fn serving() -> Fake {
    serving_once(Arc::new(AtomicBool::new(true)))
}

/// The same, whose services are ready once that is true.
fn serving_once(is_ready: Arc<AtomicBool>) -> Fake {
    engine()
        .on_exec(|spec, control| {
            if !spec.command[2].contains("-start-") {
                return step(spec, control);
            }
            let directory = control.join("steps").join(&spec.command[2]);
            if std::fs::create_dir(directory.join("started")).is_err() {
                return ExecStatus::Exited(0);
            }
            ExecStatus::Running
        })
        .on_run(move |spec, control| {
            let output = |code, stdout: &str| ExecOutput {
                code,
                stdout: stdout.to_owned(),
                stderr: String::new(),
            };
            let words = spec.command.iter().map(String::as_str);
            match &words.collect::<Vec<_>>()[..] {
                ["/bin/sh", "/.retrial/terminate", service, _] => {
                    let exit = control.join("steps").join(service).join("exit");
                    if !exit.exists() {
                        std::fs::write(exit, "143\n").unwrap();
                    }
                    output(0, "")
                }
                // The port is free until something was started.
                [.., "8000"] => {
                    let steps = std::fs::read_dir(control.join("steps"));
                    let mut steps = steps.unwrap().map(|step| step.unwrap().path());
                    let answers = steps.any(|step| step.join("started").exists())
                        && is_ready.load(Ordering::Relaxed);
                    output(i64::from(!answers), "")
                }
                _ => sight(spec, control),
            }
        })
}

/// Every call of the engine is repeated, wherever it is made.
#[tokio::test]
async fn a_run_with_services_survives_an_engine_that_is_away_at_any_call() {
    let (play, engine) = (with_services(), Arc::new(serving()));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    let calls = engine.calls();
    for operation in ["start", "exec", "copy_out", "remove"] {
        assert!(count(&engine, operation) > 0, "{operation}: {calls:#?}");
    }
    // All are planned before the first begins: planning would hold up the others.
    let plays: Vec<Play> = calls.iter().map(|_| with_services()).collect();
    let plays = plays.into_iter().enumerate().map(|(call, play)| async move {
        let engine = Arc::new(serving().away(call, 2));
        let ended = play.execute(&engine).await.unwrap();
        let about = engine.calls()[call].clone();
        assert_eq!(ended.exit.code(), 0, "{call}: {about}: {}", play.journal());
        assert!(engine.specs().is_empty(), "{call}: {about}");
    });
    futures_util::future::join_all(plays).await;
}

fn with_a_hasty_service() -> String {
    let keys = "services:
  server: { run: serve, ready: { port: 8000, timeout: 1s } }";
    let cases = case("main", "true", "results: /results\nneeds: [server]");
    recipe_with(keys, &cases)
}

/// It is asked before it is blamed.
#[tokio::test]
async fn a_service_that_became_ready_while_nobody_followed_it_is_not_late() {
    let is_ready = Arc::new(AtomicBool::new(false));
    let engine = Arc::new(serving_once(Arc::clone(&is_ready)));
    let play = Play::of(&with_a_hasty_service());
    let killed = tokio::time::timeout(Duration::from_millis(700), play.execute(&engine)).await;
    assert!(killed.is_err(), "{}", play.journal());
    assert_eq!(count(&engine, "exec_detached"), 1, "{}", play.journal());
    // The second that the service has to become ready passes.
    tokio::time::sleep(Duration::from_secs(1)).await;
    is_ready.store(true, Ordering::Relaxed);
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    assert_eq!(count(&engine, "exec_detached"), 2, "the service and its client");
}

/// The time in which the engine did not respond is not the service's.
#[tokio::test]
async fn a_service_has_its_time_after_the_engine_was_away() {
    let recipe = with_a_hasty_service();
    let undisturbed = Arc::new(serving());
    Play::of(&recipe).execute(&undisturbed).await.unwrap();
    let starts = |call: &String| call.starts_with("exec_detached");
    let start = undisturbed.calls().iter().position(starts).unwrap();
    // Each of them is repeated after half a second.
    let (play, engine) = (Play::of(&recipe), Arc::new(serving().away(start, 3)));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
}

/// An engine that was killed while it started a container starts it only in part the next time.
#[tokio::test]
async fn a_container_whose_start_was_interrupted_is_replaced() {
    let (play, engine) = (with_services(), Arc::new(serving().fail("start", disconnected())));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    let calls = engine.calls();
    let started: Vec<&String> = calls.iter().filter(|call| call.starts_with("start ")).collect();
    assert_eq!(started.len(), 3, "{calls:#?}");
    assert_ne!(started[0], started[1], "not the same one again");
    assert!(engine.specs().is_empty());
}

/// Docker reports a start as successful, and stops the container, if it is told to end meanwhile.
#[tokio::test]
async fn a_container_that_ended_with_its_engine_before_anything_ran_in_it_is_replaced() {
    let engine = engine().fail_nth("exec_detached", 1, disconnected()).fail_nth(
        "exec_detached",
        2,
        refused(),
    );
    let (play, engine) = (Play::new(), Arc::new(engine));
    let killed = Arc::clone(&engine);
    let kill = async move {
        wait_until_async("a process runs", async || count(&killed, "exec_detached") > 0).await;
        killed.dies(&killed.specs()[0].name, 143);
    };
    let (ended, ()) = tokio::join!(play.execute(&engine), kill);
    assert_eq!(ended.unwrap().exit.code(), 0, "{}", play.journal());
    assert_eq!(count(&engine, "create"), 2, "{}", play.journal());
    assert!(engine.specs().is_empty());
}

/// Its patience begins when the connection is lost.
#[tokio::test]
async fn an_engine_that_is_lost_in_a_long_pull_is_waited_for() {
    let engine = engine_without_image()
        .with_pull_time(Duration::from_millis(1500))
        .fail("pull", disconnected());
    let (play, engine) = (Play::new(), Arc::new(engine));
    let options = SessionOptions { patience: Duration::from_secs(1), ..SessionOptions::default() };
    let session = play.session_with(&engine, options).unwrap();
    let ended = Box::pin(execute_plan(&session)).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    assert_eq!(count(&engine, "pull"), 2);
}
