//! Runs of the history: which ones a command line means, their import and removal.

pub mod import;
pub mod remove;

use std::collections::BTreeMap;

use itertools::Itertools as _;
use serde::Serialize;

use crate::app::batch::record::BatchRecord;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_history::{RunFilter, RunIndex, RunSummary, entry};
use retrial_store::RecordDirectory;

/// The index of the home, up to date.
pub fn open_index(global: &GlobalOptions) -> RunIndex {
    let index = entry::open_index(&global.home);
    if let Some(note) = index.storage_problem()
        && !global.quiet
    {
        terminal::print_note(&format!("note: {note}"));
    }
    index
}

/// Returns how many runs the batches of these runs plan, those that have no verdict yet. A search decides on the way.
pub fn planned_runs_of_unfinished(
    global: &GlobalOptions,
    rows: &[RunSummary],
) -> BTreeMap<String, usize> {
    let ids = rows.iter().filter_map(RunSummary::local_batch).map(|batch| batch.id.as_str());
    let planned = ids.unique().filter(|id| RecordDirectory::is_valid_id(id)).filter_map(|id| {
        let directory = RecordDirectory::from_path(global.home.batches_directory().join(id));
        if directory.join("verdict.json").exists() {
            return None;
        }
        let BatchRecord { plan, .. } = directory.read_json("batch.json").ok()?;
        Some((id.to_owned(), plan.planned_runs()?))
    });
    planned.collect()
}

/// The message where no run matches the filters.
pub fn no_match_message(global: &GlobalOptions) -> String {
    let runs_directory = global.home.runs_directory();
    let home = runs_directory.display();
    format!("no run in {home} matches; `retrial runs` lists all")
}

/// Selects runs by name or by a filter. One of both is required, so that nothing happens to all
/// runs by oversight.
pub fn select_runs(
    global: &GlobalOptions,
    named: &[String],
    mut filter: RunFilter,
) -> Result<Vec<RunSummary>, Failure> {
    if named.is_empty() && filter.is_unrestricted() {
        return Err(Failure::usage("no runs selected")
            .with_help("name them, or filter: --recipe, --outcome, --until, …"));
    }
    let home = &global.home;
    for name in named {
        let run = home.find_run(name)?;
        let parent_path = run.path().parent();
        let parent = parent_path.and_then(|path| path.canonicalize().ok());
        if parent != home.runs_directory().canonicalize().ok() {
            return Err(Failure::usage(format!(
                "{} is not in {}",
                run.path().display(),
                home.runs_directory().display()
            )));
        }
        filter.ids.push(run.id().to_owned());
    }
    Ok(open_index(global).runs(&filter))
}

/// A run, with the word for its state.
#[derive(Serialize)]
pub struct RunWithState<'a> {
    #[serde(flatten)]
    row: &'a RunSummary,
    state: &'static str,
}

/// The runs as programs read them.
pub fn rows_with_states(rows: &[RunSummary]) -> Vec<RunWithState<'_>> {
    rows.iter().map(|row| RunWithState { row, state: row.state_word() }).collect()
}
