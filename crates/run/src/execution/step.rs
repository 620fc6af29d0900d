//! Executes one step: records its start, does its work, records its end.

use std::time::Instant;

use tracing::{Instrument as _, info, info_span};

use super::RunExecution;
use super::peers::run_on_machines;
use crate::access::{RunSession, fill_run_values};
use crate::error::{Halt, RunError};
use crate::results::trial_figures;
use crate::step::{StepSession, summarize_step};
use retrial_plan::step::{Action, Step};
use retrial_recipe::model::StepLocation;
use retrial_store::StoreError;
use retrial_store::clock::Moment;
use retrial_store::journal::{EventKind, StepEnd};

/// Executes a step: records its start, does its work, records its end.
pub async fn execute_step(run: &mut RunExecution<'_>, step: &Step) -> Result<StepEnd, RunError> {
    let session = StepSession::new(run.session, step);
    let (earlier, started) = (elapsed_before_s(&session), Instant::now());
    let span = info_span!("step", number = step.number, name = step.name);
    let done = attempt_step(run, step).instrument(span.clone()).await;
    if done.is_ok() {
        trial_figures::emit_figures(&session).await;
    }
    let end = Halt::to_step_end(done)?;
    let seconds = earlier + started.elapsed().as_secs_f64();
    span.in_scope(|| info!(?end, seconds, "ended"));
    Ok(record_end(&session, end, seconds)?)
}

/// Returns whether the step's command may be running since before this process.
pub fn may_be_running(session: &RunSession, step: &Step) -> bool {
    let state = session.state();
    let survives = match &step.action {
        Action::Exec(_) | Action::Host(_) | Action::StartService(_) => true,
        Action::Populate(populate_step) => {
            populate_step.location == StepLocation::Host || state.made_by == Some(step.number)
        }
        _ => false,
    };
    survives && state.open.contains(&step.number) && !is_truncated(session, step)
}

/// Returns whether the step's command ended on a full disk, which may have truncated its output.
pub fn is_truncated(session: &RunSession, step: &Step) -> bool {
    let exit = session.control.step_control(step).read_exit();
    exit.is_some_and(|exit| exit.is_disk_full)
}

/// Records the start of a step and does its work. Returns the exit code of its command.
async fn attempt_step(run: &mut RunExecution<'_>, planned: &Step) -> Result<Option<i64>, Halt> {
    let step = &fill_run_values(run.session, planned, planned.measurement_and_trial());
    let session = &StepSession::new(run.session, step);
    let reattach = may_be_running(run.session, step);
    // A running command is ended by its own step, and results are collected even then.
    let even_when_stopped = reattach
        || matches!(
            step.action,
            Action::Collect { .. } | Action::StopService(_) | Action::Judge | Action::Remove
        );
    if session.run_session.stop.is_cancelled() && !even_when_stopped {
        return Err(StepEnd::Stopped.into());
    }
    run.session.engine.reset_waited_time();
    let timeout_s = step.recipe_command().map(|command| command.timeout_s);
    let summary = summarize_step(step);
    let now = Moment::now();
    let event = if reattach {
        EventKind::StepReattached {
            summary,
            started: session.start_time().map(|started| started.to_clock_of(&now)),
            timeout_s,
        }
    } else {
        EventKind::StepStarted { summary, timeout_s }
    };
    info!(reattach, "started");
    session.record(event)?;
    run_on_machines(run, session, reattach).await
}

/// Seconds for which a command has been running since before this process; 0 for other steps.
fn elapsed_before_s(session: &StepSession<'_>) -> f64 {
    let step = session.step;
    let is_open =
        step.recipe_command().is_some() && session.run_session.state().open.contains(&step.number);
    if is_open { session.age().as_secs_f64() } else { 0.0 }
}

pub fn record_end(
    session: &StepSession<'_>,
    end: StepEnd,
    seconds: f64,
) -> Result<StepEnd, StoreError> {
    let event = EventKind::StepEnded { end: end.clone(), seconds };
    session.record(event)?;
    Ok(end)
}
