//! The process that executes a batch: its lock, its plan, its journal, and the events that it emits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::run_maker::RunMaker;
use super::tasks::read_journal;
use super::workers::WorkerQueues;
use crate::journal::{BatchEvent, BatchEventKind, BatchState, CellFailure, TrialRunEnd};
use crate::{BatchPlan, PullAhead};
use retrial_engine::api::Engine;
use retrial_run::SessionOptions;
use retrial_run::measurement_lock::MeasurementLock;
use retrial_store::RecordDirectory;
use retrial_store::journal::Event;
use retrial_store::journal::Journal;
use retrial_store::lock::FileLock;
use retrial_store::{Home, StoreError};

/// An event of a batch, for displays of its progress.
#[derive(Debug)]
pub enum ProgressEvent {
    Batch(BatchEvent),
    /// An event of a trial run's run.
    Run {
        trial_run: usize,
        event: Event,
    },
}

/// A batch, with all that a process needs to execute it.
pub struct BatchJob<'a> {
    /// The directory of all runs.
    pub home: Home,
    pub engine: Arc<dyn Engine>,
    /// The batch's directory, with its journal.
    pub directory: RecordDirectory,
    /// The cells, the schedule and the claims.
    pub plan: BatchPlan,
    /// The trial runs of each worker.
    pub workers: WorkerQueues,
    /// The name of this host, if the batch's trial runs are distributed over several: what another one has
    /// measured of these is measured again.
    pub host: Option<String>,
    /// Makes ordinary runs of trial runs.
    pub run_maker: &'a dyn RunMaker,
    /// How each run is executed.
    pub options: SessionOptions,
    pub events: UnboundedSender<ProgressEvent>,
}

/// A process's exclusive execution of a batch.
pub struct BatchSession<'a> {
    /// The batch, and what it is executed with.
    pub job: BatchJob<'a>,
    /// Cancelled when the batch is to stop.
    pub stop: CancellationToken,
    /// A run has come so far that images may be pulled ahead of others.
    pub(super) pull_allowed: Notify,
    emitter: Emitter,
    halt_reason: OnceLock<String>,
    /// Cells, by position, of which every further trial would fail as one did in this process.
    failed_cells: Mutex<BTreeMap<usize, TrialRunEnd>>,
    lock: Arc<FileLock>,
}

/// The journal and the state that it gives.
struct RecordedState {
    journal: Journal,
    state: BatchState,
}

/// Records events of a batch from another task, such as the handler of signals.
#[derive(Clone)]
pub struct Emitter {
    journal: Arc<Mutex<RecordedState>>,
    events: UnboundedSender<ProgressEvent>,
}

impl<'a> BatchSession<'a> {
    /// Locks a batch and opens its journal: a new batch, or one that was interrupted.
    ///
    /// # Errors
    /// If another process has it, or its files cannot be read or written.
    pub fn open(mut job: BatchJob<'a>) -> Result<Self, StoreError> {
        let directory = &job.directory;
        let lock = FileLock::acquire(&directory.lock_path(), directory.id())?;
        let state = read_journal(directory)?;
        let recorded = RecordedState { journal: Journal::open(&directory.journal_path())?, state };
        job.options.measurement_lock =
            (job.plan.execution.pull_ahead != PullAhead::During).then(MeasurementLock::default);
        let emitter =
            Emitter { journal: Arc::new(Mutex::new(recorded)), events: job.events.clone() };
        Ok(Self {
            job,
            stop: CancellationToken::new(),
            pull_allowed: Notify::new(),
            emitter,
            halt_reason: OnceLock::new(),
            failed_cells: Mutex::default(),
            lock: Arc::new(lock),
        })
    }

    /// Returns an answer from the state of the batch.
    pub fn with_state<T>(&self, question: impl FnOnce(&BatchState) -> T) -> T {
        question(&self.emitter.lock_recorded().state)
    }

    /// Records an event: in the journal first, then for receivers.
    ///
    /// # Errors
    /// If the journal cannot be written: then nothing more may be started.
    pub fn record(&self, what: BatchEventKind) -> Result<(), StoreError> {
        self.emitter.emit(what)
    }

    /// Returns a weak reference to the batch's lock, by which a background process takes it over.
    pub fn share_lock(&self) -> Weak<FileLock> {
        Arc::downgrade(&self.lock)
    }

    /// Returns an emitter for another task.
    pub fn emitter(&self) -> Emitter {
        self.emitter.clone()
    }

    /// Returns the numbers of its trial runs, in the order of the schedule.
    pub(super) fn trial_runs(&self) -> Vec<usize> {
        let mut all = self.job.workers.concat();
        all.sort_unstable();
        all
    }

    /// Describes a trial run: `rocm=7.1.1, trial 2`.
    pub(super) fn describe_trial_run(&self, number: usize) -> String {
        match self.job.plan.trial_run_with_cell(number) {
            Some((trial_run, cell)) => format!("{}, trial {}", cell.name, trial_run.trial),
            None => format!("trial run {number}"),
        }
    }

    /// Remembers the end of a trial run if its cell's other trials would end in the same way.
    pub(super) fn remember_failure(&self, trial_run: usize, end: &TrialRunEnd) {
        let repeats = end.failure.as_ref().is_some_and(CellFailure::repeats);
        if let Some(planned) = self.job.plan.trial_run(trial_run).filter(|_| repeats) {
            let end = TrialRunEnd { run: None, outcome: None, seconds: 0.0, ..end.clone() };
            self.lock_failed_cells().insert(planned.cell, end);
        }
    }

    /// Returns how a trial run ends without being started, if another trial of its cell has shown that.
    pub(super) fn known_end(&self, trial_run: usize) -> Option<TrialRunEnd> {
        let cell = self.job.plan.trial_run(trial_run)?.cell;
        self.lock_failed_cells().get(&cell).cloned()
    }

    fn lock_failed_cells(&self) -> MutexGuard<'_, BTreeMap<usize, TrialRunEnd>> {
        self.failed_cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts no further trial run; the first reason stays.
    pub(super) fn halt(&self, reason: String) {
        self.halt_reason.get_or_init(|| reason);
    }

    /// Returns why no further trial run is started, if that is so.
    pub(super) fn halt_reason(&self) -> Option<&String> {
        self.halt_reason.get()
    }
}

impl Emitter {
    fn lock_recorded(&self) -> MutexGuard<'_, RecordedState> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an event, as [`BatchSession::record`]; a live event is only shown.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn emit(&self, what: BatchEventKind) -> Result<(), StoreError> {
        let event = BatchEvent::now(what);
        if event.what.is_stored() {
            let mut recorded = self.lock_recorded();
            recorded.journal.write(&event)?;
            recorded.state.apply(&event);
        }
        // Without a receiver the batch continues.
        let _ = self.events.send(ProgressEvent::Batch(event));
        Ok(())
    }
}
