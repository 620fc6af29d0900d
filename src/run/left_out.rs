//! What of the plan is not done, and why.

use super::error::RunError;
use super::execute::Run;
use super::judge;
use super::{collect, container};
use crate::plan::choices::Keep;
use crate::plan::step::{Action, Condition, Purpose, Step};
use crate::store::StoreError;
use crate::store::journal::{StepEnd, StepFault, What};

impl Run<'_> {
    /// Why a step is not done, if it is not.
    pub(super) async fn left_out(&mut self, step: &Step) -> Result<Option<String>, RunError> {
        if let Condition::Skipped { because } = &step.when {
            return Ok(Some(because.clone()));
        }
        match &step.action {
            Action::Remove => return self.kept(step).await,
            // What was stopped is not judged: `resume` goes on with it.
            Action::Judge => {
                return Ok(self
                    .stopper
                    .clone()
                    .filter(|_| self.session.stop.is_cancelled()));
            }
            // What was measured is fetched, whatever came afterwards.
            Action::Collect { .. } => {}
            Action::Create if !self.is_container_needed() => {
                return Ok(Some("everything that needs it was done before".to_owned()));
            }
            _ if self.stopper.is_some() => return Ok(self.stopper.clone()),
            Action::Exec(exec)
                if exec.purpose == Purpose::Prepare && !self.is_container_needed() =>
            {
                return Ok(Some("everything that needs it was done before".to_owned()));
            }
            Action::Fill(_) if !self.is_container_needed() => {
                return Ok(Some("everything that needs it was done before".to_owned()));
            }
            _ => {}
        }
        if let Some(decision) = self.decided(step)? {
            return Ok(Some(decision));
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
            collect::keep_what_failed(self.session, step, of, path).await;
        }
        Ok(undone.map(|of| format!("step {of:02} was not done")))
    }

    /// Whether something is left to run in the container: not so where a resumed run has all that
    /// was measured from the one before.
    fn is_container_needed(&self) -> bool {
        self.session.plan.steps.iter().any(|step| {
            let measures =
                matches!(&step.action, Action::Exec(exec) if exec.purpose != Purpose::Prepare);
            let left_out = match &step.when {
                Condition::Skipped { .. } => true,
                Condition::UntilDecided { stages } => {
                    judge::decided(self.session, step, stages).is_some()
                }
                _ => false,
            };
            measures && !left_out && !self.standing.contains(&step.number)
        })
    }

    /// Whether the evidence so far makes a further trial needless.
    fn decided(&self, step: &Step) -> Result<Option<String>, StoreError> {
        let Condition::UntilDecided { stages } = &step.when else {
            return Ok(None);
        };
        let decision = judge::decided(self.session, step, stages);
        if let (Some(decision), Action::Exec(exec)) = (&decision, &step.action)
            && matches!(exec.purpose, Purpose::Measure { .. })
        {
            self.session.say(
                Some(step),
                What::Decided {
                    decision: decision.clone(),
                },
            )?;
        }
        Ok(decision)
    }

    /// Why the container is not removed, if it is not.
    async fn kept(&mut self, step: &Step) -> Result<Option<String>, RunError> {
        let session = self.session;
        let Condition::Unless { keep } = &step.when else {
            return Ok(None);
        };
        let kept = match keep {
            Keep::Never => false,
            Keep::OnFailure => {
                (self.failed || self.stopper.is_some()) && !session.stop.is_cancelled()
            }
            Keep::Always => true,
        };
        if kept && session.state().container.is_some() {
            session.control.set_deadline(None)?;
            let run = session.run.id();
            return Ok(Some(format!(
                "kept: look around with `retrial shell {run}`, remove it with `retrial clean {run}`"
            )));
        }
        if self.stopper.is_some() && session.state().uncollected(&session.plan) {
            // Where it cannot be stopped, the step itself says why.
            return Ok(container::put_down(session).await.ok().flatten());
        }
        Ok(None)
    }
}
