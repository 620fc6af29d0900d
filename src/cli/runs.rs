//! `retrial runs`: lists runs, removes them, and moves them between machines.

mod exchange;
mod list;
mod remove;

use super::arguments::{RunsArguments, RunsCommand};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::runs::select;
use crate::results::verdict::ExitCode;

/// Lists runs, or does something with them.
pub fn runs(global: &GlobalOptions, arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.what {
        None => {
            list::list(global, &arguments);
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
