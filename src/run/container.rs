//! The container: made, started, removed.

use std::collections::BTreeMap;
use std::path::Path;

use super::claim::{Claim, claim, claim_of};
use super::engine_back::with_engine;
use super::error::RunError;
use super::kept::{self, Kept};
use super::model_mounts;
use super::models::with_commits;
use super::mount_check::{MountCheck, verify_control_mount};
use super::session::Session;
use crate::plan::step::Step;
use crate::store::journal::{SkipReason, StepEnd, StepFault, What};
use retrial_container::first_process;
use retrial_container::{ContainerSpec, Mount};
use retrial_engine::api::ExecSpec;
use retrial_engine::error::EngineError;

/// The label with the run's id, on every container of ours.
pub const RUN_LABEL: &str = "io.retrial.run";
/// The label with the run's directory.
pub const PATH_LABEL: &str = "io.retrial.path";
/// The label with the GPUs that the container claims: PCI addresses, or `all`.
pub const GPU_LABEL: &str = "io.retrial.gpus";
/// The label with the name of whoever runs it, for others who wait.
pub const USER_LABEL: &str = "io.retrial.user";

/// The label with the kept directories that the container has mounted.
pub const KEPT_LABEL: &str = "io.retrial.kept";

/// Creates and starts the container that measures.
pub async fn create(session: &Session, step: &Step) -> Result<StepEnd, RunError> {
    match kept::mounts(session, step).await? {
        Ok(kept) => create_with(session, step, "", kept).await,
        Err(end) => Ok(end),
    }
}

/// Creates and starts a container with kept directories, and sees that it shares our file system.
pub async fn create_with(
    session: &Session,
    step: &Step,
    suffix: &str,
    kept: Kept,
) -> Result<StepEnd, RunError> {
    let models = match model_mounts::mounts(session, step)? {
        Ok(models) => models,
        Err(end) => return Ok(end),
    };
    let spec = with_commits(session, &spec_of(session, suffix, models, kept));
    if let Some(missing) = missing_mount(&spec) {
        return Ok(StepEnd::failed(
            StepFault::Request,
            format!("the mount's source {missing} is not there"),
            "create it or correct the recipe: an engine would silently mount an empty directory",
        ));
    }
    // Until the container runs, so that two runs cannot both find the GPUs free.
    let _guard = match claim(session, step).await? {
        Claim::Free(guard) => guard,
        Claim::Taken(end) => return Ok(end),
    };
    let nonce = format!(
        "{}-{}",
        session.run.id(),
        jiff::Timestamp::now().as_nanosecond()
    );
    session
        .control
        .lay_out(&nonce, session.plan.container.pid.is_none())?;
    let made = with_engine(session, step, || {
        create_from_the_image(session, step, &spec)
    })
    .await;
    let id = match made {
        Ok(id) => id,
        Err(error) if misses(&error, &spec) => return Ok(apart(session)),
        Err(error) => return Ok(StepEnd::host(error.to_string())),
    };
    session.say(
        Some(step),
        What::ContainerCreated {
            id: id.clone(),
            name: spec.name.clone(),
        },
    )?;
    if let Err(error) = with_engine(session, step, || session.engine.start(&id)).await {
        let because = start_fault(&error);
        let _ = remove(session).await;
        return Ok(StepEnd::host(because));
    }
    let end = match verify_control_mount(session, &id, &nonce).await {
        MountCheck::Shared => return Ok(StepEnd::Done { exit_code: None }),
        MountCheck::Stopped => return Ok(StepEnd::Stopped),
        MountCheck::EntrypointOverridden(log) => StepEnd::failed(
            StepFault::Host,
            format!("the image's entrypoint does not run the command that it is given{log}"),
            "take `entrypoint: image` out of the recipe: the entrypoint is then bypassed",
        ),
        MountCheck::Exited(because) => StepEnd::failed(
            StepFault::Host,
            because,
            "with `entrypoint: image`, the image's entrypoint must run the command that it is given",
        ),
        MountCheck::NotShared => apart(session),
    };
    let _ = remove(session).await;
    Ok(end)
}

/// Creates the container, and sees that its image is the one that was pulled or built: a tag may
/// have moved meanwhile.
async fn create_from_the_image(
    session: &Session,
    step: &Step,
    spec: &ContainerSpec,
) -> Result<String, EngineError> {
    let id = create_anew(session, spec).await?;
    let Some(wanted) = session.state().image else {
        return Ok(id);
    };
    let made = session.engine.container(&id).await?;
    let found = made.map(|made| made.image).unwrap_or_default();
    let digits = |id: &str| id.trim_start_matches("sha256:").to_owned();
    if digits(&found) == digits(&wanted) {
        return Ok(id);
    }
    session.engine.remove(&id).await?;
    let text = format!(
        "{} is another image meanwhile: the container is made from the one that was found, {wanted}",
        spec.image
    );
    session.show(step, What::Warning { text });
    let exact = ContainerSpec {
        image: wanted,
        ..spec.clone()
    };
    create_anew(session, &exact).await
}

/// Creates the container. The name is taken where an engine went away after it had made it and
/// before it said so: that one is not known to anybody, and goes.
pub async fn create_anew(session: &Session, spec: &ContainerSpec) -> Result<String, EngineError> {
    let refused = match session.engine.create(spec).await {
        Err(error @ EngineError::Refused { status: 409, .. }) => error,
        other => return other,
    };
    let label = format!("{RUN_LABEL}={}", session.run.id());
    let known = session.state().container;
    for container in session.engine.containers(&label).await? {
        if container.name == spec.name && known.as_deref() != Some(container.id.as_str()) {
            session.engine.remove(&container.id).await?;
            return session.engine.create(spec).await;
        }
    }
    Err(refused)
}

/// Whether the engine does not have our control directory.
fn misses(error: &EngineError, spec: &ContainerSpec) -> bool {
    let EngineError::Refused { because, .. } = error else {
        return false;
    };
    because.contains("bind source path does not exist")
        && spec
            .control
            .as_ref()
            .is_some_and(|path| because.contains(path))
}

fn apart(session: &Session) -> StepEnd {
    let (endpoint, path) = (
        &session.engine.info().endpoint,
        session.control.path().display(),
    );
    StepEnd::failed(
        StepFault::Host,
        format!(
            "the engine at {endpoint} does not share this machine's files: a container of it does not see {path}"
        ),
        "run retrial on the engine's own machine; engines elsewhere come with a later release",
    )
}

pub fn start_fault(error: &EngineError) -> String {
    let text = error.to_string();
    if text.contains("/bin/sh") && (text.contains("no such file") || text.contains("not found")) {
        return format!(
            "the image has no /bin/sh, which Retrial's first process and steps need\n  {text}"
        );
    }
    text
}

/// The first bind mount whose source is not there.
fn missing_mount(container: &ContainerSpec) -> Option<&str> {
    let sources = container.mounts.iter().map(|mount| mount.source.as_str());
    sources
        .filter(|source| source.starts_with('/'))
        .find(|source| !Path::new(source).exists())
}

/// What tells a container of this run: without them it is never touched.
pub fn own_labels(session: &Session) -> BTreeMap<String, String> {
    let path = session.run.path().display().to_string();
    BTreeMap::from([
        (RUN_LABEL.to_owned(), session.run.id().to_owned()),
        (PATH_LABEL.to_owned(), path),
        (USER_LABEL.to_owned(), user()),
    ])
}

/// Whoever runs us, by name or number.
fn user() -> String {
    let name = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    name.unwrap_or_else(|| {
        let id = rustix::process::getuid().as_raw().to_string();
        // A cron job or a container has no such variable.
        let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        named(&known, &id).unwrap_or(id)
    })
}

/// The name of a user by its id, in a file like `/etc/passwd`.
fn named(known: &str, id: &str) -> Option<String> {
    known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1) == Some(id)).then(|| name.to_owned())
    })
}

/// The container with what belongs to this run: name, labels, control directory.
fn spec_of(session: &Session, suffix: &str, models: Vec<Mount>, kept: Kept) -> ContainerSpec {
    let mut spec = session.plan.container.clone();
    spec.name = format!("retrial-{}{suffix}", session.run.id());
    spec.mounts.extend(models);
    spec.mounts.extend(kept.mounts);
    spec.control = Some(session.control.path().display().to_string());
    spec.labels = own_labels(session);
    if !kept.labels.is_empty() {
        spec.labels
            .insert(KEPT_LABEL.to_owned(), kept.labels.join(","));
    }
    spec.labels
        .extend(claim_of(session).map(|gpus| (GPU_LABEL.to_owned(), gpus)));
    spec
}

/// Removes the run's container, if there is one.
pub async fn remove(session: &Session) -> Result<(), RunError> {
    let Some(id) = session.state().container else {
        return Ok(());
    };
    restore_ownership(session, &id).await;
    session.engine.remove(&id).await?;
    session.say(None, What::ContainerRemoved { id })?;
    Ok(())
}

/// The last step of a plan.
pub async fn remove_step(session: &Session) -> Result<StepEnd, RunError> {
    match remove(session).await {
        Ok(()) => Ok(StepEnd::Done { exit_code: None }),
        Err(RunError::Engine(error)) => Ok(StepEnd::failed(
            StepFault::Host,
            error.to_string(),
            format!("it is labelled: retrial clean {}", session.run.id()),
        )),
        Err(error) => Err(error),
    }
}

/// Leaves nothing running. The container goes, unless results are in it that were not fetched:
/// then it stays, stopped, and a resumed run takes them out. Says so.
pub async fn teardown(session: &Session) -> Result<Option<SkipReason>, RunError> {
    let state = session.state();
    let Some(id) = state
        .container
        .clone()
        .filter(|_| state.uncollected(&session.plan))
    else {
        remove(session).await?;
        return Ok(None);
    };
    restore_ownership(session, &id).await;
    session.engine.stop(&id, 10).await?;
    let run = session.run.id().to_owned();
    Ok(Some(SkipReason::ContainerStopped { run }))
}

/// Gives what the container wrote below the control directory back to us, following no link.
/// Only somebody who is not root needs it.
async fn restore_ownership(session: &Session, id: &str) {
    let user = rustix::process::getuid();
    if user.is_root() {
        return;
    }
    let owner = format!("{}:{}", user.as_raw(), rustix::process::getgid().as_raw());
    let spec = ExecSpec {
        command: ["chown", "-hR", &owner, first_process::CONTROL]
            .map(str::to_owned)
            .to_vec(),
        user: Some("0".to_owned()),
        ..Default::default()
    };
    let _ = session.engine.exec(id, &spec).await;
}
