//! Follows jobs to their end, by Slurm's queue and by the files that they write: the job of a run, or the arrays
//! of a batch. Stops them on Ctrl-C, and leaves them alone when the terminal goes away.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::app::failure::Failure;
use crate::app::signals::{SignalRequest, Signals};
use retrial_cluster::job::queries::RepeatedQuery;
use retrial_cluster::job::stopper::JobStopper;
use retrial_cluster::slurm::{JobPhase, Slurm, SlurmError};
use retrial_store::{RecordDirectory, StoreError};

/// The time between two polls of the shared directory, each of which opens files.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Jobs that are followed together: the one of a run, or the arrays of a batch.
pub trait FollowedJobs {
    /// Slurm's answer about them.
    type Answer: Send + 'static;
    /// What the end of all jobs means for the command.
    type Outcome;

    /// Shows what the jobs have written since the last call, and returns how they ended if they did.
    /// `is_slurm_away`: Slurm did not answer the last query.
    fn poll_files(&mut self, is_slurm_away: bool) -> Result<Option<Self::Outcome>, StoreError>;

    fn query_slurm(&self) -> BoxFuture<'static, Result<Self::Answer, SlurmError>>;

    /// Applies Slurm's answer, and shows it.
    fn apply_answer(&mut self, answer: Self::Answer) -> Result<(), StoreError>;

    /// Returns the jobs to stop, after their files were read.
    fn list_jobs_to_stop(&mut self) -> Vec<StoppableJob>;

    /// Returns the phase that files and Slurm have shown last of the job with this id.
    fn job_phase(&self, id: &str) -> JobPhase;

    /// Shows a message above whatever is drawn.
    fn print_note(&mut self, text: &str);

    /// Clears what is drawn, before the result is printed.
    fn finish_display(&mut self);
}

/// A job that can be stopped.
pub struct StoppableJob {
    /// Slurm, restricted to the jobs of its name.
    pub slurm: Slurm,
    /// The id that Slurm gave it.
    pub id: String,
    /// The directory of its run or array, which records that it is stopped.
    pub directory: RecordDirectory,
}

/// How the following of jobs ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowEnd<T> {
    /// Slurm has ended all jobs.
    Ended(T),
    /// The terminal was closed, or a second signal came: the jobs continue.
    Detached,
}

/// Polls jobs until they end, and passes signals on to them.
pub struct JobFollower<J: FollowedJobs> {
    /// What is followed, with its display.
    pub jobs: J,
    query: RepeatedQuery<J::Answer>,
    stoppers: Vec<JobStopper>,
}

impl<J: FollowedJobs> JobFollower<J> {
    pub fn new(jobs: J) -> Self {
        Self { jobs, query: RepeatedQuery::default(), stoppers: Vec::new() }
    }

    /// Follows the jobs until all have ended.
    pub async fn follow_to_end(&mut self) -> Result<FollowEnd<J::Outcome>, Failure> {
        let mut signals = Signals::new()
            .map_err(|error| Failure::host(format!("failed to listen for signals: {error}")))?;
        // There may be other jobs than the last time.
        self.query = RepeatedQuery::default();
        let end = loop {
            if let Some(outcome) = self.jobs.poll_files(self.query.is_away)? {
                break FollowEnd::Ended(outcome);
            }
            self.poll_slurm().await?;
            self.advance_stoppers().await?;
            match timeout(POLL_INTERVAL, signals.next()).await {
                Ok(SignalRequest::Detach) => break FollowEnd::Detached,
                Ok(SignalRequest::Interrupt | SignalRequest::Stop) if self.stop_jobs()? => {
                    break FollowEnd::Detached;
                }
                _ => {}
            }
        };
        self.jobs.finish_display();
        Ok(end)
    }

    /// Stops the jobs. Returns whether that was requested before.
    pub fn stop_jobs(&mut self) -> Result<bool, StoreError> {
        if !self.stoppers.is_empty() {
            return Ok(true);
        }
        for StoppableJob { slurm, id, directory } in self.jobs.list_jobs_to_stop() {
            let note = |text: &str| self.jobs.print_note(text);
            self.stoppers.push(JobStopper::start(slurm, id, &directory, note)?);
        }
        self.query.query_now();
        Ok(false)
    }

    async fn poll_slurm(&mut self) -> Result<(), StoreError> {
        if self.query.is_due() {
            self.query.start_query(self.jobs.query_slurm());
        }
        let note = |text: &str| self.jobs.print_note(text);
        match self.query.poll_answer(note).await {
            Some(answer) => self.jobs.apply_answer(answer),
            None => Ok(()),
        }
    }

    async fn advance_stoppers(&mut self) -> Result<(), Failure> {
        for stopper in &mut self.stoppers {
            let phase = self.jobs.job_phase(stopper.job_id());
            let note = |text: &str| self.jobs.print_note(text);
            stopper.advance(phase, note).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::FutureExt as _;

    use super::*;
    use retrial_cluster::job::record::{JobEventKind, latest_submission, record_job_event};
    use retrial_store::Home;

    struct RunningJobs {
        directories: Vec<RecordDirectory>,
        notes: Vec<String>,
    }

    impl FollowedJobs for RunningJobs {
        type Answer = ();
        type Outcome = ();

        fn poll_files(&mut self, _is_slurm_away: bool) -> Result<Option<()>, StoreError> {
            Ok(None)
        }

        fn query_slurm(&self) -> BoxFuture<'static, Result<(), SlurmError>> {
            pending().boxed()
        }

        fn apply_answer(&mut self, (): ()) -> Result<(), StoreError> {
            Ok(())
        }

        fn list_jobs_to_stop(&mut self) -> Vec<StoppableJob> {
            let job = |(index, directory): (usize, &RecordDirectory)| StoppableJob {
                slurm: Slurm::with_job_name("retrial-test".to_owned()),
                id: index.to_string(),
                directory: directory.clone(),
            };
            self.directories.iter().enumerate().map(job).collect()
        }

        fn job_phase(&self, _id: &str) -> JobPhase {
            JobPhase::Running
        }

        fn print_note(&mut self, text: &str) {
            self.notes.push(text.to_owned());
        }

        fn finish_display(&mut self) {}
    }

    #[test]
    fn a_stop_is_recorded_once_for_each_job() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::from_root(directory.path().to_owned());
        let create = |name: &str| {
            let run = home.create_run_directory(name).unwrap();
            let intended =
                JobEventKind::Intended { name: name.to_owned(), time_limit_s: 60, journal: 0 };
            record_job_event(run.record(), intended).unwrap();
            run.record().clone()
        };
        let directories = vec![create("one"), create("two")];
        let mut follower =
            JobFollower::new(RunningJobs { directories: directories.clone(), notes: Vec::new() });
        let is_stopped = |directory: &RecordDirectory| {
            let latest = latest_submission(directory).unwrap();
            latest.unwrap().stop_requested
        };
        assert!(!directories.iter().any(is_stopped));
        assert!(!follower.stop_jobs().unwrap());
        assert!(directories.iter().all(is_stopped));
        // The second request leaves the jobs to Slurm.
        assert!(follower.stop_jobs().unwrap());
        let stopping = |id| format!("stopping job {id}; a second signal leaves it to Slurm");
        assert_eq!(follower.jobs.notes, [stopping(0), stopping(1)]);
    }
}
