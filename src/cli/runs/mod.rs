//! `retrial runs`: the runs there are, and what can be done with them.

mod list;

use super::arguments::{Global, RunsArguments};
use super::failure::Failure;
use super::{open, terminal};
use crate::evidence::history;
use crate::store::Index;
use crate::verdict::ExitCode;

/// Lists runs, or does something with them.
pub fn runs(global: &Global, arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.what {
        None => {
            let filter = arguments.filter.into();
            list::list(global, &filter, arguments.sort, arguments.limit)
        }
        Some(_) => Err(Failure::usage("not yet")),
    }
}

/// The index of the home, up to date.
fn index(global: &Global) -> Index {
    let index = history::open(&open::home(global));
    if let Some(note) = index.note()
        && !global.quiet
    {
        terminal::note(&format!("note: {note}"));
    }
    index
}
