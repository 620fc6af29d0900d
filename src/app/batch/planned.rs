//! A batch whose runs are planned, ready to be executed on this host.

use super::cells::{CellRecipes, TrialRunPlans};
use super::record::BatchRecord;
use super::workers::assign_gpus_to_workers;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use retrial_batch::run::{WorkerQueues, assign_workers};
use retrial_plan::Plan;

/// A batch with everything that is known without an engine.
pub struct PlannedBatch {
    /// The batch's plan and options.
    pub record: BatchRecord,
    pub(super) cells: CellRecipes,
    pub(super) plans: TrialRunPlans,
    /// The GPUs of each worker; a single worker has all that the batch may use.
    pub(super) gpus: Vec<Vec<String>>,
    pub(super) workers: WorkerQueues,
    /// The host of this task of a batch on several hosts; none for a whole batch.
    pub(super) host: Option<String>,
}

impl PlannedBatch {
    /// Plans every run, and reports the problems of all at once.
    pub fn new(
        global: &GlobalOptions,
        record: &BatchRecord,
        cells: CellRecipes,
    ) -> Result<Self, Failure> {
        let workers = assign_workers(&record.plan);
        let gpus = &record.plan.execution.gpus;
        Self::for_workers(global, record.clone(), cells, workers, gpus)
    }

    /// Plans the runs of a task, which has these GPUs of this host.
    pub fn for_task(
        global: &GlobalOptions,
        record: BatchRecord,
        cells: CellRecipes,
        trial_runs: Vec<usize>,
        gpus: &[String],
    ) -> Result<Self, Failure> {
        let mut task = Self::for_workers(global, record, cells, vec![trial_runs], gpus)?;
        task.host = Some(task.plans.host.hostname.clone());
        Ok(task)
    }

    fn for_workers(
        global: &GlobalOptions,
        record: BatchRecord,
        cells: CellRecipes,
        workers: WorkerQueues,
        gpus: &[String],
    ) -> Result<Self, Failure> {
        let host = Some(cells.probe_host(global));
        let plans = cells.plan_runs(global, &record, gpus, host)?;
        let each: Vec<&Plan> = plans.iter().map(|(_, plan)| plan.plan()).collect();
        let gpus = assign_gpus_to_workers(workers.len(), gpus, &each, &plans.host)?;
        Ok(Self { record, cells, plans, gpus, workers, host: None })
    }
}
