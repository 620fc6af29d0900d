//! Submits a run's job, one at a time whatever was lost on the way: a job is looked up by its name
//! before another is submitted, and a submission without a reply is looked up too.

use std::time::{Duration, Instant};

use super::record::{self, JobWhat, SCRIPT, SITE};
use super::request::Target;
use crate::app::failure::Failure;
use crate::app::terminal;
use crate::site::script::job_name;
use crate::slurm::{JobPhase, QueuedJob, Slurm, SlurmError};
use crate::store::RunDirectory;
use crate::store::lock::FileLock;
use crate::store::run_directory::write_atomically;

/// How long a controller that does not answer is waited for.
const PATIENCE: Duration = Duration::from_mins(10);
/// Between two questions.
const PAUSE: Duration = Duration::from_secs(2);
/// How often a job whose reply was lost is looked up: the controller may still be busy with it.
const LOOKS: u32 = 3;

/// A job that was found or made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// It was there before.
    pub found: bool,
}

/// Finds the run's job that is not over, or submits one.
pub async fn submit_once(
    slurm: &Slurm,
    run: &RunDirectory,
    target: &Target,
    quiet: bool,
) -> Result<Job, Failure> {
    let lock = run.join("submit.lock");
    let _lock = FileLock::take(&lock, run.id())?;
    let mut earlier = Vec::new();
    if record::latest(run)?.is_some() {
        (earlier, _) = patiently(slurm, run, quiet).await?;
        // Slurm cleans up for a while after a job that has done its part: the next one waits for it.
        let has_ended = record::has_ended(run)?;
        let living = earlier.iter().rev().find(|job| is_living(job));
        if let Some(job) = living.filter(|_| !has_ended) {
            return found(run, job);
        }
    }
    let earlier: Vec<String> = earlier.into_iter().map(|job| job.id).collect();
    submit(slurm, run, target, &earlier, quiet).await
}

/// The run's job that is not over.
pub async fn living(
    slurm: &Slurm,
    run: &RunDirectory,
    quiet: bool,
) -> Result<Option<QueuedJob>, Failure> {
    let (jobs, _) = patiently(slurm, run, quiet).await?;
    Ok(jobs.into_iter().rev().find(is_living))
}

/// Whether a job waits or runs.
pub fn is_living(job: &QueuedJob) -> bool {
    job.phase() != JobPhase::Over
}

fn found(run: &RunDirectory, job: &QueuedJob) -> Result<Job, Failure> {
    let known = record::latest(run)?.and_then(|latest| latest.id);
    let id = job.id.clone();
    if known.as_ref() != Some(&id) {
        record::record(run, JobWhat::Submitted { id: id.clone() })?;
    }
    Ok(Job { id, found: true })
}

async fn submit(
    slurm: &Slurm,
    run: &RunDirectory,
    target: &Target,
    earlier: &[String],
    quiet: bool,
) -> Result<Job, Failure> {
    let script = run.join(SCRIPT);
    write_atomically(&script, target.script(run.id())?.as_bytes())?;
    write_atomically(&run.join(SITE), target.found.text.as_bytes())?;
    loop {
        // Before the submission: whatever happens to its reply, the job is found again.
        record::submitting(run, &target.found.name, job_name(run.id()))?;
        let journal = std::fs::metadata(run.journal()).map_or(0, |journal| journal.len());
        record::record(
            run,
            JobWhat::Intended {
                name: job_name(run.id()),
                time_limit_s: target.time_limit.as_secs(),
                journal,
            },
        )?;
        let error = match slurm.submit(&script).await {
            Ok(id) => {
                record::record(run, JobWhat::Submitted { id: id.clone() })?;
                return Ok(Job { id, found: false });
            }
            Err(error @ SlurmError::Start { .. }) => return refused(run, target, &error),
            Err(error) => error,
        };
        // The job may exist even so.
        let mut was_away = false;
        for look in 1..=LOOKS {
            let (jobs, away) = patiently(slurm, run, quiet).await?;
            was_away |= away;
            let new = |job: &&QueuedJob| !earlier.contains(&job.id);
            if let Some(job) = jobs.iter().rev().find(new) {
                return found(run, job);
            }
            if look < LOOKS {
                tokio::time::sleep(PAUSE / 4).await;
            }
        }
        // A controller that answers has refused it.
        if !was_away {
            return refused(run, target, &error);
        }
    }
}

/// Asks until the controller answers. Returns whether it was away, too.
async fn patiently(
    slurm: &Slurm,
    run: &RunDirectory,
    quiet: bool,
) -> Result<(Vec<QueuedJob>, bool), Failure> {
    let since = Instant::now();
    let mut was_away = false;
    loop {
        let error = match slurm.queued().await {
            Ok(jobs) => return Ok((jobs, was_away)),
            Err(error @ SlurmError::Start { .. }) => return Err(Failure::host(error.to_string())),
            Err(error) => error,
        };
        if since.elapsed() > PATIENCE {
            return Err(Failure::host(format!(
                "{error}\n  it is not known whether {id} has a job; nothing more was submitted\n  look again: retrial resume {id}",
                id = run.id()
            )));
        }
        if !was_away && !quiet {
            terminal::note(&format!("waiting for Slurm: {error}"));
        }
        was_away = true;
        tokio::time::sleep(PAUSE).await;
    }
}

fn refused(run: &RunDirectory, target: &Target, error: &SlurmError) -> Result<Job, Failure> {
    let message = error.to_string();
    record::record(run, JobWhat::Refused { message })?;
    let given = target.given();
    let path = target.found.path.display();
    Err(Failure::host(format!(
        "{error}\n  nothing was submitted; the site has {given}\n  help: correct {path} (partitions and their limits: sinfo -o '%P %l %G'; your accounts: sacctmgr show assoc user=$USER format=account,partition,qos), then: retrial resume {}",
        run.id()
    )))
}
