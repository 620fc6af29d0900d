//! A task of a batch on its node: `resume --in-job --array N` in the job of an array.

use std::collections::BTreeSet;
use std::fs;

use crate::app::batch::cells::CellRecipes;
use crate::app::batch::follow::execute_and_judge;
use crate::app::batch::planned::PlannedBatch;
use crate::app::batch::record::BatchRecord;
use crate::app::batch::start::require_unchanged;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::own_record::Own;
use crate::app::site::node;
use crate::app::{clean, open, runtime};
use retrial_batch::run::{assign_tasks, read_journal, task_directory};
use retrial_cluster::array::followed_task::end_task;
use retrial_cluster::array::manifest::Array;
use retrial_cluster::site::Site;
use retrial_cluster::slurm;
use retrial_results::verdict::ExitCode;
use retrial_store::{RecordDirectory, StoreError};

/// The index of this process's task in its array.
const TASK_INDEX_VARIABLE: &str = "SLURM_ARRAY_TASK_ID";

pub fn execute_task(
    global: &GlobalOptions,
    batch: &Own<RecordDirectory>,
    array: usize,
) -> Result<ExitCode, Failure> {
    let array = Array::open(batch, array)?;
    let index_text = std::env::var(TASK_INDEX_VARIABLE).ok();
    let index: Option<usize> = index_text.and_then(|index| index.parse().ok());
    let entry = index.and_then(|index| array.manifest.tasks.get(index));
    let Some(number) = entry.map(|entry| entry.task) else {
        return Err(Failure::usage(format!(
            "{TASK_INDEX_VARIABLE} names no task of array {} of batch {}",
            array.number,
            batch.id()
        )));
    };
    let record: BatchRecord = batch.read_json("batch.json")?;
    let task_runs = assign_tasks(&record.plan).into_iter().nth(number - 1);
    let trial_runs = task_runs.unwrap_or_default();
    let task = task_directory(batch, number);
    fs::create_dir_all(task.path()).map_err(StoreError::io("create", task.path()))?;
    let ended = try_execute(global, &array, record, &task, trial_runs.clone());
    if let Err(failure) = &ended {
        let node = slurm::current_node();
        let on = node.as_ref().map(|node| format!("on {node}: "));
        let reason = failure.to_error().in_context(&on.unwrap_or_default());
        // Whatever it was: on another node it may be otherwise.
        end_task(&task, &trial_runs, ExitCode::Host, &reason, node)?;
    }
    ended
}

fn try_execute(
    global: &GlobalOptions,
    array: &Array,
    record: BatchRecord,
    task: &RecordDirectory,
    trial_runs: Vec<usize>,
) -> Result<ExitCode, Failure> {
    let schedule = &record.plan.schedule.trial_runs;
    let planned = trial_runs.iter().filter_map(|run| schedule.get(run - 1));
    let positions: BTreeSet<usize> = planned.map(|trial_run| trial_run.cell).collect();
    let cells = CellRecipes::open_at_positions(&record.plan, None, &positions)?;
    require_unchanged(&record, &cells, task.id())?;
    let site: Site = node::saved_site(&array.directory)?;
    let gpus = node::job_gpus(&record.plan.execution.gpus, &site);
    let planned = PlannedBatch::for_task(global, record, cells, trial_runs, &gpus)?;
    let ended = runtime::start_runtime()?.block_on(async {
        if site.exclusive {
            let engine = open::connect_engine(global).await?;
            let state = read_journal(task)?;
            let own: Vec<&str> = state.latest_runs().map(|(_, run)| run).collect();
            clean::containers::remove_of_earlier_jobs(global, &engine, &own).await?;
        }
        execute_and_judge(global, &planned, task).await
    })?;
    Ok(ended.exit)
}
