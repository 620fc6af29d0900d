//! One step of the plan, as a process executes it.

use std::path::PathBuf;
use std::time::Duration;

use crate::access::RunSession;
use crate::mutex::lock;
use retrial_engine::EngineError;
use retrial_engine::api::Engine;
use retrial_plan::step::Step;
use retrial_store::clock::Moment;
use retrial_store::journal::{Event, EventKind, LiveEvent};
use retrial_store::{RunDirectory, StoreError};

/// A session at one step of its plan.
#[derive(Clone, Copy)]
pub struct StepSession<'a> {
    pub run_session: &'a RunSession,
    /// The step, with run-time values filled into its texts.
    pub step: &'a Step,
}

impl<'a> StepSession<'a> {
    /// Returns the session at a step of its plan.
    pub fn new(run_session: &'a RunSession, step: &'a Step) -> Self {
        Self { run_session, step }
    }

    /// Returns when the step began, if it has.
    pub fn start_time(&self) -> Option<Moment> {
        lock(&self.run_session.state).started.get(&self.step.number).cloned()
    }

    /// Returns the time since the step began; 0 if it has not.
    pub fn age(&self) -> Duration {
        self.start_time().map(|started| started.age()).unwrap_or_default()
    }

    /// Records an event of the step in the journal, then emits it.
    ///
    /// # Errors
    /// As [`RunSession::record`].
    pub fn record(&self, event: EventKind) -> Result<(), StoreError> {
        self.run_session.record_event(self.new_event(event))
    }

    /// Records a warning of the step.
    ///
    /// # Errors
    /// As [`RunSession::record`].
    pub fn warn(&self, text: String) -> Result<(), StoreError> {
        self.record(EventKind::Warning { text })
    }

    /// Records what failed no step, and may have changed a figure.
    ///
    /// # Errors
    /// As [`RunSession::record`].
    pub fn report_incident(&self, text: String) -> Result<(), StoreError> {
        self.record(EventKind::Incident { text })
    }

    /// [`RunSession::with_engine`], which warns at this step.
    ///
    /// # Errors
    /// As [`RunSession::with_engine`].
    pub async fn with_engine<T, R>(
        &self,
        operation: impl FnMut(&'a dyn Engine) -> R,
    ) -> Result<T, EngineError>
    where
        R: Future<Output = Result<T, EngineError>>,
    {
        // A journal that cannot be written fails the step at its end.
        let report = |text| drop(self.warn(text));
        self.run_session.engine.call_with_retries(operation, report).await
    }

    /// Records how a condition of the step was decided.
    ///
    /// # Errors
    /// As [`RunSession::record`].
    pub fn record_decision(&self, decision: String) -> Result<(), StoreError> {
        self.record(EventKind::Decided { decision })
    }

    /// Emits an event that the journal does not store, or already has.
    pub fn emit(&self, event: impl Into<EventKind>) {
        // The run continues without a listener.
        let _ = self.run_session.events.send(self.new_event(event.into()));
    }

    /// [`Self::emit`] for another thread, as long as the run goes on: a thread that hangs keeps nobody who waits for the
    /// last event.
    pub fn emitter(&self) -> impl Fn(LiveEvent) + Send + 'static {
        let (step, node) = (self.step.clone(), self.run_session.node_name());
        let events = self.run_session.events.downgrade();
        move |event| {
            if let Some(events) = events.upgrade() {
                // The run continues without a listener.
                let _ = events.send(Event::new(&node, Some(&step), event.into()));
            }
        }
    }

    fn new_event(&self, kind: EventKind) -> Event {
        Event::new(&self.run_session.node_name(), Some(self.step), kind)
    }

    /// Returns the step's directory in that of a run, or in the part of it on this machine's own disk.
    pub fn step_directory(&self, run: &RunDirectory) -> PathBuf {
        run.steps_directory().join(self.step.directory_name())
    }

    /// Returns the path of the step's output in such a directory.
    pub fn output_path(&self, run: &RunDirectory) -> PathBuf {
        self.step_directory(run).join("output.log")
    }
}
