//! `retrial plan BATCH`: cells, excluded combinations, images, time and claims. Changes nothing.

use serde_json::json;

use super::arguments::PlanFormat;
use crate::app::batch::cells::CellRecipes;
use crate::app::batch::file::OpenedBatch;
use crate::app::batch::{array, estimate, file};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest};
use crate::app::site::request::with_site_home;
use crate::app::site::site_files;
use crate::app::{runtime, terminal};
use retrial_batch::{BatchEstimate, CliOverrides, ResolvedCell};
use retrial_host::checks::HostCheck;
use retrial_recipe::{ImageSetting, ParamSetting, ResolvedRecipe};
use retrial_report::content::batch_plan;
use retrial_report::markdown;
use retrial_results::verdict::ExitCode;

/// Returns the options of a batch on the command line, with those that it shares with `plan` and `run`.
pub fn batch_overrides(matrix: &CliOverrides, request: &PlanRequest) -> CliOverrides {
    let settings = request.recipe.settings.to_vec();
    // An image that is given more than once is varied.
    let (varied, set): (Vec<_>, Vec<_>) = settings.iter().cloned().partition(|setting| {
        let same = settings.iter().filter(|other| other.name == setting.name);
        ImageSetting::parse(&setting.name).is_some() && same.count() > 1
    });
    let axes = varied.iter().map(|ParamSetting { name, value }| format!("{name}={value}"));
    CliOverrides {
        options: request.options.clone(),
        set,
        vary: matrix.vary.iter().cloned().chain(axes).collect(),
        ..matrix.clone()
    }
}

/// Prints the plan of a batch on a site's nodes, or the script of its first array.
fn print_site_plan(
    global: &GlobalOptions,
    site: &str,
    request: &PlanRequest,
    overrides: &CliOverrides,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    let site_file = site_files::open_site(site)?;
    let global = &with_site_home(global, &site_file);
    let opened = file::open_batch(global, &request.recipe.recipe, overrides)?;
    if format != PlanFormat::Sbatch {
        // Times of this host do not apply to a node.
        let resolved = opened.resolve_cells().map_err(Failure::of_problems)?.into_iter();
        let cells = resolved
            .map(|ResolvedRecipe { recipe, .. }| ResolvedCell { recipe, earlier_duration: None });
        let estimate = BatchEstimate::new(&opened.plan, &cells.collect::<Vec<_>>());
        print_estimate(global, &opened, &estimate, &[], format);
        return Ok(ExitCode::Success);
    }
    let cells = CellRecipes::open(&opened.plan, opened.file.as_ref())?;
    let target = array::batch_target(global, site_file, &opened.plan, &cells)?;
    let (script, arrays) = runtime::start_runtime()?.block_on(array::first_array_script(
        global,
        &target,
        &opened.plan,
    ))?;
    terminal::print_text(&script);
    if arrays > 1 {
        terminal::print_note(&format!(
            "this is the first of {arrays} arrays: it has as many tasks as the site's MaxArraySize allows"
        ));
    }
    Ok(ExitCode::Success)
}

/// Prints the plan of a batch, here or on a site's nodes.
pub fn print_batch_plan(
    global: &GlobalOptions,
    site: Option<&str>,
    request: &PlanRequest,
    overrides: &CliOverrides,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if let Some(site) = site {
        return print_site_plan(global, site, request, overrides, format);
    }
    if matches!(format, PlanFormat::Shell | PlanFormat::Sbatch) {
        return Err(Failure::usage("a batch has no script of its own")
            .with_help("plan one of its cells: retrial plan RECIPE --set NAME=VALUE --format shell")
            .with_help("for the script of its arrays on a site: --site NAME --format sbatch"));
    }
    let opened = file::open_batch(global, &request.recipe.recipe, overrides)?;
    print_opened_plan(global, request, &opened, format)
}

/// Prints the plan of a batch that was opened.
pub(super) fn print_opened_plan(
    global: &GlobalOptions,
    request: &PlanRequest,
    opened: &OpenedBatch,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    let resolved = opened.resolve_cells().map_err(Failure::of_problems)?;
    if !global.quiet {
        terminal::print_problems(&opened.warn_of_claims(&resolved));
    }
    let here = estimate::estimate_durations(global, &request.options, &resolved);
    let cells = resolved
        .iter()
        .zip(here)
        .map(|(one, here)| ResolvedCell { recipe: one.recipe.clone(), earlier_duration: here });
    let mut estimate = BatchEstimate::new(&opened.plan, &cells.collect::<Vec<_>>());
    estimate::query_local_images(global, &mut estimate);
    let unmet = estimate::unmet_requirements(global, &request.options, &resolved);
    print_estimate(global, opened, &estimate, &unmet, format);
    Ok(ExitCode::Success)
}

fn print_estimate(
    global: &GlobalOptions,
    opened: &OpenedBatch,
    estimate: &BatchEstimate,
    unmet: &[HostCheck],
    format: PlanFormat,
) {
    let json = format == PlanFormat::Json || global.output == OutputFormat::Json;
    if json {
        let plan = &opened.plan;
        return terminal::print_pretty_json(
            &json!({ "plan": plan, "estimate": estimate, "unmet": unmet }),
        );
    }
    let document = batch_plan::batch_plan_document(&opened.plan, estimate);
    if format == PlanFormat::Markdown {
        terminal::print_text(&markdown::render_markdown(&document));
    } else {
        terminal::print_document(&document);
    }
    if !unmet.is_empty() {
        terminal::print_text("\nUnmet requirements of this host\n");
        terminal::print_lines(unmet.iter().map(|one| format!("  {one}")));
    }
}
