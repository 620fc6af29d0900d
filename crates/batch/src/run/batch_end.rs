//! How a process ended a batch.

use crate::journal::BatchState;
use retrial_results::verdict::ExitCode;

/// How a process ended a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchEnd {
    /// The first failure that applies: interrupted, refused, a failure of the host, a failed step. The verdict reports
    /// what was measured.
    pub exit: ExitCode,
    /// Why it ended early, if it did.
    pub reason: Option<String>,
}

impl BatchEnd {
    /// Summarizes these trial runs; `halted` is the reason why no more were started.
    pub fn new(state: &BatchState, trial_runs: &[usize], halted: Option<String>) -> Self {
        let count = trial_runs.len();
        let codes = trial_runs.iter().map(|trial_run| state.exit_code(*trial_run));
        let codes = codes.map(|code| ExitCode::try_from(code?).ok());
        let codes: Vec<Option<ExitCode>> = codes.collect();
        let is_left = |code: &&Option<ExitCode>| matches!(code, None | Some(ExitCode::Interrupted));
        let remaining = codes.iter().filter(is_left).count();
        if remaining > 0 && halted.is_none() {
            return Self {
                exit: ExitCode::Interrupted,
                reason: Some(format!("stopped with {remaining} of {count} runs remaining")),
            };
        }
        let failures = codes.into_iter().flatten().filter(|code| is_failure(*code));
        Self {
            exit: ExitCode::first_applicable(failures),
            reason: halted
                .map(|reason| format!("{reason}; {remaining} of {count} runs were not started")),
        }
    }
}

/// Returns whether a run ended without a result that could be judged: refused, a failure of the host, a failed step.
pub(super) fn is_failure(exit: ExitCode) -> bool {
    matches!(exit, ExitCode::Usage | ExitCode::Host | ExitCode::StepFailed)
}
