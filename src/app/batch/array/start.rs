//! `batch --site`, and `resume`, `stop` and `plan` of a batch on a site.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;

use super::conclude::conclude_batch;
use super::followed_arrays::FollowedArrays;
use crate::app::batch::cells::CellRecipes;
use crate::app::batch::follow::BatchOutcome;
use crate::app::batch::record::BatchRecord;
use crate::app::display::note_unless_quiet;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::site::end::{describe_continuing, print_detached};
use crate::app::site::follow::{FollowEnd, JobFollower};
use crate::app::site::request::job_target;
use crate::app::stop_result::StopResult;
use crate::app::terminal;
use retrial_batch::run::assign_tasks;
use retrial_batch::{BatchPlan, OnFailure};
use retrial_cluster::array::manifest::Array;
use retrial_cluster::array::session::{
    begin_session, create_next_arrays, reused_runs_event, submitted_arrays,
};
use retrial_cluster::job::submit::{self, SubmitRequest};
use retrial_cluster::job::target::JobTarget;
use retrial_cluster::site::script::JobWork;
use retrial_cluster::site::time_limit::job_time_limit;
use retrial_cluster::site_files::SiteFile;
use retrial_cluster::slurm;
use retrial_document::measures::format::format_count;
use retrial_results::verdict::ExitCode;
use retrial_store::RecordDirectory;

/// The indices that an array has if Slurm's administrators did not change it, for a plan without a
/// controller: `MaxArraySize`, slurm.conf(5).
const DEFAULT_MAX_ARRAY_SIZE: u32 = 1001;

/// A batch that is planned for nodes of a site.
pub struct SiteBatch {
    /// The cells and their schedule.
    plan: BatchPlan,
    /// How its arrays are submitted.
    target: JobTarget,
    /// What was approved of each cell.
    pub approved: BTreeMap<usize, BTreeSet<String>>,
}

/// Plans a batch for nodes of a site, which are not examined yet, and returns how it is submitted.
pub fn plan_site_batch(
    global: &GlobalOptions,
    site_file: SiteFile,
    record: &BatchRecord,
    cells: &CellRecipes,
) -> Result<SiteBatch, Failure> {
    let execution = &record.plan.execution;
    if execution.parallel > 1 {
        return Err(Failure::usage("--parallel runs side by side on one host: on a site, tasks run side by side on its nodes").with_help("at most N at once: `array_task_throttle: N` in the site file"));
    }
    if execution.on_failure == OnFailure::FailFast {
        return Err(Failure::usage(
            "--on-failure fail-fast needs one host: on a site, tasks do not know of each other",
        ));
    }
    let plans = cells.plan_runs(global, record, &[], None)?;
    Ok(SiteBatch {
        approved: plans.approved(record),
        target: batch_target(global, site_file, &record.plan, cells)?,
        plan: record.plan.clone(),
    })
}

/// How the arrays of a batch are submitted.
pub fn batch_target(
    global: &GlobalOptions,
    site_file: SiteFile,
    plan: &BatchPlan,
    cells: &CellRecipes,
) -> Result<JobTarget, Failure> {
    let limit = job_time_limit(&site_file.site, longest_task_time(plan, cells), 1);
    let subject = plan.cells.first().map_or("a recipe", |cell| &cell.path);
    job_target(global, site_file, limit, 1, subject)
}

/// The time of the longest task; none if a recipe does not state its own.
fn longest_task_time(plan: &BatchPlan, cells: &CellRecipes) -> Option<Duration> {
    let trial_run = |number: usize| plan.schedule.trial_runs.get(number - 1);
    let recipe = |number: &usize| Some(&cells.get(trial_run(*number)?.cell)?.resolved.recipe);
    let run_duration = |number: &usize| recipe(number)?.expected_duration;
    let task_duration =
        |trial_runs: Vec<usize>| trial_runs.iter().map(run_duration).sum::<Option<Duration>>();
    let each: Option<Vec<Duration>> = assign_tasks(plan).into_iter().map(task_duration).collect();
    each?.into_iter().max()
}

/// Submits the rest of a batch, and follows it to its verdict. None if it is only submitted.
pub async fn submit_and_follow(
    global: &GlobalOptions,
    directory: &RecordDirectory,
    batch: &SiteBatch,
    detach: bool,
) -> Result<Option<BatchOutcome>, Failure> {
    let plan = &batch.plan;
    let started = begin_session(directory, plan)?;
    let reused = reused_runs_event(directory, plan)?;
    let mut follower = JobFollower::new(FollowedArrays::new(global, directory, plan, false));
    if !detach {
        let shown = started.iter().chain(&reused);
        shown.for_each(|event| follower.jobs.report_event(event));
    }
    if Array::of_latest_session(directory)?.is_empty() {
        create_next_arrays(directory, plan, 0).await?;
    }
    loop {
        submit_unsubmitted(global, directory, &batch.target).await?;
        if detach {
            let id = directory.id();
            let job_ids = submitted_arrays(directory)?.into_iter().map(|(_, id)| id);
            let jobs: Vec<String> = job_ids.collect();
            let detached_summary = json!({ "batch": id, "path": directory.path(), "jobs": jobs });
            print_detached(global, directory, &detached_summary, "");
            return Ok(None);
        }
        follower.jobs.add_arrays(submitted_arrays(directory)?)?;
        if follower.follow_to_end().await? == FollowEnd::Detached {
            return Ok(Some(BatchOutcome {
                exit: ExitCode::Interrupted,
                verdict: None,
                note: describe_continuing(&global.home, directory, "the batch"),
            }));
        }
        let known = follower.jobs.array_count();
        if follower.jobs.was_stopped() || create_next_arrays(directory, plan, known).await? == 0 {
            return conclude_batch(global, directory, plan).map(Some);
        }
    }
}

/// Submits the arrays of this session that have no job yet.
async fn submit_unsubmitted(
    global: &GlobalOptions,
    directory: &RecordDirectory,
    target: &JobTarget,
) -> Result<(), Failure> {
    for array in Array::of_latest_session(directory)? {
        if array.submission()?.is_some_and(|last| last.id.is_some()) {
            continue;
        }
        let request =
            SubmitRequest { work: array.work(), directory: &array.directory, run: None, target };
        let job = submit::submit_once(&array.slurm(), &request, &note_unless_quiet(global)).await?;
        if !global.quiet && global.output == OutputFormat::Text {
            let tasks = format_count(array.manifest.tasks.len(), "task");
            let excluded_node = array.manifest.exclude.as_ref();
            let exclude_note =
                excluded_node.map(|node| format!(", again, on nodes other than {node}"));
            let exclude = exclude_note.unwrap_or_default();
            terminal::print_note(&format!("batch {}: {job}: {tasks}{exclude}", directory.id()));
        }
    }
    Ok(())
}

/// Stops a batch's arrays: Retrial in each task ends the benchmark and keeps its evidence, later Slurm ends it.
pub async fn stop_arrays(
    global: &GlobalOptions,
    directory: &RecordDirectory,
) -> Result<StopResult, Failure> {
    let record: BatchRecord = directory.read_json("batch.json")?;
    let mut living = false;
    for array in Array::all(directory)? {
        let job = submit::living_job(&array.slurm(), &array.directory, &note_unless_quiet(global))
            .await?;
        living |= job.is_some();
    }
    if !living {
        return Ok(StopResult::NoJob);
    }
    let jobs = FollowedArrays::new(global, directory, &record.plan, true);
    let mut follower = JobFollower::new(jobs);
    follower.jobs.add_arrays(submitted_arrays(directory)?)?;
    follower.stop_jobs()?;
    if follower.follow_to_end().await? == FollowEnd::Detached {
        return Ok(StopResult::Detached);
    }
    conclude_batch(global, directory, &record.plan)?;
    Ok(StopResult::Stopped)
}

/// Returns the script of a batch's first array, and the number of arrays.
pub async fn first_array_script(
    global: &GlobalOptions,
    target: &JobTarget,
    plan: &BatchPlan,
) -> Result<(String, usize), Failure> {
    let task_count = assign_tasks(plan).len();
    let size =
        slurm::query_max_array_size().await.unwrap_or(DEFAULT_MAX_ARRAY_SIZE).max(1) as usize;
    let work =
        JobWork::Array { batch: "BATCH", number: 1, tasks: task_count.min(size), exclude: None };
    let directory = global.home.batches_directory().join("BATCH/arrays/1");
    Ok((target.job_script(work, &directory)?, task_count.div_ceil(size)))
}
