//! Mounts models of the hub into the container: as views, file by file, or as the hub's cache.

use std::fs;

use super::fetch::read_fetched_models;
use super::view::{ModelView, create_view, model_directory};
use crate::access::RunSession;
use crate::error::Halt;
use crate::step::StepSession;
use retrial_container::Mount;
use retrial_document::ErrorText;
use retrial_hub::FetchedModel;
use retrial_plan::model::{ModelFetch, MountForm};
use retrial_store::StoreError;
use retrial_store::files::write_atomically;

/// The mounts of the models that the plan fetches, for a container that a step creates.
pub fn model_mounts(session: &StepSession<'_>) -> Result<Vec<Mount>, Halt> {
    let all = read_fetched_models(&session.run_session.run)?;
    let mut mounts = Vec::new();
    for model in session.run_session.plan.fetched_models() {
        let name = &model.model;
        let Some(fetched) = all.get(name) else {
            return Err(Halt::host_failure(format!("model {name} was not fetched")));
        };
        let mut model_mounts = match model.mount.form {
            MountForm::Directory => {
                match create_view(fetched)
                    .map_err(|error| Halt::host_failure(ErrorText::of(&error)))?
                {
                    ModelView::Ready(path) => {
                        vec![read_only_mount(path.display().to_string(), &model.mount.target)]
                    }
                    ModelView::Unsupported(error) => {
                        let decision = format!(
                            "model {name} is mounted file by file: no hard links to the cache's files ({error})"
                        );
                        session.record_decision(decision)?;
                        mount_file_by_file(fetched, &model.mount.target)
                    }
                }
            }
            MountForm::Files => mount_file_by_file(fetched, &model.mount.target),
            MountForm::HubCache => mount_hub_cache(session.run_session, model, fetched)?,
        };
        if let Some(mount) = model_mounts.iter().find(|mount| mount.source.contains(':')) {
            return Err(Halt::host_failure(format!(
                "model {name} cannot be mounted: engines do not accept a colon in {}",
                mount.source
            )));
        }
        mounts.append(&mut model_mounts);
    }
    Ok(mounts)
}

fn read_only_mount(source: String, target: &str) -> Mount {
    Mount { source, target: target.to_owned(), read_only: true }
}

/// Blobs under their files' names. The directories are private to the container and writable.
fn mount_file_by_file(fetched: &FetchedModel, target_directory: &str) -> Vec<Mount> {
    let target = target_directory.trim_end_matches('/');
    let files = fetched.files.iter();
    files
        .map(|file| {
            let blob = file.blob.display().to_string();
            read_only_mount(blob, &format!("{target}/{}", file.path))
        })
        .collect()
}

/// The part of the cache for this commit. Its branch refs are private to the run: those in the cache may move
/// meanwhile.
fn mount_hub_cache(
    session: &RunSession,
    model: &ModelFetch,
    fetched: &FetchedModel,
) -> Result<Vec<Mount>, StoreError> {
    let name = model.cache_name();
    let refs = session.run.join(&format!("hub/{name}/refs"));
    for branch in ["main", &model.revision, &fetched.revision] {
        let path = refs.join(branch);
        if branch == fetched.commit || branch.split('/').any(|part| part == "..") {
            continue;
        }
        let parent = path.parent().unwrap_or(&refs);
        fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
        write_atomically(&path, fetched.commit.as_bytes())?;
    }
    let source = model_directory(fetched);
    let target = format!("{}/{name}", model.mount.target.trim_end_matches('/'));
    let snapshot = format!("snapshots/{}", fetched.commit);
    let parts = ["blobs".to_owned(), snapshot].map(|part| {
        let part_source = source.join(&part).display().to_string();
        read_only_mount(part_source, &format!("{target}/{part}"))
    });
    let refs = read_only_mount(refs.display().to_string(), &format!("{target}/refs"));
    Ok(parts.into_iter().chain([refs]).collect())
}
