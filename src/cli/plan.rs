//! `retrial plan`: the exact steps of a run. Changes nothing.

use super::arguments::PlanFormat;
use super::plan_batch;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest};
use crate::app::{batch, open, terminal};
use crate::batch::CliOverrides;
use crate::plan::{shell, text};
use crate::results::verdict::ExitCode;

/// Prints the plan.
pub fn plan(
    global: &GlobalOptions,
    request: &PlanRequest,
    matrix: &CliOverrides,
    format: PlanFormat,
) -> Result<ExitCode, Failure> {
    if *matrix != CliOverrides::default() || batch::file::is_batch(&request.recipe.recipe) {
        return plan_batch::plan(
            global,
            request,
            &plan_batch::overrides(matrix, request),
            format,
        );
    }
    let opened = open::recipe(&request.recipe)?;
    let host = open::host_and_engine(global, &opened);
    let plan = open::plan(global, request, &opened, false, &host)?;
    open::report_warnings(global, &opened, &plan);
    let json =
        format == PlanFormat::Json || (format == PlanFormat::Text && global.output == Output::Json);
    if json {
        terminal::print_pretty(&plan)?;
    } else if format == PlanFormat::Shell {
        terminal::print(&shell::script(&plan));
    } else {
        terminal::print(&text::render(&plan));
    }
    Ok(ExitCode::Success)
}
