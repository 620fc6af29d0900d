//! Faults at one exact moment, with an engine that is played.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use retrial_engine::EngineError;
use retrial_engine::api::{ExecOutput, ExecSpec, ExecStatus};
use retrial_plan::Plan;
use retrial_run::{RunEnd, RunError, RunSession, SessionOptions, execute_plan};
use retrial_store::{Home, RunDirectory};
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;

use crate::fake::Fake;
use crate::lab::{Lab, case, recipe_with};
use crate::support::wait::wait_until_async;

const IMAGE: &str = "debian:bookworm-slim";

/// A run in a home of its own.
pub struct Play {
    root: TempDir,
    run: RunDirectory,
}

impl Play {
    pub fn new() -> Self {
        Self::with_keys("")
    }

    /// A run of a recipe with further keys.
    fn with_keys(keys: &str) -> Self {
        Self::of(&recipe_with(keys, &case("main", "true", "results: /results")))
    }

    pub fn of(recipe: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("recipe.yaml");
        std::fs::write(&file, recipe).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["plan", "--format", "json"])
            .arg(&file)
            .env("RETRIAL_HOME", root.path().join("home"))
            .env("RETRIAL_CACHE", root.path().join("cache"))
            .output()
            .unwrap();
        let plan: Plan = serde_json::from_slice(&output.stdout).unwrap();
        let run = Home::from_root(root.path().join("home")).create_run_directory("play").unwrap();
        run.write_json("plan.json", &plan).unwrap();
        Self { root, run }
    }

    pub async fn execute(&self, engine: &Arc<Fake>) -> Result<RunEnd, RunError> {
        let session = self.session(engine)?;
        Box::pin(execute_plan(&session)).await
    }

    fn session(&self, engine: &Arc<Fake>) -> Result<RunSession, RunError> {
        self.session_with(engine, SessionOptions::default())
    }

    pub fn session_with(
        &self,
        engine: &Arc<Fake>,
        options: SessionOptions,
    ) -> Result<RunSession, RunError> {
        let (events, _incoming) = unbounded_channel();
        RunSession::open(
            engine.clone(),
            self.run.clone(),
            events,
            std::collections::BTreeMap::new(),
            options,
        )
    }

    pub fn journal(&self) -> String {
        std::fs::read_to_string(self.run.journal_path()).unwrap()
    }
}

/// What `/.retrial/init` and our look at it do.
pub fn sight(spec: &ExecSpec, control: &Path) -> ExecOutput {
    let nonce = std::fs::read_to_string(control.join("nonce")).unwrap_or_default();
    std::fs::write(control.join("seen"), &nonce).unwrap();
    let _ = spec;
    ExecOutput { code: 0, stdout: format!("nonce {nonce}"), stderr: String::new() }
}

/// What `/.retrial/step` does.
pub fn step(spec: &ExecSpec, control: &Path) -> ExecStatus {
    let directory = control.join("steps").join(&spec.command[2]);
    std::fs::create_dir(directory.join("started")).unwrap();
    std::fs::write(directory.join("output.log"), "speed: 42.5 MB/s\n").unwrap();
    std::fs::write(directory.join("found"), "/results\t/results\n").unwrap();
    std::fs::write(directory.join("exit"), "0\n").unwrap();
    ExecStatus::Exited(0)
}

fn archive() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(2);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append_data(&mut header, "results/when", &b"ok"[..]).unwrap();
    builder.into_inner().unwrap()
}

pub fn engine() -> Fake {
    engine_without_image().with_image(IMAGE)
}

pub fn engine_without_image() -> Fake {
    Fake::new().with_archive("/results", archive()).on_run(sight).on_exec(step)
}

pub fn refused() -> EngineError {
    EngineError::Refused {
        operation: "do it".into(),
        status: 500,
        reason: "reason".into(),
        refusal: None,
        help: None,
    }
}

pub fn disconnected() -> EngineError {
    EngineError::Disconnected { operation: "do it".into(), reason: "reason".into() }
}

pub fn count(engine: &Fake, operation: &str) -> usize {
    engine.calls().iter().filter(|call| call.split(' ').next() == Some(operation)).count()
}

#[tokio::test]
async fn a_run_without_faults_leaves_no_container() {
    let (play, engine) = (Play::new(), Arc::new(engine()));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0);
    assert!(engine.specs().is_empty());
}

#[tokio::test]
async fn create_is_refused() {
    let (play, engine) = (Play::new(), Arc::new(engine().fail("create", refused())));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 3);
    assert!(ended.reason.unwrap().to_string().starts_with("create failed"));
    assert_eq!(count(&engine, "exec_detached"), 0);
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
}

#[tokio::test]
async fn start_is_refused() {
    let (play, engine) = (Play::new(), Arc::new(engine().fail("start", refused())));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 3);
    assert!(engine.specs().is_empty(), "the container was removed");
}

#[tokio::test]
async fn the_engine_is_lost_when_a_step_is_started() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let engine = engine()
        .on_exec(move |spec, control| {
            counted.fetch_add(1, Ordering::Relaxed);
            step(spec, control)
        })
        .fail("exec_detached", disconnected());
    let (play, engine) = (Play::new(), Arc::new(engine));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    assert_eq!(starts.load(Ordering::Relaxed), 1, "exactly one start");
    assert!(play.journal().contains("lost the connection to the engine"));
}

#[tokio::test]
async fn results_cannot_be_fetched() {
    let (play, engine) = (Play::new(), Arc::new(engine().fail("copy_out", refused())));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 3);
    assert_eq!(count(&engine, "stop"), 1);
    assert_eq!(engine.specs().len(), 1, "they are still in the container");
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    assert_eq!(count(&engine, "exec_detached"), 1, "not measured again");
    assert!(engine.specs().is_empty());
}

#[tokio::test]
async fn stopped_while_results_are_fetched() {
    let endless = engine().with_archive("/results", Vec::new());
    let (play, engine) = (Play::new(), Arc::new(endless));
    let session = play.session(&engine).unwrap();
    let stop = async {
        wait_until_async("results are fetched", async || count(&engine, "copy_out") > 0).await;
        session.stop.cancel();
        Instant::now()
    };
    let (ended, since) = tokio::join!(execute_plan(&session), stop);
    assert_eq!(ended.unwrap().exit.code(), 130);
    assert!(since.elapsed() < Duration::from_secs(5));
    assert_eq!(count(&engine, "stop"), 1);
    assert_eq!(engine.specs().len(), 1, "they are still in the container");
    drop(session);

    // A resumed run that is stopped there leaves them, too.
    let session = play.session(&engine).unwrap();
    session.stop.cancel();
    let ended = Box::pin(execute_plan(&session)).await.unwrap();
    assert_eq!(ended.exit.code(), 130);
    assert_eq!(engine.specs().len(), 1, "{}", play.journal());
    assert!(!play.journal().contains("container_removed"));
}

#[tokio::test]
async fn the_container_cannot_be_removed() {
    // Once while the verdict is reached, and again by the last step.
    let engine = engine().fail_nth("remove", 1, refused()).fail_nth("remove", 2, refused());
    let (play, engine) = (Play::new(), Arc::new(engine));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 3);
    assert!(ended.verdict.is_some(), "the verdict stands");
    assert!(play.journal().contains("retrial clean"));
}

#[tokio::test]
async fn the_container_is_removed_at_the_second_attempt() {
    let (play, engine) = (Play::new(), Arc::new(engine().fail("remove", refused())));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0, "{}", play.journal());
    assert_eq!(count(&engine, "remove"), 2);
    assert!(engine.specs().is_empty());
}

#[tokio::test]
async fn the_mounted_path_is_another_directory() {
    let elsewhere = |_: &ExecSpec, _: &Path| ExecOutput {
        code: 0,
        stdout: "nonce of-another-run\n".into(),
        stderr: String::new(),
    };
    let (play, engine) = (Play::new(), Arc::new(engine().on_run(elsewhere)));
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 3);
    assert!(ended.reason.unwrap().to_string().contains("does not share this machine's files"));
    assert!(engine.specs().is_empty(), "the container was removed");
}

#[tokio::test]
async fn a_cache_mount_never_used_by_a_container_is_not_reused() {
    let play = Play::with_keys("container: { cache_mounts: { kernels: /root/.cache } }");
    // The first container copies the image's content, the second is the run's.
    let engine = Arc::new(engine().fail_nth("create", 2, refused()));
    let seeding = engine.clone();
    let seeds = tokio::spawn(async move {
        loop {
            for spec in seeding.specs() {
                if spec.name.ends_with("-seed") {
                    seeding.dies(&spec.name, 0);
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let manifests = || {
        let kernels = play.root.path().join("cache/directories/kernels");
        let files = Lab::files_with(&kernels, "written_by_runs");
        let names = files.iter().map(|path| path.file_name().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 3);
    assert_eq!(manifests(), ["taken.json"]);
    let ended = play.execute(&engine).await.unwrap();
    assert_eq!(ended.exit.code(), 0);
    assert_eq!(manifests(), ["manifest.json"]);
    assert!(!play.journal().contains("reused_from"));
    seeds.abort();
}
