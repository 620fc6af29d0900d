//! Reattaches to the container of a run after a kill.

use super::labels::RUN_LABEL;
use super::lifecycle;
use crate::error::RunError;
use crate::execute::RunExecution;
use retrial_plan::step::{Action, CommandPurpose, Plan, Step};

impl RunExecution<'_> {
    /// Finds the run's container. Returns whether it runs and can be used. One that was created but
    /// never recorded is removed; from one that has ended, results are collected.
    pub(crate) async fn reattach_container(&mut self) -> Result<bool, RunError> {
        let session = self.session;
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
        match (own, &state.container) {
            (Some(container), _) if container.running && (created || filling) => return Ok(true),
            (Some(_), _) if created => self.salvage_results().await?,
            _ => {}
        }
        if self.failure_tracker.abort_reason.is_some() {
            // It has the only copy of the results: they remain for the next resume.
            lifecycle::tear_down(session).await?;
        } else {
            // Services are no longer needed.
            lifecycle::remove_containers(session).await?;
        }
        Ok(false)
    }

    /// Steps that are not executed again. A step on the host may still be running: no step before it is
    /// executed again.
    pub(crate) fn find_completed_steps(&self, container_lives: bool) -> Vec<u32> {
        let plan = &self.session.plan;
        let state = self.session.state().to_resumed();
        let mut completed = state.completed_steps(plan, container_lives);
        let is_running = |step: &&Step| step.host_command().is_some() && self.may_be_running(step);
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
    async fn salvage_results(&mut self) -> Result<(), RunError> {
        let plan: &Plan = &self.session.plan;
        for step in &plan.steps {
            if self.is_salvageable(step) {
                let end = self.execute_step(step).await?;
                // Other failures are retried.
                let mut course = self.failure_tracker.clone();
                course.record_end(step, &end);
                if course.abort_reason.is_some() {
                    self.failure_tracker = course;
                    break;
                }
            }
        }
        Ok(())
    }

    fn is_salvageable(&self, step: &Step) -> bool {
        let state = self.session.state();
        match &step.action {
            Action::Exec(exec) => {
                exec.purpose != CommandPurpose::Prepare
                    && state.open.contains(&step.number)
                    && self
                        .session
                        .control
                        .step_control(step)
                        .read_exit()
                        .is_some_and(|exit| !exit.terminated_by_us)
            }
            Action::Collect { of, .. } => state.is_done(*of) && !state.is_done(step.number),
            _ => false,
        }
    }
}
