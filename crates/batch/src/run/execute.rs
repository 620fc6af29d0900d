//! Goes through the schedule: each worker takes its trial runs one after the other.

use futures_util::future::join_all;

use super::batch_end::BatchEnd;
use super::images::pull_images_ahead;
use super::removal::remove_own_images;
use super::search::run_search;
use super::session::BatchSession;
use super::trial_run::execute_trial_run;
use crate::PullAhead;
use crate::journal::{BatchEventKind, BatchState, TrialRunAction};
use retrial_results::verdict::ExitCode;
use retrial_store::{RunDirectory, StoreError};

/// Executes the rest of the schedule.
///
/// # Errors
/// If the batch's own files cannot be written, or another process has one of its runs.
pub async fn execute_batch(batch: &BatchSession<'_>) -> Result<BatchEnd, StoreError> {
    record_lost_runs(batch)?;
    let all = batch.trial_runs();
    let retries = batch.job.plan.execution.retries;
    let is_resumed = batch.with_state(|state| state.sessions > 0);
    let is_complete = |state: &BatchState, trial_run: &usize| {
        state.next_action(*trial_run, retries) == TrialRunAction::Complete
    };
    batch.record(BatchEventKind::batch_started(batch.job.directory.id(), all.len()))?;
    if is_resumed {
        // Only now is it known what is retried on a fixed host.
        let trial_runs: Vec<usize> = batch.with_state(|state| {
            let begun = state.trial_runs.keys();
            let complete = begun.filter(|trial_run| is_complete(state, trial_run));
            complete.copied().collect()
        });
        batch.record(BatchEventKind::Reused { trial_runs })?;
    }
    if let Some(plan) = &batch.job.plan.search {
        let ended = run_search(batch, plan).await?;
        if ended.exit != ExitCode::Interrupted {
            remove_own_images(batch).await?;
        }
        return Ok(ended);
    }
    let workers = batch.job.workers.clone();
    let is_single_worker = workers.len() == 1;
    let worker_runs = workers.into_iter().enumerate().map(async |(worker, trial_runs)| {
        for trial_run in trial_runs {
            let result =
                execute_trial_run(batch, trial_run, (!is_single_worker).then_some(worker)).await;
            // The other workers stop cleanly; this error is reported.
            result.inspect_err(|_| batch.stop.cancel())?;
        }
        Ok::<(), StoreError>(())
    });
    let work = join_all(worker_runs);
    tokio::pin!(work);
    let execution = &batch.job.plan.execution;
    // An image that is pulled early takes the space that a removal frees.
    let ends = if execution.pull_ahead == PullAhead::Never || execution.remove_images {
        work.await
    } else {
        tokio::select! {
            ends = &mut work => ends,
            pulled = pull_images_ahead(batch) => {
                if pulled.is_err() {
                    batch.stop.cancel();
                }
                let ends = work.await;
                pulled?;
                ends
            }
        }
    };
    ends.into_iter().collect::<Result<Vec<()>, StoreError>>()?;
    let halted = batch.halt_reason().cloned();
    Ok(batch.with_state(|state| BatchEnd::new(state, &all, halted)))
}

/// Runs that ended and no longer exist are repeated: without them nothing can be judged. So are
/// those of another host.
fn record_lost_runs(batch: &BatchSession<'_>) -> Result<(), StoreError> {
    let runs: Vec<(usize, String)> = batch.with_state(|state| {
        let runs = state.latest_runs();
        runs.map(|(trial_run, run)| (trial_run, run.to_owned())).collect()
    });
    for (trial_run, run) in runs {
        let directory = RunDirectory::from_path(batch.job.home.runs_directory().join(&run));
        let here = batch.job.host.as_ref();
        let is_elsewhere =
            here.is_some_and(|here| run_hostname(&directory).is_some_and(|host| host != *here));
        if is_elsewhere || !directory.path().is_dir() {
            batch.record(BatchEventKind::TrialRunLost { trial_run, run })?;
        }
    }
    Ok(())
}

/// The name of the host on which a run was made.
fn run_hostname(run: &RunDirectory) -> Option<String> {
    run.read_host_record().ok()?.hostname().map(str::to_owned)
}
