//! Executes a batch in this process: watcher, signals, verdict.

use std::sync::Arc;

use tokio::sync::mpsc::unbounded_channel;

use super::judge;
use super::planned::PlannedBatch;
use super::run_maker::TrialRunMaker;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::signals::{
    HandOver, STOP_QUESTION, STOPPING_NOTICE, SignalRequest, SignalTarget, describe_return,
    handle_signals,
};
use crate::app::site::end::{suggest_command, suggest_evidence};
use crate::app::{display, follow, open};
use retrial_batch::journal::BatchEventKind;
use retrial_batch::run::{BatchEnd, BatchJob, BatchSession, execute_batch};
use retrial_batch::verdict::BatchVerdict;
use retrial_cluster::slurm;
use retrial_document::ErrorText;
use retrial_engine::api::Engine;
use retrial_results::verdict::ExitCode;
use retrial_run::interrupt::run_on_thread;
use retrial_store::journal::LiveEvent;
use retrial_store::{RecordDirectory, StoreError};

/// How a batch ended in this process.
pub struct BatchOutcome {
    pub exit: ExitCode,
    /// The verdict, unless the batch was interrupted.
    pub verdict: Option<BatchVerdict>,
    /// What to print after the verdict: why it ended early, and how to go on.
    pub note: ErrorText,
}

impl BatchOutcome {
    /// How a batch ended, and why if it ended early.
    pub fn new(
        global: &GlobalOptions,
        directory: &RecordDirectory,
        exit: ExitCode,
        verdict: Option<BatchVerdict>,
        reason: Option<String>,
    ) -> Self {
        let continues = matches!(exit, ExitCode::Interrupted | ExitCode::Host) || reason.is_some();
        let [evidence, resume] =
            next_step_lines(global, directory).map(|line| continues.then_some(line));
        // The verdict names its evidence.
        let evidence_note = evidence.filter(|_| verdict.is_none());
        let note = ErrorText::new(reason.unwrap_or_default())
            .with_help(evidence_note.unwrap_or_default())
            .with_help(resume.unwrap_or_default());
        Self { exit, verdict, note }
    }
}

/// Executes the rest of a batch, and judges it.
pub async fn execute_and_judge(
    global: &GlobalOptions,
    planned: &PlannedBatch,
    directory: &RecordDirectory,
) -> Result<BatchOutcome, Failure> {
    let engine: Arc<dyn Engine> = Arc::new(open::connect_engine(global).await?);
    let mut maker = TrialRunMaker::new(global, &*engine, directory.id(), planned);
    maker.check_host().await?;
    let (events, incoming) = unbounded_channel();
    let cell_plans = planned.plans.iter();
    let plans = cell_plans.map(|(cell, plan)| (cell, plan.plan().clone())).collect();
    let watcher = display::show_batch(global, &planned.record.plan, plans, incoming);
    let open_result = BatchSession::open(BatchJob {
        home: global.home.clone(),
        engine: Arc::clone(&engine),
        directory: directory.clone(),
        plan: planned.record.plan.clone(),
        workers: planned.workers.clone(),
        host: planned.host.clone(),
        run_maker: &maker,
        options: follow::session_options(global, false),
        events,
    });
    let batch = open_result.map_err(|error| match error {
        StoreError::Busy { run: id, holder } => {
            Failure::host(format!("batch {id} is being executed by {holder}"))
                .with_help(format!("end it: retrial stop {id}"))
        }
        error => error.into(),
    })?;
    let signals = handle_signals(signal_target(global, &batch))?;
    let ended = execute_batch(&batch).await;
    let concluded = match &ended {
        Ok(ended) => conclude_session(global, &batch, ended).await,
        Err(error) => {
            let end = BatchEventKind::BatchEnded {
                exit_code: ExitCode::Host.code(),
                reason: Some(error.to_string()),
                node: slurm::current_node(),
            };
            // The error that ended the batch is reported.
            let _ = batch.record(end);
            let [evidence, resume] = next_step_lines(global, directory);
            let failure = Failure::host(ErrorText::of(error));
            Err(failure.with_help(evidence).with_help(resume))
        }
    };
    signals.finish();
    drop(batch);
    // A reporter that panicked does not change the verdict.
    let _ = watcher.join();
    let (exit, verdict) = concluded?;
    let reason = ended.ok().and_then(|ended| ended.reason);
    Ok(BatchOutcome::new(global, directory, exit, verdict, reason))
}

/// Returns two lines: the directory of a batch's evidence, and the command that resumes the batch.
fn next_step_lines(global: &GlobalOptions, directory: &RecordDirectory) -> [String; 2] {
    let resume = suggest_command(&global.home, directory, "resume", "resume");
    [suggest_evidence(directory), resume]
}

/// Judges a batch unless it was stopped, and records how it ended.
async fn conclude_session(
    global: &GlobalOptions,
    batch: &BatchSession<'_>,
    ended: &BatchEnd,
) -> Result<(ExitCode, Option<BatchVerdict>), Failure> {
    let mut exit = ended.exit;
    let mut verdict = None;
    // The verdict on a task is that on the batch.
    if exit != ExitCode::Interrupted && batch.job.host.is_none() {
        let (global, directory) = (global.clone(), batch.job.directory.clone());
        let judge = move || judge::judge_and_write(&global, &directory);
        match run_on_thread(&batch.stop, judge).await {
            Ok(judged) => verdict = Some(judged?),
            Err(_) => exit = ExitCode::Interrupted,
        }
    }
    if let Some(judged) = &verdict {
        batch.record(BatchEventKind::Judged { sentence: judged.sentence.clone() })?;
        exit = ExitCode::first_applicable([exit, judged.exit_code]);
    }
    batch.record(BatchEventKind::BatchEnded {
        exit_code: exit.code(),
        reason: ended.reason.clone(),
        node: slurm::current_node(),
    })?;
    Ok((exit, verdict))
}

/// A batch that this process executes.
fn signal_target(
    global: &GlobalOptions,
    batch: &BatchSession<'_>,
) -> SignalTarget<impl Fn(SignalRequest) + use<>> {
    let emitter = batch.emitter();
    let resume = describe_return(batch.job.directory.id());
    let is_here = batch.job.host.is_none();
    let hand_over =
        is_here.then(|| HandOver::start(global, &batch.job.directory, batch.share_lock()));
    SignalTarget {
        stop: batch.stop.clone(),
        cleanup: "retrial clean --all".to_owned(),
        is_at_a_terminal: batch.job.host.is_none(),
        hand_over: hand_over.flatten(),
        record: move |request| {
            // A journal that cannot be written must not keep the batch from stopping.
            let _ = emitter.emit(match request {
                SignalRequest::Interrupt => {
                    BatchEventKind::Live(LiveEvent::Notice { text: STOP_QUESTION.into() })
                }
                SignalRequest::Stop => {
                    BatchEventKind::Live(LiveEvent::Notice { text: STOPPING_NOTICE.into() })
                }
                SignalRequest::Detach => BatchEventKind::Detached { resume: resume.clone() },
            });
        },
    }
}
