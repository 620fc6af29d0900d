//! Watches GPUs and container while a step measures, and writes `telemetry.csv`.
//!
//! A thread of its own looks, since a sensor may take its time: neither following the step nor the
//! end of the run waits for one that hangs. Each look is one write, so that a kill leaves at most one
//! line half written, which the next process takes away.

mod record;

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::record::{Recorder, Task};
use super::error::RunError;
use super::session::Session;
use crate::host::sensors::ContainerSensor;
use crate::plan::step::{ExecStep, Plan, Purpose, Step};
use crate::results::evidence::telemetry as file;
use crate::store::journal::{StepEnd, What};
use crate::telemetry::{Measured, Pace};

/// The longest that a step waits for the look at what was before it: NVIDIA's library is loaded.
const FIRST_LOOK: Duration = Duration::from_secs(2);
/// The longest that its end waits for the last look.
const LAST_LOOK: Duration = Duration::from_secs(3);

/// What a run's process has of sensors and file.
#[derive(Default)]
pub enum TelemetryRecorder {
    /// Nothing was measured yet.
    #[default]
    NotYet,
    /// Between two measurements.
    Ready(Box<Recorder>),
    /// Nothing is watched any more.
    Off,
}

impl TelemetryRecorder {
    /// Does a step that may measure, and watches meanwhile.
    pub async fn during(
        &mut self,
        session: &Session,
        step: &Step,
        command: &ExecStep,
        work: impl Future<Output = Result<StepEnd, RunError>>,
    ) -> Result<StepEnd, RunError> {
        let Some(pause) = session.plan.telemetry.pause() else {
            return work.await;
        };
        let Some(measured) = measured(&session.plan, step, command) else {
            return work.await;
        };
        let recorder = match std::mem::take(self) {
            Self::Off => None,
            Self::Ready(recorder) => Some(recorder),
            Self::NotYet => Some(Box::new(Recorder::new(session))),
        };
        let Some(recorder) = recorder else {
            *self = Self::Off;
            return work.await;
        };
        let began = session.state().began.get(&step.number).copied();
        let began = began.unwrap_or_else(Timestamp::now);
        let container = container(session).await;
        let (going, stopped) = mpsc::channel();
        let (looked, first) = oneshot::channel();
        let (give, given_back) = oneshot::channel();
        let task = Task {
            measured,
            container,
            pace: Pace::new(pause),
            tell: session.teller(step),
        };
        let thread = std::thread::Builder::new().name("telemetry".to_owned());
        let spawned = thread.spawn(move || {
            let _ = give.send(recorder.run(task, looked, &stopped));
        });
        if spawned.is_err() {
            *self = Self::Off;
            return work.await;
        }
        let _ = timeout(FIRST_LOOK, first).await;
        let end = work.await;
        drop(going);
        *self = match timeout(LAST_LOOK, given_back).await {
            Ok(Ok(recorder)) => Self::Ready(recorder),
            _ => Self::Off,
        };
        let remarks = match self {
            Self::Ready(recorder) => recorder.remarks(),
            _ => vec![
                "the sensors do not answer any more: nothing is watched from here on".to_owned(),
            ],
        };
        for text in remarks {
            session.show(step, What::Warning { text });
        }
        if let Ok(StepEnd::Done { .. }) = &end {
            warn_of_idle_gpus(session, step, began)?;
        }
        end
    }
}

/// Said at once, hours before the verdict says it again.
fn warn_of_idle_gpus(session: &Session, step: &Step, began: Timestamp) -> Result<(), RunError> {
    let rows = file::rows(&session.run);
    let time = (began, Timestamp::now());
    let summary = file::of_step(&session.plan, &rows, step.number, time, None);
    if let Some(idle) = summary.and_then(|summary| summary.idle) {
        let text = idle.because();
        session.say(Some(step), What::Warning { text })?;
    }
    Ok(())
}

/// What a step measures, as the rows name it; none for one that measures nothing.
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
