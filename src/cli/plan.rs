//! `retrial plan`: the exact steps of a run. Changes nothing.

use jiff::Timestamp;

use super::arguments::PlanFormat;
use super::plan_batch;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest};
use crate::app::site::request::SiteRun;
use crate::app::{batch, estimate, hub, open, terminal};
use retrial_batch::CliOverrides;
use retrial_history::entry;
use retrial_plan::remaining::StepTimes;
use retrial_plan::shell::RecipeFile;
use retrial_plan::{Plan, shell, text};
use retrial_results::verdict::ExitCode;
use retrial_site::script::JobWork;

/// Prints the plan of a run or a batch, here or on a site's nodes.
pub fn plan(
    global: &GlobalOptions,
    site: Option<&str>,
    request: &PlanRequest,
    matrix: &CliOverrides,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if *matrix != CliOverrides::default() || batch::file::is_batch(&request.recipe.recipe) {
        let overrides = plan_batch::overrides(matrix, request);
        return plan_batch::plan(global, site, request, &overrides, format);
    }
    if let Some(site) = site {
        return for_site(global, site, request, format);
    }
    if format == PlanFormat::Sbatch {
        return Err(Failure::usage(
            "--format sbatch needs --site NAME: `retrial sites` lists the sites",
        ));
    }
    let opened = open::recipe(&request.recipe)?;
    let host = open::host_and_engine(global, &opened);
    let plan = open::plan(global, request, &opened, false, &host)?;
    open::report_warnings(global, &opened, &plan);
    print(global, &plan, &opened.entry.files(), format)
}

/// Prints the plan of a run on a site's node, or the script of its job.
fn for_site(
    global: &GlobalOptions,
    site: &str,
    request: &PlanRequest,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    let run = SiteRun::open(global, site, request, None)?;
    if format == PlanFormat::Sbatch {
        let work = JobWork::Run { id: "RUN" };
        let directory = run.global.home.runs_directory().join("RUN");
        terminal::print(&run.target.script(work, &directory)?);
        return Ok(ExitCode::Success);
    }
    print(global, &run.plan, &run.opened.entry.files(), format)
}

/// Prints a plan; `files` are those of a built-in recipe.
fn print(
    global: &GlobalOptions,
    plan: &Plan,
    files: &[RecipeFile],
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    let json = format == PlanFormat::Json
        || (format == PlanFormat::Text && global.output == OutputFormat::Json);
    if json {
        terminal::print_pretty(plan);
    } else if format == PlanFormat::Shell {
        if let Some(nodes) = plan.nodes.filter(|nodes| nodes.count > 1) {
            return Err(Failure::usage(format!(
                "{} runs on {} machines, which one shell script cannot do",
                plan.recipe, nodes.count
            ))
            .with_help("for the script of a Slurm job: --site NAME --format sbatch"));
        }
        terminal::print(&shell::render_script(plan, files));
    } else {
        let remaining = estimate::of_plan(
            &mut entry::open(&global.home),
            plan.clone(),
            StepTimes::default(),
        );
        let expected = remaining.describe_by_earlier_run(Timestamp::now());
        terminal::print(&text::render_plan(plan, expected.as_deref(), &hub::here()));
    }
    Ok(ExitCode::Success)
}
