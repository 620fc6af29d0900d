//! Copies files out of the image for steps on the host: out of a container that is created and never
//! started, so that nothing of the image runs for it.

use std::fs;
use std::path::Path;

use crate::container::{Extraction, MAX_BYTES, create_again, extract, own_labels};
use crate::error::Halt;
use crate::results::collect::record;
use crate::step::{StepSession, host};
use retrial_container::ContainerSpec;
use retrial_store::StoreError;
use retrial_store::files::{remove_directory, rename_synced};
use retrial_store::journal::{StepEnd, StepFault};
use retrial_store::unpack::UnpackOptions;

/// Copies `path` of the image to `to` below the run's directory for host files.
pub async fn copy_out(session: &StepSession<'_>, path: &str, to: &str) -> Result<(), Halt> {
    let state = session.state();
    let spec = ContainerSpec {
        name: format!("retrial-{}-copy", session.run.id()),
        image: state
            .image
            .clone()
            .unwrap_or_else(|| session.plan.image.clone()),
        // An image without a command cannot be created; this one never runs.
        entrypoint: Some(vec!["/bin/true".to_owned()]),
        network: Some("none".to_owned()),
        labels: own_labels(session),
        ..ContainerSpec::default()
    };
    let id = create_again(session, &spec).await?;
    let part = format!("host/{}.part", session.step.directory_name());
    let part = session.run.join(&part);
    let copy = Extraction {
        container: &id,
        path,
        to: &part,
        length: 0,
        limits: UnpackOptions {
            executable: true,
            ..UnpackOptions::results(MAX_BYTES)
        },
        absent: StepEnd::failed(
            StepFault::Request,
            format!("the image has no {path}"),
            "correct `copy_from_image:` in the recipe",
        ),
        too_large: "copy a smaller directory, or several",
    };
    let unpacked = extract(session, copy).await;
    session.with_engine(|engine| engine.remove(&id)).await?;
    let unpacked = unpacked?;
    let target = host::files(session).join(to);
    let parent = target.parent().unwrap_or(&target);
    fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    if target.is_dir() {
        remove_directory(&target)?;
    }
    // A single file is one in a directory of its own.
    let single = Path::new(path).file_name().map(|name| part.join(name));
    match single.filter(|single| unpacked.single && single.is_file()) {
        Some(single) => {
            fs::rename(&single, &target).map_err(StoreError::io("rename", &single))?;
            let _ = fs::remove_dir(&part);
        }
        None => rename_synced(&part, &target)?,
    }
    record(session, path, &format!("host/files/{to}"), &unpacked)
}
