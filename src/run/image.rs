//! The image: pulled or built.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::sync::mpsc::unbounded_channel;

use super::error::RunError;
use super::quiet;
use super::session::Session;
use crate::plan::options::PullPolicy;
use crate::plan::step::{BuildStep, Step};
use crate::store::journal::{StepEnd, StepFault, Transfer, TransferState, TransferUnit, What};
use retrial_container::ImageRef;
use retrial_engine::api::{BuildSpec, ImageInfo, ImageProgress};
use retrial_engine::credentials;
use retrial_engine::error::EngineError;
use retrial_readings::sanitize;

/// Pulls the image as the policy says.
pub async fn pull(
    session: &Session,
    step: &Step,
    reference: &str,
    policy: PullPolicy,
) -> Result<StepEnd, RunError> {
    if policy != PullPolicy::Always
        && let Some(end) = there_already(session, step, reference, policy).await?
    {
        return Ok(end);
    }
    let disturbing = quiet::disturbing(session).await;
    // It may have been pulled ahead while this run waited.
    if disturbing.is_some()
        && policy != PullPolicy::Always
        && let Some(end) = there_already(session, step, reference, policy).await?
    {
        return Ok(end);
    }
    let auth = match credentials::for_image(reference).await {
        Ok(auth) => auth,
        Err(error) => return Ok(failed(error.to_string(), "")),
    };
    let pulled = watched(session, step, |progress| {
        session.engine.pull(reference, auth, progress)
    })
    .await;
    match pulled {
        Some(Ok(image)) => {
            moved(session, step, reference).await?;
            found(session, step, image)
        }
        Some(Err(error)) => Ok(failed(error.to_string(), "")),
        None => Ok(StepEnd::Stopped),
    }
}

/// How the step ends where the engine has the image, or may not pull it.
async fn there_already(
    session: &Session,
    step: &Step,
    reference: &str,
    policy: PullPolicy,
) -> Result<Option<StepEnd>, RunError> {
    Ok(match session.engine.image(reference).await {
        Ok(Some(image)) => {
            let decision = "the engine has it: not pulled".to_owned();
            session.say(Some(step), What::Decided { decision })?;
            Some(found(session, step, image)?)
        }
        Ok(None) if policy == PullPolicy::Never => Some(failed(
            format!("the engine has no image {reference}, and --pull never says not to pull it"),
            "pull it yourself, or use --pull missing",
        )),
        Ok(None) => None,
        Err(error) => Some(failed(error.to_string(), "")),
    })
}

/// Says that a locked tag is another image by now. The lock's is used all the same, and a registry
/// that does not answer is no fault.
async fn moved(session: &Session, step: &Step, reference: &str) -> Result<(), RunError> {
    let Ok(mut reference) = ImageRef::parse(reference) else {
        return Ok(());
    };
    let Some(locked) = reference.digest.take() else {
        return Ok(());
    };
    if session.plan.lock.is_none() {
        return Ok(());
    }
    let tagged = &reference.to_string();
    let auth = credentials::for_image(tagged).await.ok().flatten();
    let now = session.engine.registry_digest(tagged, auth).await;
    if let Some(now) = now.ok().filter(|now| *now != locked) {
        let text = format!("{tagged}: the lock has {locked}, the registry now has {now}");
        session.say(Some(step), What::Warning { text })?;
    }
    Ok(())
}

/// Builds the image.
pub async fn build(session: &Session, step: &Step, build: &BuildStep) -> Result<StepEnd, RunError> {
    let tag = &build.tag;
    let labels = BTreeMap::from([(
        "io.retrial.recipe".to_owned(),
        session.plan.recipe_hash.clone(),
    )]);
    let spec = BuildSpec {
        context: PathBuf::from(&build.context),
        dockerfile: build.dockerfile.clone(),
        args: build.args.clone(),
        tag: tag.clone(),
        labels,
    };
    let directory = session.run.steps().join(step.directory());
    std::fs::create_dir_all(&directory)
        .map_err(crate::store::StoreError::io("create", &directory))?;
    let _disturbing = quiet::disturbing(session).await;
    let built = watched(session, step, |progress| {
        session.engine.build(&spec, progress)
    })
    .await;
    match built {
        Some(Ok(image)) => found(session, step, image),
        Some(Err(EngineError::Build {
            because,
            last_lines,
            ..
        })) => Ok(StepEnd::Failed {
            fault: StepFault::Command,
            because: format!("the build of {tag} failed: {because}"),
            exit_code: None,
            last_lines,
            advice: format!("the whole log: {}", directory.join("output.log").display()),
        }),
        Some(Err(error)) => Ok(failed(error.to_string(), "")),
        None => Ok(StepEnd::Stopped),
    }
}

fn found(session: &Session, step: &Step, image: ImageInfo) -> Result<StepEnd, RunError> {
    let what = What::Image {
        id: image.id,
        digests: image.repo_digests,
        size: image.size,
    };
    session.say(Some(step), what)?;
    Ok(StepEnd::Done { exit_code: None })
}

fn failed(because: String, advice: &str) -> StepEnd {
    StepEnd::Failed {
        fault: StepFault::Host,
        because,
        exit_code: None,
        last_lines: Vec::new(),
        advice: advice.to_owned(),
    }
}

/// The state that a status of Docker's stands for; none for one that says nothing of it.
fn layer_state(status: &str) -> Option<TransferState> {
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

/// Runs a pull or a build, shows its progress and keeps its log; none if the run is stopped.
async fn watched<F, R>(
    session: &Session,
    step: &Step,
    work: F,
) -> Option<Result<ImageInfo, EngineError>>
where
    F: FnOnce(tokio::sync::mpsc::UnboundedSender<ImageProgress>) -> R,
    R: std::future::Future<Output = Result<ImageInfo, EngineError>>,
{
    let (sender, mut receiver) = unbounded_channel();
    let directory = session.run.steps().join(step.directory());
    let mut log = std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::File::create(directory.join("output.log")))
        .ok();
    let work = work(sender);
    tokio::pin!(work);
    let mut keep = |progress: ImageProgress| {
        use std::io::Write as _;
        let what = match progress {
            ImageProgress::Layer {
                id,
                status,
                current,
                total,
            } => {
                let Some(state) = layer_state(&status) else {
                    return;
                };
                What::Transfer(Transfer {
                    unit: TransferUnit::Layer,
                    part: id,
                    state,
                    current,
                    total: total.filter(|total| *total > 0),
                })
            }
            ImageProgress::Line(line) => {
                if let Some(log) = &mut log {
                    let _ = writeln!(log, "{line}");
                }
                What::Output {
                    line: sanitize(&line).into_owned(),
                }
            }
            ImageProgress::Retry {
                because,
                attempt,
                after_ms,
            } => {
                let text = format!(
                    "{because}: try {attempt} in {:.1} s",
                    f64::from(u32::try_from(after_ms).unwrap_or(u32::MAX)) / 1000.0
                );
                let _ = session.say(Some(step), What::Warning { text });
                return;
            }
        };
        session.show(step, what);
    };
    let result = loop {
        tokio::select! {
            biased;
            () = session.stop.cancelled() => return None,
            Some(progress) = receiver.recv() => keep(progress),
            result = &mut work => break result,
        }
    };
    while let Ok(progress) = receiver.try_recv() {
        keep(progress);
    }
    Some(result)
}
