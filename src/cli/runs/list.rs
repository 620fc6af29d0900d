//! `retrial runs`: a list of runs.

use jiff::tz::TimeZone;

use crate::app::options::{GlobalOptions, Output};
use crate::app::{runs, terminal};
use crate::cli::arguments::RunsArguments;
use crate::history::order;
use crate::report::{content, markdown};

/// Lists the runs that match the filters.
pub fn list(global: &GlobalOptions, arguments: &RunsArguments) {
    let filter = &arguments.filter;
    let mut rows = runs::index(global).runs(filter);
    order(&mut rows, arguments.sort);
    if let Some(limit) = arguments.limit {
        rows.drain(..rows.len().saturating_sub(limit));
    }
    if global.output == Output::Json {
        terminal::print_json(&runs::with_states(&rows));
    } else if rows.is_empty() {
        let home = global.home.runs();
        let home = home.display();
        terminal::note(&if filter.is_all() {
            format!("no runs in {home} yet")
        } else {
            format!("no run in {home} matches; `retrial runs` lists all")
        });
    } else {
        let document = content::runs::document(&rows, &TimeZone::system());
        if global.output == Output::Markdown {
            terminal::print(&markdown::render(&document));
        } else {
            terminal::show(&document);
        }
    }
}
