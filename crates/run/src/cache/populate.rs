//! Populates a cached directory, unless an earlier run has: in a container of its own, so that the
//! measuring container is the same after a cache hit and after populating, and the content depends on
//! nothing that only this run did.

use std::path::Path;

use super::cached_directories::{
    acquire_entry, check_cache_state, full_identity, image_id, mount_cached_directories,
    new_origin, remove_stale_entries, run_interruptible,
};
use super::seed::{self, container_owner};
use crate::access::RunSession;
use crate::container;
use crate::error::Halt;
use crate::step::{StepSession, exec};
use retrial_container::Mount;
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_engine::api::ExecSpec;
use retrial_host::is_disk_full;
use retrial_plan::cached_directory::PopulateStep;
use retrial_plan::options::KeepContainer;
use retrial_plan::step::{Action, StepCondition};
use retrial_recipe::model::StepLocation;
use retrial_store::cache::{CacheManifest, CacheOrigin, CacheStagingDirectory, CacheState};
use retrial_store::journal::{CacheIdentity, EventKind, LiveEvent, StepEnd, StepFault};

/// Executes the step; `reattach` if its command may be running since before a kill of the tool.
pub async fn populate_cache(
    session: &StepSession<'_>,
    populate: &PopulateStep,
    reattach: bool,
) -> Result<(), Halt> {
    let image = image_id(session, &session.run_session.plan.image).await?;
    let directory = &populate.directory;
    let identity = full_identity(session, directory, &image).await?;
    let (entry, _lock) = acquire_entry(session, &directory.key, &identity).await?;
    let label = entry.label();
    let cached = EventKind::Cached(CacheIdentity { directory: entry.name().to_owned(), identity });
    let stage = entry.stage_for_run(session.run_session.run.id());
    match check_cache_state(session.run_session, &entry, directory).await? {
        CacheState::Valid(manifest) => {
            discard_stage(session, &stage).await?;
            let CacheOrigin { run, at, .. } = &manifest.origin;
            let size = describe_size(&manifest);
            let decision = format!("cache hit: {label}: {size}, populated by run {run}, {at}");
            session.record(cached)?;
            return Ok(session.record_decision(decision)?);
        }
        CacheState::Invalid(reason) => {
            let text = format!("{label} is invalid: {reason}; populating it again");
            session.warn(text)?;
            entry.move_current_aside()?;
        }
        CacheState::Missing => {}
    }
    let population = CachePopulation { session: *session, populate, image: &image, stage: &stage };
    if let Err(halt) = population.populate_stage(reattach).await {
        let is_failed = matches!(halt, Halt::Ended(StepEnd::Failed { .. }));
        let keep = is_failed && keeps_failed_container(session.run_session);
        if matches!(halt, Halt::Ended(_)) && !keep {
            discard_stage(session, &stage).await?;
        }
        return Err(halt);
    }
    let origin = new_origin(session.run_session, image);
    let line = "hashing its files".to_owned();
    session.emit(LiveEvent::Output { line });
    let (files, populated) = (directory.files.clone(), stage.clone());
    let writable = directory.writable;
    let examine = move |stop: &_| populated.check_content(&files, writable, origin, stop);
    let manifest = match run_interruptible(session.run_session, examine).await? {
        CacheState::Valid(manifest) => manifest,
        other => {
            discard_stage(session, &stage).await?;
            return Err(unusable_error(other));
        }
    };
    entry.publish(&stage, &manifest)?;
    session.record(cached)?;
    remove_stale_entries(session.run_session, &entry).await?;
    let decision = format!("populated {label}: {}", describe_size(&manifest));
    Ok(session.record_decision(decision)?)
}

/// The failure of a step whose files cannot be cached.
fn unusable_error(state: CacheState) -> Halt {
    let reason = match state {
        CacheState::Invalid(reason) => reason,
        _ => "it is empty".to_owned(),
    };
    Halt::failure(
        StepFault::Command,
        format!("its files cannot be cached: {reason}"),
        "nothing of it is cached; read its output, and `cache.files` in the recipe",
    )
}

struct CachePopulation<'a> {
    session: StepSession<'a>,
    populate: &'a PopulateStep,
    image: &'a str,
    stage: &'a CacheStagingDirectory,
}

impl CachePopulation<'_> {
    /// Runs the command to its end, and marks the stage as populated.
    async fn populate_stage(&self, reattach: bool) -> Result<(), Halt> {
        if !self.stage.is_populated() {
            if !reattach {
                self.begin_stage().await?;
            }
            let content = self.stage.content_directory();
            match self.run_command(reattach).await {
                Ok(_) => {}
                // A full disk explains any failure.
                Err(Halt::Ended(StepEnd::Failed { last_lines, .. })) if is_disk_full(&content) => {
                    return Err(disk_full_error(&content, last_lines));
                }
                Err(halt) => return Err(halt),
            }
            self.stage.mark_populated()?;
        }
        Ok(container::remove_containers(self.session.run_session).await?)
    }

    async fn run_command(&self, reattach: bool) -> Result<i64, Halt> {
        let session = &self.session;
        let command = &self.populate.command;
        if self.populate.location == StepLocation::Container {
            let end = exec::run_in_container(session, command, reattach).await;
            if !matches!(end, Err(Halt::Run(_))) {
                self.take_ownership().await;
            }
            return end;
        }
        let content = self.stage.content_directory();
        let mut command_on_host = command.clone();
        let variable = "RETRIAL_CACHE_PATH".to_owned();
        command_on_host.env.push((variable, content.display().to_string()));
        exec::run_on_host(session, &command_on_host, reattach).await
    }

    /// Creates a new stage with the image's content, and the container that populates it.
    async fn begin_stage(&self) -> Result<(), Halt> {
        let session = &self.session;
        self.stage.create_empty().map_err(|error| {
            let advice = "cache directories elsewhere: --cache DIR";
            Halt::host_failure(ErrorText::of(&error).with_help(advice))
        })?;
        let content = self.stage.content_directory();
        let path = &self.populate.directory.path;
        let owner = match self.populate.location {
            StepLocation::Container => String::new(),
            StepLocation::Host => container_owner(session.run_session).await,
        };
        seed::copy_image_content(session, self.image, path, &content, &owner).await?;
        if self.populate.location == StepLocation::Host {
            return Ok(());
        }
        let mut cached = mount_cached_directories(session).await?;
        cached.mounts.push(Mount {
            source: content.display().to_string(),
            target: path.clone(),
            read_only: false,
        });
        container::create_with_caches(session, "-fill", cached).await
    }

    /// Makes us the owner of the files that the container's users wrote. Does not follow symlinks: they refer to
    /// paths of the container. If the image has no `chown`, files of other users are refused later.
    async fn take_ownership(&self) {
        let session = &self.session;
        let Some(container) = session.run_session.state().container.clone() else {
            return;
        };
        let owner = container_owner(session.run_session).await;
        let words = ["chown", "-hR", &owner, &self.populate.directory.path];
        let spec = ExecSpec::as_root(words);
        // The next check reports files of other users.
        let _ = session.with_engine(|engine| engine.exec_attached(&container, &spec)).await;
    }
}

fn disk_full_error(content: &Path, last_lines: Vec<String>) -> Halt {
    let reason = format!("the disk of {} is full", content.display());
    let advice = "free some space (list cached directories: retrial clean --cached), or cache elsewhere: --cache DIR";
    let end = StepEnd::failure(StepFault::Host, reason, advice);
    end.with_last_lines(|| last_lines).into()
}

/// Removes the populating container and the stage.
async fn discard_stage(
    session: &StepSession<'_>,
    stage: &CacheStagingDirectory,
) -> Result<(), Halt> {
    if session.run_session.state().made_by == Some(session.step.number) {
        container::remove_containers(session.run_session).await?;
    }
    // Files that we may not remove do no harm: `clean --cached` lists their size.
    let _ = stage.discard();
    Ok(())
}

fn describe_size(manifest: &CacheManifest) -> String {
    let bytes = format::format_bytes(manifest.total_bytes());
    format!("{}, {bytes}", format::format_count(manifest.files.len(), "file"))
}

/// Returns whether `--keep` asks to keep the container of a failed step.
fn keeps_failed_container(session: &RunSession) -> bool {
    let mut steps = session.plan.steps.iter();
    steps.any(|step| {
        step.action == Action::Remove
            && matches!(step.when, StepCondition::Unless { keep } if keep != KeepContainer::Never)
    })
}
