//! Continues a run after a kill: reattaches to its container, and finds the steps that are not executed again.

use super::RunExecution;
use super::outcome::RunOutcome;
use super::step::{execute_step, is_truncated, may_be_running};
use crate::access::{RunSession, measurement_lock};
use crate::container::{self, RUN_LABEL};
use crate::error::RunError;
use crate::telemetry::TelemetryRecorder;
use retrial_plan::step::{Action, CommandPurpose, Step};
use retrial_store::clock::Moment;
use retrial_store::journal::EventKind;
use retrial_store::process::ProcessIdentity;

/// Reattaches to the state that an earlier process left, and records that this one continues the run. Also
/// returns whether the run's container is alive.
pub async fn open_run(session: &RunSession) -> Result<(RunExecution<'_>, bool), RunError> {
    let mut run = RunExecution {
        session,
        completed_steps: Vec::new(),
        outcome: RunOutcome::default(),
        verdict: None,
        telemetry: TelemetryRecorder::default(),
        measuring: None,
    };
    let before = session.state();
    let here = reattach_container(&mut run).await?;
    // A measurement that an earlier process started, and that goes on, must not be disturbed either. One whose
    // container is gone does not: its steps, which may disturb others, are executed again.
    let is_open = |step: &Step| before.open.contains(&step.number);
    let mut steps = session.plan.steps.iter();
    if here && steps.any(|step| is_open(step) && measurement_lock::is_measuring_step(step)) {
        run.measuring = session.lock_shared().await?;
    }
    let others = session.others.as_ref();
    let lives = here && others.is_none_or(|others| others.containers_live);
    run.completed_steps = find_completed_steps(session, lives);
    let now = Moment::now();
    let event = EventKind::RunStarted {
        run: session.run.id().to_owned(),
        steps: session.plan.steps.len(),
        process: ProcessIdentity::current().clone(),
        completed_steps: run.completed_steps.clone(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        since: before.since.as_ref().map(|since| since.to_clock_of(&now)),
    };
    session.record(event)?;
    Ok((run, here))
}

/// Finds the run's container. Returns whether it runs and can be used. One that was created but
/// never recorded is removed; from one that has ended, results are collected.
async fn reattach_container(run: &mut RunExecution<'_>) -> Result<bool, RunError> {
    let session = run.session;
    let state = session.state();
    if !state.begun {
        return Ok(false);
    }
    let label = format!("{RUN_LABEL}={}", session.run.id());
    let mut own = None;
    let containers = session.with_engine(|engine| engine.list_containers(&label));
    for container in containers.await? {
        let mut services = state.service_containers.values();
        if state.container.as_deref() == Some(container.id.as_str()) {
            own = Some(container);
        } else if !services.any(|id| *id == container.id) {
            let id = &container.id;
            session.with_engine(|engine| engine.remove_container(id)).await?;
        }
    }
    let mut steps = session.plan.steps.iter();
    let maker = steps.find(|step| state.made_by == Some(step.number));
    let created =
        maker.is_some_and(|step| step.action == Action::Create && state.is_done(step.number));
    let filling = maker.is_some_and(|step| {
        matches!(step.action, Action::Populate(_))
            && state.open.contains(&step.number)
            && session.control.step_control(step).has_started()
    });
    // A step whose output is truncated is executed again, as after a recorded failure: in a new container.
    let mut steps = session.plan.steps.iter();
    let truncated =
        steps.any(|step| state.open.contains(&step.number) && is_truncated(session, step));
    let usable = (created || filling) && !state.is_stopping && !truncated;
    match (own, &state.container) {
        (Some(container), _) if container.running && usable => return Ok(true),
        (Some(_), _) if created => salvage_results(run).await?,
        _ => {}
    }
    if run.outcome.abort_reason.is_some() {
        // It has the only copy of the results: they remain for the next resume.
        container::tear_down(session).await?;
    } else {
        // Services are no longer needed.
        container::remove_containers(session).await?;
    }
    Ok(false)
}

/// Steps that are not executed again. A step on the host may still be running: no step before it is
/// executed again.
fn find_completed_steps(session: &RunSession, container_lives: bool) -> Vec<u32> {
    let plan = &session.plan;
    let state = session.state().to_resumed();
    let mut completed = state.completed_steps(plan, container_lives);
    let is_running = |step: &&Step| step.host_command().is_some() && may_be_running(session, step);
    if let Some(running) = plan.steps.iter().find(is_running) {
        let before = state.completed_steps(plan, true).into_iter();
        completed.extend(before.filter(|number| *number < running.number));
        completed.sort_unstable();
        completed.dedup();
    }
    completed
}

/// Completes the measurements that wrote their exit code before the container ended, and collects their
/// results. A signal or a host fault ends the run here.
async fn salvage_results(run: &mut RunExecution<'_>) -> Result<(), RunError> {
    let session = run.session;
    for step in &session.plan.steps {
        if is_salvageable(session, step) {
            let end = execute_step(run, step).await?;
            // Other failures are retried.
            let mut outcome = run.outcome.clone();
            outcome.record_end(step, &end);
            if outcome.abort_reason.is_some() {
                run.outcome = outcome;
                break;
            }
        }
    }
    Ok(())
}

fn is_salvageable(session: &RunSession, step: &Step) -> bool {
    let state = session.state();
    match &step.action {
        Action::Exec(exec) => {
            let exit = || session.control.step_control(step).read_exit();
            exec.purpose != CommandPurpose::Prepare
                && state.open.contains(&step.number)
                && exit().is_some_and(|exit| !exit.terminated_by_us && !exit.is_disk_full)
        }
        Action::Collect { of, .. } => state.is_done(*of) && !state.is_done(step.number),
        _ => false,
    }
}
