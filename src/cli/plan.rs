//! `retrial plan`: the exact steps, changing nothing.

use super::arguments::{Global, MatrixArguments, Output, PlanArguments, PlanFormat};
use super::failure::Failure;
use super::{batch_file, open, plan_batch, terminal};
use crate::plan::{shell, text};
use crate::results::verdict::ExitCode;

/// Prints the plan.
pub fn plan(
    global: &Global,
    arguments: &PlanArguments,
    matrix: &MatrixArguments,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if *matrix != MatrixArguments::default() || batch_file::is_batch(&arguments.recipe.recipe) {
        return plan_batch::plan(global, arguments, matrix, format);
    }
    let opened = open::recipe(&arguments.recipe)?;
    let host = open::host_and_engine(global, &opened);
    let plan = open::plan_on(global, arguments, &opened, false, &host)?;
    open::tell_warnings(global, &opened, &plan);
    let json =
        format == PlanFormat::Json || (format == PlanFormat::Text && global.output == Output::Json);
    let printed = if json {
        serde_json::to_string_pretty(&plan).map_err(|error| Failure::host(error.to_string()))?
            + "\n"
    } else if format == PlanFormat::Shell {
        shell::script(&plan)
    } else {
        text::render(&plan)
    };
    terminal::print(&printed);
    Ok(ExitCode::Success)
}
