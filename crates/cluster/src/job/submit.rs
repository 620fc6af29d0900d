//! Submits a run's job or a batch's array, one at a time even if replies are lost: a job is looked up by its name
//! before another is submitted, and after a submission without a reply.

use std::fmt;
use std::time::{Duration, Instant};

use super::record::{self, JobEventKind, SCRIPT_FILE, SITE_COPY_FILE};
use super::target::JobTarget;
use crate::error::ClusterError;
use crate::site::script::JobWork;
use crate::slurm::{Job, JobPhase, Slurm, SlurmError};
use retrial_store::files::write_atomically;
use retrial_store::journal::EventKind;
use retrial_store::lock::FileLock;
use retrial_store::{RecordDirectory, RunDirectory, StoreError};

/// How long to wait for a controller that does not answer.
const CONTROLLER_TIMEOUT: Duration = Duration::from_mins(10);
/// The time between two queries of the queue.
const QUEUE_QUERY_INTERVAL: Duration = Duration::from_secs(2);
/// The largest number of queries for a job whose submission had no reply: the controller may still be busy with it.
const MAX_JOB_LOOKUPS: u32 = 3;

/// A job that was found or submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedJob {
    /// The id that Slurm gave it: `1234`.
    pub id: String,
    /// Whether the job was found in the queue, and not submitted now.
    pub existed: bool,
}

/// `submitted job 7`, `found job 7`
impl fmt::Display for SubmittedJob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.existed { "found" } else { "submitted" };
        write!(formatter, "{how} job {}", self.id)
    }
}

/// A job or an array that is to be submitted.
pub struct SubmitRequest<'a> {
    /// The work of its tasks: a run, or tasks of a batch.
    pub work: JobWork<'a>,
    /// The directory of the run or the array, with the records of its jobs.
    pub directory: &'a RecordDirectory,
    /// The run, whose journal records the submission.
    pub run: Option<&'a RunDirectory>,
    pub target: &'a JobTarget,
}

impl<'a> SubmitRequest<'a> {
    pub fn for_run(run: &'a RunDirectory, target: &'a JobTarget) -> Self {
        Self {
            work: JobWork::Run { id: run.id() },
            directory: run.record(),
            run: Some(run),
            target,
        }
    }

    /// Returns the existing job among those of its name.
    fn find_existing<'j>(&self, jobs: &'j [Job]) -> Result<Option<&'j Job>, ClusterError> {
        let mut latest_first = jobs.iter().rev();
        let Some(run) = self.run else {
            // An array is submitted once: what remains of it is submitted as another array.
            return Ok(latest_first.next());
        };
        // Slurm cleans up for a while after a job that has done its part: the next one waits for it.
        let has_ended = record::has_ended(run)?;
        Ok(latest_first.find(|job| is_living(job) && !has_ended))
    }
}

/// Returns Slurm restricted to the jobs of a run.
pub fn slurm_for_run(directory: &RunDirectory) -> Slurm {
    let work = JobWork::Run { id: directory.id() };
    Slurm::with_job_name(work.job_name())
}

/// Finds the existing job, or submits one. Notes when it waits for Slurm.
///
/// # Errors
/// If Slurm refuses the job or does not answer, or its records cannot be read or written.
pub async fn submit_once(
    slurm: &Slurm,
    request: &SubmitRequest<'_>,
    note: &dyn Fn(&str),
) -> Result<SubmittedJob, ClusterError> {
    let directory = request.directory;
    let lock = directory.join("submit.lock");
    let _lock = FileLock::acquire(&lock, directory.id())?;
    let mut earlier = Vec::new();
    if record::latest_submission(directory)?.is_some() {
        (earlier, _) = wait_for_queue(slurm, directory, note).await?;
        if let Some(job) = request.find_existing(&earlier)? {
            return record_job(directory, job);
        }
    }
    let earlier_ids: Vec<String> = earlier.into_iter().map(|job| job.id).collect();
    submit_job(slurm, request, &earlier_ids, note).await
}

/// Returns the job of a run or an array that is not over. Notes when it waits for Slurm.
///
/// # Errors
/// If Slurm does not answer.
pub async fn living_job(
    slurm: &Slurm,
    run: &RecordDirectory,
    note: &dyn Fn(&str),
) -> Result<Option<Job>, ClusterError> {
    let (jobs, _) = wait_for_queue(slurm, run, note).await?;
    Ok(jobs.into_iter().rev().find(is_living))
}

/// Returns whether a job waits or runs.
pub fn is_living(job: &Job) -> bool {
    job.phase() != JobPhase::Ended
}

fn record_job(run: &RecordDirectory, job: &Job) -> Result<SubmittedJob, ClusterError> {
    let recorded = record::latest_submission(run)?.and_then(|latest| latest.id);
    let id = job.id.clone();
    if recorded.as_ref() != Some(&id) {
        record::record_job_event(run, JobEventKind::Submitted { id: id.clone() })?;
    }
    Ok(SubmittedJob { id, existed: true })
}

async fn submit_job(
    slurm: &Slurm,
    request: &SubmitRequest<'_>,
    earlier: &[String],
    note: &dyn Fn(&str),
) -> Result<SubmittedJob, ClusterError> {
    let (run, target) = (request.directory, request.target);
    let name = request.work.job_name();
    let script = run.join(SCRIPT_FILE);
    let text = target.job_script(request.work, run.path())?;
    write_atomically(&script, text.as_bytes())?;
    write_atomically(&run.join(SITE_COPY_FILE), target.site_file.text.as_bytes())?;
    loop {
        // Before the submission: whatever happens to its reply, the job is found again.
        if let Some(run) = request.run {
            // No job of the run is active, so no other process writes into its journal.
            let (site, job) = (target.site_file.name.clone(), name.clone());
            record::write_run_event(run, EventKind::Submitting { site, job })?;
        }
        let journal = std::fs::metadata(run.journal_path()).map_or(0, |journal| journal.len());
        record::record_job_event(
            run,
            JobEventKind::Intended {
                name: name.clone(),
                time_limit_s: target.job.time_limit.as_secs(),
                journal,
            },
        )?;
        let error = match slurm.submit_script(&script).await {
            Ok(id) => {
                record::record_job_event(run, JobEventKind::Submitted { id: id.clone() })?;
                return Ok(SubmittedJob { id, existed: false });
            }
            Err(error @ SlurmError::Start { .. }) => {
                return Err(record_refusal(run, target, error)?);
            }
            Err(error) => error,
        };
        // The job may exist even so.
        let mut was_away = false;
        for look in 1..=MAX_JOB_LOOKUPS {
            let (jobs, away) = wait_for_queue(slurm, run, note).await?;
            was_away |= away;
            let new = |job: &&Job| !earlier.contains(&job.id);
            if let Some(job) = jobs.iter().rev().find(new) {
                return record_job(run, job);
            }
            if look < MAX_JOB_LOOKUPS {
                tokio::time::sleep(QUEUE_QUERY_INTERVAL / 4).await;
            }
        }
        // A controller that answers has refused it.
        if !was_away {
            return Err(record_refusal(run, target, error)?);
        }
    }
}

/// Queries the queue until the controller answers. Also returns whether it was unavailable.
async fn wait_for_queue(
    slurm: &Slurm,
    run: &RecordDirectory,
    note: &dyn Fn(&str),
) -> Result<(Vec<Job>, bool), ClusterError> {
    let since = Instant::now();
    let mut was_away = false;
    loop {
        let error = match slurm.query_queue().await {
            Ok(jobs) => return Ok((jobs, was_away)),
            Err(error @ SlurmError::Start { .. }) => {
                return Err(error.into());
            }
            Err(error) => error,
        };
        if since.elapsed() > CONTROLLER_TIMEOUT {
            let id = run.id().to_owned();
            return Err(ClusterError::NoAnswer { id, source: error });
        }
        if !was_away {
            note(&format!("waiting for Slurm: {error}"));
        }
        was_away = true;
        tokio::time::sleep(QUEUE_QUERY_INTERVAL).await;
    }
}

/// Records that the scheduler refused a job, and returns the error.
fn record_refusal(
    run: &RecordDirectory,
    target: &JobTarget,
    error: SlurmError,
) -> Result<ClusterError, StoreError> {
    let message = error.to_string();
    record::record_job_event(run, JobEventKind::Refused { message })?;
    Ok(ClusterError::Refused {
        id: run.id().to_owned(),
        options: target.describe_options(),
        site_path: target.site_file.path.clone(),
        source: error,
    })
}
