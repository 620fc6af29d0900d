//! `run --site`, and `resume`, `stop` and `logs -f` of a run on a site.

use std::time::{Duration, Instant};

use serde_json::json;

use super::end::{conclude, print_detached};
use super::find::{self, SiteFile};
use super::follow::{JobFollower, JobOutcome};
use super::incoming::IncomingJournal;
use super::record::{self, REQUEST, SITE, SiteRequest};
use super::request::{JobTarget, SiteRun};
use super::submit::{self, SubmitRequest, SubmittedJob};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest, RunRequest};
use crate::app::{approval, lock_file, open, prepare, runtime, terminal};
use retrial_plan::Plan;
use retrial_results::verdict::ExitCode;
use retrial_run::PreparedRun;
use retrial_site::script::JobWork;
use retrial_slurm::Slurm;
use retrial_store::journal::{Event, EventKind};
use retrial_store::lock::FileLock;
use retrial_store::{RecordDirectory, RunDirectory};

/// The time between two queries of the queue for a run without a process.
const LOOK: Duration = Duration::from_secs(10);

/// Submits a run, and follows it unless `detach`.
pub fn run(
    global: &GlobalOptions,
    site: &str,
    request: &PlanRequest,
    execution: &RunRequest,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let site = SiteRun::open(global, site, request, Some(execution))?;
    prepare::secrets_are_set(global, request, &site.plan)?;
    let plans = [(&site.opened, &site.plan)];
    approval::ask(&global.home, &plans, &execution.allow, true)?;
    let directory = write_down(&site, request, execution)?;
    let global = &site.global;
    let slurm = jobs_of(&directory);
    runtime::runtime()?.block_on(async {
        let request = SubmitRequest::of_run(&directory, &site.target);
        let job = submit::submit_once(&slurm, &request, global.quiet).await?;
        if detach {
            let json = json!({ "run": directory.id(), "path": directory.path(), "job": job.id });
            let note = format!("submitted job {}\n", job.id);
            print_detached(global, &directory, &json, &note);
            return Ok(ExitCode::Success);
        }
        follow(global, &slurm, &directory, job, execution.require_accuracy).await
    })
}

/// Makes the run's directory in the site's home. Nothing was submitted before it is whole.
fn write_down(
    site: &SiteRun,
    request: &PlanRequest,
    execution: &RunRequest,
) -> Result<RunDirectory, Failure> {
    let global = &site.global;
    let mut recipe = site.opened.resolved.recipe.clone();
    lock_file::follow(global, request, &site.opened.entry, &mut recipe)?;
    let prepared = PreparedRun {
        recipe: site.opened.resolved.yaml.clone(),
        plan: site.plan.clone(),
        host: json!({ "site": site.target.site_file.name }),
    };
    let directory = global.home.create_run_directory(&prepared.stem())?;
    // A script with a path that cannot be in one is refused while there is no job.
    let work = JobWork::Run { id: directory.id() };
    site.target.script(work, directory.path())?;
    prepared.write_files(&directory)?;
    let request = SiteRequest {
        site: site.target.site_file.name.clone(),
        recipe,
        directory: open::directory(global, &site.opened, true)?,
        options: request.options.clone(),
        force: execution.force,
    };
    directory.write_json(REQUEST, &request)?;
    Ok(directory)
}

/// Follows the run's job, or submits another one if there is none and the run did not end.
pub fn resume(
    global: &GlobalOptions,
    directory: &RunDirectory,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    let request: SiteRequest = directory.read_json(REQUEST)?;
    let plan: Plan = directory.read_json("plan.json")?;
    let site_file = found_or_saved(directory, &request.site)?;
    let target = JobTarget::of_run(global, site_file, &plan, &request.options)?;
    let slurm = jobs_of(directory);
    runtime::runtime()?.block_on(async {
        let request = SubmitRequest::of_run(directory, &target);
        let job = submit::submit_once(&slurm, &request, global.quiet).await?;
        follow(global, &slurm, directory, job, require_accuracy).await
    })
}

fn jobs_of(directory: &RunDirectory) -> Slurm {
    let work = JobWork::Run { id: directory.id() };
    Slurm::with_job_name(work.job_name())
}

/// A site by its name; else as it was when a run or an array in this directory was submitted.
pub fn found_or_saved(directory: &RecordDirectory, name: &str) -> Result<SiteFile, Failure> {
    // Its file may have been corrected since.
    find::open(name).or_else(|_| find::read(name, directory.join(SITE)))
}

async fn follow(
    global: &GlobalOptions,
    slurm: &Slurm,
    directory: &RunDirectory,
    job: SubmittedJob,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    if !global.quiet && global.output == OutputFormat::Text {
        terminal::note(&format!("run {}: {job}", directory.id()));
    }
    let following = JobFollower::new(global, slurm, directory, job.id.clone(), false)?;
    let end = following.until_the_end().await?;
    conclude(global, slurm, directory, &job.id, end, require_accuracy).await
}

/// Stops a run's job: Retrial in it ends the benchmark and keeps its evidence, later Slurm ends it.
pub fn stop(global: &GlobalOptions, directory: &RunDirectory) -> Result<ExitCode, Failure> {
    let id = directory.id();
    let slurm = jobs_of(directory);
    runtime::runtime()?.block_on(async {
        let living = submit::living(&slurm, directory, global.quiet).await?;
        let Some(job) = living else {
            terminal::note(&format!("{id}: it has no job to stop"));
            return Ok(ExitCode::Success);
        };
        let mut following = JobFollower::new(global, &slurm, directory, job.id.clone(), true)?;
        following.stop()?;
        if following.until_the_end().await? == JobOutcome::Detached {
            return Ok(ExitCode::Interrupted);
        }
        terminal::note(&format!("{id}: stopped"));
        Ok(ExitCode::Success)
    })
}

/// The liveness of a run: a process follows it, or its job waits or runs on a node.
pub struct Liveness {
    directory: RunDirectory,
    /// The journal since its latest job, if it is a run of a site.
    journal: Option<IncomingJournal>,
    has_ended: bool,
    queried: Option<(Instant, bool)>,
}

impl Liveness {
    /// Starts with the state of this run.
    pub fn new(directory: &RunDirectory) -> Self {
        let latest = record::latest(directory).ok().flatten();
        let from = latest.map_or(0, |latest| latest.journal);
        Self {
            journal: record::is_submitted(directory)
                .then(|| IncomingJournal::from(directory.journal_path(), from)),
            has_ended: false,
            directory: directory.clone(),
            queried: None,
        }
    }

    /// Returns whether a process follows the run, or its job waits or runs. Queries Slurm at most every 10 s.
    pub fn is_live(&mut self) -> bool {
        let Some(journal) = &mut self.journal else {
            return FileLock::find_holder(&self.directory.lock_path()).is_some();
        };
        for event in journal.look::<Event>() {
            match event.what {
                EventKind::RunStarted { .. } => self.has_ended = false,
                EventKind::RunEnded { .. } => self.has_ended = true,
                _ => {}
            }
        }
        if self.has_ended {
            return false;
        }
        if let Some((since, live)) = self.queried
            && since.elapsed() < LOOK
        {
            return live;
        }
        let live = has_job(&self.directory);
        self.queried = Some((Instant::now(), live));
        live
    }
}

fn has_job(directory: &RunDirectory) -> bool {
    let slurm = jobs_of(directory);
    let Ok(runtime) = runtime::runtime() else {
        return false;
    };
    // A run counts as live if the controller does not answer.
    let jobs = runtime.block_on(slurm.query_queue());
    jobs.map_or(true, |jobs| jobs.iter().any(submit::is_living))
}
