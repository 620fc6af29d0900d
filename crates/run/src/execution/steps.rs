//! Executes the steps of a plan in their order, as long as the run continues.

use super::reattach::open_run;
use super::step::{execute_step, record_end};
use super::{RunEnd, RunExecution, peers, skip};
use crate::access::{RunSession, directories, measurement_lock};
use crate::container;
use crate::error::RunError;
use crate::results::judge;
use crate::step::StepSession;
use retrial_document::ErrorText;
use retrial_plan::step::Step;
use retrial_results::verdict::ExitCode;
use retrial_store::journal::{AbortReason, EventKind, StepEnd};

/// Executes the remaining steps of the plan. A complete run is only judged again.
///
/// # Errors
/// If the run's own files cannot be written.
pub async fn execute_plan(session: &RunSession) -> Result<RunEnd, RunError> {
    let before = session.state();
    if before.is_judged() {
        let verdict = judge::judge_run(&session.run, session.options.require_accuracy)?;
        return Ok(RunEnd { exit: verdict.exit_code, verdict: Some(verdict), reason: None });
    }
    let (mut run, _) = open_run(session).await?;
    let executed = tokio::select! {
        executed = Box::pin(execute_steps(&mut run)) => executed,
        removed = directories::wait_until_removed(session) => Err(removed),
    };
    if let Err(error) = executed {
        container::tear_down_after_error(session, &error).await;
        peers::detach_peers(session).await;
        let reason = Some(AbortReason::Error { error: ErrorText::of(&error) });
        let exit_code = ExitCode::Host.code();
        // This may fail on a full disk, too; the caller reports the error.
        let _ = session.record(EventKind::RunEnded { exit_code, reason });
        return Err(error);
    }
    peers::detach_peers(session).await;
    session.clear_scratch();
    let stopped = session.stop.is_cancelled();
    let exit = run.outcome.exit_code(run.verdict.as_ref(), stopped);
    let reason = run.outcome.abort_reason.clone();
    let event = EventKind::RunEnded { exit_code: exit.code(), reason: reason.clone() };
    session.record(event)?;
    Ok(RunEnd { verdict: run.verdict, exit, reason })
}

async fn execute_steps(run: &mut RunExecution<'_>) -> Result<(), RunError> {
    if run.outcome.abort_reason.is_some() {
        return Ok(()); // Results of an earlier container could not be collected.
    }
    let plan = &run.session.plan;
    for step in &plan.steps {
        if run.completed_steps.contains(&step.number) {
            emit_completed(run, step);
            continue;
        }
        let end = if let Some(reason) = skip::find_skip_reason(run, step).await? {
            record_end(&StepSession::new(run.session, step), StepEnd::Skipped { reason }, 0.0)?
        } else {
            if run.measuring.is_none() && measurement_lock::is_measuring_step(step) {
                run.measuring = run.session.lock_shared().await?;
            }
            execute_step(run, step).await?
        };
        run.outcome.record_end(step, &end);
        if !measurement_lock::has_later_measurement(plan, step) {
            run.measuring = None;
        }
    }
    Ok(())
}

/// Shows the end of a step that is complete; the journal has it.
fn emit_completed(run: &mut RunExecution<'_>, step: &Step) {
    if let Some((end, _)) = run.session.state().ended.get(&step.number).cloned() {
        run.outcome.record_end(step, &end);
        let seconds = 0.0;
        StepSession::new(run.session, step).emit(EventKind::StepEnded { end, seconds });
    }
}
