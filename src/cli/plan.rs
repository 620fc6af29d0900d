//! `retrial plan`: the exact steps of a run. Changes nothing.

use jiff::Timestamp;

use super::arguments::PlanFormat;
use super::plan_batch;
use crate::app::failure::Failure;
use crate::app::launch::OpenedRecipe;
use crate::app::launch::gpu_support::probe_host_for;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest};
use crate::app::site::request::SitePlan;
use crate::app::{batch, estimate, hub, terminal};
use retrial_batch::CliOverrides;
use retrial_cluster::site::script::JobWork;
use retrial_history::entry;
use retrial_plan::remaining::StepTimes;
use retrial_plan::shell::RecipeFile;
use retrial_plan::{Plan, shell, text};
use retrial_results::verdict::ExitCode;

/// Prints the plan of a run or a batch, here or on a site's nodes.
pub fn plan_run_or_batch(
    global: &GlobalOptions,
    site: Option<&str>,
    request: &PlanRequest,
    matrix: &CliOverrides,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if *matrix != CliOverrides::default() || batch::file::is_batch_file(&request.recipe.recipe) {
        let overrides = plan_batch::batch_overrides(matrix, request);
        return plan_batch::print_batch_plan(global, site, request, &overrides, format);
    }
    if let Some(site) = site {
        return print_site_plan(global, site, request, format);
    }
    if format == PlanFormat::Sbatch {
        return Err(Failure::usage(
            "--format sbatch needs --site NAME: `retrial sites` lists the sites",
        ));
    }
    let opened = OpenedRecipe::open(request)?;
    let host = probe_host_for(global, [&opened.resolved.recipe]);
    let plan = opened.plan(global, request, Some(&host))?;
    opened.print_warnings(global, &plan);
    print_plan(global, &plan, &opened.entry.builtin_files(), format)
}

/// Prints the plan of a run on a site's node, or the script of its job.
fn print_site_plan(
    global: &GlobalOptions,
    site: &str,
    request: &PlanRequest,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    let run = SitePlan::open(global, site, request)?;
    if format == PlanFormat::Sbatch {
        let work = JobWork::Run { id: "RUN" };
        let directory = run.global.home.runs_directory().join("RUN");
        terminal::print_text(&run.target.job_script(work, &directory)?);
        return Ok(ExitCode::Success);
    }
    print_plan(global, &run.plan, &run.opened.entry.builtin_files(), format)
}

/// Prints a plan; `files` are those of a built-in recipe.
fn print_plan(
    global: &GlobalOptions,
    plan: &Plan,
    files: &[RecipeFile],
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    let json = format == PlanFormat::Json
        || (format == PlanFormat::Text && global.output == OutputFormat::Json);
    if json {
        terminal::print_pretty_json(plan);
    } else if format == PlanFormat::Shell {
        if let Some(nodes) = plan.nodes.filter(|nodes| nodes.count > 1) {
            return Err(Failure::usage(format!(
                "{} runs on {} machines, which one shell script cannot do",
                plan.recipe, nodes.count
            ))
            .with_help("for the script of a Slurm job: --site NAME --format sbatch"));
        }
        terminal::print_text(&shell::render_script(plan, files));
    } else {
        let remaining = estimate::estimate_plan(
            &mut entry::open_index(&global.home),
            plan.clone(),
            StepTimes::default(),
        );
        let expected = remaining.describe_by_earlier_run(Timestamp::now());
        terminal::print_text(&text::render_plan(
            plan,
            expected.as_deref(),
            &hub::hub_from_environment(),
        ));
    }
    Ok(ExitCode::Success)
}
