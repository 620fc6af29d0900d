//! Models of the hub: fetched on this machine before the container is created, and recorded for the
//! container's mounts, the host's record and a resumed run.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::mpsc::UnboundedSender;

use crate::error::Halt;
use crate::progress::run_with_progress;
use crate::step::StepSession;
use retrial_host::record::ModelRecord;
use retrial_hub::{
    Digest, DownloadState, FetchProgress, FetchedModel, Hub, ModelSnapshot, ModelSpec,
};
use retrial_plan::model::ModelFetch;
use retrial_store::journal::{self, EventKind, LiveEvent, StepFault};
use retrial_store::{RunDirectory, StoreError};

/// The file with the fetched models, by key.
const MODELS_FILE: &str = "models.json";
/// Warnings of one step that the journal keeps: an unreliable network must not fill it.
const MAX_WARNINGS: usize = 20;

/// The models that a run has fetched, by their keys.
///
/// # Errors
/// If the file exists and cannot be read.
pub fn read_fetched_models(
    run: &RunDirectory,
) -> Result<BTreeMap<String, FetchedModel>, StoreError> {
    if run.join(MODELS_FILE).exists() { run.read_json(MODELS_FILE) } else { Ok(BTreeMap::new()) }
}

/// Returns the request to the hub. A plan stores more of a model (its key, lock and mount), and is pure, so that it
/// cannot hold a type of `hub`.
pub fn to_model_spec(model: &ModelFetch) -> ModelSpec {
    ModelSpec {
        repository: model.repository.clone(),
        revision: model.revision.clone(),
        allow: model.allow.clone(),
        ignore: model.ignore.clone(),
    }
}

/// Fetches a model. A resumed run keeps its commit.
pub(crate) async fn fetch_model(session: &StepSession<'_>, model: &ModelFetch) -> Result<(), Halt> {
    let (name, spec) = (&model.model, to_model_spec(model));
    let hub = &Hub::from_environment()?;
    let cancelled = &session.run_session.stop;
    let mut reporter =
        FetchReporter { session: *session, warnings: 0, waited_for: BTreeSet::new() };
    let before = session.run_session.state().models.get(name).cloned();
    let pinned = &ModelSpec {
        revision: before.clone().unwrap_or_else(|| spec.revision.clone()),
        ..spec.clone()
    };
    // The hub client itself observes the stop, so that received bytes are preserved.
    let resolve = async |to: UnboundedSender<_>| hub.resolve_snapshot(pinned, &to, cancelled).await;
    let snapshot =
        &run_with_progress(resolve, |progress| reporter.report_progress(progress)).await?;
    if let Some(reason) = find_lock_difference(snapshot, &model.locked) {
        return Err(Halt::failure(
            StepFault::Host,
            reason,
            "a commit never changes: this hub is not the locked one, or the lock file was edited",
        ));
    }
    if before.is_none() {
        let event = EventKind::ModelResolved {
            model: name.clone(),
            repository: spec.repository.clone(),
            revision: spec.revision.clone(),
            commit: snapshot.commit.clone(),
        };
        session.record(event)?;
    }
    let fetch = async |to: UnboundedSender<_>| hub.fetch_snapshot(snapshot, &to, cancelled).await;
    let mut fetched =
        run_with_progress(fetch, |progress| reporter.report_progress(progress)).await?;
    fetched.revision.clone_from(&spec.revision);
    Ok(record_model(session, name, fetched)?)
}

/// Returns the first file that differs from the lock, which lists every file of the commit.
fn find_lock_difference(
    snapshot: &ModelSnapshot,
    locked: &BTreeMap<String, String>,
) -> Option<String> {
    if locked.is_empty() {
        return None;
    }
    snapshot.files.iter().find_map(|file| {
        let (path, found) = (&file.path, format_digest(&file.digest));
        match locked.get(path) {
            Some(locked) if *locked == found => None,
            Some(locked) => Some(format!("{path}: the lock has {locked}, the hub has {found}")),
            None => Some(format!("{path}: the hub has it, and the lock does not")),
        }
    })
}

/// `sha256:…` or `git:…`, as locks have it.
pub fn format_digest(digest: &Digest) -> String {
    match digest {
        Digest::Sha256(hex) => format!("sha256:{hex}"),
        Digest::Git(hex) => format!("git:{hex}"),
    }
}

/// Records a model in the run's files and in the journal.
fn record_model(
    session: &StepSession<'_>,
    model: &str,
    fetched: FetchedModel,
) -> Result<(), StoreError> {
    let mut host = session.run_session.run.read_host_record()?;
    let record = ModelRecord {
        repository: fetched.repository.clone(),
        revision: fetched.revision.clone(),
        commit: fetched.commit.clone(),
    };
    host.models.insert(model.to_owned(), record);
    session.run_session.run.write_host_record(&host)?;
    let event = EventKind::Model {
        model: model.to_owned(),
        repository: fetched.repository.clone(),
        commit: fetched.commit.clone(),
        directory: fetched.directory.display().to_string(),
        files: fetched.files.len(),
        bytes: fetched.total_bytes(),
        bytes_fetched: fetched.bytes_fetched,
    };
    let mut all = self::read_fetched_models(&session.run_session.run)?;
    all.insert(model.to_owned(), fetched);
    session.run_session.run.write_json(MODELS_FILE, &all)?;
    session.record(event)
}

/// Returns the state as the journal records it: `hub` depends on no crate of ours, and the journal's states, which are
/// a stored format, are those of layers, too.
fn to_journal_state(state: DownloadState) -> journal::TransferState {
    match state {
        DownloadState::Waiting => journal::TransferState::Waiting,
        DownloadState::Downloading => journal::TransferState::Downloading,
        DownloadState::Verifying => journal::TransferState::Verifying,
        DownloadState::Done => journal::TransferState::Done,
        DownloadState::Cached => journal::TransferState::Cached,
    }
}

/// Reports the progress of a fetch.
struct FetchReporter<'a> {
    session: StepSession<'a>,
    warnings: usize,
    waited_for: BTreeSet<String>,
}

impl FetchReporter<'_> {
    fn report_progress(&mut self, progress: Option<FetchProgress>) {
        let Some(progress) = progress else {
            return self.session.emit(LiveEvent::Waiting { on: "the hub".to_owned() });
        };
        let text = match progress {
            FetchProgress::File { path, state, current, total } => {
                let transfer = journal::Transfer {
                    unit: journal::TransferUnit::File,
                    part: path,
                    state: to_journal_state(state),
                    current: Some(current),
                    total: Some(total),
                };
                return self.session.emit(LiveEvent::Transfer(transfer));
            }
            FetchProgress::Retry { subject, reason, attempt, delay } => {
                let seconds = delay.as_secs_f64();
                format!("{subject}: {reason}: attempt {attempt} in {seconds:.1} s")
            }
            FetchProgress::Waiting { path, holder } => {
                if !self.waited_for.insert(holder.clone()) {
                    return;
                }
                format!("{holder} is downloading {path}: waiting for it")
            }
            FetchProgress::Discarded { path, reason } => format!("{path} discarded: {reason}"),
            FetchProgress::Warning(text) => text,
        };
        self.warnings += 1;
        if self.warnings <= MAX_WARNINGS {
            // A journal that cannot be written fails the step at its end.
            let _ = self.session.warn(text);
        } else {
            self.session.emit(LiveEvent::Notice { text });
        }
    }
}
