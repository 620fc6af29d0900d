//! `retrial bisect`: the two neighbours of an ordered axis between which something changed.

use super::arguments::{BisectArguments, PlanFormat};
use super::{batch, plan_batch};
use crate::app::batch::bisect;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::results::verdict::ExitCode;

/// Starts a search, or resumes the same one if it is unfinished.
pub fn bisect(global: &GlobalOptions, arguments: &BisectArguments) -> Result<ExitCode, Failure> {
    let BisectArguments {
        plan, search, run, ..
    } = arguments;
    let opened = bisect::open(global, plan, search)?;
    if run.dry_run {
        return plan_batch::opened_batch(global, plan, &opened, PlanFormat::Text);
    }
    batch::is_printable(global)?;
    batch::here(global, opened, plan, run, arguments.new)
}
