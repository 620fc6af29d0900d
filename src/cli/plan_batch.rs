//! `retrial plan BATCH`: cells, excluded combinations, images, time and claims. Changes nothing.

use serde_json::json;

use super::arguments::PlanFormat;
use crate::app::batch::{estimate, file};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest};
use crate::app::terminal;
use crate::batch::{BatchEstimate, CliOverrides, ResolvedCell};
use crate::report::content::batch_plan;
use crate::results::verdict::ExitCode;

/// What the command line says of a batch, with the options that it shares with `plan` and `run`.
pub fn overrides(matrix: &CliOverrides, request: &PlanRequest) -> CliOverrides {
    CliOverrides {
        options: request.options.clone(),
        set: request.recipe.settings.clone(),
        ..matrix.clone()
    }
}

/// Prints the plan of a batch.
pub fn plan(
    global: &GlobalOptions,
    request: &PlanRequest,
    overrides: &CliOverrides,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if matches!(format, PlanFormat::Shell | PlanFormat::Sbatch) {
        return Err(Failure::usage(
            "a batch has no script of its own\n  plan one of its cells: retrial plan RECIPE --set NAME=VALUE --format shell",
        ));
    }
    let opened = file::open(global, &request.recipe.recipe, overrides)?;
    let resolved = opened.resolve().map_err(Failure::problems)?;
    let cells: Vec<ResolvedCell> = resolved
        .iter()
        .zip(estimate::here(global, &request.options, &resolved))
        .map(|(one, here)| ResolvedCell {
            recipe: one.recipe.clone(),
            here,
        })
        .collect();
    let mut estimate = BatchEstimate::of(&opened.plan, &cells);
    estimate::ask_the_engine(global, &mut estimate);
    let unmet = estimate::unmet(global, &request.options, &resolved);
    let json = format == PlanFormat::Json || global.output == Output::Json;
    if json {
        let plan = &opened.plan;
        terminal::print_pretty(&json!({ "plan": plan, "estimate": estimate, "unmet": unmet }))?;
        return Ok(ExitCode::Success);
    }
    terminal::show(&batch_plan::document(&opened.plan, &estimate));
    if !unmet.is_empty() {
        terminal::print("\nUnmet requirements of this host\n");
        terminal::print_lines(unmet.iter().map(|one| format!("  {one}")));
    }
    Ok(ExitCode::Success)
}
