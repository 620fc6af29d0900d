//! `retrial batch`: many runs over what is varied, and a verdict on cells and claims.

use super::arguments::{BatchArguments, PlanFormat};
use super::plan_batch;
use crate::app::batch::follow::{Taken, follow};
use crate::app::batch::record::Asked;
use crate::app::batch::start::Started;
use crate::app::batch::{self, file, start};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::{background, runtime, terminal};
use crate::batch::journal::{BatchEvent, BatchState};
use crate::batch::verdict::BatchVerdict;
use crate::report::content;
use crate::results::verdict::ExitCode;
use crate::store::Record;
use crate::store::journal::Journal;
use crate::store::lookup::Kind;

/// Starts a batch, or resumes the same one if it is unfinished.
pub fn batch(global: &GlobalOptions, arguments: &BatchArguments) -> Result<ExitCode, Failure> {
    let BatchArguments { plan, run, .. } = arguments;
    let overrides = plan_batch::overrides(&arguments.matrix, plan);
    if run.dry_run {
        return plan_batch::plan(global, plan, &overrides, PlanFormat::Text);
    }
    is_printable(global)?;
    let opened = file::open(global, &plan.recipe.recipe, &overrides)?;
    let asked = Asked::of(plan, &run.request);
    let (taken, directory) = match start::start(global, opened, asked, arguments.new)? {
        Started::Taken(taken, directory) => (*taken, directory),
        Started::Measured(directory) => {
            let verdict = batch::judge::judge(global, &directory)?;
            directory.write_json("verdict.json", &verdict)?;
            print(global, &verdict, &directory);
            return Ok(verdict.exit_code);
        }
    };
    if run.detach {
        return background::detach(global, Kind::Batch, &directory);
    }
    to_its_end(global, taken, &directory)
}

/// Resumes a batch; the verdict of one that is complete is printed again.
pub fn resume(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    is_printable(global)?;
    match start::resume(global, directory)? {
        Some(taken) => to_its_end(global, taken, directory),
        None => judge(global, directory),
    }
}

fn to_its_end(
    global: &GlobalOptions,
    taken: Taken,
    directory: &Record,
) -> Result<ExitCode, Failure> {
    let ended = runtime::runtime()?.block_on(follow(global, taken, directory.clone()))?;
    if let Some(verdict) = &ended.verdict {
        print(global, verdict, directory);
    }
    if global.output != Output::Json {
        ended.notes.iter().for_each(|note| terminal::note(note));
    }
    Ok(ended.exit)
}

/// Judges a batch as it stands.
pub fn judge(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    is_printable(global)?;
    let verdict = batch::judge::judge(global, directory)?;
    print(global, &verdict, directory);
    let state = BatchState::of(&Journal::read::<BatchEvent>(&directory.journal())?);
    if !state.is_over() {
        terminal::note(&format!(
            "the batch has not ended; this is its evidence so far\n  resume it: retrial resume {}",
            directory.id()
        ));
    }
    Ok(verdict.exit_code)
}

/// Refuses formats that only a batch's report has.
fn is_printable(global: &GlobalOptions) -> Result<(), Failure> {
    match global.output {
        Output::Text | Output::Json => Ok(()),
        Output::Junit | Output::Markdown | Output::Html | Output::Csv => Err(Failure::usage(
            "a batch prints text or json; for CI: retrial report BATCH",
        )),
    }
}

fn print(global: &GlobalOptions, verdict: &BatchVerdict, directory: &Record) {
    if global.output == Output::Json {
        return terminal::print_json(verdict);
    }
    let evidence = directory.path().display().to_string();
    terminal::show(&content::batch::document(verdict, &evidence, &[]));
}
