//! Samples GPUs and container while a step measures, and writes `telemetry.csv`: on each machine of a
//! run its own, whichever of them the step runs on.
//!
//! A thread of its own samples, since a sensor may be slow: neither following the step nor the end of the run
//! waits for one that hangs. Each sample is one write, so that a kill leaves at most one partial line, which
//! the next process removes.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use itertools::Itertools as _;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::record::{SamplingTask, SensorRecorder};
use crate::access::RunSession;
use crate::error::Halt;
use crate::step::StepSession;
use retrial_host::sensors::ContainerSensor;
use retrial_plan::step::{Action, CommandPurpose, Plan, Step};
use retrial_results::evidence::telemetry::{RunTelemetry, StepSpan};
use retrial_store::StoreError;
use retrial_store::clock::Moment;
use retrial_store::journal::LiveEvent;
use retrial_telemetry::{MeasuredTrial, SamplingPace};

/// The longest that a step waits for the first sample of its GPUs: NVIDIA's library is loaded.
const FIRST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest that its end waits for the last sample.
const LAST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(3);

/// A process's sensors, and the file that it writes.
#[derive(Default)]
pub enum TelemetryRecorder {
    #[default]
    NotStarted,
    /// Sensors and file are open, and nothing is measured.
    Ready(Box<SensorRecorder>),
    /// A thread samples while a step measures.
    Sampling(SamplingThread),
    /// The sensors stopped answering.
    Off,
}

/// The thread that samples during one step.
pub struct SamplingThread {
    step: Box<Step>,
    /// The thread samples until this is dropped.
    stop_on_drop: mpsc::Sender<()>,
    recorder: oneshot::Receiver<Box<SensorRecorder>>,
}

impl TelemetryRecorder {
    /// Runs a step's work, and samples meanwhile if it measures.
    pub async fn sample_during<T>(
        &mut self,
        session: &StepSession<'_>,
        work: impl Future<Output = Result<T, Halt>>,
    ) -> Result<T, Halt> {
        let started = session.start_time().unwrap_or_else(Moment::now);
        let starting = self.start_sampling(session, session.emitter());
        if session.run_session.plan.assigned_gpus.is_none() {
            let (_, end) = tokio::join!(starting, work);
            self.end_sampling(session.run_session).await;
            return end;
        }
        let Some(first_sample) = starting.await else {
            return work.await;
        };
        // A sensor that hangs does not hold the measurement up.
        let _ = timeout(FIRST_SAMPLE_TIMEOUT, first_sample).await;
        let end = work.await;
        self.end_sampling(session.run_session).await;
        if end.is_ok() {
            warn_of_idle_gpus(session, started)?;
        }
        end
    }

    /// Starts sampling if the step measures. The returned receiver resolves after the first sample.
    pub async fn start_sampling(
        &mut self,
        session: &StepSession<'_>,
        emit: impl Fn(LiveEvent) + Send + 'static,
    ) -> Option<oneshot::Receiver<()>> {
        let pause = session.run_session.plan.telemetry.initial_pause()?;
        let measured = find_measured(&session.run_session.plan, session.step)?;
        self.end_sampling(session.run_session).await;
        let recorder = match std::mem::replace(self, Self::Off) {
            Self::Off | Self::Sampling(_) => return None,
            Self::Ready(recorder) => recorder,
            Self::NotStarted => Box::new(SensorRecorder::new(session.run_session)),
        };
        let (keep_on, stopped) = mpsc::channel();
        let (sampled, first_sample) = oneshot::channel();
        let (hand_over, recorder_back) = oneshot::channel();
        let task = SamplingTask {
            measured,
            container: open_container_sensor(session.run_session).await,
            pace: SamplingPace::new(pause),
            emit,
        };
        let thread = std::thread::Builder::new().name("telemetry".to_owned());
        let spawned = thread.spawn(move || {
            // The step may have ended without waiting for it.
            let _ = hand_over.send(recorder.sample_until_stopped(task, sampled, &stopped));
        });
        spawned.ok()?;
        *self = Self::Sampling(SamplingThread {
            step: Box::new(session.step.clone()),
            stop_on_drop: keep_on,
            recorder: recorder_back,
        });
        Some(first_sample)
    }

    /// Takes the last sample of a step, if one is sampled.
    pub async fn end_sampling(&mut self, session: &RunSession) {
        let sampling = match std::mem::replace(self, Self::Off) {
            Self::Sampling(sampling) => sampling,
            other => {
                *self = other;
                return;
            }
        };
        drop(sampling.stop_on_drop);
        let warnings = match timeout(LAST_SAMPLE_TIMEOUT, sampling.recorder).await {
            Ok(Ok(mut recorder)) => {
                let warnings = recorder.take_warnings();
                *self = Self::Ready(recorder);
                warnings
            }
            _ => vec!["the sensors stopped answering: no further telemetry is recorded".to_owned()],
        };
        for text in warnings {
            StepSession::new(session, &sampling.step).emit(LiveEvent::Notice { text });
        }
    }
}

/// Makes the other machines record telemetry meanwhile, if the step measures and they do not execute it.
pub async fn with_peer_telemetry<T>(session: &StepSession<'_>, work: impl Future<Output = T>) -> T {
    let plan = &session.run_session.plan;
    let is_watched =
        plan.telemetry.initial_pause().is_some() && find_measured(plan, session.step).is_some();
    let others = session.run_session.others.as_ref();
    match others.filter(|_| is_watched && !session.step.runs_on_others()) {
        Some(others) => others.record_telemetry_during(session.step.number, work).await,
        None => work.await,
    }
}

/// Warns at once, hours before the verdict does.
fn warn_of_idle_gpus(session: &StepSession<'_>, started: Moment) -> Result<(), StoreError> {
    let telemetry = RunTelemetry::from_run(&session.run_session.run);
    let span =
        StepSpan { run: session.run_session.state().since.clone(), started, ended: Moment::now() };
    let summary = telemetry.summarize_step(&session.run_session.plan, session.step, &span, None);
    if let Some(idle) = summary.and_then(|summary| summary.idle) {
        session.warn(idle.describe())?;
    }
    Ok(())
}

/// Returns the measurement of a step as the rows name it; none if it measures nothing.
fn find_measured(plan: &Plan, step: &Step) -> Option<MeasuredTrial> {
    let Action::Exec(command) = &step.action else {
        return None;
    };
    let CommandPurpose::Measure { measurements, trial } = &command.purpose else {
        return None;
    };
    let indices = measurements.iter();
    let covered = indices.filter_map(|index| plan.measurements.get(*index));
    Some(MeasuredTrial {
        step: step.number,
        scenario: covered
            .clone()
            .map(|measurement| measurement.scenario.as_str())
            .dedup()
            .join("+"),
        mode: covered.map(|measurement| measurement.mode).dedup().join("+"),
        trial: *trial,
    })
}

/// Opens the container's counters, where they can be read on this machine.
async fn open_container_sensor(session: &RunSession) -> Option<ContainerSensor> {
    let id = session.state().container.clone()?;
    let state = session.engine.call_once(|engine| engine.inspect_container(&id)).await.ok()??;
    ContainerSensor::open(std::path::Path::new("/"), &state.id, state.pid?)
}
