//! Watches the services that a measurement needs, and other machines that execute the same step: one that ends
//! fails the measurement, not the host.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use super::exit::{verify_exit, with_output};
use super::follow::{LivenessProbe, StepObserver, check_output_length};
use super::output::OutputFollower;
use super::session::StepSession;
use super::target::{StartedCommand, StepCommand};
use crate::access::RunSession;
use crate::control::StepExit;
use crate::detection::FailureWatch;
use crate::error::Halt;
use crate::nodes::RunMachine;
use retrial_plan::service::ServiceStep;
use retrial_store::journal::{StepEnd, StepFault};

/// The longest wait for a service's exit code after a measurement failed: the service may be the cause.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A service that a measurement needs, while the measurement runs.
pub struct WatchedService<'a> {
    service: &'a ServiceStep,
    command: StepCommand<'a>,
    output: OutputFollower<'a>,
    liveness: LivenessProbe,
    failure: FailureWatch,
    /// When the service was found to have ended by itself with exit code 0.
    exited_at: Option<Instant>,
}

/// The services and machines that a step needs until it has ended.
pub struct StepDependencies<'a> {
    session: StepSession<'a>,
    /// Services on this machine.
    services: Vec<WatchedService<'a>>,
    /// The step, and the starts of the services that it needs on any machine.
    steps: Vec<u32>,
}

impl<'a> StepDependencies<'a> {
    /// Returns the services and machines that a step's command needs.
    pub fn for_command(command: &StepCommand<'a>) -> Result<Self, Halt> {
        let (session, needs) = (command.session, &command.exec.needs);
        let mut steps = needs.clone();
        steps.push(session.step.number);
        Ok(Self { session, services: watch_services(session.run_session, needs)?, steps })
    }
}

/// Services on this machine, by the steps that started them, as they run.
pub fn watch_services<'a>(
    session: &'a RunSession,
    starts: &[u32],
) -> Result<Vec<WatchedService<'a>>, Halt> {
    let state = session.state();
    let needs = starts.iter().filter_map(|start| {
        let exec = state.services.get(start)?;
        session.plan.started_service(*start).map(|found| (found, exec))
    });
    needs
        .filter(|((step, _), _)| session.executes_step(step))
        .map(|((step, service), exec)| {
            let session = StepSession::new(session, step);
            let command = StepCommand::for_service(&session, service)?;
            let started = exec.clone().map(StartedCommand::Exec);
            Ok(WatchedService {
                service,
                output: OutputFollower::open(&session),
                liveness: LivenessProbe::new(started),
                failure: FailureWatch::new(&command)?,
                command,
                exited_at: None,
            })
        })
        .collect()
}

impl WatchedService<'_> {
    pub fn start_step_number(&self) -> u32 {
        self.command.session.step.number
    }

    /// Fails if it has ended: at once by an error; by itself, if the measurement continues for longer than the
    /// service may take to stop.
    pub fn check_files(&mut self) -> Result<(), StepEnd> {
        self.output.mirror_new_output();
        check_output_length(self.command.exec, &self.output)
            .map_err(|end| self.to_measurement_fault(end))?;
        let found = self.failure.search_new_output(&self.command);
        found.map_err(|end| self.to_measurement_fault(end))?;
        let Some(exit) = self.own_exit() else {
            return Ok(());
        };
        self.check_exit(&exit)?;
        let grace = Duration::from_secs(self.service.stop.timeout_s);
        if self.exited_at.get_or_insert_with(Instant::now).elapsed() < grace {
            return Ok(());
        }
        Err(self.ended_by_itself_error())
    }

    /// Fails if it can no longer write its exit code.
    pub async fn probe_engine(&mut self) -> Result<(), StepEnd> {
        if self.own_exit().is_some() {
            return Ok(());
        }
        let Some(mut end) =
            self.liveness.find_death(&self.command).await.filter(|_| self.own_exit().is_none())
        else {
            let found = self.failure.probe_children(&self.command).await;
            return found.map_err(|end| self.to_measurement_fault(end));
        };
        // The host and the run's container are intact: other measurements continue.
        if let StepEnd::Failed { fault, .. } = &mut end
            && self.command.session.run_session.find_full_disk().is_none()
        {
            *fault = StepFault::Command;
        }
        Err(self.to_measurement_fault(end))
    }

    /// Fails if its complete output shows a failure: measurements that used it are invalid.
    async fn check_complete_output(&mut self) -> Result<(), StepEnd> {
        let code = self.own_exit().map(|exit| exit.code);
        let found = self.failure.search_remaining_output(&self.command, code).await;
        found.map_err(|end| self.to_measurement_fault(end))
    }

    /// Returns the service's exit, unless its container was stopped.
    fn own_exit(&self) -> Option<StepExit> {
        self.command.files.read_exit().filter(|exit| !exit.terminated_by_us)
    }

    fn check_exit(&self, exit: &StepExit) -> Result<(), StepEnd> {
        let verified = verify_exit(&self.command, exit);
        verified.map(drop).map_err(|end| self.to_measurement_fault(end))
    }

    fn ended_by_itself_error(&self) -> StepEnd {
        let reason = "it ended with exit code 0";
        let advice = "the command of a service stays in the foreground until it is stopped";
        let end = StepEnd::failure(StepFault::Command, reason, advice);
        self.to_measurement_fault(end.with_exit_code(Some(0)))
    }

    /// Converts its fault to one of the measurement.
    fn to_measurement_fault(&self, end: StepEnd) -> StepEnd {
        let session = &self.command.session;
        let (name, step) = (&self.service.service, session.step.directory_name());
        let node = session.run_session.options.machine.as_ref();
        let below = node.map_or_else(String::new, RunMachine::run_subdirectory);
        with_output(session, end).map_reason(|reason| {
            format!(
                "its service {name} failed: {reason}; its output: {below}steps/{step}/output.log"
            )
        })
    }
}

impl StepObserver for StepDependencies<'_> {
    type EarlyResult = Infallible;

    async fn wait_for_outcome(&mut self) -> Result<Infallible, StepEnd> {
        std::future::pending().await
    }

    fn check_files(&mut self) -> Result<(), StepEnd> {
        let steps = self.steps.iter().copied();
        self.session.run_session.failures.find_first(steps).map_or(Ok(()), Err)?;
        self.services.iter_mut().try_for_each(WatchedService::check_files)
    }

    async fn probe_engine(&mut self) -> Result<(), StepEnd> {
        for service in &mut self.services {
            service.probe_engine().await?;
        }
        Ok(())
    }

    /// If the step failed, a service that has ended is the cause.
    async fn check_after_exit(&mut self, exit: &StepExit) -> Result<(), StepEnd> {
        let failed = exit.code != 0 && !exit.terminated_by_us;
        let until = Instant::now() + EXIT_TIMEOUT;
        for service in &mut self.services {
            service.check_complete_output().await?;
        }
        while !self.services.is_empty() {
            let services = self.services.iter();
            let exits = services.filter_map(|service| Some((service, service.own_exit()?)));
            let ended: Vec<_> = exits.collect();
            for (service, exit) in &ended {
                service.check_exit(exit)?;
            }
            if let Some((service, _)) = ended.first().filter(|_| failed) {
                return Err(service.ended_by_itself_error());
            }
            if !failed || Instant::now() > until {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}
