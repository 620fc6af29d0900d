//! One trial run: started as a run, resumed after a kill, retried after a failure of the host.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::unbounded_channel;

use super::batch_end::is_failure;
use super::cell_failure::find_cell_failure;
use super::removal::{record_missing_images, remove_unneeded_images};
use super::session::{BatchSession, ProgressEvent};
use crate::OnFailure;
use crate::journal::{
    BatchEventKind, BatchState, CellFailure, TrialRunAction, TrialRunEnd, TrialRunFigure,
};
use retrial_document::ErrorText;
use retrial_host::assign::AssignedGpus;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{ExitCode, Verdict};
use retrial_run::{RunError, RunSession, read_secrets};
use retrial_store::journal::{AbortReason, Event, EventKind};
use retrial_store::{RunDirectory, StoreError};

/// Executes a trial run to its end, or until the batch is stopped; `worker` if others run in parallel.
pub(super) async fn execute_trial_run(
    batch: &BatchSession<'_>,
    trial_run: usize,
    worker: Option<usize>,
) -> Result<(), StoreError> {
    let retries = batch.job.plan.execution.retries;
    loop {
        let next = batch.with_state(|state| state.next_action(trial_run, retries));
        // What runs since before a kill is brought to a clean end even then.
        let open = batch.with_state(|state| state.is_open(trial_run));
        if !open && (batch.stop.is_cancelled() || batch.halt_reason().is_some()) {
            return Ok(());
        }
        let end = match next {
            TrialRunAction::Complete => return Ok(()),
            TrialRunAction::Start { attempt } => {
                if let Some(end) = batch.known_end(trial_run) {
                    end
                } else {
                    record_missing_images(batch, trial_run).await?;
                    start_run(batch, trial_run, worker, attempt).await?
                }
            }
            TrialRunAction::Continue { run } => {
                match resume_run(batch, trial_run, worker, &run).await? {
                    Some(end) => end,
                    None => continue,
                }
            }
        };
        let exit = ExitCode::try_from(end.exit_code).unwrap_or(ExitCode::Host);
        batch.remember_failure(trial_run, &end);
        batch.record(BatchEventKind::TrialRunEnded { trial_run, end })?;
        if exit == ExitCode::Interrupted {
            batch.stop.cancel();
        }
        let last = batch.with_state(|state| state.next_action(trial_run, retries))
            == TrialRunAction::Complete;
        if is_failure(exit) && last && batch.job.plan.execution.on_failure == OnFailure::FailFast {
            batch.halt(format!("{} failed", batch.describe_trial_run(trial_run)));
        }
        if last {
            // A search may come back to a value.
            if batch.job.plan.search.is_none() {
                remove_unneeded_images(batch).await?;
            }
            return Ok(());
        }
    }
}

async fn start_run(
    batch: &BatchSession<'_>,
    trial_run: usize,
    worker: Option<usize>,
    attempt: u32,
) -> Result<TrialRunEnd, StoreError> {
    let prepared = match batch.job.run_maker.prepare_run(trial_run, worker.unwrap_or(0)).await {
        Ok(prepared) => prepared,
        Err(refused) => return Ok(refused),
    };
    let directory = batch.job.home.create_run_directory(&prepared.id_stem())?;
    let Some((planned, cell)) = batch.job.plan.trial_run_with_cell(trial_run) else {
        return Ok(TrialRunEnd::default());
    };
    let assigned_gpus = prepared.plan.assigned_gpus.as_ref();
    let assigned = assigned_gpus.filter(|_| worker.is_some());
    batch.record(BatchEventKind::TrialRunStarted {
        trial_run,
        run: directory.id().to_owned(),
        cell: cell.name.clone(),
        trial: planned.trial,
        attempt,
        gpus: assigned.map(AssignedGpus::claim_keys).unwrap_or_default(),
        concurrent_runs: batch.with_state(BatchState::open_runs),
    })?;
    // Known to the batch before anything is in it: a kill in between leaves an empty directory,
    // and the same run is resumed in it.
    prepared.write_files(&directory)?;
    execute_run(batch, trial_run, directory).await
}

/// Resumes a run that an earlier process started; none if it no longer exists.
async fn resume_run(
    batch: &BatchSession<'_>,
    trial_run: usize,
    worker: Option<usize>,
    id: &str,
) -> Result<Option<TrialRunEnd>, StoreError> {
    let directory = RunDirectory::from_path(batch.job.home.runs_directory().join(id));
    if !directory.path().is_dir() {
        let run = id.to_owned();
        batch.record(BatchEventKind::TrialRunLost { trial_run, run })?;
        return Ok(None);
    }
    if !directory.join("plan.json").exists() {
        let prepared = match batch.job.run_maker.prepare_run(trial_run, worker.unwrap_or(0)).await {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(Some(refused)),
        };
        directory.create_layout()?;
        prepared.write_files(&directory)?;
    }
    if let Some((code, reason)) = read_run_end(&directory)? {
        // It came to its end, and only the batch's journal does not say so.
        let verdict = directory.read_json("verdict.json").ok();
        let exit = ExitCode::try_from(code).unwrap_or(ExitCode::Host);
        return Ok(Some(trial_run_end(batch, &directory, exit, verdict.as_ref(), reason)));
    }
    batch.record(BatchEventKind::TrialRunReattached { trial_run, run: id.to_owned() })?;
    execute_run(batch, trial_run, directory).await.map(Some)
}

/// Returns how a run ended, if it ended without being stopped.
fn read_run_end(directory: &RunDirectory) -> Result<Option<(u8, Option<ErrorText>)>, StoreError> {
    if !directory.journal_path().exists() {
        return Ok(None);
    }
    let state = directory.read_state()?;
    let over = state.over.map(|(code, reason)| (code, reason.map(AbortReason::into_error_text)));
    Ok(over.filter(|(code, _)| *code != ExitCode::Interrupted.code()))
}

/// Executes a run in this process, as `retrial run` and `retrial resume` do.
async fn execute_run(
    batch: &BatchSession<'_>,
    trial_run: usize,
    directory: RunDirectory,
) -> Result<TrialRunEnd, StoreError> {
    let since = Instant::now();
    let (sender, mut events) = unbounded_channel::<Event>();
    let run_secrets = read_secrets(&directory.read_json("plan.json")?);
    let opened = RunSession::open(
        Arc::clone(&batch.job.engine),
        directory.clone(),
        sender,
        run_secrets,
        batch.job.options.clone(),
    );
    let session = match opened {
        Ok(session) => session,
        Err(RunError::Store(error)) => return Err(error),
        Err(error) => {
            return Ok(trial_run_end(
                batch,
                &directory,
                ExitCode::Host,
                None,
                Some(ErrorText::of(&error)),
            ));
        }
    };
    let forwarded = async {
        while let Some(event) = events.recv().await {
            // From here on it has its image.
            if event.container.is_some() || matches!(event.what, EventKind::RunEnded { .. }) {
                batch.pull_allowed.notify_one();
            }
            // Without a receiver the batch continues.
            let _ = batch.job.events.send(ProgressEvent::Run { trial_run, event });
        }
    };
    let executed = async {
        let ended = {
            let mut work = Box::pin(retrial_run::execute_plan(&session));
            loop {
                tokio::select! {
                    biased;
                    () = batch.stop.cancelled(), if !session.stop.is_cancelled() => session.stop.cancel(),
                    ended = &mut work => break ended,
                }
            }
        };
        // This ends the stream of its events.
        drop(session);
        ended
    };
    let (ended, ()) = tokio::join!(executed, forwarded);
    let mut end = match ended {
        Ok(ended) => {
            let reason = ended.reason.map(AbortReason::into_error_text);
            trial_run_end(batch, &directory, ended.exit, ended.verdict.as_ref(), reason)
        }
        Err(error) => {
            trial_run_end(batch, &directory, ExitCode::Host, None, Some(ErrorText::of(&error)))
        }
    };
    end.seconds = since.elapsed().as_secs_f64();
    Ok(end)
}

fn trial_run_end(
    batch: &BatchSession<'_>,
    directory: &RunDirectory,
    exit: ExitCode,
    verdict: Option<&Verdict>,
    reason: Option<ErrorText>,
) -> TrialRunEnd {
    let search = batch.job.plan.search.as_ref();
    let searched = search.and_then(|search| search.figure.as_deref());
    TrialRunEnd {
        exit_code: exit.code(),
        run: Some(directory.id().to_owned()),
        outcome: verdict.map(Verdict::qualified_outcome),
        figures: verdict.map(|verdict| trial_run_figures(verdict, searched)).unwrap_or_default(),
        reason,
        failure: find_own_failure(directory, exit),
        seconds: 0.0,
    }
}

/// The failure of a run that is its cell's own. A run whose files cannot be read has none that is known.
fn find_own_failure(directory: &RunDirectory, exit: ExitCode) -> Option<CellFailure> {
    if !matches!(exit, ExitCode::Host | ExitCode::StepFailed) {
        return None;
    }
    let plan = directory.read_json("plan.json").ok()?;
    find_cell_failure(&plan, &directory.read_state().ok()?)
}

/// The deciding figure of each performance result, or the one that is searched.
fn trial_run_figures(verdict: &Verdict, searched: Option<&str>) -> Vec<TrialRunFigure> {
    let results = verdict.results.iter().filter(|result| result.mode == Mode::Performance);
    let deciding = results.filter_map(|result| {
        let name = searched.or(result.deciding.as_deref())?.to_owned();
        let figure = result.figures.get(&name)?;
        Some(TrialRunFigure {
            scenario: result.scenario.clone(),
            name,
            value: figure.value,
            unit: figure.unit.clone(),
        })
    });
    deciding.collect()
}
