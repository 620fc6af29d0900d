//! One process's hold on a run: engine, plan, journal and the way to tell what happens.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::control::Control;
use super::error::RunError;
use super::quiet::MeasurementLock;
use crate::plan::step::{Plan, Step};
use crate::store::journal::Journal;
use crate::store::journal::State;
use crate::store::journal::{Event, What};
use crate::store::lock::FileLock;
use crate::store::{RunDirectory, StoreError};
use retrial_engine::api::Engine;

/// How this process goes about the run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Every line of output is an event, not only the latest one now and then.
    pub all_output: bool,
    /// Performance without accuracy is inconclusive.
    pub require_accuracy: bool,
    /// How long an engine may be away when it is needed.
    pub patience: Duration,
    /// Where the host's files begin, for the sensors of its GPUs.
    pub root: PathBuf,
    /// Shared with the other runs of a batch and whoever pulls their images; none where this run
    /// has nobody beside it.
    pub quiet: Option<MeasurementLock>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            all_output: false,
            require_accuracy: false,
            patience: Duration::from_mins(1),
            root: PathBuf::from("/"),
            quiet: None,
        }
    }
}

/// One process's hold on a run.
pub struct Session {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// The run's directory.
    pub run: RunDirectory,
    /// The plan.
    pub plan: Plan,
    /// The control directory.
    pub control: Control,
    /// The control directory of steps on the host.
    pub host_control: Control,
    /// Cancelled when the run is to stop.
    pub stop: CancellationToken,
    /// Values of the secrets, by name.
    pub secrets: BTreeMap<String, String>,
    /// How.
    pub options: Options,
    journal: Mutex<Journal>,
    state: Mutex<State>,
    events: UnboundedSender<Event>,
    /// The engine was away longer than it may be: it is not waited for again.
    pub(super) engine_lost: AtomicBool,
    _lock: FileLock,
}

impl Session {
    /// Takes hold of a run: new, or one that was interrupted.
    ///
    /// # Errors
    /// Where another process has it, or its files cannot be read or written.
    pub fn open(
        engine: Arc<dyn Engine>,
        run: RunDirectory,
        events: UnboundedSender<Event>,
        secrets: BTreeMap<String, String>,
        options: Options,
    ) -> Result<Self, RunError> {
        let lock = FileLock::take(&run.lock(), run.id())?;
        let plan: Plan = run.read_json("plan.json")?;
        let path = run.journal();
        let before = if path.exists() {
            Journal::read::<Event>(&path)?
        } else {
            Vec::new()
        };
        let journal = Journal::open(&path)?;
        let (control, host_control) = (Control::of(&run), Control::of_host(&run));
        Ok(Self {
            engine,
            plan,
            control,
            host_control,
            stop: CancellationToken::new(),
            secrets,
            options,
            journal: Mutex::new(journal),
            state: Mutex::new(State::of(&before)),
            events,
            run,
            engine_lost: AtomicBool::new(false),
            _lock: lock,
        })
    }

    /// Where the run stands now.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Says that something happened: to the journal first, then to whoever watches.
    ///
    /// # Errors
    /// Where the journal cannot be written: then nothing more may be begun.
    pub fn say(&self, step: Option<&Step>, what: What) -> Result<(), StoreError> {
        let event = event(step, what);
        if event.what.is_kept() {
            self.journal
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write(&event)?;
            self.state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .apply(&event);
        }
        // Nobody watching is no fault: the run goes on.
        let _ = self.events.send(event);
        Ok(())
    }

    /// Shows something that the journal does not keep, or has kept before.
    pub fn show(&self, step: &Step, what: What) {
        let _ = self.events.send(event(Some(step), what));
    }

    /// The same for another thread, for as long as a step goes on.
    pub(super) fn teller(&self, step: &Step) -> impl Fn(What) + Send + 'static {
        let (events, step) = (self.events.clone(), step.clone());
        move |what| {
            let _ = events.send(event(Some(&step), what));
        }
    }
}

fn event(step: Option<&Step>, what: What) -> Event {
    Event {
        time: Timestamp::now(),
        node: step.map_or_else(|| "local".to_owned(), |step| step.node.clone()),
        container: step.and_then(|step| step.container.clone()),
        step: step.map(|step| step.number),
        name: step.map(|step| step.name.clone()),
        what,
    }
}
