//! The container: created, started, removed.

use std::path::Path;

use super::create::{create_again, start, start_error};
use super::gpu_claim::{claim, claim_of};
use super::labels::{CACHE_LABEL, GPU_LABEL, own_labels};
use super::mount_check::{not_shared, verify_control_mount};
use super::sources::ResolvedMounts;
use crate::access::{RunSession, with_run_values};
use crate::cache::cache_mounts::{self, LockedCacheMounts};
use crate::cache::cached::{self, CachedMounts};
use crate::cache::seed::owner;
use crate::control::ControlDirectory;
use crate::error::{Halt, RunError};
use crate::model;
use crate::step::{StepSession, host};
use retrial_container::ContainerSpec;
use retrial_container::first_process;
use retrial_document::ErrorText;
use retrial_engine::EngineError;
use retrial_engine::api::ExecSpec;
use retrial_engine::docker::EngineRefusal;
use retrial_plan::step::Action;
use retrial_store::StoreError;
use retrial_store::journal::{EventKind, SkipReason, StepEnd, StepFault};

/// The maximum number of attempts to create a container while the engine is restarted each time.
const MAX_ATTEMPTS: u32 = 5;

/// Creates and starts the container that measures.
pub async fn create(session: &StepSession<'_>) -> Result<(), Halt> {
    let cached = cached::mounts(session).await?;
    create_with(session, "", cached).await
}

/// Creates and starts a container of the recipe's with cached directories.
pub async fn create_with(
    session: &StepSession<'_>,
    suffix: &str,
    cached: CachedMounts,
) -> Result<(), Halt> {
    let spec = session.plan.container.clone();
    let mut spec = spec_of(session, spec, suffix, cached)?;
    if matches!(session.step.action, Action::Populate(_)) {
        // The cached content must not depend on code that earlier runs compiled.
        spec.cache_mounts.clear();
    }
    // Until the container runs, so that two runs cannot both find the GPUs free.
    let _guard = claim(session).await?;
    launch(session, spec, &session.control).await
}

/// Creates and starts a service's own container, in the network of the run's.
pub async fn create_for_service(
    session: &StepSession<'_>,
    service: &str,
    own: &ContainerSpec,
) -> Result<(), Halt> {
    let cached = cached::mounts(session).await?;
    let mut own = own.clone();
    let main = session.container()?;
    own.network.get_or_insert(format!("container:{main}"));
    let spec = spec_of(session, own, &format!("-{service}"), cached)?;
    let control = &session.service_controls[service];
    launch(session, spec, control).await
}

/// Creates and starts a container, and verifies that it shares our files.
async fn launch(
    session: &StepSession<'_>,
    mut spec: ContainerSpec,
    control: &ControlDirectory,
) -> Result<(), Halt> {
    if let Some(missing) = missing_mount(&spec) {
        return Err(Halt::failed(
            StepFault::Request,
            format!("the mount's source {missing} does not exist"),
            "create it or correct the recipe; the engine would mount an empty directory",
        ));
    }
    let mut caches = cache_mounts::take(session, &mut spec).await?;
    let sources = ResolvedMounts::resolve(&session.plan, &mut spec)?;
    spec.control = Some(control.path().display().to_string());
    let now = jiff::Timestamp::now().as_nanosecond();
    let nonce = format!("{}-{now}", session.run.id());
    control.lay_out(&nonce, spec.pid.is_none())?;
    let mut attempts_left = MAX_ATTEMPTS;
    loop {
        attempts_left -= 1;
        let waited = session.engine.waited();
        let (id, started) =
            create_and_verify(session, &spec, &sources, control, &mut caches, &nonce).await?;
        let Err(halt) = started else {
            return Ok(());
        };
        let was_away = session.engine.waited() > waited && !session.stop.is_cancelled();
        if was_away && attempts_left > 0 {
            // An engine that is restarted while it starts a container may start it in part, or stop it.
            session.with_engine(|engine| engine.remove(&id)).await?;
            session.record(EventKind::ContainerRemoved { id })?;
            control.lay_out(&nonce, spec.pid.is_none())?;
            continue;
        }
        if matches!(&halt, Halt::Ended(StepEnd::Failed { .. })) {
            let _ = discard(session, &id).await;
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
        create_again(session, spec).await
    } else {
        create_from_image(session, spec).await
    };
    let id = created.map_err(|error| match error.refusal() {
        Some(EngineRefusal::MountSource(path)) if spec.control.as_ref() == Some(path) => {
            not_shared(session)
        }
        _ => error.into(),
    })?;
    let event = EventKind::ContainerCreated {
        id: id.clone(),
        name: spec.name.clone(),
        service: is_service,
    };
    session.record(event)?;
    caches.record(session, &id)?;
    let started = async {
        sources.verify(session, &id).await?;
        match start(session, &id).await {
            Ok(true) => {}
            Ok(false) => {
                let reason = "the engine was restarted while it started the container";
                return Err(Halt::host(reason));
            }
            Err(error) => return Err(start_error(&error)),
        }
        // The engine resolves them once more when it starts the container.
        sources.verify_unchanged()?;
        verify_control_mount(session, control, &id, nonce).await
    };
    let started = started.await;
    Ok((id, started))
}

/// Creates the container, and verifies that its image is the one that was pulled or built: the tag may
/// have moved meanwhile.
async fn create_from_image(
    session: &StepSession<'_>,
    spec: &ContainerSpec,
) -> Result<String, EngineError> {
    let id = create_again(session, spec).await?;
    let Some(expected) = session.state().image.clone() else {
        return Ok(id);
    };
    let created = session.with_engine(|engine| engine.container(&id)).await?;
    let actual = created.map(|created| created.image).unwrap_or_default();
    if actual.trim_start_matches("sha256:") == expected.trim_start_matches("sha256:") {
        return Ok(id);
    }
    session.with_engine(|engine| engine.remove(&id)).await?;
    let text = format!(
        "the tag {} has moved: creating the container from the image that was pulled, {expected}",
        spec.image
    );
    session.emit(EventKind::Warning { text });
    let exact = ContainerSpec {
        image: expected,
        ..spec.clone()
    };
    create_again(session, &exact).await
}

/// Returns the first bind mount whose source does not exist.
fn missing_mount(container: &ContainerSpec) -> Option<&str> {
    let sources = container.mounts.iter().map(|mount| mount.source.as_str());
    sources
        .filter(|source| source.starts_with('/'))
        .find(|source| !Path::new(source).exists())
}

/// Returns a container of the plan with this run's name, labels and mounts.
fn spec_of(
    session: &StepSession<'_>,
    mut spec: ContainerSpec,
    suffix: &str,
    cached: CachedMounts,
) -> Result<ContainerSpec, Halt> {
    spec.name = format!("retrial-{}{suffix}", session.run.id());
    spec.mounts.extend(model::mounts(session)?);
    spec.mounts.extend(cached.mounts);
    spec.labels = own_labels(session);
    let cached = cached.locations.join("\n");
    let cached = Some(cached).filter(|labels| !labels.is_empty());
    let labels = [(CACHE_LABEL, cached), (GPU_LABEL, claim_of(session))];
    let labels = labels.map(|(name, value)| Some((name.to_owned(), value?)));
    spec.labels.extend(labels.into_iter().flatten());
    Ok(with_run_values(session, &spec, None))
}

/// Removes the run's containers, if there are any.
pub async fn remove(session: &RunSession) -> Result<(), RunError> {
    let state = session.state();
    let mut removed = Ok(());
    // Service containers first: they use the network of the other one. On a full disk the first removal cannot
    // be recorded, but the others must still be removed.
    for id in state.service_containers.values().chain(&state.container) {
        removed = removed.and(discard(session, id).await);
    }
    removed
}

/// Removes the run's container concurrently with other work. The remove step records it, and reports a failure.
pub async fn begin_to_remove(session: &RunSession) {
    let state = session.state();
    // Containers of services use its network.
    let has_no_services = state.service_containers.is_empty();
    if let Some(id) = state.container.as_ref().filter(|_| has_no_services) {
        restore_ownership(session, id).await;
        let removed = session.with_engine(|engine| engine.remove(id));
        if removed.await.is_ok() {
            cache_mounts::release(session, id).await;
        }
    }
}

/// Removes one container of the run.
pub async fn discard(session: &RunSession, id: &str) -> Result<(), RunError> {
    restore_ownership(session, id).await;
    session.with_engine(|engine| engine.remove(id)).await?;
    cache_mounts::release(session, id).await;
    let id = id.to_owned();
    Ok(session.record(EventKind::ContainerRemoved { id })?)
}

/// The last step of a plan.
pub async fn remove_step(session: &RunSession) -> Result<(), Halt> {
    remove(session).await.map_err(|error| match error {
        RunError::Engine(error) => {
            let advice = format!("remove it: retrial clean {}", session.run.id());
            Halt::host(ErrorText::of(&error).with_help(advice))
        }
        error @ RunError::Store(_) => error.into(),
    })
}

/// Stops everything. The container is removed, unless it has results that were not collected: then it is only
/// stopped, for a resumed run to collect them. Returns why it was not removed.
pub async fn teardown(session: &RunSession) -> Result<Option<SkipReason>, RunError> {
    let state = session.state();
    let Some(id) = state
        .container
        .as_ref()
        .filter(|_| state.uncollected(&session.plan))
    else {
        remove(session).await?;
        return Ok(None);
    };
    for service in state.service_containers.values() {
        discard(session, service).await?;
    }
    restore_ownership(session, id).await;
    session.with_engine(|engine| engine.stop(id, 10)).await?;
    let run = session.run.id().to_owned();
    Ok(Some(SkipReason::ContainerStopped { run }))
}

/// Stops everything after an error that ends the run. Without the run's directory nothing can be resumed, and
/// nothing is kept.
pub async fn end_after(session: &RunSession, error: &RunError) {
    let is_removed = matches!(error, RunError::Store(StoreError::Removed { .. }));
    if is_removed {
        host::kill_marked(&session.run);
    }
    if is_removed && !session.run.journal().exists() {
        let state = session.state();
        for id in state.service_containers.values().chain(&state.container) {
            let _ = session.with_engine(|engine| engine.remove(id)).await;
        }
    } else {
        let _ = teardown(session).await;
    }
}

/// Makes us the owner of the container's files below the control directory, without following symlinks. Root
/// does not need it.
async fn restore_ownership(session: &RunSession, id: &str) {
    if rustix::process::getuid().is_root() {
        return;
    }
    let owner = owner(session).await;
    let spec = ExecSpec::as_root(["chown", "-hR", &owner, first_process::CONTROL]);
    let _ = session.with_engine(|engine| engine.exec(id, &spec)).await;
}
