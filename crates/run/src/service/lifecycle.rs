//! Services: started like any step and followed until they are ready, then left running; stopped by a
//! later step, with all their processes.

use super::readiness::{Readiness, is_ready};
use crate::access::RunSession;
use crate::container;
use crate::control::DEADLINE_GRACE_S;
use crate::error::Halt;
use crate::step::{
    FollowOutcome, StartedCommand, StepCommand, StepSession, exec, follow_step, output,
    verify_exit, with_output,
};
use retrial_document::measures::format;
use retrial_plan::service::{ServiceStep, StopPolicy, StopStep};
use retrial_recipe::model::ReadyWhen;
use retrial_store::journal::{EventKind, StepEnd, StepFault};

/// Starts a service and waits until it is ready; `reattach` if it may be running since before a kill
/// of the tool. One that does not become ready is stopped.
pub async fn start_service(
    session: &StepSession<'_>,
    service: &ServiceStep,
    reattach: bool,
) -> Result<(), Halt> {
    let reattach = prepare_container(session, service, reattach).await?;
    let command = StepCommand::for_service(session, service)?;
    let result = follow_until_ready(service, &command, reattach).await;
    session.run_session.set_deadline(Some(DEADLINE_GRACE_S))?;
    let halt = match result {
        Ok(exec) => {
            let service_name = service.service.clone();
            return Ok(session.record(EventKind::ServiceReady { service: service_name, exec })?);
        }
        Err(Halt::Ended(end)) => Halt::Ended(with_output(session, end)),
        Err(halt) => return Err(halt),
    };
    shut_down(session, session, service).await?;
    Err(halt)
}

/// Creates the service's own container, if it has one, or finds it. Returns whether the service may be
/// running in it.
async fn prepare_container(
    session: &StepSession<'_>,
    service: &ServiceStep,
    reattach: bool,
) -> Result<bool, Halt> {
    let Some(own) = &service.own_container else {
        return Ok(reattach);
    };
    let state = session.run_session.state();
    if let Some(id) = state.service_containers.get(&session.step.number) {
        let found = session.with_engine(|engine| engine.inspect_container(id)).await?;
        let control = &session.run_session.service_controls[&service.service];
        let begun = control.step_control(session.step).has_started();
        if reattach && begun && found.is_some_and(|found| found.running) {
            return Ok(true);
        }
        container::discard_container(session.run_session, id).await?;
    }
    container::create_service_container(session, &service.service, own).await?;
    Ok(false)
}

/// Returns the engine's name for its process, if this process started it.
async fn follow_until_ready(
    service: &ServiceStep,
    command: &StepCommand<'_>,
    reattach: bool,
) -> Result<Option<String>, Halt> {
    let is_new = !(reattach && command.files.has_started());
    let has_address = matches!(service.ready, ReadyWhen::Port(_) | ReadyWhen::Http(_));
    // Another process already responds at the service's address.
    if is_new && has_address && is_ready(service, command).await? {
        let reason = format!(
            "{} before the service {} was started",
            service.describe_readiness(),
            service.service
        );
        let advice = "another program serves there: stop it, or choose another port";
        return Err(Halt::failure(StepFault::Host, reason, advice));
    }
    let started = exec::start_step_command(command, reattach).await?;
    let exec = started.as_ref().and_then(|started| match started {
        StartedCommand::Exec(id) => Some(id.clone()),
        StartedCommand::Process(_) => None,
    });
    let mut readiness = Readiness::new(service, command)?;
    match follow_step(command, started, &mut readiness).await? {
        FollowOutcome::Running(()) => Ok(exec),
        FollowOutcome::Exited(exit) => {
            Err(ended_early_error(service, verify_exit(command, &exit)).into())
        }
    }
}

fn ended_early_error(service: &ServiceStep, code: Result<i64, StepEnd>) -> StepEnd {
    let early = format!("the service {} ended before it was ready", service.service);
    match code {
        Ok(code) => {
            let reason = format!("{early}: it ended with exit code {code}");
            let advice = "its command must stay in the foreground: it is stopped by Retrial";
            StepEnd::failure(StepFault::Command, reason, advice).with_exit_code(Some(code))
        }
        Err(end) => end.map_reason(|reason| format!("{early}: {reason}")),
    }
}

/// Stops a service that was ready.
pub async fn stop_service(session: &StepSession<'_>, ending: &StopStep) -> Result<(), Halt> {
    let Some((start, service)) = session.run_session.plan.started_service(ending.of) else {
        return Ok(());
    };
    let started = StepSession::new(session.run_session, start);
    let command = StepCommand::for_service(&started, service)?;
    // Read before it is stopped: afterwards every service has ended.
    let ended = find_unnoticed_end(session, &command).await?;
    shut_down(session, &started, service).await?;
    let oom_kills = command.files.read_exit().and_then(|exit| exit.oom_kills);
    let positive_kills = oom_kills.filter(|killed| *killed > 0);
    let killed = positive_kills
        .map(|killed| format!("the kernel killed {killed} of its processes, out of memory"));
    for reason in ended.into_iter().chain(killed) {
        session.report_incident(format!(
            "the service {} failed before it was stopped: {reason}; figures measured with it may be wrong",
            service.service
        ))?;
    }
    Ok(())
}

/// Returns how a service ended after the last step that needs it, if it did so by an error.
async fn find_unnoticed_end(
    session: &StepSession<'_>,
    command: &StepCommand<'_>,
) -> Result<Option<String>, Halt> {
    if session.run_session.stop.is_cancelled() || !command.files.has_started() {
        return Ok(None);
    }
    if let Some(exit) = command.files.read_exit() {
        let is_fault = exit.code != 0 && !exit.terminated_by_us;
        return Ok(is_fault.then(|| format!("it had ended with exit code {}", exit.code)));
    }
    let Some(container) = &command.container else {
        return Ok(None);
    };
    let state = session.with_engine(|engine| engine.inspect_container(container)).await?;
    Ok(match state {
        Some(state) if state.running => None,
        Some(state) if state.oom_killed => {
            Some("the kernel had killed its container, out of memory".to_owned())
        }
        Some(_) => Some("its container had ended".to_owned()),
        None => Some("its container had been removed".to_owned()),
    })
}

/// Ends a service's processes, keeps its output, and removes its own container, during a step that may differ
/// from the one that started it.
async fn shut_down(
    session: &StepSession<'_>,
    started: &StepSession<'_>,
    service: &ServiceStep,
) -> Result<(), Halt> {
    let command = StepCommand::for_service(started, service)?;
    let files = &command.files;
    if files.has_started() && has_container(session, &command).await? {
        let ending = effective_ending(session.run_session, service.stop);
        if files.read_exit().is_some() {
            command.terminate_leftovers(ending).await;
        } else if !command.terminate(ending).await {
            let text = format!(
                "the service {} did not end within {} of {}: it was killed",
                service.service,
                format::format_time_limit(ending.timeout_s),
                ending.signal
            );
            session.warn(text)?;
        }
    }
    if files.is_prepared() {
        output::finalize_output(&command).await?;
    }
    let exit_code = files.read_exit().map(|exit| exit.code);
    let start = started.step.number;
    if service.own_container.is_some()
        && let Some(id) = session.run_session.state().service_containers.get(&start)
    {
        container::discard_container(session.run_session, id).await?;
    }
    let service_name = service.service.clone();
    let event = EventKind::ServiceEnded { service: service_name, of: start, exit_code };
    Ok(session.record(event)?)
}

/// Returns whether there is a container in which it may be running. Waits for an unavailable engine: without it,
/// nothing can be stopped.
async fn has_container(session: &StepSession<'_>, command: &StepCommand<'_>) -> Result<bool, Halt> {
    let Some(container) = &command.container else {
        return Ok(false);
    };
    let found = session.with_engine(|engine| engine.inspect_container(container)).await?;
    Ok(found.is_some())
}

/// Returns signal and time for ending a service: those of the recipe; a stopped run allows no more than for any step.
fn effective_ending(session: &RunSession, stop: StopPolicy) -> StopPolicy {
    if !session.stop.is_cancelled() {
        return stop;
    }
    StopPolicy { timeout_s: stop.timeout_s.min(StopPolicy::OF_COMMANDS.timeout_s), ..stop }
}
