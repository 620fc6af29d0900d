//! The submission of `run --site` before a node is known: the site, the recipe, and a plan for an unknown host.

use std::path::Path;
use std::time::Duration;

use itertools::join;

use super::site_files::{self, SiteFile};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, PlanRequest, RunRequest};
use crate::app::{open, prepare, runtime};
use retrial_cluster::site::script::{JobOptions, JobWork};
use retrial_cluster::site::time_limit::{format_slurm_time, job_time_limit};
use retrial_host::model::HostView;
use retrial_plan::{Plan, PlanOptions};
use retrial_store::cache::standard_cache;
use retrial_store::{Home, scratch};

/// How a run's jobs are submitted.
pub struct JobTarget {
    /// The site, with the file that describes it.
    pub site_file: SiteFile,
    /// How its jobs are executed.
    pub job: JobOptions,
}

/// A run that can be submitted.
pub struct SiteRun {
    /// How its jobs are submitted.
    pub target: JobTarget,
    /// Options with the site's home.
    pub global: GlobalOptions,
    /// The recipe with its settings.
    pub opened: open::OpenedRecipe,
    /// The plan, with the GPUs of no host.
    pub plan: Plan,
}

impl SiteRun {
    /// Opens the site and the recipe, and plans. With `run`, a built-in recipe's files are written.
    pub fn open(
        global: &GlobalOptions,
        site: &str,
        request: &PlanRequest,
        run: Option<&RunRequest>,
    ) -> Result<Self, Failure> {
        let site_file = site_files::open_site(site)?;
        let global = with_site_home(global, &site_file);
        let opened = open::open_recipe(&request.recipe)?;
        let plan = plan_for_unknown_host(&global, request, run, &opened)?;
        open::print_recipe_warnings(&global, &opened, &plan);
        let target = JobTarget::for_run(&global, site_file, &plan, &request.options)?;
        Ok(Self {
            target,
            global,
            opened,
            plan,
        })
    }
}

/// Options with the home of a site.
pub fn with_site_home(global: &GlobalOptions, site_file: &SiteFile) -> GlobalOptions {
    let home = site_file.site.home.as_deref().map(site_files::expand_home);
    GlobalOptions {
        home: home.map_or_else(|| global.home.clone(), Home::from_root),
        ..global.clone()
    }
}

impl JobTarget {
    /// A site as it submits the jobs of a run.
    pub fn for_run(
        global: &GlobalOptions,
        site_file: SiteFile,
        plan: &Plan,
        options: &PlanOptions,
    ) -> Result<Self, Failure> {
        let trials = options.trials.map_or(1, |trials| trials.max);
        let time_limit = job_time_limit(&site_file.site, plan.expected_duration, trials);
        let nodes = plan.nodes.map_or(1, |nodes| nodes.count);
        Self::new(global, site_file, time_limit, nodes, &plan.recipe)
    }

    /// A site as it submits jobs with so many nodes; `subject` is what states no duration if there is no
    /// time limit.
    pub fn new(
        global: &GlobalOptions,
        site_file: SiteFile,
        time_limit: Option<Duration>,
        nodes: u32,
        subject: &str,
    ) -> Result<Self, Failure> {
        let Some(time_limit) = time_limit else {
            return Err(Failure::usage(format!(
                "{subject} has no expected_duration, so the time limit of its job is unknown"
            ))
            .with_help(format!(
                "add `time_limit: 2h` to {}",
                site_file.path.display()
            )));
        };
        let program = match &site_file.site.retrial {
            Some(path) => site_files::expand_home(path),
            None => runtime::program_path()?,
        };
        let configured_scratch = site_file.site.scratch.as_deref();
        let scratch =
            configured_scratch.map_or_else(scratch::default_location, site_files::expand_home);
        let job = JobOptions {
            tool: tool_command(&program, global)?,
            scratch: to_utf8(&scratch)?,
            nodes,
            time_limit,
            site: site_file.site.clone(),
        };
        Ok(Self { site_file, job })
    }

    /// The script of the job of a run or an array in this directory.
    pub fn job_script(&self, work: JobWork<'_>, directory: &Path) -> Result<String, Failure> {
        let script = self.job.render_script(work, &to_utf8(directory)?);
        script.map_err(|error| Failure::usage(error.to_string()))
    }

    /// The options of srun, and its command line on each node, by which nodes like those of a job examine
    /// themselves.
    pub fn examination_command(
        &self,
        directory: &Path,
        time_limit: Duration,
    ) -> Result<[Vec<String>; 2], Failure> {
        Ok(self
            .job
            .examination_command(&to_utf8(directory)?, time_limit))
    }

    /// The options that a scheduler may refuse, as in the site file: `partition: gpu, time_limit: 4:00:00`.
    pub fn describe_options(&self) -> String {
        let site = &self.site_file.site;
        let sbatch_keys = site.sbatch_keys();
        let keys = sbatch_keys.map(|(name, value)| (name, value.to_owned()));
        let limit = ("time_limit", format_slurm_time(self.job.time_limit));
        let options = (!site.options.is_empty()).then(|| ("options", site.options.join(" ")));
        let all = keys.chain([limit]).chain(options);
        join(all.map(|(name, value)| format!("{name}: {value}")), ", ")
    }
}

/// Our program on a node, with the options that are not a node's own.
fn tool_command(program: &Path, global: &GlobalOptions) -> Result<Vec<String>, Failure> {
    let cache = (global.cache != standard_cache()).then_some(&*global.cache);
    let root = (global.root != Path::new("/")).then_some(&*global.root);
    let options = [
        ("--home", Some(global.home.root())),
        ("--cache", cache),
        ("--root", root),
    ];
    let mut words = vec![to_utf8(program)?];
    for (name, directory) in options {
        if let Some(directory) = directory {
            words.extend([name.to_owned(), to_utf8(directory)?]);
        }
    }
    Ok(words)
}

fn to_utf8(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::usage(format!(
            "{} is not UTF-8, which a job script must be",
            path.display()
        ))
    })
}

/// The plan for a host that is not known: a node's own view completes it there.
fn plan_for_unknown_host(
    global: &GlobalOptions,
    request: &PlanRequest,
    run: Option<&RunRequest>,
    opened: &open::OpenedRecipe,
) -> Result<Plan, Failure> {
    let mut request = request.clone();
    // Determined on the node.
    request.options.gpus.clear();
    let host = HostView::default();
    let mut plan = match run {
        Some(run) => prepare::plan_run(global, &request, run, opened, &host)?,
        None => open::plan_recipe(global, &request, opened, false, &host)?,
    };
    plan.unmet.clear();
    Ok(plan)
}
