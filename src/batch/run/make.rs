//! Whoever knows recipes, trust and the host makes a trial run an ordinary run.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::batch::journal::TrialRunEnd;
use crate::plan::Plan;
use crate::results::verdict::ExitCode;
use crate::run::Prepared;

/// Makes the trial runs of a schedule, numbered from 1, ordinary runs.
#[async_trait(?Send)]
pub trait Makes {
    /// The image that the trial run's run would pull where the engine has not got it.
    fn image(&self, trial_run: usize) -> Option<String>;

    /// Looks at the host once more and says what the run will be, on the GPUs of a worker.
    async fn make(&self, trial_run: usize, worker: usize) -> Result<Prepared, Refused>;

    /// Values of the secrets that a plan names.
    fn secrets(&self, plan: &Plan) -> BTreeMap<String, String>;
}

/// Why a run cannot begin.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Whose fault it is.
    pub exit: ExitCode,
    /// Why.
    pub because: String,
}

impl From<Refused> for TrialRunEnd {
    fn from(refused: Refused) -> Self {
        Self {
            exit_code: refused.exit.code(),
            because: Some(refused.because),
            ..Self::default()
        }
    }
}
