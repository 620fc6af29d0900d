//! Models of the hub: fetched on this machine before the container is made, and written down so
//! that the container's mounts, the host's record and a resume know which bytes they were.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::error::RunError;
use super::session::Session;
use crate::plan::commit::{NamesCommits, commit_later};
use crate::plan::model::ModelFetch;
use crate::plan::step::Step;
use crate::store::journal::{self, StepEnd, StepFault, What};
use crate::store::{RunDirectory, StoreError};
use retrial_hub::{Digest, FetchError, Fetched, Hub, ModelSpec, Progress, Snapshot, TransferState};

/// What was fetched, by the model's key.
const RECORD: &str = "models.json";
/// Warnings of one step that the journal keeps: a bad network must not fill it.
const KEPT_WARNINGS: usize = 20;

/// The models that a run has fetched, by their keys.
///
/// # Errors
/// Where the record is there and is not one.
pub fn fetched(run: &RunDirectory) -> Result<BTreeMap<String, Fetched>, StoreError> {
    if run.join(RECORD).exists() {
        run.read_json(RECORD)
    } else {
        Ok(BTreeMap::new())
    }
}

/// Returns a part of the plan with the commits of the models that were fetched.
pub fn with_commits<T: NamesCommits + Clone>(session: &Session, planned: &T) -> T {
    let mut part = planned.clone();
    let models = session.state().models;
    let known: Vec<(String, &String)> = models
        .iter()
        .map(|(model, commit)| (commit_later(model), commit))
        .collect();
    for text in part.texts() {
        for (later, commit) in &known {
            if text.contains(later) {
                *text = text.replace(later, commit);
            }
        }
    }
    part
}

/// The request to the hub.
#[must_use]
pub fn spec(model: &ModelFetch) -> ModelSpec {
    ModelSpec {
        repository: model.repository.clone(),
        revision: model.revision.clone(),
        allow: model.allow.clone(),
        ignore: model.ignore.clone(),
    }
}

/// Fetches a model. A run that is taken up again stays with the commit that it had.
pub(super) async fn fetch(
    session: &Session,
    step: &Step,
    model: &str,
    spec: &ModelSpec,
    locked: &BTreeMap<String, String>,
) -> Result<StepEnd, RunError> {
    let mut show = Show {
        session,
        step,
        warnings: 0,
        waited_for: BTreeSet::new(),
    };
    match get(&mut show, model, spec, locked).await {
        Ok(fetched) => {
            write_down(session, step, model, fetched)?;
            Ok(StepEnd::Done { exit_code: None })
        }
        Err(Fault::Run(error)) => Err(error.into()),
        Err(Fault::Other(because)) => Ok(StepEnd::failed(
            StepFault::Host,
            because,
            "a commit never changes: this is not the hub that was locked, or the lock was changed",
        )),
        Err(Fault::Hub(FetchError::Stopped)) => Ok(StepEnd::Stopped),
        Err(Fault::Hub(error)) => {
            let fault = if error.is_request() {
                StepFault::Request
            } else {
                StepFault::Host
            };
            // The error says itself what to do.
            Ok(StepEnd::failed(fault, error.to_string(), ""))
        }
    }
}

/// The first file that is not what the lock says; the lock knows every file of the commit.
fn not_as_locked(snapshot: &Snapshot, locked: &BTreeMap<String, String>) -> Option<String> {
    if locked.is_empty() {
        return None;
    }
    snapshot.files.iter().find_map(|file| {
        let (path, found) = (&file.path, hash(&file.digest));
        match locked.get(path) {
            Some(locked) if *locked == found => None,
            Some(locked) => Some(format!(
                "{path}: the lock has {locked}, the hub has {found}"
            )),
            None => Some(format!("{path}: the hub has it, and the lock does not")),
        }
    })
}

/// `sha256:…` or `git:…`, as locks have it.
#[must_use]
pub fn hash(digest: &Digest) -> String {
    match digest {
        Digest::Sha256(hex) => format!("sha256:{hex}"),
        Digest::Git(hex) => format!("git:{hex}"),
    }
}

/// Whose fault it is that a model is not there.
enum Fault {
    Hub(FetchError),
    Run(StoreError),
    /// Another file than the lock has.
    Other(String),
}

impl From<FetchError> for Fault {
    fn from(error: FetchError) -> Self {
        Self::Hub(error)
    }
}

async fn get(
    show: &mut Show<'_>,
    model: &str,
    spec: &ModelSpec,
    locked: &BTreeMap<String, String>,
) -> Result<Fetched, Fault> {
    let (session, step) = (show.session, show.step);
    let hub = &Hub::from_environment()?;
    let before = session.state().models.remove(model);
    let pinned = &ModelSpec {
        revision: before.clone().unwrap_or_else(|| spec.revision.clone()),
        ..spec.clone()
    };
    let stopped = &session.stop;
    let resolve = async |to: UnboundedSender<Progress>| hub.resolve(pinned, &to, stopped).await;
    let snapshot = &show.follow(resolve).await?;
    if let Some(because) = not_as_locked(snapshot, locked) {
        return Err(Fault::Other(because));
    }
    if before.is_none() {
        let what = What::ModelResolved {
            model: model.to_owned(),
            repository: spec.repository.clone(),
            revision: spec.revision.clone(),
            commit: snapshot.commit.clone(),
        };
        session.say(Some(step), what).map_err(Fault::Run)?;
    }
    let fetch = async |to: UnboundedSender<Progress>| hub.fetch(snapshot, &to, stopped).await;
    let mut fetched = show.follow(fetch).await?;
    fetched.revision.clone_from(&spec.revision);
    Ok(fetched)
}

fn write_down(
    session: &Session,
    step: &Step,
    model: &str,
    fetched: Fetched,
) -> Result<(), StoreError> {
    let mut host: Value = session.run.read_json("host.json")?;
    host["models"][model] = json!({
        "repository": fetched.repository,
        "revision": fetched.revision,
        "commit": fetched.commit,
    });
    session.run.write_json("host.json", &host)?;
    let what = What::Model {
        model: model.to_owned(),
        repository: fetched.repository.clone(),
        commit: fetched.commit.clone(),
        directory: fetched.directory.display().to_string(),
        files: fetched.files.len(),
        bytes: fetched.bytes(),
        bytes_fetched: fetched.bytes_fetched,
    };
    let mut all = self::fetched(&session.run)?;
    all.insert(model.to_owned(), fetched);
    session.run.write_json(RECORD, &all)?;
    session.say(Some(step), what)
}

/// The state as the journal records it.
fn recorded(state: TransferState) -> journal::TransferState {
    match state {
        TransferState::Waiting => journal::TransferState::Waiting,
        TransferState::Downloading => journal::TransferState::Downloading,
        TransferState::Verifying => journal::TransferState::Verifying,
        TransferState::Done => journal::TransferState::Done,
        TransferState::Cached => journal::TransferState::Cached,
    }
}

/// Shows how a fetch goes on.
struct Show<'a> {
    session: &'a Session,
    step: &'a Step,
    warnings: usize,
    waited_for: BTreeSet<String>,
}

impl Show<'_> {
    /// Does the work and shows how it goes on. The work hears of a stop itself, so that what has
    /// arrived is written down before it ends.
    async fn follow<T>(
        &mut self,
        work: impl AsyncFnOnce(UnboundedSender<Progress>) -> Result<T, FetchError>,
    ) -> Result<T, FetchError> {
        let (sender, mut receiver) = unbounded_channel();
        let work = work(sender);
        tokio::pin!(work);
        let result = loop {
            tokio::select! {
                biased;
                Some(progress) = receiver.recv() => self.progress(progress),
                result = &mut work => break result,
            }
        };
        while let Ok(progress) = receiver.try_recv() {
            self.progress(progress);
        }
        result
    }

    fn progress(&mut self, progress: Progress) {
        match progress {
            Progress::File {
                path,
                state,
                current,
                total,
            } => self.session.show(
                self.step,
                What::Transfer(journal::Transfer {
                    unit: journal::TransferUnit::File,
                    part: path,
                    state: recorded(state),
                    current: Some(current),
                    total: Some(total),
                }),
            ),
            Progress::Retry {
                subject,
                reason,
                attempt,
                delay,
            } => self.warn(format!(
                "{subject}: {reason}: attempt {attempt} in {:.1} s",
                delay.as_secs_f64()
            )),
            Progress::Waiting { path, holder } => {
                if self.waited_for.insert(holder.clone()) {
                    self.warn(format!("{holder} is downloading {path}: waiting for it"));
                }
            }
            Progress::Discarded { path, reason } => {
                self.warn(format!("{path} discarded: {reason}"));
            }
            Progress::Warning(text) => self.warn(text),
        }
    }

    fn warn(&mut self, text: String) {
        self.warnings += 1;
        let what = What::Warning { text };
        if self.warnings <= KEPT_WARNINGS {
            // A journal that takes no more is found out by the step's end.
            let _ = self.session.say(Some(self.step), what);
        } else {
            self.session.show(self.step, what);
        }
    }
}
