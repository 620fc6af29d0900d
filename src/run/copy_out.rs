//! Takes something out of the image for steps on the host: out of a container that is made and
//! never started, so that nothing of the image runs for it.

use super::container::{create_anew, own_labels};
use super::engine_back::with_engine;
use super::error::RunError;
use super::host;
use super::session::Session;
use crate::plan::step::Step;
use crate::store::journal::{StepEnd, StepFault, What};
use crate::store::run_directory::rename_synced;
use crate::store::{StoreError, unpack};
use retrial_container::ContainerSpec;
use retrial_engine::error::EngineError;

/// The most that is taken out.
const MOST_BYTES: u64 = 16 << 30;

/// Copies `path` of the image to `to` below the run's directory for host files.
pub async fn copy_out(
    session: &Session,
    step: &Step,
    path: &str,
    to: &str,
) -> Result<StepEnd, RunError> {
    let state = session.state();
    let spec = ContainerSpec {
        name: format!("retrial-{}-copy", session.run.id()),
        image: state.image.unwrap_or_else(|| session.plan.image.clone()),
        // An image without a command cannot be created; this one never runs.
        entrypoint: Some(vec!["/bin/true".to_owned()]),
        network: Some("none".to_owned()),
        labels: own_labels(session),
        ..ContainerSpec::default()
    };
    let id = match with_engine(session, step, || create_anew(session, &spec)).await {
        Ok(id) => id,
        Err(error) => return Ok(StepEnd::host(error.to_string())),
    };
    let archive = session.run.join(&format!("{}.tar", step.directory()));
    let copied = with_engine(session, step, || {
        session.engine.copy_out(&id, path, &archive, MOST_BYTES)
    })
    .await;
    session.engine.remove(&id).await?;
    let end = match copied {
        Ok(true) => unpacked(session, step, path, to, &archive),
        Ok(false) => Ok(StepEnd::failed(
            StepFault::Request,
            format!("the image has no {path}"),
            "correct `copy_from_image:` in the recipe",
        )),
        Err(EngineError::File { path, source }) => {
            Err(StoreError::io("write", &path)(source).into())
        }
        Err(error) => Ok(StepEnd::host(error.to_string())),
    };
    let _ = std::fs::remove_file(&archive);
    end
}

fn unpacked(
    session: &Session,
    step: &Step,
    path: &str,
    to: &str,
    archive: &std::path::Path,
) -> Result<StepEnd, RunError> {
    let target = host::files(session).join(to);
    let part = session
        .run
        .join("host")
        .join(format!("{}.part", step.directory()));
    if part.exists() {
        std::fs::remove_dir_all(&part).map_err(StoreError::io("remove", &part))?;
    }
    let parent = target.parent().unwrap_or(&target);
    std::fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    let limits = unpack::Limits {
        executable: true,
        ..unpack::Limits::results(MOST_BYTES)
    };
    let unpacked = match unpack::unpack(archive, &part, limits) {
        Ok(unpacked) => unpacked,
        Err(error) if error.is_disk_full() => return Err(error.into()),
        Err(error) => return Ok(StepEnd::failed(StepFault::Request, error.to_string(), "")),
    };
    if target.is_dir() {
        std::fs::remove_dir_all(&target).map_err(StoreError::io("remove", &target))?;
    }
    // A single file is one in a directory of its own.
    let single = std::path::Path::new(path)
        .file_name()
        .map(|name| part.join(name));
    match single.filter(|single| unpacked.single && single.is_file()) {
        Some(single) => {
            std::fs::rename(&single, &target).map_err(StoreError::io("rename", &single))?;
            let _ = std::fs::remove_dir(&part);
        }
        None => rename_synced(&part, &target)?,
    }
    let what = What::Collected {
        from: path.to_owned(),
        to: format!("host/files/{to}"),
        files: unpacked.files,
        bytes: unpacked.bytes,
        left_out: unpacked.left_out,
    };
    session.say(Some(step), what)?;
    Ok(StepEnd::Done { exit_code: None })
}
