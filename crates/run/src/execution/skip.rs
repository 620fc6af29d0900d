//! Decides which steps of the plan are skipped, and why.

use super::RunExecution;
use super::repetition::find_repeating_failure;
use crate::access::RunSession;
use crate::container;
use crate::error::RunError;
use crate::results::{collect, judge};
use crate::step::StepSession;
use retrial_plan::options::KeepContainer;
use retrial_plan::step::{Action, CommandPurpose, Step, StepCondition};
use retrial_store::StoreError;
use retrial_store::journal::{JournalState, SkipReason, StepEnd, StepFault};

/// Returns why a step is skipped, if it is.
pub async fn find_skip_reason(
    run: &RunExecution<'_>,
    step: &Step,
) -> Result<Option<SkipReason>, RunError> {
    let session = run.session;
    if let StepCondition::Skipped { option } = &step.when {
        return Ok(Some(SkipReason::Option { option: option.clone() }));
    }
    let is_unneeded = match &step.action {
        Action::Remove => return reason_to_keep_container(run, step).await,
        // A run that was stopped is not judged: `resume` continues it.
        Action::Judge => {
            return Ok(abort_skip_reason(run).filter(|_| session.stop.is_cancelled()));
        }
        // Results are collected, whatever happened afterwards.
        Action::Collect { .. } => false,
        // No service is left running.
        Action::StopService(ending) if session.state().services.contains_key(&ending.of) => {
            return Ok(None);
        }
        Action::Create if !is_container_needed(run).await => true,
        _ if run.outcome.abort_reason.is_some() => return Ok(abort_skip_reason(run)),
        _ if let Some(reason) = repeating_failure(session, step) => return Ok(Some(reason)),
        Action::Exec(exec) if exec.purpose == CommandPurpose::Prepare => {
            !is_container_needed(run).await
        }
        Action::Populate(_) => !is_container_needed(run).await,
        Action::StartService(_) => {
            let needing = session.plan.steps_needing_service(step.number);
            record_decision(session, step).await?.is_none() && !is_any_left(run, needing).await
        }
        _ => false,
    };
    if is_unneeded {
        return Ok(Some(SkipReason::NotNeeded));
    }
    if let Some(decision) = record_decision(session, step).await? {
        return Ok(Some(SkipReason::Decided { decision }));
    }
    let state = session.state();
    let missing = find_missing_input(session, step, &state);
    if let (Some(source), Action::Collect { path, .. }) = (missing, &step.action)
        && let Some((StepEnd::Failed { fault, .. }, _)) = state.ended.get(&source)
        && matches!(fault, StepFault::Command | StepFault::Timeout)
    {
        let session = StepSession::new(session, step);
        collect::collect_evidence(&session, source, path).await;
    }
    Ok(missing.map(|step| SkipReason::InputMissing { step }))
}

/// Returns the failed or missing step whose output this one needs.
fn find_missing_input(session: &RunSession, step: &Step, state: &JournalState) -> Option<u32> {
    match &step.action {
        Action::StopService(ending) => Some(ending.of),
        Action::Exec(exec) if !step.checks_results() => {
            let mut needs = exec.needs.iter().copied();
            let is_open = state.open.contains(&step.number);
            needs.find(|start| !is_open && is_service_missing(session, state, *start))
        }
        _ => step.measured_step().filter(|source| !state.is_done(*source)),
    }
}

fn abort_skip_reason(run: &RunExecution<'_>) -> Option<SkipReason> {
    let reason = run.outcome.abort_reason.clone()?;
    Some(SkipReason::Aborted { reason })
}

/// Returns whether a service that a step needs is not running. A service whose start was skipped by an option is
/// run by the user.
fn is_service_missing(session: &RunSession, state: &JournalState, start: u32) -> bool {
    let started = session.plan.started_service(start);
    !state.services.contains_key(&start) && started.is_none_or(|(step, _)| !step.is_skipped())
}

/// Returns whether something is left to run in the container: a resumed run may have all measurements from an
/// earlier process.
async fn is_container_needed(run: &RunExecution<'_>) -> bool {
    let steps = run.session.plan.steps.iter();
    let measures = |step: &&Step| matches!(&step.action, Action::Exec(exec) if exec.purpose != CommandPurpose::Prepare);
    is_any_left(run, steps.filter(measures)).await
}

/// Returns why the trial of a command, or of a service that it needs, would fail as earlier ones did.
fn repeating_failure(session: &RunSession, step: &Step) -> Option<SkipReason> {
    let starts = step.runs_measurement() || matches!(step.action, Action::StartService(_));
    let plan = &session.plan;
    let (measurement, trial) = plan.served_trial(step).filter(|_| starts)?;
    find_repeating_failure(&session.state(), plan, measurement, trial)
}

async fn is_any_left(run: &RunExecution<'_>, steps: impl Iterator<Item = &Step>) -> bool {
    let incomplete = steps.filter(|step| !run.completed_steps.contains(&step.number));
    for step in incomplete.filter(|step| !step.is_skipped()) {
        let session = StepSession::new(run.session, step);
        if repeating_failure(run.session, step).is_none()
            && judge::find_decision(&session).await.is_none()
        {
            return true;
        }
    }
    false
}

/// Returns why a further trial is not needed, if the evidence so far decides.
async fn record_decision(session: &RunSession, step: &Step) -> Result<Option<String>, StoreError> {
    let session = StepSession::new(session, step);
    let decision = judge::find_decision(&session).await;
    if let Some(decision) = &decision
        && step.runs_measurement()
    {
        session.record_decision(decision.clone())?;
    }
    Ok(decision)
}

/// Returns whether the container is removed after any verdict.
pub fn is_removed_next(run: &RunExecution<'_>) -> bool {
    let mut steps = run.session.plan.steps.iter();
    let remove = steps.find(|step| step.action == Action::Remove);
    remove.is_some_and(|step| match step.when {
        StepCondition::Always => true,
        StepCondition::Unless { keep } => {
            keep != KeepContainer::Always && run.outcome.is_successful()
        }
        _ => false,
    })
}

/// Returns why the container is not removed, if it is not.
async fn reason_to_keep_container(
    run: &RunExecution<'_>,
    step: &Step,
) -> Result<Option<SkipReason>, RunError> {
    let session = run.session;
    let StepCondition::Unless { keep } = &step.when else {
        return Ok(None);
    };
    let is_kept = match keep {
        KeepContainer::Never => false,
        KeepContainer::OnFailure => !run.outcome.is_successful() && !session.stop.is_cancelled(),
        KeepContainer::Always => true,
    };
    if is_kept && session.state().container.is_some() {
        session.set_deadline(None)?;
        let run = session.run.id().to_owned();
        return Ok(Some(SkipReason::ContainerKept { run }));
    }
    if run.outcome.abort_reason.is_some() && session.state().has_uncollected_results(&session.plan)
    {
        // If it cannot be stopped, the step itself reports why.
        return Ok(container::tear_down(session).await.ok().flatten());
    }
    Ok(None)
}
