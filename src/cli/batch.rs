//! `retrial batch`: runs of many variants or parameters, and a verdict on cells and claims; and `retrial bisect`:
//! a search for the two neighbours on an ordered axis between which a figure changed.

use super::arguments::{BatchArguments, BisectArguments, ExecutionArguments, PlanFormat};
use super::plan_batch;
use crate::app::batch::array;
use crate::app::batch::file::OpenedBatch;
use crate::app::batch::follow::follow;
use crate::app::batch::record::{BatchRecord, RunOptions};
use crate::app::batch::start::BatchPlacement;
use crate::app::batch::{self, bisect, file, start};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest};
use crate::app::site::find::{self, SiteFile};
use crate::app::site::found_or_saved;
use crate::app::site::request::in_home;
use crate::app::{background, runtime, terminal};
use retrial_batch::run::read_journal;
use retrial_batch::verdict::BatchVerdict;
use retrial_report::content;
use retrial_results::verdict::ExitCode;
use retrial_store::RecordDirectory;
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
    let site = arguments.site.as_deref().map(find::open).transpose()?;
    let in_home = site.as_ref().map(|site| in_home(global, site));
    let global = in_home.as_ref().unwrap_or(global);
    let opened = file::open(global, &plan.recipe.recipe, &overrides)?;
    begin(global, opened, plan, run, site, arguments.new)
}

/// Starts a search, or resumes the same one if it is unfinished.
pub fn bisect(global: &GlobalOptions, arguments: &BisectArguments) -> Result<ExitCode, Failure> {
    let (plan, run) = (&arguments.plan, &arguments.run);
    let opened = bisect::open(global, plan, &arguments.search)?;
    if run.dry_run {
        return plan_batch::opened_batch(global, plan, &opened, PlanFormat::Text);
    }
    check_output_format(global)?;
    begin(global, opened, plan, run, None, arguments.new)
}

/// Executes a batch on this host or a site: a new one, or the same one if it is unfinished.
fn begin(
    global: &GlobalOptions,
    opened: OpenedBatch,
    plan: &PlanRequest,
    run: &ExecutionArguments,
    site: Option<SiteFile>,
    new: bool,
) -> Result<ExitCode, Failure> {
    let options = RunOptions::new(plan, &run.request);
    match start::start(global, opened, options, site, new)? {
        (Some(planned), directory) => execute(global, planned, &directory, run.detach),
        (None, directory) => measured(global, &directory),
    }
}

/// Executes the rest of a batch, and prints its verdict unless it is detached.
fn execute(
    global: &GlobalOptions,
    planned: BatchPlacement,
    directory: &RecordDirectory,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let runtime = runtime::runtime()?;
    let ended = match planned {
        BatchPlacement::Local(_) if detach => {
            return background::detach(global, RecordKind::Batch, directory);
        }
        BatchPlacement::Local(planned) => {
            Some(runtime.block_on(follow(global, &planned, directory))?)
        }
        BatchPlacement::OnSite(batch) => {
            runtime.block_on(array::start(global, directory, &batch, detach))?
        }
    };
    let Some(ended) = ended else {
        return Ok(ExitCode::Success);
    };
    if let Some(verdict) = &ended.verdict {
        print(global, verdict, directory);
    }
    if global.output != OutputFormat::Json {
        terminal::note_error(&ended.note);
    }
    Ok(ended.exit)
}

/// Judges a batch whose runs are all complete.
fn measured(global: &GlobalOptions, directory: &RecordDirectory) -> Result<ExitCode, Failure> {
    let verdict = batch::judge::write(global, directory)?;
    print(global, &verdict, directory);
    Ok(verdict.exit_code)
}

/// Resumes a batch; the verdict of one that is complete is printed again.
pub fn resume(global: &GlobalOptions, directory: &RecordDirectory) -> Result<ExitCode, Failure> {
    check_output_format(global)?;
    let record: BatchRecord = directory.read_json("batch.json")?;
    let arrays = directory.subrecord("arrays/1");
    let site = record.site.map(|site| found_or_saved(&arrays, &site));
    match start::resume(global, directory, site.transpose()?)? {
        Some(planned) => execute(global, planned, directory, false),
        None => judge(global, directory),
    }
}

/// Judges the current evidence of a batch.
pub fn judge(global: &GlobalOptions, directory: &RecordDirectory) -> Result<ExitCode, Failure> {
    check_output_format(global)?;
    let verdict = batch::judge::judge(global, directory)?;
    print(global, &verdict, directory);
    if !read_journal(directory)?.is_over() {
        let (program, id) = (global.home.command_prefix(), directory.id());
        terminal::advise(
            "the batch has not ended; this is its evidence so far",
            format!("resume it: {program} resume {id}"),
        );
    }
    Ok(verdict.exit_code)
}

/// Refuses formats that only a batch's report has.
fn check_output_format(global: &GlobalOptions) -> Result<(), Failure> {
    match global.output {
        OutputFormat::Text | OutputFormat::Json => Ok(()),
        OutputFormat::Junit | OutputFormat::Markdown | OutputFormat::Html | OutputFormat::Csv => {
            Err(Failure::usage(
                "a batch prints text or json; for CI: retrial report BATCH",
            ))
        }
    }
}

fn print(global: &GlobalOptions, verdict: &BatchVerdict, directory: &RecordDirectory) {
    if global.output == OutputFormat::Json {
        return terminal::print_json(verdict);
    }
    let evidence = directory.path().display().to_string();
    terminal::show(&content::batch::batch_document(verdict, &evidence, &[]));
}
