//! The runs there are.

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::history::{Filter, Order, RunSummary, order};
use crate::report::{self, content};
use crate::results::verdict::ExitCode;

/// Lists the runs that are meant.
pub fn list(
    global: &GlobalOptions,
    filter: &Filter,
    by: Order,
    limit: Option<usize>,
) -> Result<ExitCode, Failure> {
    let mut rows = super::index(global).runs(filter);
    order(&mut rows, by);
    if let Some(limit) = limit {
        rows.drain(..rows.len().saturating_sub(limit));
    }
    if rows.is_empty() && global.output != Output::Json {
        let runs = global.home.runs();
        terminal::note(&if filter.is_all() {
            format!("no runs in {} yet", runs.display())
        } else {
            format!(
                "no run in {} has all of that; `retrial runs` shows all",
                runs.display()
            )
        });
        return Ok(ExitCode::Success);
    }
    let zone = TimeZone::system();
    terminal::print(&match global.output {
        Output::Json => format!("{}\n", as_json(&rows)?),
        Output::Markdown => report::markdown::render(&content::runs::document(&rows, &zone)),
        _ => report::terminal::render(&content::runs::document(&rows, &zone), terminal::shape()),
    });
    Ok(ExitCode::Success)
}

/// A run, with the word for where it stands.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    row: &'a RunSummary,
    state: &'static str,
}

/// The runs as JSON, each with the word of its state.
pub fn as_json(rows: &[RunSummary]) -> Result<String, Failure> {
    let all: Vec<Told<'_>> = rows
        .iter()
        .map(|row| Told {
            row,
            state: row.state(),
        })
        .collect();
    serde_json::to_string(&all).map_err(|error| Failure::host(error.to_string()))
}
