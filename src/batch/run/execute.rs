//! Goes through the schedule: each lane takes its turns one after the other.

use futures_util::future::join_all;

use super::error::BatchError;
use super::images::pull_ahead;
use super::lanes::lanes;
use super::session::BatchSession;
use super::turn::take;
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
    let count = batch.plan.schedule.turns.len();
    let retries = batch.plan.conduct.retries;
    let before = batch.ask(|state| state.begun);
    let stands = |state: &BatchState, turn: &usize| state.next(*turn, retries) == Next::Stands;
    batch.say(BatchWhat::BatchBegan {
        batch: batch.directory.id().to_owned(),
        turns: count,
        pid: std::process::id(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    if before {
        // Only now is it known what a host that was mended tries again.
        let turns: Vec<usize> =
            batch.ask(|state| (1..=count).filter(|turn| stands(state, turn)).collect());
        batch.say(BatchWhat::Reused { turns })?;
    }
    let lanes = lanes(&batch.plan);
    let alone = lanes.len() == 1;
    let lanes = lanes.into_iter().enumerate().map(async |(lane, turns)| {
        for turn in turns {
            let taken = take(batch, turn, (!alone).then_some(lane)).await;
            if taken.is_err() {
                // The others come to a clean end; this is the reason that is told.
                batch.stop.cancel();
            }
            taken?;
        }
        Ok::<(), BatchError>(())
    });
    let all = join_all(lanes);
    tokio::pin!(all);
    let ends = if batch.plan.conduct.pull_ahead == PullAhead::Never {
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
        runs.map(|(turn, run)| (turn, run.to_owned())).collect()
    });
    for (turn, run) in runs {
        if !batch.home.runs().join(&run).is_dir() {
            batch.say(BatchWhat::TurnLost { turn, run })?;
        }
    }
    Ok(())
}

fn ended(batch: &BatchSession<'_>, count: usize) -> BatchEnded {
    let left = (1..=count).filter(|turn| {
        let end = batch.ask(|state| {
            let end = state.turns.get(turn)?.end.as_ref();
            end.map(|(end, _)| end.exit_code)
        });
        end.is_none_or(|code| code == ExitCode::Interrupted.code())
    });
    let left = left.count();
    let halted = batch.halted();
    if left > 0 && halted.is_none() {
        return BatchEnded {
            exit: ExitCode::Interrupted,
            because: Some(format!("stopped with {left} of {count} runs to do")),
        };
    }
    let codes: Vec<ExitCode> = batch.ask(|state| {
        let ends = state.turns.values().filter_map(|turn| turn.end.as_ref());
        ends.filter_map(|(end, _)| ExitCode::try_from(end.exit_code).ok())
            .filter(|code| is_failure(*code))
            .collect()
    });
    BatchEnded {
        exit: ExitCode::first(codes),
        because: halted.map(|because| format!("{because}; {left} of {count} runs were not begun")),
    }
}

/// Whether a run ended without a result that could be judged: refused, the host, a step.
pub(super) fn is_failure(exit: ExitCode) -> bool {
    matches!(
        exit,
        ExitCode::Usage | ExitCode::Host | ExitCode::StepFailed
    )
}
