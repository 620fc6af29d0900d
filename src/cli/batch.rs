//! `retrial batch`: runs of many variants or parameters, and a verdict on cells and claims; and `retrial bisect`:
//! a search for the two neighbours on an ordered axis between which a figure changed.

use super::arguments::{BatchArguments, BisectArguments, ExecutionArguments, PlanFormat};
use super::plan_batch;
use crate::app::batch::array::{self, SiteBatch};
use crate::app::batch::cells::Cells;
use crate::app::batch::file::OpenedBatch;
use crate::app::batch::follow::{Followed, follow};
use crate::app::batch::planned::PlannedBatch;
use crate::app::batch::record::{BatchRecord, RunOptions};
use crate::app::batch::start::Started;
use crate::app::batch::{self, bisect, file, start};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest};
use crate::app::site::find::{self, SiteFile};
use crate::app::site::found_or_saved;
use crate::app::site::request::{Target, in_home};
use crate::app::{background, runtime, terminal};
use retrial_batch::CliOverrides;
use retrial_batch::run::read_journal;
use retrial_batch::verdict::BatchVerdict;
use retrial_report::content;
use retrial_results::verdict::ExitCode;
use retrial_store::Record;
use retrial_store::error::RecordKind;

/// Starts a batch, or resumes the same one if it is unfinished.
pub fn batch(global: &GlobalOptions, arguments: &BatchArguments) -> Result<ExitCode, Failure> {
    let BatchArguments { plan, run, .. } = arguments;
    let overrides = plan_batch::overrides(&arguments.matrix, plan);
    if run.dry_run {
        let site = arguments.site.as_deref();
        return plan_batch::plan(global, site, plan, &overrides, PlanFormat::Text);
    }
    check_output_format(global)?;
    if let Some(site) = &arguments.site {
        return on_site(global, site, arguments, &overrides);
    }
    let opened = file::open(global, &plan.recipe.recipe, &overrides)?;
    here(global, opened, plan, run, arguments.new)
}

/// Starts a search, or resumes the same one if it is unfinished.
pub fn bisect(global: &GlobalOptions, arguments: &BisectArguments) -> Result<ExitCode, Failure> {
    let BisectArguments {
        plan, search, run, ..
    } = arguments;
    let opened = bisect::open(global, plan, search)?;
    if run.dry_run {
        return plan_batch::opened_batch(global, plan, &opened, PlanFormat::Text);
    }
    check_output_format(global)?;
    here(global, opened, plan, run, arguments.new)
}

/// Executes a batch on this host: a new one, or the same one if it is unfinished.
fn here(
    global: &GlobalOptions,
    opened: OpenedBatch,
    plan: &PlanRequest,
    run: &ExecutionArguments,
    new: bool,
) -> Result<ExitCode, Failure> {
    let options = RunOptions::new(plan, &run.request);
    let take = |record: &BatchRecord, cells| PlannedBatch::new(global, record, cells);
    match start::start(global, opened, options, None, new, take)? {
        Started::Measured(directory) => measured(global, &directory),
        Started::Planned(_, directory) if run.detach => {
            background::detach(global, RecordKind::Batch, &directory)
        }
        Started::Planned(planned, directory) => run_to_end(global, planned, &directory),
    }
}

/// Submits a batch to a site, or the rest of the same one.
fn on_site(
    global: &GlobalOptions,
    site: &str,
    arguments: &BatchArguments,
    overrides: &CliOverrides,
) -> Result<ExitCode, Failure> {
    let BatchArguments { plan, run, .. } = arguments;
    let site_file = find::open(site)?;
    let global = &in_home(global, &site_file);
    let opened = file::open(global, &plan.recipe.recipe, overrides)?;
    let options = RunOptions::new(plan, &run.request);
    let name = Some(site.to_owned());
    let take = submission(global, site_file);
    match start::start(global, opened, options, name, arguments.new, take)? {
        Started::Measured(directory) => measured(global, &directory),
        Started::Planned(planned, directory) => submit(global, directory, planned, run.detach),
    }
}

/// Returns a function that plans a batch for a site, and determines how it is submitted.
fn submission(
    global: &GlobalOptions,
    site_file: SiteFile,
) -> impl FnOnce(&BatchRecord, Cells) -> Result<(BatchRecord, Target), Failure> {
    move |record, cells| {
        let target = array::take(global, site_file, record, &cells)?;
        Ok((record.clone(), target))
    }
}

fn submit(
    global: &GlobalOptions,
    directory: Record,
    (record, target): (BatchRecord, Target),
    detach: bool,
) -> Result<ExitCode, Failure> {
    let batch = SiteBatch {
        directory,
        record,
        target,
    };
    let ended = runtime::runtime()?.block_on(array::start(global, &batch, detach))?;
    Ok(ended.map_or(ExitCode::Success, |ended| {
        ended_with(global, &ended, &batch.directory)
    }))
}

/// Judges a batch whose runs are all complete.
fn measured(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    let verdict = batch::judge::write(global, directory)?;
    print(global, &verdict, directory);
    Ok(verdict.exit_code)
}

/// Resumes a batch; the verdict of one that is complete is printed again.
pub fn resume(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    check_output_format(global)?;
    let record: BatchRecord = directory.read_json("batch.json")?;
    let Some(site) = record.site else {
        let take = |record: &BatchRecord, cells| PlannedBatch::new(global, record, cells);
        return match start::resume(directory, take)? {
            Some(planned) => run_to_end(global, planned, directory),
            None => judge(global, directory),
        };
    };
    let site_file = found_or_saved(&directory.part("arrays/1"), &site)?;
    match start::resume(directory, submission(global, site_file))? {
        Some(planned) => submit(global, directory.clone(), planned, false),
        None => judge(global, directory),
    }
}

fn run_to_end(
    global: &GlobalOptions,
    planned: PlannedBatch,
    directory: &Record,
) -> Result<ExitCode, Failure> {
    let ended = runtime::runtime()?.block_on(follow(global, planned, directory.clone()))?;
    Ok(ended_with(global, &ended, directory))
}

fn ended_with(global: &GlobalOptions, ended: &Followed, directory: &Record) -> ExitCode {
    if let Some(verdict) = &ended.verdict {
        print(global, verdict, directory);
    }
    if global.output != Output::Json {
        ended.notes.iter().for_each(|note| terminal::note(note));
    }
    ended.exit
}

/// Judges the current evidence of a batch.
pub fn judge(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    check_output_format(global)?;
    let verdict = batch::judge::judge(global, directory)?;
    print(global, &verdict, directory);
    if !read_journal(directory)?.is_over() {
        terminal::note(&format!(
            "the batch has not ended; this is its evidence so far\n  resume it: {} resume {}",
            global.home.program(),
            directory.id()
        ));
    }
    Ok(verdict.exit_code)
}

/// Refuses formats that only a batch's report has.
fn check_output_format(global: &GlobalOptions) -> Result<(), Failure> {
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
