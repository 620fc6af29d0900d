//! Goes through the schedule: each worker takes its trial runs one after the other.

use futures_util::future::join_all;

use super::error::BatchError;
use super::images::pull_ahead;
use super::session::BatchSession;
use super::trial_run::take;
use super::workers::workers;
use crate::batch::PullAhead;
use crate::batch::journal::{BatchState, BatchWhat, Next};
use crate::results::verdict::ExitCode;

/// How a process came to the end of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchEnded {
    /// Of what went wrong, the first that applies: interrupted, refused, the host, a step. What was
    /// measured says the verdict.
    pub exit: ExitCode,
    /// Why it ended early, if it did.
    pub because: Option<String>,
}

/// Executes what is left of the schedule.
///
/// # Errors
/// Where the batch's own files cannot be written, or another process has one of its runs.
pub async fn execute(batch: &BatchSession<'_>) -> Result<BatchEnded, BatchError> {
    lost_runs(batch)?;
    let count = batch.job.plan.schedule.trial_runs.len();
    let retries = batch.job.plan.execution.retries;
    let before = batch.ask(|state| state.begun);
    let stands =
        |state: &BatchState, trial_run: &usize| state.next(*trial_run, retries) == Next::Stands;
    batch.record(BatchWhat::BatchBegan {
        batch: batch.job.directory.id().to_owned(),
        trial_runs: count,
        pid: std::process::id(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    if before {
        // Only now is it known what a host that was mended tries again.
        let trial_runs: Vec<usize> = batch.ask(|state| {
            (1..=count)
                .filter(|trial_run| stands(state, trial_run))
                .collect()
        });
        batch.record(BatchWhat::Reused { trial_runs })?;
    }
    let workers = workers(&batch.job.plan);
    let alone = workers.len() == 1;
    let workers = workers
        .into_iter()
        .enumerate()
        .map(async |(worker, trial_runs)| {
            for trial_run in trial_runs {
                let taken = take(batch, trial_run, (!alone).then_some(worker)).await;
                if taken.is_err() {
                    // The others come to a clean end; this is the reason that is told.
                    batch.stop.cancel();
                }
                taken?;
            }
            Ok::<(), BatchError>(())
        });
    let all = join_all(workers);
    tokio::pin!(all);
    let ends = if batch.job.plan.execution.pull_ahead == PullAhead::Never {
        all.await
    } else {
        tokio::select! {
            ends = &mut all => ends,
            pulled = pull_ahead(batch) => {
                if pulled.is_err() {
                    batch.stop.cancel();
                }
                let ends = all.await;
                pulled?;
                ends
            }
        }
    };
    ends.into_iter().collect::<Result<Vec<()>, BatchError>>()?;
    Ok(ended(batch, count))
}

/// Runs that ended and are not there any more are done again: without them nothing can be judged.
fn lost_runs(batch: &BatchSession<'_>) -> Result<(), BatchError> {
    let runs: Vec<(usize, String)> = batch.ask(|state| {
        let runs = state.runs();
        runs.map(|(trial_run, run)| (trial_run, run.to_owned()))
            .collect()
    });
    for (trial_run, run) in runs {
        if !batch.job.home.runs().join(&run).is_dir() {
            batch.record(BatchWhat::TrialRunLost { trial_run, run })?;
        }
    }
    Ok(())
}

fn ended(batch: &BatchSession<'_>, count: usize) -> BatchEnded {
    let left = (1..=count).filter(|trial_run| {
        let end = batch.ask(|state| {
            let end = state.trial_runs.get(trial_run)?.end.as_ref();
            end.map(|(end, _)| end.exit_code)
        });
        end.is_none_or(|code| code == ExitCode::Interrupted.code())
    });
    let left = left.count();
    let halted = batch.halted();
    if left > 0 && halted.is_none() {
        return BatchEnded {
            exit: ExitCode::Interrupted,
            because: Some(format!("stopped with {left} of {count} runs remaining")),
        };
    }
    let codes: Vec<ExitCode> = batch.ask(|state| {
        let ends = state
            .trial_runs
            .values()
            .filter_map(|trial_run| trial_run.end.as_ref());
        ends.filter_map(|(end, _)| ExitCode::try_from(end.exit_code).ok())
            .filter(|code| is_failure(*code))
            .collect()
    });
    BatchEnded {
        exit: ExitCode::first(codes),
        because: halted
            .map(|because| format!("{because}; {left} of {count} runs were not started")),
    }
}

/// Whether a run ended without a result that could be judged: refused, the host, a step.
pub(super) fn is_failure(exit: ExitCode) -> bool {
    matches!(
        exit,
        ExitCode::Usage | ExitCode::Host | ExitCode::StepFailed
    )
}
