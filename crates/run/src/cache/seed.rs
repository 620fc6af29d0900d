//! A cached directory starts with the image's content at its path, which a bind mount would hide. The image's
//! own `cp` copies it, in a container without any other mounts of the run. Its `chown` makes us the owner of a
//! container's files.

use std::path::Path;
use std::time::Duration;

use crate::access::RunSession;
use crate::container::{create_and_start, run_container_labels, start_error};
use crate::error::Halt;
use crate::step::StepSession;
use retrial_container::{ContainerSpec, Mount};
use retrial_engine::api::Engine;
use retrial_engine::error::EngineError;
use retrial_plan::cached_directory::{SEED_SCRIPT, STAGE_MOUNT_PATH};

/// The interval between checks whether it has ended.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The longest time that changing the owner of all files may take.
const CHOWN_TIMEOUT: Duration = Duration::from_mins(2);

/// Returns our user and group in a container, for `chown`.
pub async fn container_owner(session: &RunSession) -> String {
    let abilities = session.with_engine(Engine::query_capabilities).await;
    if abilities.is_ok_and(|abilities| abilities.rootless) {
        // An engine without root shows us as root there.
        return "0:0".to_owned();
    }
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    format!("{}:{}", user.as_raw(), group.as_raw())
}

/// Makes us the owner of all files in a directory, writable for everybody, as root of the run's image. Does not
/// follow symlinks: they refer to paths of the container.
pub async fn take_ownership(session: &RunSession, directory: &Path) -> Result<(), EngineError> {
    let script =
        format!("chown -hR \"$1\" {STAGE_MOUNT_PATH} && chmod -R a+rwX {STAGE_MOUNT_PATH}");
    let image = session.state().image.clone().unwrap_or_default();
    let spec = ContainerSpec {
        command: ["-c", &script, "sh", &container_owner(session).await].map(str::to_owned).to_vec(),
        ..root_container(session, &image, directory)
    };
    let id = create_and_start(session, &spec).await?;
    let ended = session.with_engine(|engine| engine.wait_for_exit(&id));
    // Files of other users are refused, with their names, when they are used.
    let _ = tokio::time::timeout(CHOWN_TIMEOUT, ended).await;
    session.with_engine(|engine| engine.remove_container(&id)).await
}

/// Returns a container of the image with one mounted directory of ours.
fn root_container(session: &RunSession, image: &str, stage: &Path) -> ContainerSpec {
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
        labels: run_container_labels(session),
        ..ContainerSpec::default()
    }
}

/// Copies the image's content at `path` into the directory `stage`, with its owners unless one is named.
pub async fn copy_image_content(
    session: &StepSession<'_>,
    image: &str,
    path: &str,
    stage: &Path,
    owner: &str,
) -> Result<(), Halt> {
    let words = ["-c", SEED_SCRIPT, "sh", path, owner];
    let spec = ContainerSpec {
        command: words.map(str::to_owned).to_vec(),
        ..root_container(session.run_session, image, stage)
    };
    let created = create_and_start(session.run_session, &spec).await;
    let id = created.map_err(|error| start_error(&error))?;
    let copied = wait_for_copy(session, &id, path).await;
    session.with_engine(|engine| engine.remove_container(&id)).await?;
    copied
}

async fn wait_for_copy(session: &StepSession<'_>, id: &str, path: &str) -> Result<(), Halt> {
    loop {
        let state = session.with_engine(|engine| engine.inspect_container(id)).await?;
        match state {
            Some(state) if state.running => {
                session.run_session.sleep_unless_stopped(END_CHECK_INTERVAL).await?;
            }
            Some(state) if state.exit_code == Some(0) => return Ok(()),
            state => {
                let log = session.with_engine(|engine| engine.read_container_log(id, 3)).await;
                let code = state.and_then(|state| state.exit_code).unwrap_or(-1);
                return Err(Halt::host_failure(format!(
                    "the image's content at {path} could not be copied (exit code {code}): {}",
                    log.unwrap_or_default().trim()
                )));
            }
        }
    }
}
