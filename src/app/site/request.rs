//! What is known of a run on a site before a node is: the site, the recipe, and a plan for an unknown host.

use std::path::Path;
use std::time::Duration;

use super::site_files;
use crate::app::failure::Failure;
use crate::app::launch::OpenedRecipe;
use crate::app::options::{GlobalOptions, PlanRequest};
use crate::app::runtime;
use retrial_cluster::error::ClusterError;
use retrial_cluster::job::target::{JobTarget, path_to_utf8};
use retrial_cluster::site::script::JobOptions;
use retrial_cluster::site::time_limit::job_time_limit;
use retrial_cluster::site_files::{SiteFile, expand_home};
use retrial_plan::{Plan, PlanOptions};
use retrial_store::cache::standard_cache;
use retrial_store::{Home, scratch};

/// A recipe planned for the nodes of a site, for commands that do not run it.
pub struct SitePlan {
    /// How its jobs are submitted.
    pub target: JobTarget,
    /// Options with the site's home.
    pub global: GlobalOptions,
    /// The recipe with its settings.
    pub opened: OpenedRecipe,
    /// The plan, with the GPUs of no host.
    pub plan: Plan,
}

impl SitePlan {
    /// Opens the site and the recipe, and plans.
    pub fn open(
        global: &GlobalOptions,
        site: &str,
        request: &PlanRequest,
    ) -> Result<Self, Failure> {
        let site_file = site_files::open_site(site)?;
        let global = with_site_home(global, &site_file);
        let opened = OpenedRecipe::open(request)?;
        let plan = opened.plan(&global, request, None)?;
        opened.print_warnings(&global, &plan, 1);
        let target = run_job_target(&global, site_file, &plan, &request.options)?;
        Ok(Self { target, global, opened, plan })
    }
}

pub fn with_site_home(global: &GlobalOptions, site_file: &SiteFile) -> GlobalOptions {
    let home = site_file.site.home.as_deref().map(expand_home);
    GlobalOptions {
        home: home.map_or_else(|| global.home.clone(), Home::from_root),
        ..global.clone()
    }
}

/// Returns how the jobs of a run are submitted.
pub fn run_job_target(
    global: &GlobalOptions,
    site_file: SiteFile,
    plan: &Plan,
    options: &PlanOptions,
) -> Result<JobTarget, Failure> {
    let trials = options.trials.map_or(1, |trials| trials.max);
    let time_limit = job_time_limit(&site_file.site, plan.expected_duration, trials);
    let nodes = plan.nodes.map_or(1, |nodes| nodes.count);
    job_target(global, site_file, time_limit, nodes, &plan.recipe)
}

/// Returns how jobs with so many nodes are submitted; `subject` is what states no duration if there is no
/// time limit.
pub fn job_target(
    global: &GlobalOptions,
    site_file: SiteFile,
    time_limit: Option<Duration>,
    nodes: u32,
    subject: &str,
) -> Result<JobTarget, Failure> {
    let Some(time_limit) = time_limit else {
        return Err(Failure::usage(format!(
            "{subject} has no expected_duration, so the time limit of its job is unknown"
        ))
        .with_help(format!("add `time_limit: 2h` to {}", site_file.path.display())));
    };
    let program = match &site_file.site.retrial {
        Some(path) => expand_home(path),
        None => runtime::program_path()?,
    };
    let configured_scratch = site_file.site.scratch.as_deref();
    let scratch = configured_scratch.map_or_else(scratch::default_location, expand_home);
    let job = JobOptions {
        tool: tool_command(&program, global)?,
        scratch: path_to_utf8(&scratch)?,
        nodes,
        time_limit,
        site: site_file.site.clone(),
    };
    Ok(JobTarget { site_file, job })
}

/// Our program on a node, with the options that are not a node's own.
fn tool_command(program: &Path, global: &GlobalOptions) -> Result<Vec<String>, ClusterError> {
    let cache = (global.cache != standard_cache()).then_some(&*global.cache);
    let root = (global.root != Path::new("/")).then_some(&*global.root);
    let options = [("--home", Some(global.home.root())), ("--cache", cache), ("--root", root)];
    let mut words = vec![path_to_utf8(program)?];
    for (name, directory) in options {
        if let Some(directory) = directory {
            words.extend([name.to_owned(), path_to_utf8(directory)?]);
        }
    }
    if let Some(filter) = &global.log {
        words.extend(["--log".to_owned(), filter.to_string()]);
    }
    Ok(words)
}
