//! The arrays of a batch that are followed: the state of their tasks, by Slurm's queue and by the tasks' journals.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::app::display::ArrayDisplay;
use crate::app::options::GlobalOptions;
use crate::app::site::follow::{FollowedJobs, StoppableJob};
use retrial_batch::BatchPlan;
use retrial_batch::journal::{BatchEvent, BatchEventKind};
use retrial_batch::run::{WorkerQueues, assign_tasks};
use retrial_cluster::array::followed_task::FollowedTask;
use retrial_cluster::array::manifest::Array;
use retrial_cluster::job::cause::job_output_tail;
use retrial_cluster::job::queries::find_jobs;
use retrial_cluster::slurm::{Job, JobPhase, Slurm, SlurmError};
use retrial_store::{RecordDirectory, StoreError};

/// The arrays of a batch that are followed.
pub struct FollowedArrays<'a> {
    batch: &'a RecordDirectory,
    /// The trial runs of each of the batch's tasks.
    tasks: WorkerQueues,
    arrays: Vec<FollowedArray>,
    display: ArrayDisplay,
}

struct FollowedArray {
    array: Array,
    id: String,
    slurm: Slurm,
    /// The first day of the accounting in which the array is searched.
    since: String,
    tasks: Vec<FollowedTask>,
}

impl<'a> FollowedArrays<'a> {
    /// Starts to follow arrays of a batch; prints nothing if it is silent.
    pub fn new(
        global: &GlobalOptions,
        batch: &'a RecordDirectory,
        plan: &BatchPlan,
        is_silent: bool,
    ) -> Self {
        Self {
            batch,
            tasks: assign_tasks(plan),
            arrays: Vec::new(),
            display: ArrayDisplay::new(global, plan, is_silent),
        }
    }

    /// Follows more arrays, each with the id of its job.
    pub fn add_arrays(&mut self, arrays: Vec<(Array, String)>) -> Result<(), StoreError> {
        let known: Vec<usize> = self.arrays.iter().map(|one| one.array.number).collect();
        let candidates = arrays.into_iter();
        for (array, id) in candidates.filter(|(array, _)| !known.contains(&array.number)) {
            let submission = array.submission()?.unwrap_or_default();
            let entries = array.manifest.tasks.iter();
            let tasks = entries.map(|entry| FollowedTask::new(self.batch, entry));
            self.arrays.push(FollowedArray {
                tasks: tasks.collect(),
                since: submission.accounting_start(),
                slurm: array.slurm(),
                array,
                id,
            });
        }
        self.poll_journals(true);
        Ok(())
    }

    pub fn report_event(&mut self, event: &BatchEvent) {
        self.display.report_event(event);
    }

    pub fn array_count(&self) -> usize {
        self.arrays.len()
    }

    /// Returns whether a user stopped one of them.
    pub fn was_stopped(&self) -> bool {
        self.arrays.iter().any(FollowedArray::is_stopping)
    }

    fn earliest_phase(&self) -> JobPhase {
        min_phase(self.arrays.iter().map(FollowedArray::phase))
    }

    /// Prints the new events of tasks that run, or of all tasks.
    fn poll_journals(&mut self, all: bool) {
        let mut events = Vec::new();
        for task in self.arrays.iter_mut().flat_map(|one| &mut one.tasks) {
            if all || (task.phase == JobPhase::Running && !task.is_settled) {
                events.extend(task.poll_journal());
            }
        }
        self.report_events(&events);
    }

    fn report_events(&mut self, events: &[BatchEvent]) {
        for event in events {
            // The beginning and end of a task are not events of the batch.
            let is_of_task = matches!(
                event.what,
                BatchEventKind::BatchStarted { .. }
                    | BatchEventKind::BatchEnded { .. }
                    | BatchEventKind::Reused { .. }
            );
            if !is_of_task {
                self.report_event(event);
            }
        }
    }

    fn report_status(&mut self) {
        let tasks = self.arrays.iter().flat_map(|followed| &followed.tasks);
        let phases: Vec<JobPhase> = tasks.map(|task| task.phase).collect();
        self.display.show_tasks(&phases);
    }
}

impl FollowedJobs for FollowedArrays<'_> {
    type Answer = Vec<Job>;
    type Outcome = ();

    fn poll_files(&mut self, is_slurm_away: bool) -> Result<Option<()>, StoreError> {
        // Tasks continue without the controller. Otherwise, journals are read when it answers.
        if is_slurm_away {
            self.poll_journals(false);
        }
        Ok((self.earliest_phase() == JobPhase::Ended).then_some(()))
    }

    fn query_slurm(&self) -> BoxFuture<'static, Result<Vec<Job>, SlurmError>> {
        let arrays = self.arrays.iter();
        let living = arrays.filter(|one| one.phase() != JobPhase::Ended);
        let queries: Vec<_> = living
            .map(|one| (one.slurm.clone(), one.id.clone(), one.since.clone(), one.tasks.len()))
            .collect();
        query_tasks(queries).boxed()
    }

    fn apply_answer(&mut self, rows: Vec<Job>) -> Result<(), StoreError> {
        let mut events = Vec::new();
        for followed in &mut self.arrays {
            let is_stopping = followed.is_stopping();
            for (index, task) in (0..).zip(&mut followed.tasks).filter(|(_, task)| !task.is_settled)
            {
                let row = rows.iter().find(|row| row.id == followed.id && row.index == Some(index));
                if row.is_none_or(|row| row.phase() != JobPhase::Pending) {
                    events.extend(task.poll_journal());
                }
                if !task.update_from_slurm(row, is_stopping) {
                    continue;
                }
                let entry = &followed.array.manifest.tasks[index as usize];
                let job = format!("{}_{index}", followed.id);
                let trial_runs = self.tasks.get(entry.task - 1);
                task.record_end(row, trial_runs.map_or(&[], Vec::as_slice), &job)?;
                let tail = job_output_tail(&followed.array.directory, &job);
                events.extend(task.poll_journal());
                if let Some(tail) = tail {
                    let text = format!("job {job} ended early; {tail}");
                    self.display.print_note(&text);
                }
            }
        }
        self.report_events(&events);
        self.report_status();
        Ok(())
    }

    fn list_jobs_to_stop(&mut self) -> Vec<StoppableJob> {
        self.poll_journals(true);
        let arrays = self.arrays.iter();
        let living = arrays.filter(|one| one.phase() != JobPhase::Ended);
        let jobs = living.map(|one| StoppableJob {
            slurm: one.slurm.clone(),
            id: one.id.clone(),
            directory: one.array.directory.clone(),
        });
        jobs.collect()
    }

    fn job_phase(&self, id: &str) -> JobPhase {
        let arrays = self.arrays.iter();
        min_phase(arrays.filter(|one| one.id == id).map(FollowedArray::phase))
    }

    fn print_note(&mut self, text: &str) {
        self.display.print_note(text);
    }

    fn finish_display(&mut self) {
        self.display.finish();
    }
}

impl FollowedArray {
    fn phase(&self) -> JobPhase {
        min_phase(self.tasks.iter().map(|task| task.phase))
    }

    /// Returns whether a user stops it, through this process or another one.
    fn is_stopping(&self) -> bool {
        let recorded = self.array.submission().ok().flatten();
        recorded.is_some_and(|submission| submission.stop_requested)
    }
}

/// The phase of the one that is earliest; of none, that they are over.
fn min_phase(phases: impl Iterator<Item = JobPhase>) -> JobPhase {
    phases.min().unwrap_or(JobPhase::Ended)
}

async fn query_tasks(arrays: Vec<(Slurm, String, String, usize)>) -> Result<Vec<Job>, SlurmError> {
    let mut all = Vec::new();
    for (slurm, id, since, tasks) in arrays {
        all.extend(find_jobs(&slurm, &id, &since, Some(tasks)).await?);
    }
    Ok(all)
}
