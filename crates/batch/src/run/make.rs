//! Whoever knows recipes, trust and the host makes a trial run an ordinary run.

use async_trait::async_trait;

use crate::journal::TrialRunEnd;
use retrial_run::Prepared;

/// Makes ordinary runs of the trial runs of a schedule, numbered from 1.
#[async_trait(?Send)]
pub trait RunMaker {
    /// The image that the trial run's run would pull where the engine has not got it.
    fn image(&self, trial_run: usize) -> Option<String>;

    /// Looks at the host once more and says what the run will be, on the GPUs of a worker; else why it
    /// cannot begin.
    async fn make(&self, trial_run: usize, worker: usize) -> Result<Prepared, TrialRunEnd>;
}
