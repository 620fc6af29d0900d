//! A cached directory starts with the image's content at its path, which a bind mount would hide. The image's
//! own `cp` copies it, in a container without any other mounts of the run. Its `chown` makes us the owner of a
//! container's files.

use std::path::Path;
use std::time::Duration;

use crate::access::RunSession;
use crate::container::{create_started, own_labels, start_error};
use crate::error::Halt;
use crate::step::StepSession;
use retrial_container::{ContainerSpec, Mount};
use retrial_engine::api::Engine;
use retrial_engine::error::EngineError;
use retrial_plan::cached_directory::{SEED_SCRIPT, STAGE_MOUNT_PATH};

/// The interval between checks whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest time that changing the owner of all files may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// Returns our user and group in a container, for `chown`.
pub async fn owner(session: &RunSession) -> String {
    let abilities = session.with_engine(Engine::abilities).await;
    if abilities.is_ok_and(|abilities| abilities.rootless) {
        // An engine without root shows us as root there.
        return "0:0".to_owned();
    }
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    format!("{}:{}", user.as_raw(), group.as_raw())
}

/// Makes us the owner of all files in a directory, writable for everybody, as root of the run's image. Does not
/// follow symlinks: they refer to paths of the container.
pub async fn own(session: &RunSession, directory: &Path) -> Result<(), EngineError> {
    let script =
        format!("chown -hR \"$1\" {STAGE_MOUNT_PATH} && chmod -R a+rwX {STAGE_MOUNT_PATH}");
    let image = session.state().image.clone().unwrap_or_default();
    let spec = ContainerSpec {
        command: ["-c", &script, "sh", &owner(session).await]
            .map(str::to_owned)
            .to_vec(),
        ..as_root(session, &image, directory)
    };
    let id = create_started(session, &spec).await?;
    let ended = session.with_engine(|engine| engine.ended(&id));
    let _ = tokio::time::timeout(PATIENCE, ended).await;
    session.with_engine(|engine| engine.remove(&id)).await
}

/// Returns a container of the image with one mounted directory of ours.
fn as_root(session: &RunSession, image: &str, stage: &Path) -> ContainerSpec {
    ContainerSpec {
        name: format!("retrial-{}-seed", session.run.id()),
        image: image.to_owned(),
        entrypoint: Some(vec!["/bin/sh".to_owned()]),
        network: Some("none".to_owned()),
        user: Some("0".to_owned()),
        mounts: vec![Mount {
            source: stage.display().to_string(),
            target: STAGE_MOUNT_PATH.to_owned(),
            read_only: false,
        }],
        labels: own_labels(session),
        ..ContainerSpec::default()
    }
}

/// Copies the image's content at `path` into the directory `stage`, with its owners unless one is named.
pub async fn seed(
    session: &StepSession<'_>,
    image: &str,
    path: &str,
    stage: &Path,
    owner: &str,
) -> Result<(), Halt> {
    let words = ["-c", SEED_SCRIPT, "sh", path, owner];
    let spec = ContainerSpec {
        command: words.map(str::to_owned).to_vec(),
        ..as_root(session, image, stage)
    };
    let id = create_started(session, &spec).await;
    let id = id.map_err(|error| start_error(&error))?;
    let copied = wait(session, &id, path).await;
    session.with_engine(|engine| engine.remove(&id)).await?;
    copied
}

async fn wait(session: &StepSession<'_>, id: &str, path: &str) -> Result<(), Halt> {
    loop {
        let state = session.with_engine(|engine| engine.container(id)).await?;
        match state {
            Some(state) if state.running => session.pause(PAUSE).await?,
            Some(state) if state.exit_code == Some(0) => return Ok(()),
            state => {
                let log = session
                    .with_engine(|engine| engine.container_log(id, 3))
                    .await;
                let code = state.and_then(|state| state.exit_code).unwrap_or(-1);
                return Err(Halt::host(format!(
                    "the image's content at {path} could not be copied (exit code {code}): {}",
                    log.unwrap_or_default().trim()
                )));
            }
        }
    }
}
