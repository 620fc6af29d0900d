//! Services: started like any step and followed until they are ready, then left running; stopped by a
//! later step, with all their processes.

use std::time::Duration;

use super::control::GRACE_S;
use super::engine_back::with_engine;
use super::error::Halt;
use super::follow::{Followed, follow};
use super::readiness::{Readiness, answers};
use super::session::Session;
use super::target::{Started, Target};
use super::terminate::{Ending, terminate_leftovers, terminate_step};
use super::{container, exec, output};
use crate::plan::service::{ServiceStep, StopPolicy, StopStep};
use crate::plan::step::Step;
use crate::store::journal::{StepEnd, StepFault, What};
use retrial_recipe::model::ReadyWhen;

/// Where a service runs.
///
/// # Errors
/// If there is no such container.
pub fn target_of(session: &Session, step: &Step, service: &ServiceStep) -> Result<Target, Halt> {
    if service.own_container.is_none() {
        return Target::main(session);
    }
    let state = session.state();
    let id = state.service_containers.get(&step.number);
    let id = id.ok_or_else(|| Halt::host("the service's container is gone"))?;
    let control = session.service_controls[&service.service].clone();
    Ok(Target::Container(id.clone(), control))
}

/// Starts a service and waits until it is ready; `reattach` if it may be running since before a kill
/// of the tool. One that does not become ready is stopped.
pub async fn start(
    session: &Session,
    step: &Step,
    service: &ServiceStep,
    reattach: bool,
) -> Result<(), Halt> {
    let reattach = place(session, step, service, reattach).await?;
    let target = target_of(session, step, service)?;
    let result = follow_until_ready(session, step, service, &target, reattach).await;
    session.set_deadline(Some(GRACE_S))?;
    let halt = match result {
        Ok(exec) => {
            let service = service.service.clone();
            return Ok(session.record(Some(step), What::ServiceReady { service, exec })?);
        }
        Err(Halt::Ended(end)) => Halt::Ended(exec::with_last_lines(session, step, end)),
        Err(halt) => return Err(halt),
    };
    shut_down(session, step, step, service).await?;
    Err(halt)
}

/// Creates the service's own container, if it has one, or finds it. Returns whether the service may be
/// running in it.
async fn place(
    session: &Session,
    step: &Step,
    service: &ServiceStep,
    reattach: bool,
) -> Result<bool, Halt> {
    let Some(own) = &service.own_container else {
        return Ok(reattach);
    };
    let state = session.state();
    if let Some(id) = state.service_containers.get(&step.number) {
        let found = session.engine.container(id).await?;
        let control = &session.service_controls[&service.service];
        let begun = control.step(&step.directory()).started();
        if reattach && begun && found.is_some_and(|found| found.running) {
            return Ok(true);
        }
        container::discard(session, id).await?;
    }
    container::create_for_service(session, step, &service.service, own).await?;
    Ok(false)
}

/// Returns the engine's name for its process, if this process started it.
async fn follow_until_ready(
    session: &Session,
    step: &Step,
    service: &ServiceStep,
    target: &Target,
    reattach: bool,
) -> Result<Option<String>, Halt> {
    let command = &service.command;
    let control = target.control(session).step(&step.directory());
    let is_new = !(reattach && control.started());
    if is_new && answers_to_anybody(session, step, service, target).await? {
        let because = format!(
            "{} before the service {} was started",
            service.readiness(),
            service.service
        );
        let advice = "another program serves there: stop it, or choose another port";
        return Err(Halt::failed(StepFault::Host, because, advice));
    }
    let started = exec::start(session, step, command, target, reattach).await?;
    let exec = started.as_ref().and_then(|started| match started {
        Started::Exec(id) => Some(id.clone()),
        Started::Process(_) => None,
    });
    let mut readiness = Readiness::new(session, step, service, target)?;
    match follow(session, step, command, target, started, &mut readiness).await? {
        Followed::Running(()) => Ok(exec),
        Followed::Exited(exit) => {
            let code = exec::verify(session, target, command, &exit);
            Err(ended_early(service, code).into())
        }
    }
}

/// Whether something else answers where the service will.
async fn answers_to_anybody(
    session: &Session,
    step: &Step,
    service: &ServiceStep,
    target: &Target,
) -> Result<bool, StepEnd> {
    match service.ready {
        ReadyWhen::Port(_) | ReadyWhen::Http(_) => answers(session, step, service, target).await,
        ReadyWhen::Log(_) | ReadyWhen::Command(_) => Ok(false),
    }
}

fn ended_early(service: &ServiceStep, code: Result<i64, StepEnd>) -> StepEnd {
    let name = &service.service;
    let early = format!("the service {name} ended before it was ready");
    match code {
        Ok(code) => StepEnd::Failed {
            fault: StepFault::Command,
            because: format!("{early}: it ended with exit code {code}"),
            exit_code: Some(code),
            last_lines: Vec::new(),
            advice: "its command must stay in the foreground: it is stopped by Retrial".to_owned(),
        },
        Err(mut end) => {
            if let StepEnd::Failed { because, .. } = &mut end {
                *because = format!("{early}: {because}");
            }
            end
        }
    }
}

/// Stops a service that was ready.
pub async fn stop(session: &Session, step: &Step, ending: &StopStep) -> Result<(), Halt> {
    match session.plan.service(ending.of) {
        Some((start, service)) => shut_down(session, step, start, service).await,
        None => Ok(()),
    }
}

/// Ends a service's processes, keeps its output, and removes its own container.
async fn shut_down(
    session: &Session,
    during: &Step,
    start: &Step,
    service: &ServiceStep,
) -> Result<(), Halt> {
    let target = target_of(session, start, service)?;
    let control = target.control(session).step(&start.directory());
    if control.started() && is_there(session, during, &target).await? {
        let ending = ending_of(session, service.stop);
        if control.exit().is_some() {
            terminate_leftovers(session, start, &target, ending).await;
        } else if !terminate_step(session, start, &target, ending).await {
            let text = format!(
                "the service {} did not end within {} of {}: it was killed",
                service.service,
                crate::format::limit(ending.grace.as_secs()),
                ending.signal
            );
            session.warn(during, text)?;
        }
    }
    if control.exists() {
        output::keep(session, start, &control, &service.command).await?;
    }
    let exit_code = control.exit().map(|exit| exit.code);
    if service.own_container.is_some()
        && let Some(id) = session.state().service_containers.get(&start.number)
    {
        container::discard(session, id).await?;
    }
    let what = What::ServiceEnded {
        service: service.service.clone(),
        of: start.number,
        exit_code,
    };
    Ok(session.record(Some(during), what)?)
}

/// Whether there is a container in which it may be running. Waits for an engine that went away: without
/// it, nothing can be stopped.
async fn is_there(session: &Session, during: &Step, target: &Target) -> Result<bool, Halt> {
    let Target::Container(container, _) = target else {
        return Ok(false);
    };
    let found = with_engine(session, during, || session.engine.container(container)).await?;
    Ok(found.is_some())
}

/// How a service is ended: as the recipe says; a run that is stopped gives it no more time than any
/// other step.
fn ending_of(session: &Session, stop: StopPolicy) -> Ending {
    let mut grace = Duration::from_secs(stop.timeout_s);
    if session.stop.is_cancelled() {
        grace = grace.min(Ending::default().grace);
    }
    Ending {
        signal: stop.signal,
        grace,
    }
}
