//! The interface to the caller, which knows recipes, approval and the host.

use async_trait::async_trait;

use crate::journal::TrialRunEnd;
use retrial_run::PreparedRun;

/// Makes ordinary runs of the trial runs of a schedule, numbered from 1.
#[async_trait(?Send)]
pub trait RunMaker {
    /// Returns the images that the trial run would pull if the engine does not have them.
    fn images_to_pull(&self, trial_run: usize) -> Vec<String>;

    /// Checks the host again and prepares the run, on the GPUs of a worker; else returns how the trial run ended.
    async fn prepare_run(
        &self,
        trial_run: usize,
        worker: usize,
    ) -> Result<PreparedRun, TrialRunEnd>;
}
