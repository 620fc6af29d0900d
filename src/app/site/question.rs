//! Asks Slurm now and then what became of a job or an array. Nobody waits for an answer: a controller that is away
//! takes long to say so.

use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::slurm::{JobPhase, QueuedJob, Slurm, SlurmError};

/// What Slurm says of a job.
pub enum Answer {
    /// The job, and its place in the queue.
    Known(QueuedJob, Option<(usize, usize)>),
    /// How it ended, by the accounting.
    Accounted(String),
    /// Nothing.
    Missing,
    /// It does not answer.
    Away(SlurmError),
}

/// A question that is asked again and again.
pub struct Questions<T> {
    ask: Box<dyn Fn() -> BoxFuture<'static, T> + Send>,
    started: Instant,
    asked: Option<Instant>,
    pending: Option<JoinHandle<T>>,
}

impl Questions<Answer> {
    /// About the job with this id; the accounting is asked for what it has since a day.
    pub fn about(slurm: Slurm, id: String, since: String) -> Self {
        Self::new(move || answer(slurm.clone(), id.clone(), since.clone()).boxed())
    }
}

impl<T: Send + 'static> Questions<T> {
    /// Asks in this way.
    pub fn new(ask: impl Fn() -> BoxFuture<'static, T> + Send + 'static) -> Self {
        Self {
            ask: Box::new(ask),
            started: Instant::now(),
            asked: None,
            pending: None,
        }
    }

    /// Asks at the next opportunity.
    pub fn ask_now(&mut self) {
        self.asked = None;
    }

    /// Asks if it is time to, and returns an answer if there is a new one.
    pub async fn next(&mut self) -> Option<T> {
        let pause = match self.started.elapsed().as_secs() {
            0..60 => Duration::from_secs(2),
            60..600 => Duration::from_secs(10),
            _ => Duration::from_secs(30),
        };
        let is_due = self.asked.is_none_or(|asked| asked.elapsed() >= pause);
        if self.pending.is_none() && is_due {
            self.asked = Some(Instant::now());
            self.pending = Some(tokio::spawn((self.ask)()));
        }
        let answered = self.pending.take_if(|answer| answer.is_finished())?;
        answered.await.ok()
    }
}

/// The controller is asked first, then the accounting.
async fn answer(slurm: Slurm, id: String, since: String) -> Answer {
    let jobs = match slurm.queued().await {
        Ok(jobs) => jobs,
        Err(error) => return Answer::Away(error),
    };
    if let Some(job) = jobs.into_iter().find(|job| job.id == id) {
        let position = match job.phase() {
            JobPhase::Waiting => slurm.position(&job).await.ok().flatten(),
            _ => None,
        };
        return Answer::Known(job, position);
    }
    let accounted = slurm.accounted(&since).await.unwrap_or_default();
    let mut accounted = accounted.into_iter().rev();
    match accounted.find(|job| job.id == id && job.phase() == JobPhase::Over) {
        Some(job) => Answer::Accounted(job.state),
        None => Answer::Missing,
    }
}
