//! Why a job ended early: what Slurm's accounting says of it, and its own output.

use std::time::Duration;

use itertools::{Itertools as _, join};

use super::record::JobSubmission;
use super::submit::is_living;
use crate::site::time_limit::warning_time_s;
use crate::slurm::{Job, Slurm};
use retrial_document::measures::format;
use retrial_readings::sanitize;
use retrial_results::verdict::ExitCode;
use retrial_store::RecordDirectory;
use retrial_store::open::read_text_beneath;

/// The largest number of lines of a job's output that are shown.
const MAX_OUTPUT_LINES: usize = 12;
/// The largest number of queries of the accounting for the end of a job.
const MAX_ACCOUNTING_QUERIES: u32 = 6;
/// The time between two of these queries.
const ACCOUNTING_QUERY_INTERVAL: Duration = Duration::from_millis(500);
/// The largest part of a job's output that is read, bytes.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;

/// Returns a job that is ending or has ended, from the accounting.
pub async fn wait_for_accounting(
    slurm: &Slurm,
    submission: &JobSubmission,
    id: &str,
) -> Option<Job> {
    let mut job = None;
    for _ in 0..MAX_ACCOUNTING_QUERIES {
        // A site may have no accounting.
        let jobs = slurm.query_accounting(&submission.accounting_start()).await.ok()?;
        job = jobs.into_iter().rfind(|job| job.id == id);
        // The job ends shortly after the run, and the accounting hears of its beginning and its end later still.
        if job.as_ref().is_some_and(|job| !is_living(job)) {
            break;
        }
        tokio::time::sleep(ACCOUNTING_QUERY_INTERVAL).await;
    }
    job
}

/// Returns the cause of an unrequested stop of a run: a failed node, the time limit, or a manual scancel.
pub fn find_stop_cause(
    job: Option<&Job>,
    submission: &JobSubmission,
    id: &str,
) -> (ExitCode, String) {
    if let Some(job) = job.filter(|job| job.has_lost_node()) {
        let why = format!(
            "a node of job {id} failed ({}); completed measurements are kept, and `resume` continues in a new job",
            job.nodes
        );
        return (ExitCode::Host, why);
    }
    let limit = Duration::from_secs(submission.time_limit_s);
    let reached = |job: &Job| job.has_reached_time_limit(warning_time_s(limit));
    if job.is_some_and(reached) {
        let limit = format::format_time_limit(limit.as_secs());
        let why = format!(
            "job {id} reached its time limit of {limit}; completed measurements are kept, and `resume` continues in a new job"
        );
        return (ExitCode::Interrupted, why);
    }
    let why = format!("job {id} was cancelled; completed measurements are kept");
    (ExitCode::Interrupted, why)
}

/// The last lines of the job's own output, below a title: a prolog's error, a missing program.
pub fn job_output_tail(run: &RecordDirectory, id: &str) -> Option<String> {
    let name = format!("slurm-{id}.out");
    let text = read_text_beneath(run.path(), name.as_ref(), MAX_OUTPUT_BYTES).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let last = lines.tail(MAX_OUTPUT_LINES);
    let shown = join(last.map(|line| format!("  | {}", sanitize(line))), "\n");
    (!shown.is_empty()).then(|| format!("the last lines of {name}:\n{shown}"))
}
