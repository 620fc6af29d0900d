//! One process's hold on a run: engine, plan, journal and events.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::engine::EngineAccess;
use super::measurement_lock::{ExclusiveGuard, MeasurementLock, SharedGuard};
use crate::control::{ControlDirectory, DEADLINE_GRACE_S, DEADLINE_RENEWAL_INTERVAL};
use crate::detection::ChildHistory;
use crate::error::{Halt, RunError};
use crate::mutex::lock;
use crate::nodes::{NodeFailures, PeerNodes, RunMachine};
use crate::redact::Redactor;
use retrial_engine::EngineError;
use retrial_engine::api::Engine;
use retrial_host::is_disk_full;
use retrial_plan::service_containers;
use retrial_plan::step::{Plan, Step};
use retrial_store::companions::Companions;
use retrial_store::journal::{Event, EventKind, Journal, JournalState, StepEnd};
use retrial_store::lock::FileLock;
use retrial_store::{RunDirectory, StoreError, scratch};

/// The options with which this process executes the run.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Emit every line of output as an event, not only the latest lines at intervals.
    pub all_output: bool,
    /// Performance without accuracy is inconclusive.
    pub require_accuracy: bool,
    /// The longest time for which an engine may be unavailable when it is needed.
    pub patience: Duration,
    /// The root of the host's files, for the sensors of its GPUs.
    pub root: PathBuf,
    /// Shared by the runs of a batch and the pulls of their images; none for a single run.
    pub measurement_lock: Option<MeasurementLock>,
    /// This machine, where a run has several.
    pub machine: Option<RunMachine>,
    /// A directory on this machine's own disk, if its engine cannot reach the run's directory.
    pub scratch: Option<PathBuf>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            all_output: false,
            require_accuracy: false,
            patience: Duration::from_mins(1),
            root: PathBuf::from("/"),
            measurement_lock: None,
            machine: None,
            scratch: None,
        }
    }
}

/// The state of one process that executes a run: engine, plan, journal and events.
pub struct RunSession {
    /// The engine, which may be unavailable for a while.
    pub(crate) engine: EngineAccess,
    /// The run's directory, in the home that machines may share.
    pub run: RunDirectory,
    /// The directory for control directories and growing output, which the engine can access: the run's
    /// directory, or one on this machine's own disk.
    pub(crate) local: RunDirectory,
    /// The plan, as it was approved.
    pub plan: Plan,
    /// The run's copy of the recipe's files, on the disk that the engine reads.
    pub(crate) companions: Companions,
    /// The control directory of the run's own container.
    pub control: ControlDirectory,
    /// The control directory of steps on the host.
    pub host_control: ControlDirectory,
    /// The control directories of services with containers of their own, by the service's name.
    pub(crate) service_controls: BTreeMap<String, ControlDirectory>,
    /// Cancelled when the run must stop.
    pub stop: CancellationToken,
    /// Values of the secrets, by name.
    pub secrets: BTreeMap<String, String>,
    /// Removes the secrets from output and results; none without secrets.
    pub(crate) redactor: Option<Arc<Redactor>>,
    /// The options with which this process executes the run.
    pub options: SessionOptions,
    journal: Mutex<Journal>,
    pub(crate) state: Mutex<Arc<JournalState>>,
    pub(crate) events: UnboundedSender<Event>,
    /// The other machines, if this process directs them.
    pub(crate) others: Option<PeerNodes>,
    /// Failures on other machines.
    pub(crate) failures: NodeFailures,
    /// The history of each step's child processes, by the step's number.
    pub(crate) children: Mutex<BTreeMap<u32, ChildHistory>>,
    lock: Arc<FileLock>,
}

impl RunSession {
    /// Acquires the lock of a new or interrupted run, and reads its state.
    ///
    /// # Errors
    /// If another process has it, or its files cannot be read or written.
    pub fn open(
        engine: Arc<dyn Engine>,
        run: RunDirectory,
        events: UnboundedSender<Event>,
        secrets: BTreeMap<String, String>,
        options: SessionOptions,
    ) -> Result<Self, RunError> {
        let lock = FileLock::acquire(&run.lock_path(), run.id())?;
        let plan: Plan = run.read_json("plan.json")?;
        let path = run.journal_path();
        let before = if path.exists() { Journal::read::<Event>(&path)? } else { Vec::new() };
        let journal = Journal::open(&path)?;
        let redactor = Redactor::new(&secrets).map_err(|error| StoreError::Unusable {
            path: run.path().to_owned(),
            reason: format!("its secrets cannot be searched for: {error}"),
        })?;
        let local = match &options.scratch {
            Some(scratch) => scratch::create_run_scratch(scratch, &run)?,
            None => run.clone(),
        };
        let companions = Companions::of_run(&local);
        if let Some(digest) = &plan.companions {
            companions.provide(&Companions::of_run(&run).root(), digest)?;
        }
        let (control, host_control) =
            (ControlDirectory::for_run(&local), ControlDirectory::for_host(&local));
        let services = service_containers(&plan.steps).map(|(service, _)| {
            let control = ControlDirectory::for_service(&local, &service.service);
            (service.service.clone(), control)
        });
        let service_controls = services.collect();
        let stop = CancellationToken::new();
        Ok(Self {
            engine: EngineAccess::new(engine, options.patience, stop.clone()),
            local,
            companions,
            plan,
            control,
            host_control,
            service_controls,
            stop,
            secrets,
            redactor: redactor.map(Arc::new),
            options,
            journal: Mutex::new(journal),
            state: Mutex::new(Arc::new(JournalState::from_events(&before))),
            events,
            run,
            others: None,
            failures: NodeFailures::default(),
            children: Mutex::default(),
            lock: Arc::new(lock),
        })
    }

    /// Returns a weak reference to the run's lock, by which a background process takes it over.
    #[must_use]
    pub fn share_lock(&self) -> Weak<FileLock> {
        Arc::downgrade(&self.lock)
    }

    /// Takes control of the run's other machines.
    #[must_use]
    pub fn with_peers(self, others: PeerNodes) -> Self {
        Self { failures: others.failures.clone(), others: Some(others), ..self }
    }

    /// Returns what this process does, for others who wait for a lock that it holds.
    pub(crate) fn describe_work(&self) -> String {
        format!("run {}", self.run.id())
    }

    /// Returns whether control directories and growing output are on this machine's own disk.
    pub(crate) fn has_scratch(&self) -> bool {
        self.options.scratch.is_some()
    }

    /// Removes the run's files on this machine's own disk, once no container needs them.
    pub(crate) fn clear_scratch(&self) {
        if self.has_scratch() && self.state().container.is_none() {
            // At most a few small files are left.
            let _ = std::fs::remove_dir_all(self.local.path());
        }
    }

    /// Returns the directory of a full disk, if this machine writes the run to one.
    pub(crate) fn find_full_disk(&self) -> Option<&Path> {
        let places = [self.local.path(), self.run.path()];
        places.into_iter().find(|place| is_disk_full(place))
    }

    /// Returns whether this machine executes a step.
    pub(crate) fn executes_step(&self, step: &Step) -> bool {
        match &self.options.machine {
            None => true,
            Some(machine) if machine.is_head => step.runs_on_head(),
            Some(_) => step.runs_on_others(),
        }
    }

    /// The state of the run now. It does not change while the caller has it.
    pub fn state(&self) -> Arc<JournalState> {
        Arc::clone(&lock(&self.state))
    }

    /// Records an event of the run in the journal, then emits it.
    ///
    /// # Errors
    /// If the journal cannot be written: then no further step may start.
    pub fn record(&self, kind: EventKind) -> Result<(), StoreError> {
        self.record_event(Event::new(&self.node_name(), None, kind))
    }

    pub(crate) fn record_event(&self, event: Event) -> Result<(), StoreError> {
        if event.what.is_stored() {
            lock(&self.journal).write(&event)?;
            Arc::make_mut(&mut lock(&self.state)).apply_event(&event);
        }
        // The run continues without a listener.
        let _ = self.events.send(event);
        Ok(())
    }

    /// Records an event of another machine.
    ///
    /// # Errors
    /// As [`RunSession::record`].
    pub(crate) fn record_forwarded(&self, event: Event) -> Result<(), StoreError> {
        lock(&self.journal).write(&event)?;
        // The run continues without a listener.
        let _ = self.events.send(event);
        Ok(())
    }

    /// Performs an operation of the engine, and waits for an engine that is unavailable.
    ///
    /// # Errors
    /// If the engine refuses, or is unavailable for too long.
    pub(crate) async fn with_engine<'e, T, R>(
        &'e self,
        operation: impl FnMut(&'e dyn Engine) -> R,
    ) -> Result<T, EngineError>
    where
        R: Future<Output = Result<T, EngineError>>,
    {
        // A journal that cannot be written fails the step at its end.
        let report = |text| drop(self.record(EventKind::Warning { text }));
        self.engine.call_with_retries(operation, report).await
    }

    /// Returns this machine's name in events.
    pub(crate) fn node_name(&self) -> String {
        let machine = self.options.machine.as_ref();
        machine.map_or_else(|| "local".to_owned(), |machine| machine.scope.name.clone())
    }

    /// Returns a text of a step without secrets.
    pub(crate) fn redact(&self, text: &str) -> String {
        let redactor = self.redactor.as_ref();
        redactor.map_or_else(|| text.to_owned(), |redactor| redactor.redact_text(text))
    }

    /// Sleeps between two checks.
    ///
    /// # Errors
    /// If the run is stopped.
    pub(crate) async fn sleep_unless_stopped(&self, pause: Duration) -> Result<(), Halt> {
        let slept = self.stop.run_until_cancelled(tokio::time::sleep(pause));
        Ok(slept.await.ok_or(StepEnd::Stopped)?)
    }

    /// Sets the time after which the run's containers end by themselves: seconds from now, or never.
    ///
    /// # Errors
    /// If the disk is full or cannot be written.
    pub(crate) fn set_deadline(&self, after_s: Option<u64>) -> Result<(), StoreError> {
        let services = self.service_controls.values();
        for control in services.filter(|control| control.path().exists()) {
            control.set_deadline(after_s)?;
        }
        self.control.set_deadline(after_s)
    }

    /// Acquires the measurement lock to measure. None if the run is stopped meanwhile, or is a single run.
    pub(crate) async fn lock_shared(&self) -> Result<Option<SharedGuard>, StoreError> {
        let Some(lock) = &self.options.measurement_lock else {
            return Ok(None);
        };
        let held = lock.acquire_shared();
        tokio::pin!(held);
        loop {
            tokio::select! {
                biased;
                held = &mut held => return Ok(Some(held)),
                () = self.stop.cancelled() => return Ok(None),
                // The container must not end at its deadline while it waits.
                () = tokio::time::sleep(DEADLINE_RENEWAL_INTERVAL) => self.set_deadline(Some(DEADLINE_GRACE_S))?,
            }
        }
    }

    /// Acquires the measurement lock for disturbing work. None if the run is stopped meanwhile, or is a single
    /// run.
    pub(crate) async fn lock_exclusive(&self) -> Option<ExclusiveGuard> {
        let lock = self.options.measurement_lock.as_ref()?;
        tokio::select! {
            biased;
            held = lock.acquire_exclusive() => Some(held),
            () = self.stop.cancelled() => None,
        }
    }

    /// Returns the id of the container of the run's steps.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn require_container(&self) -> Result<String, Halt> {
        let container = self.state().container.clone();
        container.ok_or_else(|| Halt::host_failure("the container no longer exists"))
    }
}
