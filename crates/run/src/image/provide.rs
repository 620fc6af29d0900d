//! The image: pulled or built.

use std::collections::BTreeMap;
use std::io::Write as _;

use tokio::sync::mpsc::UnboundedSender;

use crate::container::resolve_context;
use crate::error::Halt;
use crate::interrupt::run_unless_stopped;
use crate::progress::run_with_progress;
use crate::step::StepSession;
use retrial_container::ImageRef;
use retrial_engine::api::{BuildSpec, ImageInfo, ImageProgress};
use retrial_engine::credentials;
use retrial_engine::error::EngineError;
use retrial_plan::options::PullPolicy;
use retrial_plan::step::BuildStep;
use retrial_readings::sanitize;
use retrial_store::StoreError;
use retrial_store::journal::{
    EventKind, LiveEvent, StepEnd, StepFault, Transfer, TransferState, TransferUnit,
};

/// Pulls the image according to the policy.
pub async fn pull_image(
    session: &StepSession<'_>,
    reference: &str,
    policy: PullPolicy,
) -> Result<(), Halt> {
    if is_present(session, reference, policy).await? {
        return Ok(());
    }
    let exclusive = session.run_session.lock_exclusive().await;
    // It may have been pulled ahead while this run waited.
    if exclusive.is_some() && is_present(session, reference, policy).await? {
        return Ok(());
    }
    // A credential helper may wait for somebody.
    let auth = run_unless_stopped(
        &session.run_session.stop,
        credentials::find_image_credentials(reference),
    )
    .await??;
    let pull = async |progress: UnboundedSender<_>| {
        session
            .with_engine(|engine| engine.pull_image(reference, auth.clone(), progress.clone()))
            .await
    };
    let image = run_with_log(session, pull).await?;
    warn_if_moved(session, reference).await?;
    record_image(session, image)
}

/// Returns whether the engine has the image and the policy allows using it.
async fn is_present(
    session: &StepSession<'_>,
    reference: &str,
    policy: PullPolicy,
) -> Result<bool, Halt> {
    let image = session.with_engine(|engine| engine.find_image(reference)).await?;
    // A resumed run keeps its original image, even if the tag has moved.
    let is_before = image.as_ref().map(|image| &image.id) == recorded_image(session).as_ref();
    if policy == PullPolicy::Always && (image.is_none() || !is_before) {
        return Ok(false);
    }
    match image {
        Some(image) => {
            session.record_decision("already present, not pulled".to_owned())?;
            record_image(session, image)?;
            Ok(true)
        }
        None if policy == PullPolicy::Never => Err(Halt::failure(
            StepFault::Host,
            format!("the engine has no image {reference}, and the plan does not pull it"),
            "build it or pull it yourself, or use --pull missing if a registry has it",
        )),
        None => Ok(false),
    }
}

/// Warns if a locked tag now refers to another image. The locked image is used anyway, and an unreachable
/// registry is not an error.
async fn warn_if_moved(session: &StepSession<'_>, reference: &str) -> Result<(), Halt> {
    let Ok(mut reference) = ImageRef::parse(reference) else {
        return Ok(());
    };
    let Some(locked) = reference.digest.take() else {
        return Ok(());
    };
    if session.run_session.plan.lock.is_none() {
        return Ok(());
    }
    let tagged = &reference.to_string();
    let found_auth =
        run_unless_stopped(&session.run_session.stop, credentials::find_image_credentials(tagged))
            .await?;
    let auth = found_auth.ok().flatten();
    let query = session.with_engine(|engine| engine.fetch_registry_digest(tagged, auth.clone()));
    let now = query.await;
    if let Some(now) = now.ok().filter(|now| *now != locked) {
        let text = format!("{tagged}: the lock has {locked}, the registry now has {now}");
        session.warn(text)?;
    }
    Ok(())
}

/// Builds the image from the recipe's Dockerfile, and records it.
pub async fn build_image(session: &StepSession<'_>, build: &BuildStep) -> Result<(), Halt> {
    let label = "io.retrial.recipe".to_owned();
    let spec = BuildSpec {
        context: resolve_context(session.run_session, &build.context).await?,
        dockerfile: build.dockerfile.clone(),
        args: build.args.clone(),
        tag: build.tag.clone(),
        labels: BTreeMap::from([(label, session.run_session.plan.recipe_hash.clone())]),
    };
    let _exclusive = session.run_session.lock_exclusive().await;
    let build = async |progress: UnboundedSender<_>| {
        session.with_engine(|engine| engine.build_image(&spec, progress.clone())).await
    };
    let image = run_with_log(session, build).await?;
    record_image(session, image)
}

/// Returns the image that the run is launched from, if an earlier process recorded it; services have their own.
fn recorded_image(session: &StepSession<'_>) -> Option<String> {
    let is_launched = session.step.container.is_none();
    session.run_session.state().image.clone().filter(|_| is_launched)
}

/// Records the image that is launched.
fn record_image(session: &StepSession<'_>, image: ImageInfo) -> Result<(), Halt> {
    if let Some(before) = recorded_image(session).filter(|before| *before != image.id) {
        let text = format!("the run began with the image {before}; resumed with {}", image.id);
        session.warn(text)?;
    }
    let event = EventKind::Image { id: image.id, digests: image.repo_digests, size: image.size };
    Ok(session.record(event)?)
}

/// Maps Docker's status to a state, if it has one.
fn to_transfer_state(status: &str) -> Option<TransferState> {
    match status {
        "Pulling fs layer" | "Waiting" => Some(TransferState::Waiting),
        "Downloading" => Some(TransferState::Downloading),
        "Verifying Checksum" | "Download complete" => Some(TransferState::Downloaded),
        "Extracting" => Some(TransferState::Extracting),
        "Pull complete" => Some(TransferState::Done),
        "Already exists" => Some(TransferState::Cached),
        _ if status.starts_with("Retrying") => Some(TransferState::Waiting),
        _ => None,
    }
}

/// Runs a pull or a build until the run is to stop, emits its progress and writes its log.
async fn run_with_log(
    session: &StepSession<'_>,
    work: impl AsyncFnOnce(UnboundedSender<ImageProgress>) -> Result<ImageInfo, EngineError>,
) -> Result<ImageInfo, Halt> {
    let directory = session.step_directory(&session.run_session.run);
    std::fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
    let path = session.output_path(&session.run_session.run);
    let mut log = std::fs::File::create(&path).ok();
    let emit = |progress: Option<ImageProgress>| {
        let Some(progress) = progress else {
            return session
                .emit(LiveEvent::Waiting { on: "the engine, or its registry".to_owned() });
        };
        let event = match progress {
            ImageProgress::Layer { id, status, current, total } => {
                let Some(state) = to_transfer_state(&status) else {
                    return;
                };
                LiveEvent::Transfer(Transfer {
                    unit: TransferUnit::Layer,
                    part: id,
                    state,
                    current,
                    total: total.filter(|total| *total > 0),
                })
            }
            ImageProgress::Line(line) => {
                if let Some(log) = &mut log {
                    // The step does not depend on its log; a full disk fails the journal.
                    let _ = writeln!(log, "{line}");
                }
                LiveEvent::Output { line: sanitize(&line).into_owned() }
            }
            ImageProgress::Retry { reason, attempt, after_ms } => {
                let seconds = f64::from(u32::try_from(after_ms).unwrap_or(u32::MAX)) / 1000.0;
                let text = format!("{reason}: attempt {attempt} in {seconds:.1} s");
                // A journal that cannot be written fails the step at its end.
                let _ = session.warn(text);
                return;
            }
        };
        session.emit(event);
    };
    let work = run_with_progress(work, emit);
    let result = session.run_session.stop.run_until_cancelled(work).await;
    result.ok_or(StepEnd::Stopped)?.map_err(|error| match error {
        EngineError::Build { tag, reason, last_lines, .. } => {
            let reason = format!("the build of {tag} failed: {reason}");
            let advice = format!("the whole log: {}", path.display());
            let end = StepEnd::failure(StepFault::Command, reason, advice);
            end.with_last_lines(|| last_lines).into()
        }
        error => error.into(),
    })
}
