//! Creates containers through an engine that may become unavailable meanwhile.

use super::error::Halt;
use super::labels::RUN_LABEL;
use super::session::Session;
use retrial_container::ContainerSpec;
use retrial_engine::EngineError;
use retrial_engine::docker::Refusal;

/// Creates the container. If the name is in use because the engine became unavailable after creating a
/// container and before responding, that unrecorded container is removed first.
pub async fn create_again(session: &Session, spec: &ContainerSpec) -> Result<String, EngineError> {
    let refused = match session.engine.create(spec).await {
        Err(error @ EngineError::Refused { status: 409, .. }) => error,
        other => return other,
    };
    let label = format!("{RUN_LABEL}={}", session.run.id());
    let recorded = session.state().container;
    for container in session.engine.containers(&label).await? {
        if container.name == spec.name && recorded.as_deref() != Some(container.id.as_str()) {
            session.engine.remove(&container.id).await?;
            return session.engine.create(spec).await;
        }
    }
    Err(refused)
}

/// Why a container did not start.
pub fn start_error(error: &EngineError) -> Halt {
    match error.refusal() {
        Some(Refusal::NoShell) => Halt::host(format!(
            "the image has no /bin/sh, which Retrial's first process and steps need\n  {error}"
        )),
        _ => Halt::host(error.to_string()),
    }
}
