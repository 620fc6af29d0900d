//! `retrial runs`: the runs there are, and what can be done with them.

mod exchange;
pub mod list;
mod remove;

use super::arguments::{RunsArguments, RunsCommand};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use crate::history::Index;
use crate::history::entry;
use crate::history::{Filter, RunSummary};
use crate::results::verdict::ExitCode;

/// Lists runs, or does something with them.
pub fn runs(global: &GlobalOptions, arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.what {
        None => list::list(global, &arguments.filter, arguments.sort, arguments.limit),
        Some(RunsCommand::Remove {
            runs,
            filter,
            yes,
            dry_run,
            force,
        }) => {
            let rows = chosen(global, &runs, filter)?;
            let how = remove::How {
                yes,
                dry_run,
                force,
            };
            remove::remove(global, &rows, how)
        }
        Some(RunsCommand::Pack { runs, filter, to }) => {
            exchange::pack(global, &chosen(global, &runs, filter)?, &to)
        }
        Some(RunsCommand::Import { paths }) => Ok(exchange::import(global, &paths)),
    }
}

/// The index of the home, up to date.
pub fn index(global: &GlobalOptions) -> Index {
    let index = entry::open(&global.home);
    if let Some(note) = index.note()
        && !global.quiet
    {
        terminal::note(&format!("note: {note}"));
    }
    index
}

/// The runs that are named, or that a filter means: one of both has to be there, so that nothing
/// happens to all runs by oversight.
fn chosen(
    global: &GlobalOptions,
    named: &[String],
    mut filter: Filter,
) -> Result<Vec<RunSummary>, Failure> {
    if named.is_empty() && filter.is_all() {
        return Err(Failure::usage(
            "which runs? name them, or say what they are: --recipe, --outcome, --until, …",
        ));
    }
    let home = global.home.clone();
    for name in named {
        let run = home.find(name)?;
        let beneath = run
            .path()
            .parent()
            .and_then(|path| path.canonicalize().ok());
        if beneath != home.runs().canonicalize().ok() {
            return Err(Failure::usage(format!(
                "{} is not in {}",
                run.path().display(),
                home.runs().display()
            )));
        }
        filter.ids.push(run.id().to_owned());
    }
    Ok(index(global).runs(&filter))
}
