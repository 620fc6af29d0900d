//! Concludes a batch on a site: judges it as any batch is judged, or states what remains to be done.

use crate::app::batch::follow::BatchOutcome;
use crate::app::batch::judge;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use retrial_batch::BatchPlan;
use retrial_batch::journal::BatchEventKind;
use retrial_batch::run::{BatchEnd, read_journal, read_state};
use retrial_cluster::array::session::{lock_submission, record_event};
use retrial_results::verdict::ExitCode;
use retrial_store::RecordDirectory;

/// Judges a batch whose tasks have ended, unless some were stopped, and records how it ended.
pub fn conclude_batch(
    global: &GlobalOptions,
    directory: &RecordDirectory,
    plan: &BatchPlan,
) -> Result<BatchOutcome, Failure> {
    let _lock = lock_submission(directory)?;
    let all: Vec<usize> = (1..=plan.schedule.trial_runs.len()).collect();
    let ended = BatchEnd::new(&read_state(directory)?, &all, None);
    let mut exit = ended.exit;
    let mut verdict = None;
    // Another process may have followed it, too.
    let is_first = read_journal(directory)?.final_exit_code.is_none();
    if exit != ExitCode::Interrupted {
        let judged = judge::judge_and_write(global, directory)?;
        if is_first {
            let sentence = judged.sentence.clone();
            record_event(directory, BatchEventKind::Judged { sentence })?;
        }
        exit = ExitCode::first_applicable([exit, judged.exit_code]);
        verdict = Some(judged);
    }
    if is_first {
        let what = BatchEventKind::BatchEnded {
            exit_code: exit.code(),
            reason: ended.reason.clone(),
            node: None,
        };
        record_event(directory, what)?;
    }
    let reason = ended.reason;
    Ok(BatchOutcome::new(global, directory, exit, verdict, reason))
}
