//! `retrial runs`: lists runs, removes them, and moves them between machines.

mod exchange;
mod remove;

use jiff::tz::TimeZone;

use super::arguments::{RunsArguments, RunsCommand};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::runs::{self, select};
use crate::app::terminal;
use retrial_history::order;
use retrial_report::{content, markdown};
use retrial_results::verdict::ExitCode;

/// Lists runs, or executes a subcommand on them.
pub fn runs(global: &GlobalOptions, arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.what {
        None => {
            list(global, &arguments);
            Ok(ExitCode::Success)
        }
        Some(RunsCommand::Remove {
            runs,
            filter,
            options,
        }) => remove::remove(global, &select(global, &runs, filter)?, options),
        Some(RunsCommand::Pack {
            runs,
            filter,
            to,
            sign,
        }) => {
            let runs = select(global, &runs, filter)?;
            exchange::pack(global, &runs, to, sign.as_deref())
        }
        Some(RunsCommand::Import { paths }) => Ok(exchange::import(global, &paths)),
    }
}

/// Lists the runs that match the filters.
fn list(global: &GlobalOptions, arguments: &RunsArguments) {
    let filter = &arguments.filter;
    let mut rows = runs::index(global).runs(filter);
    order(&mut rows, arguments.sort);
    if let Some(limit) = arguments.limit {
        rows.drain(..rows.len().saturating_sub(limit.get()));
    }
    if global.output == OutputFormat::Json {
        terminal::print_json(&runs::with_states(&rows));
    } else if rows.is_empty() {
        terminal::note(&if filter.is_all() {
            format!("no runs in {} yet", global.home.runs_directory().display())
        } else {
            runs::none_matches(global)
        });
    } else {
        let document = content::runs::runs_document(&rows, &TimeZone::system());
        if global.output == OutputFormat::Markdown {
            terminal::print(&markdown::render_markdown(&document));
        } else {
            terminal::show(&document);
        }
    }
}
