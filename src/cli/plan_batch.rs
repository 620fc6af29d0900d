//! `retrial plan BATCH`: the cells, what is left out and why, images, time, claims. Changes nothing.

use std::time::Duration;

use serde_json::json;

use super::arguments::PlanFormat;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest};
use crate::app::{batch, open, runtime, terminal};
use crate::batch::{BatchEstimate, CliOverrides, ImageSource, ResolvedCell};
use crate::host::checks::Check;
use crate::plan::PlanOptions;
use crate::plan::build::Origin;
use crate::report::content::batch_plan;
use crate::results::verdict::ExitCode;
use retrial_engine::api::Engine as _;
use retrial_engine::docker::Docker;
use retrial_recipe::Resolved;

/// An engine that does not answer must not hold up a plan.
const PATIENCE: Duration = Duration::from_secs(3);

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
    if format == PlanFormat::Shell {
        return Err(Failure::usage(
            "a batch has no script of its own: plan one of its cells, retrial plan RECIPE --set NAME=VALUE --format shell",
        ));
    }
    let opened = batch::file::read(global, &request.recipe.recipe, overrides)?;
    let resolved = opened.resolve().map_err(|problems| {
        terminal::note(&problems.render(terminal::error_color()));
        Failure::told(ExitCode::Usage)
    })?;
    let cells: Vec<ResolvedCell> = resolved
        .iter()
        .map(|one| ResolvedCell {
            recipe: one.recipe.clone(),
        })
        .collect();
    let mut estimate = BatchEstimate::of(&opened.plan, &cells);
    ask_the_engine(global, &mut estimate);
    let unmet = unmet(global, &request.options, &resolved);
    let json = format == PlanFormat::Json || global.output == Output::Json;
    if json {
        let whole = json!({ "plan": opened.plan, "estimate": estimate, "unmet": unmet });
        let text = serde_json::to_string_pretty(&whole)
            .map_err(|error| Failure::host(error.to_string()))?;
        terminal::print(&format!("{text}\n"));
        return Ok(ExitCode::Success);
    }
    terminal::show(&batch_plan::document(&opened.plan, &estimate));
    if !unmet.is_empty() {
        let lines = unmet.iter().map(|check| format!("  {check}\n"));
        let lines = lines.collect::<String>();
        terminal::print(&format!("\nUnmet requirements of this host\n{lines}"));
    }
    Ok(ExitCode::Success)
}

/// The requirements of any of the cells that this host does not meet, each once.
fn unmet(global: &GlobalOptions, options: &PlanOptions, cells: &[Resolved]) -> Vec<Check> {
    let host = open::host_view(global);
    let mut asked = Vec::new();
    let mut all: Vec<Check> = Vec::new();
    for cell in cells {
        let requires = &cell.recipe.requires;
        if asked.contains(&requires) {
            continue;
        }
        asked.push(requires);
        let plan = crate::plan::build(&cell.recipe, &Origin::default(), options, &host);
        for check in plan.into_iter().flat_map(|plan| plan.unmet) {
            if !all.contains(&check) {
                all.push(check);
            }
        }
    }
    all
}

/// Adds which images the engine has. Without an engine nothing is said of it.
fn ask_the_engine(global: &GlobalOptions, estimate: &mut BatchEstimate) {
    let Ok(runtime) = runtime::runtime() else {
        return;
    };
    let images = &mut estimate.images;
    runtime.block_on(async {
        let answers = async {
            let Ok(engine) = Docker::connect(global.engine.as_deref()).await else {
                return;
            };
            for image in images {
                let ImageSource::Pulled { reference } = &image.source else {
                    continue;
                };
                if let Ok(found) = engine.image(reference).await {
                    image.here = Some(found.is_some());
                    image.size = found.map(|found| found.size);
                }
            }
        };
        // What was answered until then is shown.
        let _ = tokio::time::timeout(PATIENCE, answers).await;
    });
}
