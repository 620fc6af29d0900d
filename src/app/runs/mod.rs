//! Runs of the history: which ones a command line means, their import and removal.

pub mod import;
pub mod remove;

use serde::Serialize;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_history::{RunFilter, RunIndex, RunSummary, entry};

/// The index of the home, up to date.
pub fn index(global: &GlobalOptions) -> RunIndex {
    let index = entry::open(&global.home);
    if let Some(note) = index.note()
        && !global.quiet
    {
        terminal::note(&format!("note: {note}"));
    }
    index
}

/// The message where no run matches the filters.
pub fn none_matches(global: &GlobalOptions) -> String {
    let home = global.home.runs_directory();
    let home = home.display();
    format!("no run in {home} matches; `retrial runs` lists all")
}

/// Selects runs by name or by a filter. One of both is required, so that nothing happens to all
/// runs by oversight.
pub fn select(
    global: &GlobalOptions,
    named: &[String],
    mut filter: RunFilter,
) -> Result<Vec<RunSummary>, Failure> {
    if named.is_empty() && filter.is_all() {
        return Err(Failure::usage("no runs selected")
            .with_help("name them, or filter: --recipe, --outcome, --until, …"));
    }
    let home = &global.home;
    for name in named {
        let run = home.find_run(name)?;
        let parent = run.path().parent();
        let parent = parent.and_then(|path| path.canonicalize().ok());
        if parent != home.runs_directory().canonicalize().ok() {
            return Err(Failure::usage(format!(
                "{} is not in {}",
                run.path().display(),
                home.runs_directory().display()
            )));
        }
        filter.ids.push(run.id().to_owned());
    }
    Ok(index(global).runs(&filter))
}

/// A run, with the word for its state.
#[derive(Serialize)]
pub struct RunWithState<'a> {
    #[serde(flatten)]
    row: &'a RunSummary,
    state: &'static str,
}

/// The runs as programs read them.
pub fn with_states(rows: &[RunSummary]) -> Vec<RunWithState<'_>> {
    let rows = rows.iter();
    rows.map(|row| RunWithState {
        row,
        state: row.state(),
    })
    .collect()
}
