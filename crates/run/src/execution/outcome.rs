//! What follows from the ends of the steps: whether the run continues, and its exit code. Pure.

use retrial_plan::step::{Action, CommandPurpose, Step};
use retrial_results::verdict::{ExitCode, Verdict};
use retrial_store::journal::{AbortReason, StepEnd, StepFault};

/// The outcome of a run by the steps that have ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// The most severe fault of a step; none if no step failed.
    fault: Option<StepFault>,
    /// The first reason for which the remaining measurements are aborted, if they are.
    pub abort_reason: Option<AbortReason>,
}

impl RunOutcome {
    /// Takes the end of a step into account.
    pub fn record_end(&mut self, step: &Step, end: &StepEnd) {
        match end {
            StepEnd::Done { .. } | StepEnd::Skipped { .. } => {}
            StepEnd::Stopped => {
                self.abort_reason.get_or_insert(AbortReason::Stopped);
            }
            StepEnd::Failed { fault, reason, .. } => {
                self.fault = self.fault.max(Some(*fault));
                if is_needed(step, *fault) {
                    let error = reason.clone();
                    let name = step.name.clone();
                    let reason = AbortReason::StepFailed { name, error };
                    self.abort_reason.get_or_insert(reason);
                }
            }
        }
    }

    /// Returns whether no step failed, and the run was not stopped.
    pub fn is_successful(&self) -> bool {
        *self == Self::default()
    }

    /// The exit code of a run that ends now; `stopped` by a signal or `retrial stop`.
    pub fn exit_code(&self, verdict: Option<&Verdict>, stopped: bool) -> ExitCode {
        if stopped && (self.abort_reason.is_some() || verdict.is_none()) {
            return ExitCode::Interrupted;
        }
        match self.fault {
            Some(StepFault::Request) => ExitCode::Usage,
            Some(StepFault::Host) => ExitCode::Host,
            Some(StepFault::Command | StepFault::Timeout) => ExitCode::StepFailed,
            Some(StepFault::NoResult) | None => {
                verdict.map_or(ExitCode::Host, |verdict| verdict.exit_code)
            }
        }
    }
}

/// Returns whether the following steps need one that failed.
fn is_needed(step: &Step, fault: StepFault) -> bool {
    match &step.action {
        Action::Exec(exec) => exec.purpose == CommandPurpose::Prepare || fault == StepFault::Host,
        // The measurements that need a service are skipped without it.
        Action::Collect { .. } | Action::StartService(_) | Action::StopService(_) => {
            fault == StepFault::Host
        }
        Action::Remove | Action::Judge => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_plan::step::StepCondition;

    fn step(action: Action) -> Step {
        Step {
            number: 1,
            name: "one".to_owned(),
            on: None,
            container: None,
            when: StepCondition::Always,
            action,
        }
    }

    fn after(ends: &[(Action, StepEnd)]) -> RunOutcome {
        let mut outcome = RunOutcome::default();
        for (action, end) in ends {
            outcome.record_end(&step(action.clone()), end);
        }
        outcome
    }

    fn collect() -> Action {
        Action::Collect {
            measurement: 0,
            trial: 1,
            of: 1,
            path: "/results".to_owned(),
            max_bytes: None,
        }
    }

    #[test]
    fn a_failed_measurement_does_not_abort_and_the_worst_fault_wins() {
        let missing = StepEnd::failure(StepFault::NoResult, "no results", "");
        let outcome = after(&[(collect(), missing.clone())]);
        assert_eq!(outcome.abort_reason, None);
        assert_eq!(outcome.fault, Some(StepFault::NoResult));
        assert_eq!(outcome.exit_code(None, false), ExitCode::Host);
        let removal = (Action::Remove, StepEnd::host_failure("the engine is unavailable"));
        let outcome = after(&[removal, (collect(), missing)]);
        assert_eq!(outcome.abort_reason, None);
        assert_eq!(outcome.fault, Some(StepFault::Host));
    }

    #[test]
    fn the_first_abort_reason_is_kept() {
        let failed = StepEnd::failure(StepFault::Request, "no such user", "more");
        let outcome = after(&[
            (Action::Create, failed),
            (Action::Create, StepEnd::Stopped),
            (Action::Create, StepEnd::host_failure("gone")),
        ]);
        let reason =
            AbortReason::StepFailed { name: "one".to_owned(), error: "no such user".to_owned() };
        assert_eq!(outcome.abort_reason, Some(reason));
        assert_eq!(outcome.exit_code(None, false), ExitCode::Usage);
        assert_eq!(outcome.exit_code(None, true), ExitCode::Interrupted);
    }
}
