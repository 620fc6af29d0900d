//! `retrial batch`: many runs over what is varied, and a verdict on cells and claims.

mod judge;

pub use judge::{judge, judged};

use super::arguments::{BatchArguments, PlanFormat};
use super::plan_batch;
use crate::app::batch::follow::{Taken, follow};
use crate::app::batch::record::Asked;
use crate::app::batch::{file, start};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::{background, runtime, terminal};
use crate::results::verdict::ExitCode;
use crate::store::Record;
use crate::store::lookup::Kind;

/// Starts a batch, or resumes the same one if it is unfinished.
pub fn batch(global: &GlobalOptions, arguments: &BatchArguments) -> Result<ExitCode, Failure> {
    let BatchArguments { plan, run, .. } = arguments;
    let overrides = plan_batch::overrides(&arguments.matrix, plan);
    if run.dry_run {
        return plan_batch::plan(global, plan, &overrides, PlanFormat::Text);
    }
    judge::has_form(global)?;
    let file = file::open(global, &plan.recipe.recipe, &overrides)?;
    let asked = Asked::of(plan, &run.request);
    let (taken, directory) = start::start(global, file, asked, arguments.new)?;
    if run.detach {
        return background::detach(global, Kind::Batch, &directory);
    }
    to_its_end(global, taken, &directory)
}

/// Resumes a batch.
pub fn resume(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    judge::has_form(global)?;
    let taken = start::resume(global, directory)?;
    to_its_end(global, taken, directory)
}

fn to_its_end(
    global: &GlobalOptions,
    taken: Taken,
    directory: &Record,
) -> Result<ExitCode, Failure> {
    let judge = |directory: &Record| judged(global, directory);
    let followed = follow(global, taken, directory.clone(), &judge);
    let ended = runtime::runtime()?.block_on(followed)?;
    if let Some(verdict) = &ended.verdict {
        judge::print(global, verdict, directory);
    }
    if global.output != Output::Json {
        ended.notes.iter().for_each(|note| terminal::note(note));
    }
    Ok(ended.exit)
}
