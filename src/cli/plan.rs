//! `retrial plan`: the exact steps, changing nothing.

use super::arguments::{MatrixArguments, PlanArguments, PlanFormat};
use super::plan_batch;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::{batch, open, terminal};
use crate::plan::{shell, text};
use crate::results::verdict::ExitCode;

/// Prints the plan.
pub fn plan(
    global: &GlobalOptions,
    arguments: &PlanArguments,
    matrix: &MatrixArguments,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if *matrix != MatrixArguments::default() || batch::file::is_batch(&arguments.recipe.recipe) {
        return plan_batch::plan(global, arguments, matrix, format);
    }
    let request = arguments.request();
    let opened = open::recipe(&request.recipe)?;
    let host = open::host_and_engine(global, &opened);
    let plan = open::plan_on(global, &request, &opened, false, &host)?;
    open::report_warnings(global, &opened, &plan);
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
