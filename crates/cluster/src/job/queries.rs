//! Polls Slurm for the state of a job or an array. Queries run in the background: an unavailable controller
//! takes long to fail.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::slurm::{Job, JobPhase, Slurm, SlurmError};

/// Slurm's answer about a job.
pub enum JobStatus {
    /// The job, and its place in the queue.
    Known(Box<Job>, Option<(usize, usize)>),
    /// Slurm does not list it.
    Missing,
}

/// A query that is repeated: at first every 2 s, later every 30 s.
pub struct RepeatedQuery<T> {
    started: Instant,
    last_query: Option<Instant>,
    pending: Option<JoinHandle<Result<T, SlurmError>>>,
    /// The controller did not answer last time.
    pub is_away: bool,
}

impl<T> Default for RepeatedQuery<T> {
    fn default() -> Self {
        Self { started: Instant::now(), last_query: None, pending: None, is_away: false }
    }
}

impl<T: Send + 'static> RepeatedQuery<T> {
    /// Repeats the query at the next opportunity.
    pub fn query_now(&mut self) {
        self.last_query = None;
    }

    /// Returns whether it is time to start the query again.
    pub fn is_due(&self) -> bool {
        let pause = match self.started.elapsed().as_secs() {
            0..60 => Duration::from_secs(2),
            60..600 => Duration::from_secs(10),
            _ => Duration::from_secs(30),
        };
        self.pending.is_none() && self.last_query.is_none_or(|at| at.elapsed() >= pause)
    }

    /// Starts the query in the background.
    pub fn start_query(&mut self, query: BoxFuture<'static, Result<T, SlurmError>>) {
        self.last_query = Some(Instant::now());
        self.pending = Some(tokio::spawn(query));
    }

    /// Returns a new answer if there is one. Notes when the controller ceases to answer, and when it answers again.
    pub async fn poll_answer(&mut self, note: impl FnOnce(&str)) -> Option<T> {
        let answered = self.pending.take_if(|answer| answer.is_finished())?;
        let answer = answered.await.ok()?;
        let was_away = std::mem::replace(&mut self.is_away, answer.is_err());
        match &answer {
            Ok(_) if was_away => note("Slurm answers again"),
            Err(error) if !was_away => note(&format!("waiting for Slurm: {error}")),
            _ => {}
        }
        answer.ok()
    }
}

/// Queries a job by its id, and its place in the queue; `since` is the first day of the accounting that is searched.
///
/// # Errors
/// If squeue fails.
pub async fn query_job(slurm: Slurm, id: String, since: String) -> Result<JobStatus, SlurmError> {
    let Some(job) = find_jobs(&slurm, &id, &since, None).await?.pop() else {
        return Ok(JobStatus::Missing);
    };
    let position = match job.phase() {
        JobPhase::Pending => slurm.query_position(&job).await.ok().flatten(),
        _ => None,
    };
    Ok(JobStatus::Known(Box::new(job), position))
}

/// Returns the job with an id, or the tasks of an array with `tasks` tasks. Queries the controller first, then
/// the accounting for those that the controller does not list.
///
/// # Errors
/// If squeue fails.
pub async fn find_jobs(
    slurm: &Slurm,
    id: &str,
    since: &str,
    tasks: Option<usize>,
) -> Result<Vec<Job>, SlurmError> {
    let mut jobs = slurm.query_queue().await?;
    jobs.retain(|job| job.id == id && job.index.is_some() == tasks.is_some());
    if jobs.len() < tasks.unwrap_or(1) {
        let accounted = slurm.query_accounting(since).await.unwrap_or_default();
        let is_new = |job: &Job| {
            job.id == id
                && job.index.is_some() == tasks.is_some()
                && job.phase() == JobPhase::Ended
                && !jobs.iter().any(|queued| queued.index == job.index)
        };
        let new: Vec<Job> = accounted.into_iter().filter(is_new).collect();
        jobs.extend(new);
    }
    Ok(jobs)
}
