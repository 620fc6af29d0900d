//! The container: created, started, removed.

use super::create::{create_replacing_unrecorded, start_container, start_error};
use super::gpu_claim::{claim_gpus, gpu_claim};
use super::labels::{CACHE_LABEL, GPU_LABEL, run_container_labels};
use super::mount_check::{not_shared_error, verify_control_mount};
use super::sources::ResolvedMounts;
use super::writable::{remove_privileged_leftovers, restore_ownership};
use crate::access::{RunSession, fill_run_values};
use crate::cache::cache_mounts::{self, LockedCacheMounts};
use crate::cache::cached_directories::{self, CachedMounts};
use crate::control::ControlDirectory;
use crate::error::{Halt, RunError};
use crate::model;
use crate::step::{StepSession, host};
use retrial_container::ContainerSpec;
use retrial_document::ErrorText;
use retrial_engine::EngineError;
use retrial_engine::docker::EngineRefusal;
use retrial_plan::step::Action;
use retrial_store::StoreError;
use retrial_store::journal::{EventKind, LiveEvent, SkipReason, StepEnd};

/// The maximum number of attempts to create a container while the engine is restarted each time.
const MAX_CREATE_ATTEMPTS: u32 = 5;

/// Creates and starts the container that measures.
pub async fn create_main_container(session: &StepSession<'_>) -> Result<(), Halt> {
    let cached_mounts = cached_directories::mount_cached_directories(session).await?;
    create_with_caches(session, "", cached_mounts).await
}

/// Creates and starts a container of the recipe's with cached directories.
pub async fn create_with_caches(
    session: &StepSession<'_>,
    suffix: &str,
    cached: CachedMounts,
) -> Result<(), Halt> {
    let spec = session.run_session.plan.container.clone();
    let mut spec = complete_spec(session, spec, suffix, cached)?;
    if matches!(session.step.action, Action::Populate(_)) {
        // The cached content must not depend on code that earlier runs compiled.
        spec.cache_mounts.clear();
    }
    // Until the container runs, so that two runs cannot both find the GPUs free.
    let _guard = claim_gpus(session).await?;
    launch_container(session, spec, &session.run_session.control).await
}

/// Creates and starts a service's own container, in the network of the run's.
pub async fn create_service_container(
    session: &StepSession<'_>,
    service: &str,
    own: &ContainerSpec,
) -> Result<(), Halt> {
    let cached_mounts = cached_directories::mount_cached_directories(session).await?;
    let mut service_spec = own.clone();
    let main = session.run_session.require_container()?;
    service_spec.network.get_or_insert(format!("container:{main}"));
    let spec = complete_spec(session, service_spec, &format!("-{service}"), cached_mounts)?;
    let control = &session.run_session.service_controls[service];
    launch_container(session, spec, control).await
}

/// Creates and starts a container, and verifies that it shares our files.
async fn launch_container(
    session: &StepSession<'_>,
    mut spec: ContainerSpec,
    control: &ControlDirectory,
) -> Result<(), Halt> {
    let mut caches = cache_mounts::acquire_cache_mounts(session, &mut spec).await?;
    let sources = ResolvedMounts::resolve(session.run_session, &mut spec).await?;
    spec.control = Some(control.path().display().to_string());
    let now = jiff::Timestamp::now().as_nanosecond();
    let nonce = format!("{}-{now}", session.run_session.run.id());
    control.lay_out(&nonce, spec.pid.is_none())?;
    let mut attempts_left = MAX_CREATE_ATTEMPTS;
    loop {
        attempts_left -= 1;
        let waited = session.run_session.engine.waited_time();
        let (id, started) =
            create_and_verify(session, &spec, &sources, control, &mut caches, &nonce).await?;
        let Err(halt) = started else {
            return Ok(());
        };
        let was_away = session.run_session.engine.waited_time() > waited
            && !session.run_session.stop.is_cancelled();
        if was_away && attempts_left > 0 {
            // An engine that is restarted while it starts a container may start it in part, or stop it.
            session.with_engine(|engine| engine.remove_container(&id)).await?;
            session.record(EventKind::ContainerRemoved { id })?;
            control.lay_out(&nonce, spec.pid.is_none())?;
            continue;
        }
        if matches!(&halt, Halt::Ended(StepEnd::Failed { .. })) {
            // The failure to create it is reported; `clean` finds what is left by its label.
            let _ = discard_container(session.run_session, &id).await;
        }
        return Err(halt);
    }
}

/// Creates a container, and returns its id and whether it started and shares our files.
async fn create_and_verify(
    session: &StepSession<'_>,
    spec: &ContainerSpec,
    sources: &ResolvedMounts,
    control: &ControlDirectory,
    caches: &mut LockedCacheMounts,
    nonce: &str,
) -> Result<(String, Result<(), Halt>), Halt> {
    let is_service = matches!(session.step.action, Action::StartService(_));
    let created = if is_service {
        create_replacing_unrecorded(session.run_session, spec).await
    } else {
        create_from_image(session, spec).await
    };
    let id = created.map_err(|error| match error.refusal() {
        Some(EngineRefusal::MountSource(path)) if spec.control.as_ref() == Some(path) => {
            not_shared_error(session.run_session)
        }
        _ => error.into(),
    })?;
    let event = EventKind::ContainerCreated {
        id: id.clone(),
        name: spec.name.clone(),
        service: is_service,
    };
    session.record(event)?;
    caches.record_mounted(session, &id)?;
    let starting = async {
        sources.verify_mounted(session, &id).await?;
        match start_container(session.run_session, &id).await {
            Ok(true) => {}
            Ok(false) => {
                let reason = "the engine was restarted while it started the container";
                return Err(Halt::host_failure(reason));
            }
            Err(error) => return Err(start_error(&error)),
        }
        verify_control_mount(session.run_session, control, &id, nonce).await
    };
    let started = starting.await;
    Ok((id, started))
}

/// Creates the container, and verifies that its image is the one that was pulled or built: the tag may
/// have moved meanwhile.
async fn create_from_image(
    session: &StepSession<'_>,
    spec: &ContainerSpec,
) -> Result<String, EngineError> {
    let id = create_replacing_unrecorded(session.run_session, spec).await?;
    let Some(expected) = session.run_session.state().image.clone() else {
        return Ok(id);
    };
    let created = session.with_engine(|engine| engine.inspect_container(&id)).await?;
    let actual = created.map(|created| created.image).unwrap_or_default();
    if actual.trim_start_matches("sha256:") == expected.trim_start_matches("sha256:") {
        return Ok(id);
    }
    session.with_engine(|engine| engine.remove_container(&id)).await?;
    let text = format!(
        "the tag {} has moved: creating the container from the image that was pulled, {expected}",
        spec.image
    );
    session.emit(LiveEvent::Notice { text });
    let exact = ContainerSpec { image: expected, ..spec.clone() };
    create_replacing_unrecorded(session.run_session, &exact).await
}

/// Returns a container of the plan with this run's name, labels and mounts.
fn complete_spec(
    session: &StepSession<'_>,
    mut spec: ContainerSpec,
    suffix: &str,
    cached: CachedMounts,
) -> Result<ContainerSpec, Halt> {
    spec.name = format!("retrial-{}{suffix}", session.run_session.run.id());
    spec.mounts.extend(model::model_mounts(session)?);
    spec.mounts.extend(cached.mounts);
    spec.labels = run_container_labels(session.run_session);
    let cached_locations = cached.locations.join("\n");
    let cached = Some(cached_locations).filter(|labels| !labels.is_empty());
    let optional_labels = [(CACHE_LABEL, cached), (GPU_LABEL, gpu_claim(session.run_session))];
    let labels = optional_labels.map(|(name, value)| Some((name.to_owned(), value?)));
    spec.labels.extend(labels.into_iter().flatten());
    Ok(fill_run_values(session.run_session, &spec, None))
}

/// Removes the run's containers, if there are any.
pub async fn remove_containers(session: &RunSession) -> Result<(), RunError> {
    let state = session.state();
    let mut removed = Ok(());
    // Service containers first: they use the network of the other one. On a full disk the first removal cannot
    // be recorded, but the others must still be removed.
    for id in state.service_containers.values().chain(&state.container) {
        removed = removed.and(discard_container(session, id).await);
    }
    removed
}

/// Removes the run's container concurrently with other work. The remove step records it, and reports a failure.
pub async fn remove_ahead(session: &RunSession) {
    let state = session.state();
    // Containers of services use its network.
    let has_no_services = state.service_containers.is_empty();
    if let Some(id) = state.container.as_ref().filter(|_| has_no_services) {
        restore_ownership(session, id).await;
        let removed = session.with_engine(|engine| engine.remove_container(id));
        if removed.await.is_ok() {
            remove_privileged_leftovers(session).await;
            cache_mounts::release_cache_mounts(session, id).await;
        }
    }
}

pub async fn discard_container(session: &RunSession, id: &str) -> Result<(), RunError> {
    restore_ownership(session, id).await;
    session.with_engine(|engine| engine.remove_container(id)).await?;
    remove_privileged_leftovers(session).await;
    cache_mounts::release_cache_mounts(session, id).await;
    let owned_id = id.to_owned();
    Ok(session.record(EventKind::ContainerRemoved { id: owned_id })?)
}

/// The last step of a plan.
pub async fn run_remove_step(session: &RunSession) -> Result<(), Halt> {
    remove_containers(session).await.map_err(|error| match error {
        RunError::Engine(error) => {
            let advice = format!("remove it: retrial clean {}", session.run.id());
            Halt::host_failure(ErrorText::of(&error).with_help(advice))
        }
        error @ RunError::Store(_) => error.into(),
    })
}

/// Stops everything. The container is removed, unless it has results that were not collected: then it is only
/// stopped, for a resumed run to collect them. Returns why it was not removed.
pub async fn tear_down(session: &RunSession) -> Result<Option<SkipReason>, RunError> {
    let state = session.state();
    let Some(id) =
        state.container.as_ref().filter(|_| state.has_uncollected_results(&session.plan))
    else {
        remove_containers(session).await?;
        return Ok(None);
    };
    for service in state.service_containers.values() {
        discard_container(session, service).await?;
    }
    restore_ownership(session, id).await;
    session.with_engine(|engine| engine.stop_container(id, 10)).await?;
    let run = session.run.id().to_owned();
    Ok(Some(SkipReason::ContainerStopped { run }))
}

/// Stops everything after an error that ends the run. Without the run's directory nothing can be resumed, and
/// nothing is kept.
pub async fn tear_down_after_error(session: &RunSession, error: &RunError) {
    let is_removed = matches!(error, RunError::Store(StoreError::Removed { .. }));
    if is_removed {
        host::kill_step_processes(&session.run);
    }
    if is_removed && !session.run.journal_path().exists() {
        let state = session.state();
        for id in state.service_containers.values().chain(&state.container) {
            // The error that ended the run is reported; `clean` finds what is left by its label.
            let _ = session.with_engine(|engine| engine.remove_container(id)).await;
        }
    } else if let Err(halt) = tear_down(session).await {
        // The error that ended the run is reported.
        tracing::debug!(?halt, "the run was not torn down");
    }
}
