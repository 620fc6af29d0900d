//! Which steps of the plan are skipped, and why.

use super::course::Course;
use super::error::RunError;
use super::execute::Run;
use super::judge;
use super::{collect, container};
use crate::plan::options::Keep;
use crate::plan::step::{Action, Condition, Purpose, Step};
use crate::store::StoreError;
use crate::store::journal::{SkipReason, StepEnd, StepFault};

impl Run<'_> {
    /// Returns why a step is skipped, if it is.
    pub(super) async fn skip_reason(
        &mut self,
        step: &Step,
    ) -> Result<Option<SkipReason>, RunError> {
        if let Condition::Skipped { option } = &step.when {
            let option = option.clone();
            return Ok(Some(SkipReason::Option { option }));
        }
        match &step.action {
            Action::Remove => return self.keep_container(step).await,
            // A run that was stopped is not judged: `resume` continues it.
            Action::Judge => {
                return Ok(self.aborted().filter(|_| self.session.stop.is_cancelled()));
            }
            // Results are collected, whatever happened afterwards.
            Action::Collect { .. } => {}
            Action::Create if !self.is_container_needed().await => {
                return Ok(Some(SkipReason::NotNeeded));
            }
            _ if self.course.abort_reason().is_some() => return Ok(self.aborted()),
            Action::Exec(exec)
                if exec.purpose == Purpose::Prepare && !self.is_container_needed().await =>
            {
                return Ok(Some(SkipReason::NotNeeded));
            }
            Action::Populate(_) if !self.is_container_needed().await => {
                return Ok(Some(SkipReason::NotNeeded));
            }
            _ => {}
        }
        if let Some(decision) = self.decided(step).await? {
            return Ok(Some(SkipReason::Decided { decision }));
        }
        let of = match &step.action {
            Action::Collect { of, .. } => Some(*of),
            Action::Exec(exec) => match exec.purpose {
                Purpose::Check { of, .. } => Some(of),
                _ => None,
            },
            _ => None,
        };
        let state = self.session.state();
        let undone = of.filter(|of| !state.done(*of));
        if let (Some(of), Action::Collect { path, .. }) = (undone, &step.action)
            && let Some((StepEnd::Failed { fault, .. }, _)) = state.ended.get(&of)
            && matches!(fault, StepFault::Command | StepFault::Timeout)
        {
            collect::collect_evidence(self.session, step, of, path).await;
        }
        Ok(undone.map(|step| SkipReason::InputMissing { step }))
    }

    fn aborted(&self) -> Option<SkipReason> {
        let reason = self.course.abort_reason()?.clone();
        Some(SkipReason::Aborted { reason })
    }

    /// Whether something is left to run in the container: a resumed run may have all measurements from
    /// the process before it.
    async fn is_container_needed(&self) -> bool {
        for step in &self.session.plan.steps {
            let measures =
                matches!(&step.action, Action::Exec(exec) if exec.purpose != Purpose::Prepare);
            if !measures || self.completed_steps.contains(&step.number) {
                continue;
            }
            let is_skipped = match &step.when {
                Condition::Skipped { .. } => true,
                Condition::UntilDecided { stages } => {
                    let decision = judge::decided(self.session, step, stages).await;
                    decision.is_some()
                }
                _ => false,
            };
            if !is_skipped {
                return true;
            }
        }
        false
    }

    /// Returns why a further trial is not needed, if the evidence so far decides.
    async fn decided(&self, step: &Step) -> Result<Option<String>, StoreError> {
        let Condition::UntilDecided { stages } = &step.when else {
            return Ok(None);
        };
        let decision = judge::decided(self.session, step, stages).await;
        if let (Some(decision), Action::Exec(exec)) = (&decision, &step.action)
            && matches!(exec.purpose, Purpose::Measure { .. })
        {
            self.session.decide(step, decision.clone())?;
        }
        Ok(decision)
    }

    /// Returns why the container is not removed, if it is not.
    async fn keep_container(&mut self, step: &Step) -> Result<Option<SkipReason>, RunError> {
        let session = self.session;
        let Condition::Unless { keep } = &step.when else {
            return Ok(None);
        };
        let kept = match keep {
            Keep::Never => false,
            Keep::OnFailure => self.course != Course::Clean && !session.stop.is_cancelled(),
            Keep::Always => true,
        };
        if kept && session.state().container.is_some() {
            session.control.set_deadline(None)?;
            let run = session.run.id().to_owned();
            return Ok(Some(SkipReason::ContainerKept { run }));
        }
        if self.course.abort_reason().is_some() && session.state().uncollected(&session.plan) {
            // If it cannot be stopped, the step itself reports why.
            return Ok(container::teardown(session).await.ok().flatten());
        }
        Ok(None)
    }
}
