//! The container: made, found again after a kill, removed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::engine_back::with_engine;
use super::error::RunError;
use super::session::Session;
use crate::engine::error::EngineError;
use crate::journal::State;
use crate::journal::{StepEnd, StepFault, What};
use crate::plan::container::{ContainerSpec, Mount};
use crate::plan::first_process;
use crate::plan::step::Step;

/// The label with the run's id, on every container of ours.
pub const RUN_LABEL: &str = "io.retrial.run";
/// The label with the run's directory.
pub const PATH_LABEL: &str = "io.retrial.path";
/// The label with the GPUs that the container claims: indices, or `all`.
pub const GPU_LABEL: &str = "io.retrial.gpus";

/// How long the first process may take to show that it sees our files.
const SIGHT: Duration = Duration::from_secs(20);

/// Creates and starts the container, and sees that it shares our file system.
pub async fn create(session: &Session, step: &Step) -> Result<StepEnd, RunError> {
    if let Some(missing) = missing_mount(&session.plan.container) {
        return Ok(failed(
            StepFault::Request,
            format!("the mount's source {missing} is not there"),
            "create it or correct the recipe: an engine would silently mount an empty directory",
        ));
    }
    if let Some(end) = claimed(session, step).await {
        return Ok(end);
    }
    let nonce = format!(
        "{}-{}",
        session.run.id(),
        jiff::Timestamp::now().as_nanosecond()
    );
    session
        .control
        .lay_out(&nonce, session.plan.container.pid.is_none())?;
    let spec = spec_of(session);
    let created = with_engine(session, step, || session.engine.create(&spec)).await;
    let id = match created {
        Ok(id) => id,
        Err(error) => return Ok(failed(StepFault::Host, error.to_string(), "")),
    };
    session.say(
        Some(step),
        What::ContainerCreated {
            id: id.clone(),
            name: spec.name.clone(),
        },
    )?;
    if let Err(error) = session.engine.start(&id).await {
        let because = start_fault(&error);
        let _ = remove(session).await;
        return Ok(failed(StepFault::Host, because, ""));
    }
    match sees_us(session, &id, &nonce).await {
        Sight::Shared => Ok(StepEnd::Done { exit_code: None }),
        Sight::Stopped => Ok(StepEnd::Stopped),
        Sight::Died(because) => {
            let _ = remove(session).await;
            Ok(failed(
                StepFault::Host,
                because,
                "with `entrypoint: image`, the image's entrypoint must run the command that it is given",
            ))
        }
        Sight::Apart => {
            let because = format!(
                "the engine at {} does not share this machine's files: a container of it does not see {}",
                session.engine.info().endpoint,
                session.control.path().display()
            );
            let _ = remove(session).await;
            Ok(failed(
                StepFault::Host,
                because,
                "run retrial on the engine's own machine; engines elsewhere come with a later release",
            ))
        }
    }
}

fn failed(fault: StepFault, because: String, advice: &str) -> StepEnd {
    StepEnd::Failed {
        fault,
        because,
        exit_code: None,
        last_lines: Vec::new(),
        advice: advice.to_owned(),
    }
}

fn start_fault(error: &EngineError) -> String {
    let text = error.to_string();
    if text.contains("/bin/sh") && (text.contains("no such file") || text.contains("not found")) {
        return format!(
            "the image has no /bin/sh, which Retrial's first process and steps need\n  {text}"
        );
    }
    text
}

/// The first bind mount whose source is not there.
fn missing_mount(container: &ContainerSpec) -> Option<&str> {
    let sources = container.mounts.iter().map(|mount| mount.source.as_str());
    sources
        .filter(|source| source.starts_with('/'))
        .find(|source| !Path::new(source).exists())
}

/// The container with what belongs to this run: name, labels, control mount.
fn spec_of(session: &Session) -> ContainerSpec {
    let mut spec = session.plan.container.clone();
    spec.name = format!("retrial-{}", session.run.id());
    if let Some(image) = session.state().image {
        // Exactly the image that was pulled or built, whatever its tag says meanwhile.
        if spec.image.starts_with("retrial/") || session.plan.pinned {
            spec.image = image;
        }
    }
    spec.mounts.push(Mount {
        source: session.control.path().display().to_string(),
        target: first_process::CONTROL.to_owned(),
        read_only: false,
    });
    spec.labels = BTreeMap::from([
        (RUN_LABEL.to_owned(), session.run.id().to_owned()),
        (
            PATH_LABEL.to_owned(),
            session.run.path().display().to_string(),
        ),
    ]);
    if session.plan.requires.gpus.is_some() {
        spec.labels.insert(GPU_LABEL.to_owned(), claim_of(session));
    }
    spec
}

fn claim_of(session: &Session) -> String {
    if session.plan.gpus.is_empty() {
        "all".to_owned()
    } else {
        session.plan.gpus.join(",")
    }
}

/// Whether another container of ours has a GPU that this run wants.
async fn claimed(session: &Session, step: &Step) -> Option<StepEnd> {
    session.plan.requires.gpus.as_ref()?;
    let others = with_engine(session, step, || session.engine.containers(GPU_LABEL))
        .await
        .ok()?;
    let mine = claim_of(session);
    let mine: Vec<&str> = mine.split(',').collect();
    let other = others.iter().filter(|other| other.running).find(|other| {
        let theirs = other.labels.get(GPU_LABEL).map_or("all", String::as_str);
        let theirs: Vec<&str> = theirs.split(',').collect();
        let run = other.labels.get(RUN_LABEL).map_or("", String::as_str);
        run != session.run.id()
            && (theirs.contains(&"all")
                || mine.contains(&"all")
                || theirs.iter().any(|gpu| mine.contains(gpu)))
    })?;
    let run = other
        .labels
        .get(RUN_LABEL)
        .map_or("unknown", String::as_str);
    let gpus = other.labels.get(GPU_LABEL).map_or("all", String::as_str);
    Some(failed(
        StepFault::Host,
        format!("GPUs ({gpus}) are in use by run {run}"),
        &format!(
            "wait for it (retrial logs -f {run}), end it (retrial stop {run}), or choose others with --gpus"
        ),
    ))
}

enum Sight {
    Shared,
    Apart,
    Died(String),
    Stopped,
}

/// Waits until the first process shows that it sees the nonce.
async fn sees_us(session: &Session, id: &str, nonce: &str) -> Sight {
    let since = Instant::now();
    let mut looked = Instant::now();
    loop {
        if session.control.seen(nonce) {
            return Sight::Shared;
        }
        if session.stop.is_cancelled() {
            return Sight::Stopped;
        }
        if looked.elapsed() > Duration::from_millis(500) {
            looked = Instant::now();
            if let Ok(Some(state)) = session.engine.container(id).await
                && !state.running
                && !session.control.seen(nonce)
            {
                let log = session
                    .engine
                    .container_log(id, 10)
                    .await
                    .unwrap_or_default();
                let code = state
                    .exit_code
                    .map_or_else(String::new, |code| format!(" with exit code {code}"));
                return Sight::Died(format!(
                    "the container's first process ended at once{code}\n{}",
                    log.trim_end()
                ));
            }
        }
        if since.elapsed() > SIGHT {
            return Sight::Apart;
        }
        let pause = since.elapsed() / 32;
        tokio::time::sleep(pause.clamp(Duration::from_millis(1), Duration::from_millis(100))).await;
    }
}

/// Looks whether the run's container still lives, after a kill. One that was created but
/// never told, or that has ended, is removed.
pub async fn find_again(session: &Session, state: &State) -> Result<bool, RunError> {
    if state.began.is_empty() {
        return Ok(false);
    }
    let label = format!("{RUN_LABEL}={}", session.run.id());
    let mut lives = false;
    for container in session.engine.containers(&label).await? {
        if container.running && state.container.as_deref() == Some(container.id.as_str()) {
            lives = true;
        } else if state.container.as_deref() != Some(container.id.as_str()) {
            session.engine.remove(&container.id).await?;
        }
    }
    Ok(lives)
}

/// Removes the run's container, if there is one.
pub async fn remove(session: &Session) -> Result<(), RunError> {
    let Some(id) = session.state().container else {
        return Ok(());
    };
    give_back(session, &id).await;
    session.engine.remove(&id).await?;
    session.say(None, What::ContainerRemoved { id })?;
    Ok(())
}

/// The last step of a plan.
pub async fn remove_step(session: &Session) -> Result<StepEnd, RunError> {
    match remove(session).await {
        Ok(()) => Ok(StepEnd::Done { exit_code: None }),
        Err(RunError::Engine(error)) => Ok(failed(
            StepFault::Host,
            error.to_string(),
            &format!("it is labelled: retrial clean {}", session.run.id()),
        )),
        Err(error) => Err(error),
    }
}

/// Gives what the container wrote below the control directory back to us, following no link.
/// Only somebody who is not root needs it.
async fn give_back(session: &Session, id: &str) {
    let user = rustix::process::getuid();
    if user.is_root() {
        return;
    }
    let owner = format!("{}:{}", user.as_raw(), rustix::process::getgid().as_raw());
    let spec = crate::engine::api::ExecSpec {
        command: ["chown", "-hR", &owner, first_process::CONTROL]
            .map(str::to_owned)
            .to_vec(),
        user: Some("0".to_owned()),
        ..Default::default()
    };
    let _ = session.engine.exec(id, &spec).await;
}
