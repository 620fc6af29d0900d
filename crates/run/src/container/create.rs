//! Creates and starts containers through an engine that may become unavailable meanwhile.

use super::labels::RUN_LABEL;
use crate::access::RunSession;
use crate::error::Halt;
use retrial_container::ContainerSpec;
use retrial_document::ErrorText;
use retrial_engine::EngineError;
use retrial_engine::docker::EngineRefusal;

/// Creates the container. If the name is in use because the engine became unavailable after creating a
/// container and before responding, that unrecorded container is removed first.
pub async fn create_replacing_unrecorded(
    session: &RunSession,
    spec: &ContainerSpec,
) -> Result<String, EngineError> {
    let refused = match session.with_engine(|engine| engine.create_container(spec)).await {
        Err(error @ EngineError::Refused { status: 409, .. }) => error,
        other => return other,
    };
    let label = format!("{RUN_LABEL}={}", session.run.id());
    let recorded = session.state().container.clone();
    let containers = session.with_engine(|engine| engine.list_containers(&label));
    for container in containers.await? {
        if container.name == spec.name && recorded.as_deref() != Some(container.id.as_str()) {
            let id = &container.id;
            session.with_engine(|engine| engine.remove_container(id)).await?;
            return session.with_engine(|engine| engine.create_container(spec)).await;
        }
    }
    Err(refused)
}

/// Starts a container. Returns false if the engine was unavailable and came back meanwhile: one that was killed
/// while it started a container starts it only in part the next time, so that it must be replaced.
pub async fn start_container(session: &RunSession, id: &str) -> Result<bool, EngineError> {
    let mut is_first = true;
    let started = session.with_engine(|engine| {
        let is_first = std::mem::take(&mut is_first);
        async move {
            if is_first {
                engine.start_container(id).await.map(|()| true)
            } else {
                engine.inspect_container(id).await.map(|_| false)
            }
        }
    });
    started.await
}

/// Creates a container of no step of its own, and starts it.
pub async fn create_and_start(
    session: &RunSession,
    spec: &ContainerSpec,
) -> Result<String, EngineError> {
    loop {
        let id = create_replacing_unrecorded(session, spec).await?;
        let started = start_container(session, &id).await;
        if matches!(started, Ok(true)) {
            return Ok(id);
        }
        let removed = session.with_engine(|engine| engine.remove_container(&id)).await;
        started?;
        removed?;
    }
}

/// Returns why a container did not start.
pub fn start_error(error: &EngineError) -> Halt {
    match error.refusal() {
        Some(EngineRefusal::NoShell) => Halt::host_failure(ErrorText::of(error).in_context(
            "the image has no /bin/sh, which Retrial's first process and steps need: ",
        )),
        _ => Halt::host_failure(ErrorText::of(error)),
    }
}
