//! Copies files out of the image for steps on the host: out of a container that is created and never
//! started, so that nothing of the image runs for it.

use std::fs;
use std::path::Path;

use crate::container::{
    Extraction, MAX_EXTRACTED_BYTES, create_replacing_unrecorded, extract_path,
    run_container_labels,
};
use crate::error::Halt;
use crate::results::collect::record_collected;
use crate::step::{StepSession, host};
use retrial_container::ContainerSpec;
use retrial_store::StoreError;
use retrial_store::files::{remove_directory, rename_synced};
use retrial_store::journal::{StepEnd, StepFault};
use retrial_store::unpack::UnpackOptions;

/// Copies `path` of the image to `to` below the run's directory for host files.
pub async fn copy_from_image(session: &StepSession<'_>, path: &str, to: &str) -> Result<(), Halt> {
    let state = session.run_session.state();
    let spec = ContainerSpec {
        name: format!("retrial-{}-copy", session.run_session.run.id()),
        image: state.image.clone().unwrap_or_else(|| session.run_session.plan.image.clone()),
        // An image without a command cannot be created; this one never runs.
        entrypoint: Some(vec!["/bin/true".to_owned()]),
        network: Some("none".to_owned()),
        labels: run_container_labels(session.run_session),
        ..ContainerSpec::default()
    };
    let id = create_replacing_unrecorded(session.run_session, &spec).await?;
    let part = format!("host/{}.part", session.step.directory_name());
    let part = session.run_session.run.join(&part);
    let copy = Extraction {
        container: &id,
        path,
        target: &part,
        length: 0,
        limits: UnpackOptions {
            executable: true,
            ..UnpackOptions::for_results(MAX_EXTRACTED_BYTES)
        },
        absent: StepEnd::failure(
            StepFault::Request,
            format!("the image has no {path}"),
            "correct `copy_from_image:` in the recipe",
        ),
        too_large: "copy a smaller directory, or several",
    };
    let extracted = extract_path(session, copy).await;
    session.with_engine(|engine| engine.remove_container(&id)).await?;
    let unpacked = extracted?;
    let target = host::host_files_directory(session.run_session).join(to);
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
            // An empty directory that is left is replaced by the next copy.
            let _ = fs::remove_dir(&part);
        }
        None => rename_synced(&part, &target)?,
    }
    record_collected(session, path, &format!("host/files/{to}"), &unpacked)
}
