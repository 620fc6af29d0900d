//! A kept directory begins with what the image has at its path: a bind mount would hide it. The
//! image's own `cp` copies it, in a container that has nothing else of the run's.

use std::path::Path;
use std::time::Duration;

use super::container::{create_anew, own_labels, start_fault};
use super::engine_back::with_engine;
use super::error::RunError;
use super::session::Session;
use crate::plan::cached::{SEED, STAGE};
use crate::plan::step::Step;
use crate::store::journal::StepEnd;
use retrial_container::{ContainerSpec, Mount};

/// Between two looks whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Copies what the image has at `path` into the directory `stage`, with its owners unless one is named.
pub async fn seed(
    session: &Session,
    step: &Step,
    image: &str,
    path: &str,
    stage: &Path,
    owner: &str,
) -> Result<Result<(), StepEnd>, RunError> {
    let words = ["-c", SEED, "sh", path, owner];
    let spec = ContainerSpec {
        name: format!("retrial-{}-seed", session.run.id()),
        image: image.to_owned(),
        entrypoint: Some(vec!["/bin/sh".to_owned()]),
        command: words.map(str::to_owned).to_vec(),
        network: Some("none".to_owned()),
        user: Some("0".to_owned()),
        mounts: vec![Mount {
            source: stage.display().to_string(),
            target: STAGE.to_owned(),
            read_only: false,
        }],
        labels: own_labels(session),
        ..ContainerSpec::default()
    };
    let id = match with_engine(session, step, || create_anew(session, &spec)).await {
        Ok(id) => id,
        Err(error) => return Ok(Err(StepEnd::host(error.to_string()))),
    };
    let ended = match with_engine(session, step, || session.engine.start(&id)).await {
        Ok(()) => wait(session, step, &id, path).await,
        Err(error) => Err(StepEnd::host(start_fault(&error))),
    };
    session.engine.remove(&id).await?;
    Ok(ended)
}

async fn wait(session: &Session, step: &Step, id: &str, path: &str) -> Result<(), StepEnd> {
    loop {
        let state = with_engine(session, step, || session.engine.container(id)).await;
        match state {
            Ok(Some(state)) if state.running => {}
            Ok(Some(state)) if state.exit_code == Some(0) => return Ok(()),
            Ok(state) => {
                let log = session.engine.container_log(id, 3).await;
                let code = state.and_then(|state| state.exit_code).unwrap_or(-1);
                return Err(StepEnd::host(format!(
                    "what the image has at {path} could not be copied (exit code {code}): {}",
                    log.unwrap_or_default().trim()
                )));
            }
            Err(error) => return Err(StepEnd::host(error.to_string())),
        }
        tokio::select! {
            () = session.stop.cancelled() => return Err(StepEnd::Stopped),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}
