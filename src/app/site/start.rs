//! `run --site`, and `resume` and `stop` of a run on a site.

use serde_json::json;

use super::end::{describe_continuing, print_detached, report_end};
use super::follow::{FollowEnd, JobFollower};
use super::request::{run_job_target, with_site_home};
use super::run_job::RunJob;
use super::site_files;
use crate::app::display::note_unless_quiet;
use crate::app::failure::Failure;
use crate::app::launch::OpenedRecipe;
use crate::app::notify::notify_of_end;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest, RunRequest};
use crate::app::own_record::Own;
use crate::app::stop_result::StopResult;
use crate::app::{runtime, terminal};
use retrial_cluster::job::record::{REQUEST_FILE, SITE_COPY_FILE, SiteRequest};
use retrial_cluster::job::submit::{
    SubmitRequest, SubmittedJob, is_living, living_job, slurm_for_run, submit_once,
};
use retrial_cluster::job::target::JobTarget;
use retrial_cluster::site::script::JobWork;
use retrial_cluster::site_files::SiteFile;
use retrial_cluster::slurm::Slurm;
use retrial_plan::Plan;
use retrial_results::verdict::{ExitCode, Verdict};
use retrial_run::PreparedRun;
use retrial_store::error::RecordKind;
use retrial_store::{Home, RecordDirectory, RunDirectory};

/// Submits a run, and follows it unless `detach`. Its node prepares it.
pub fn submit_run(
    global: &GlobalOptions,
    site: &str,
    opened: &OpenedRecipe,
    request: &PlanRequest,
    execution: &RunRequest,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let site_file = site_files::open_site(site)?;
    let site_global = &with_site_home(global, &site_file);
    let planned = opened.plan_run(site_global, request, execution, None)?;
    planned.print_warnings(site_global, 1);
    let target = run_job_target(site_global, site_file, planned.plan(), &request.options)?;
    // Approvals are those of this user, whatever the site's home is.
    let approved = planned.check(global)?.approve(global)?;
    let prepared = approved.defer_to_site(&target.site_file.name, opened.resolved.yaml.clone());
    let site_request = SiteRequest {
        site: target.site_file.name.clone(),
        recipe: opened.pin_recipe(site_global, request)?,
        options: request.options.clone(),
        force: execution.force,
    };
    let directory = create_run_directory(&site_global.home, &target, &prepared, &site_request)?;
    let slurm = slurm_for_run(&directory);
    runtime::start_runtime()?.block_on(async {
        let request = SubmitRequest::for_run(&directory, &target);
        let job = submit_once(&slurm, &request, &note_unless_quiet(site_global)).await?;
        if detach {
            return Ok(print_submitted(site_global, &directory, &job));
        }
        let require_accuracy = execution.require_accuracy;
        follow_job(site_global, &slurm, &directory, job, require_accuracy).await
    })
}

/// Makes the run's directory in the site's home. Nothing was submitted before it is whole.
fn create_run_directory(
    home: &Home,
    target: &JobTarget,
    prepared: &PreparedRun,
    request: &SiteRequest,
) -> Result<RunDirectory, Failure> {
    let directory = home.create_run_directory(&prepared.id_stem())?;
    // A script with a path that cannot be in one is refused while there is no job.
    let work = JobWork::Run { id: directory.id() };
    target.job_script(work, directory.path())?;
    prepared.write_files(&directory)?;
    directory.write_json(REQUEST_FILE, request)?;
    Ok(directory)
}

fn print_submitted(
    global: &GlobalOptions,
    directory: &RunDirectory,
    job: &SubmittedJob,
) -> ExitCode {
    let submission = json!({ "run": directory.id(), "path": directory.path(), "job": job.id });
    let note = format!("submitted job {}", job.id);
    print_detached(global, directory.record(), &submission, &note);
    ExitCode::Success
}

/// Follows the run's job unless `detach`, or submits another one if there is none and the run did not end.
pub fn resume_run(
    global: &GlobalOptions,
    directory: &Own<RunDirectory>,
    require_accuracy: bool,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let request: SiteRequest = directory.read_json(REQUEST_FILE)?;
    let plan: Plan = directory.read_json("plan.json")?;
    let site_file = open_or_saved_site(directory.record(), &request.site)?;
    let target = run_job_target(global, site_file, &plan, &request.options)?;
    let slurm = slurm_for_run(directory);
    runtime::start_runtime()?.block_on(async {
        let request = SubmitRequest::for_run(directory, &target);
        let job = submit_once(&slurm, &request, &note_unless_quiet(global)).await?;
        if detach {
            return Ok(print_submitted(global, directory, &job));
        }
        follow_job(global, &slurm, directory, job, require_accuracy).await
    })
}

/// Returns whether a run's job waits or runs; also if the controller does not answer.
pub fn has_job(directory: &RunDirectory) -> bool {
    let slurm = slurm_for_run(directory);
    let Ok(runtime) = runtime::start_runtime() else {
        return false;
    };
    let jobs = runtime.block_on(slurm.query_queue());
    jobs.map_or(true, |jobs| jobs.iter().any(is_living))
}

/// A site by its name; else as it was when a run or an array in this directory was submitted.
pub fn open_or_saved_site(directory: &RecordDirectory, name: &str) -> Result<SiteFile, Failure> {
    // Its file may have been corrected since.
    site_files::open_site(name)
        .or_else(|_| site_files::read_site(name, directory.join(SITE_COPY_FILE)))
}

async fn follow_job(
    global: &GlobalOptions,
    slurm: &Slurm,
    directory: &RunDirectory,
    job: SubmittedJob,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    if !global.quiet && global.output == OutputFormat::Text {
        terminal::print_note(&format!("run {}: {job}", directory.id()));
    }
    let run_job = RunJob::new(global, slurm, directory, job.id.clone(), false)?;
    match JobFollower::new(run_job).follow_to_end().await? {
        FollowEnd::Ended(outcome) => {
            let ended =
                report_end(global, slurm, directory, &job.id, outcome, require_accuracy).await;
            let judged: Option<Verdict> = directory.read_json("verdict.json").ok();
            let (record, result) = (directory.record(), ended.as_ref().copied());
            notify_of_end(global, RecordKind::Run, record, result, None, judged).await;
            ended
        }
        FollowEnd::Detached => {
            if !global.quiet {
                let subject = format!("job {}", job.id);
                terminal::note_error(&describe_continuing(
                    &global.home,
                    directory.record(),
                    &subject,
                ));
            }
            Ok(ExitCode::Interrupted)
        }
    }
}

/// Stops a run's job: Retrial in it ends the benchmark and keeps its evidence, later Slurm ends it.
pub fn stop_run(global: &GlobalOptions, directory: &RunDirectory) -> Result<StopResult, Failure> {
    let slurm = slurm_for_run(directory);
    runtime::start_runtime()?.block_on(async {
        let living = living_job(&slurm, directory.record(), &note_unless_quiet(global)).await?;
        let Some(job) = living else {
            return Ok(StopResult::NoJob);
        };
        let run_job = RunJob::new(global, &slurm, directory, job.id.clone(), true)?;
        let mut follower = JobFollower::new(run_job);
        follower.stop_jobs()?;
        if follower.follow_to_end().await? == FollowEnd::Detached {
            return Ok(StopResult::Detached);
        }
        Ok(StopResult::Stopped)
    })
}
