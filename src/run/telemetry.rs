//! Samples GPUs and container while a step measures, and writes `telemetry.csv`.
//!
//! A thread of its own samples, since a sensor may take its time: neither following the step nor the
//! end of the run waits for one that hangs. Each sample is one write, so that a kill leaves at most one
//! partial line, which the next process removes.

mod record;

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::record::{Recorder, Task};
use super::error::Halt;
use super::session::Session;
use crate::host::sensors::ContainerSensor;
use crate::plan::step::{ExecStep, Plan, Purpose, Step};
use crate::results::evidence::telemetry as file;
use crate::store::StoreError;
use crate::store::journal::What;
use crate::telemetry::{Measured, Pace};

/// The longest that a step waits for the sample before it: NVIDIA's library is loaded.
const FIRST_SAMPLE: Duration = Duration::from_secs(2);
/// The longest that its end waits for the last sample.
const LAST_SAMPLE: Duration = Duration::from_secs(3);

/// A process's sensors, and the file that it writes.
#[derive(Default)]
pub enum TelemetryRecorder {
    /// Nothing was measured yet.
    #[default]
    NotStarted,
    /// Between two measurements.
    Ready(Box<Recorder>),
    /// During a measurement, and after the sensors stopped answering.
    Off,
}

impl TelemetryRecorder {
    /// Runs a step's command, and samples meanwhile if it measures.
    pub async fn during(
        &mut self,
        session: &Session,
        step: &Step,
        command: &ExecStep,
        work: impl Future<Output = Result<i64, Halt>>,
    ) -> Result<i64, Halt> {
        let Some((pause, measured)) =
            session
                .plan
                .telemetry
                .pause()
                .zip(measured(&session.plan, step, command))
        else {
            return work.await;
        };
        let recorder = match std::mem::replace(self, Self::Off) {
            Self::Off => return work.await,
            Self::Ready(recorder) => recorder,
            Self::NotStarted => Box::new(Recorder::new(session)),
        };
        let began = session.state().began.get(&step.number).copied();
        let began = began.unwrap_or_else(Timestamp::now);
        let (keep_on, stopped) = mpsc::channel();
        let (sampled, first_sample) = oneshot::channel();
        let (hand_over, recorder_back) = oneshot::channel();
        let task = Task {
            measured,
            container: container(session).await,
            pace: Pace::new(pause),
            emit: session.emitter(step),
        };
        let thread = std::thread::Builder::new().name("telemetry".to_owned());
        let spawned = thread.spawn(move || {
            let _ = hand_over.send(recorder.run(task, sampled, &stopped));
        });
        if spawned.is_err() {
            return work.await;
        }
        let _ = timeout(FIRST_SAMPLE, first_sample).await;
        let end = work.await;
        drop(keep_on);
        let warnings = match timeout(LAST_SAMPLE, recorder_back).await {
            Ok(Ok(mut recorder)) => {
                let warnings = recorder.warnings();
                *self = Self::Ready(recorder);
                warnings
            }
            _ => vec!["the sensors stopped answering: no further telemetry is recorded".to_owned()],
        };
        for text in warnings {
            session.emit(step, What::Warning { text });
        }
        if end.is_ok() {
            warn_of_idle_gpus(session, step, began)?;
        }
        end
    }
}

/// Warns at once, hours before the verdict does.
fn warn_of_idle_gpus(session: &Session, step: &Step, began: Timestamp) -> Result<(), StoreError> {
    let rows = file::rows(&session.run);
    let time = (began, Timestamp::now());
    let summary = file::of_step(&session.plan, &rows, step.number, time, None);
    if let Some(idle) = summary.and_then(|summary| summary.idle) {
        session.warn(step, idle.because())?;
    }
    Ok(())
}

/// What a step measures, as the rows name it; none if it measures nothing.
fn measured(plan: &Plan, step: &Step, command: &ExecStep) -> Option<Measured> {
    let Purpose::Measure {
        measurements,
        trial,
    } = &command.purpose
    else {
        return None;
    };
    let served = || {
        measurements
            .iter()
            .filter_map(|index| plan.measurements.get(*index))
    };
    let joined = |names: Vec<String>| {
        let mut names = names;
        names.dedup();
        names.join("+")
    };
    Some(Measured {
        step: step.number,
        scenario: joined(served().map(|one| one.scenario.clone()).collect()),
        mode: joined(served().map(|one| one.mode.to_string()).collect()),
        trial: *trial,
    })
}

/// The container's counters, where they can be read on this machine.
async fn container(session: &Session) -> Option<ContainerSensor> {
    let id = session.state().container?;
    let state = session.engine.container(&id).await.ok()??;
    ContainerSensor::open(std::path::Path::new("/"), &state.id, state.pid?)
}
