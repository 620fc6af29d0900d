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
use retrial_report::content::plan::plan_document;
use retrial_report::markdown;
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
    opened.print_warnings(global, &plan, 1);
    print_plan(global, &plan, &opened.entry.builtin_files(), format);
    Ok(ExitCode::Success)
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
    print_plan(global, &run.plan, &run.opened.entry.builtin_files(), format);
    Ok(ExitCode::Success)
}

/// Prints a plan; `files` are those of a built-in recipe.
fn print_plan(global: &GlobalOptions, plan: &Plan, files: &[RecipeFile], format: PlanFormat) {
    let format = match (format, global.output) {
        (PlanFormat::Text, OutputFormat::Json) => PlanFormat::Json,
        (format, _) => format,
    };
    match format {
        PlanFormat::Json => terminal::print_pretty_json(plan),
        PlanFormat::Shell => terminal::print_text(&shell::render_script(plan, files)),
        PlanFormat::Markdown | PlanFormat::Text | PlanFormat::Sbatch => {
            let remaining = estimate::estimate_plan(
                &mut entry::open_index(&global.home),
                plan.clone(),
                StepTimes::default(),
            );
            let here = remaining.describe_by_earlier_run(Timestamp::now());
            let (here, hub) = (here.as_deref(), hub::hub_from_environment());
            terminal::print_quoted_text(&match format {
                PlanFormat::Markdown => {
                    markdown::render_markdown(&plan_document(plan, here, &hub, files))
                }
                _ => text::render_plan(plan, here, &hub, terminal::wrap_for_stdout),
            });
        }
    }
}
