//! `retrial runs`: lists runs, removes them, and moves them between machines.

mod exchange;
mod remove;

use std::collections::HashSet;

use itertools::Itertools as _;
use jiff::tz::TimeZone;

use super::arguments::{RunsArguments, RunsCommand};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::runs::{self, select_runs};
use crate::app::terminal;
use retrial_history::{RunSummary, sort_runs};
use retrial_report::{content, markdown};
use retrial_results::verdict::ExitCode;

/// Lists runs, or executes a subcommand on them.
pub fn manage_runs(global: &GlobalOptions, arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.what {
        None => {
            list_runs(global, &arguments);
            Ok(ExitCode::Success)
        }
        Some(RunsCommand::Remove { runs, filter, options }) => {
            remove::remove_runs(global, &select_runs(global, &runs, filter)?, options)
        }
        Some(RunsCommand::Pack { runs, filter, to, sign }) => {
            let runs = select_runs(global, &runs, filter)?;
            exchange::pack_selected_runs(global, &runs, to, sign.as_deref())
        }
        Some(RunsCommand::Import { paths }) => Ok(exchange::import_archives(global, &paths)),
    }
}

/// Lists the runs that match the filters.
fn list_runs(global: &GlobalOptions, arguments: &RunsArguments) {
    let filter = &arguments.filter;
    let mut rows = runs::open_index(global).runs(filter);
    sort_runs(&mut rows, arguments.sort);
    if let Some(limit) = arguments.limit {
        let is_grouped = !arguments.flat && global.output != OutputFormat::Json;
        keep_last_rows(&mut rows, limit.get(), is_grouped);
    }
    if global.output == OutputFormat::Json {
        terminal::print_json(&runs::rows_with_states(&rows));
    } else if rows.is_empty() {
        terminal::print_note(&if filter.is_unrestricted() {
            format!("no runs in {} yet", global.home.runs_directory().display())
        } else {
            runs::no_match_message(global)
        });
    } else {
        let zone = TimeZone::system();
        let document = if arguments.flat {
            content::runs::runs_document(&rows, &zone)
        } else {
            // Of a part of the runs, the number of all says nothing.
            let all =
                filter.is_unrestricted().then(|| runs::planned_runs_of_unfinished(global, &rows));
            content::runs::grouped_runs_document(&rows, &all.unwrap_or_default(), &zone)
        };
        if global.output == OutputFormat::Markdown {
            terminal::print_text(&markdown::render_markdown(&document));
        } else {
            terminal::print_document(&document);
        }
    }
}

/// Keeps the last rows of the list: runs, or runs and batches with all their runs.
fn keep_last_rows(rows: &mut Vec<RunSummary>, limit: usize, is_grouped: bool) {
    let name_of = |row: &RunSummary| {
        let batch = row.batch.as_ref().filter(|_| is_grouped);
        batch.map_or_else(|| row.id.clone(), |position| position.id.clone())
    };
    let last: HashSet<String> = rows.iter().rev().map(name_of).unique().take(limit).collect();
    rows.retain(|row| last.contains(&name_of(row)));
}
