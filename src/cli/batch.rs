//! `retrial batch`: runs of many variants or parameters, and a verdict on cells and claims; and `retrial bisect`:
//! a search for the two neighbours on an ordered axis between which a figure changed.

use super::arguments::{BatchArguments, BisectArguments, ExecutionArguments, PlanFormat};
use super::plan_batch;
use crate::app::batch::array;
use crate::app::batch::file::OpenedBatch;
use crate::app::batch::follow::execute_and_judge;
use crate::app::batch::record::{BatchRecord, BatchRunRequest};
use crate::app::batch::start::BatchPlacement;
use crate::app::batch::{self, bisect, file, start};
use crate::app::failure::Failure;
use crate::app::launch::background::start_in_background;
use crate::app::notify::notify_of_end;
use crate::app::open;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest};
use crate::app::own_record::Own;
use crate::app::site::open_or_saved_site;
use crate::app::site::request::with_site_home;
use crate::app::site::site_files;
use crate::app::{runtime, terminal};
use retrial_batch::run::read_journal;
use retrial_batch::verdict::BatchVerdict;
use retrial_cluster::site_files::SiteFile;
use retrial_report::{content, junit, markdown};
use retrial_results::verdict::ExitCode;
use retrial_store::RecordDirectory;
use retrial_store::error::RecordKind;
use retrial_store::lock::FileLock;

/// Starts a batch, or resumes the same one if it is unfinished.
pub fn run_batch(global: &GlobalOptions, arguments: &BatchArguments) -> Result<ExitCode, Failure> {
    let BatchArguments { plan, run, .. } = arguments;
    let overrides = plan_batch::batch_overrides(&arguments.matrix, plan);
    if run.dry_run {
        let site = arguments.site.as_deref();
        return plan_batch::print_batch_plan(global, site, plan, &overrides, PlanFormat::Text);
    }
    run.require_follower_to_notify(arguments.site.is_some())?;
    let site = arguments.site.as_deref().map(site_files::open_site).transpose()?;
    let in_home = site.as_ref().map(|site| with_site_home(global, site));
    let global = in_home.as_ref().unwrap_or(global);
    let opened = file::open_batch(global, &plan.recipe.recipe, &overrides)?;
    start_or_resume(global, opened, plan, run, site, arguments.new)
}

/// Starts a search, or resumes the same one if it is unfinished.
pub fn bisect_axis(
    global: &GlobalOptions,
    arguments: &BisectArguments,
) -> Result<ExitCode, Failure> {
    let (plan, run) = (&arguments.plan, &arguments.run);
    let opened = bisect::open_search(global, plan, &arguments.search)?;
    if run.dry_run {
        return plan_batch::print_opened_plan(global, plan, &opened, PlanFormat::Text);
    }
    start_or_resume(global, opened, plan, run, None, arguments.new)
}

/// Executes a batch on this host or a site: a new one, or the same one if it is unfinished.
fn start_or_resume(
    global: &GlobalOptions,
    opened: OpenedBatch,
    plan: &PlanRequest,
    run: &ExecutionArguments,
    site: Option<SiteFile>,
    new: bool,
) -> Result<ExitCode, Failure> {
    let options = BatchRunRequest::new(plan, &run.request);
    match start::start_batch(global, opened, options, site, new)? {
        (Some(planned), directory) => execute_planned(global, planned, &directory, run.detach),
        (None, directory) => judge_complete(global, &directory),
    }
}

/// Executes the rest of a batch, and prints its verdict unless it is detached.
fn execute_planned(
    global: &GlobalOptions,
    planned: BatchPlacement,
    directory: &RecordDirectory,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let async_runtime = runtime::start_runtime()?;
    let ended = match planned {
        BatchPlacement::Local(_) if detach => {
            return start_in_background(global, RecordKind::Batch, directory);
        }
        BatchPlacement::Local(planned) => {
            async_runtime.block_on(execute_and_judge(global, &planned, directory)).map(Some)
        }
        BatchPlacement::OnSite(batch) => {
            async_runtime.block_on(array::submit_and_follow(global, directory, &batch, detach))
        }
    };
    let Some(ended) = ended.transpose() else {
        // Nobody follows it.
        return Ok(ExitCode::Success);
    };
    let outcome = ended.as_ref().ok();
    let verdict = outcome.and_then(|outcome| outcome.verdict.as_ref());
    if let Some(verdict) = verdict {
        print_verdict(global, verdict, directory);
    }
    if let Some(outcome) = outcome.filter(|_| global.output != OutputFormat::Json) {
        terminal::note_error(&outcome.note);
    }
    let result = ended.as_ref().map(|outcome| outcome.exit);
    let reason = outcome.map(|outcome| outcome.note.message.clone()).filter(|why| !why.is_empty());
    let notification = notify_of_end(global, RecordKind::Batch, directory, result, reason, verdict);
    async_runtime.block_on(notification);
    ended.map(|outcome| outcome.exit)
}

/// Judges a batch whose runs are all complete.
fn judge_complete(
    global: &GlobalOptions,
    directory: &RecordDirectory,
) -> Result<ExitCode, Failure> {
    let verdict = batch::judge::judge_and_write(global, directory)?;
    print_verdict(global, &verdict, directory);
    Ok(verdict.exit_code)
}

/// Resumes a batch; the verdict of one that is complete is printed again.
pub fn resume_batch(
    global: &GlobalOptions,
    directory: &Own<RecordDirectory>,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let record: BatchRecord = directory.read_json("batch.json")?;
    if record.site.is_none() {
        open::refuse_to_resume_batch_elsewhere(&global.home, directory)?;
    }
    let arrays = directory.subrecord("arrays/1");
    let site = record.site.map(|site| open_or_saved_site(&arrays, &site));
    match start::resume_batch(global, directory, site.transpose()?)? {
        Some(planned) => execute_planned(global, planned, directory, detach),
        None => judge_evidence_so_far(global, directory),
    }
}

/// Judges the current evidence of a batch.
pub fn judge_evidence_so_far(
    global: &GlobalOptions,
    directory: &RecordDirectory,
) -> Result<ExitCode, Failure> {
    let verdict = batch::judge::judge_directory(global, directory)?;
    print_verdict(global, &verdict, directory);
    if !read_journal(directory)?.is_over() {
        let (program, id) = (global.home.command_prefix(), directory.id());
        let is_running = FileLock::find_holder(&directory.lock_path()).is_some();
        let next = if is_running { "follow it" } else { "resume it" };
        let command = if is_running { "attach" } else { "resume" };
        terminal::advise(
            "the batch has not ended; this is its evidence so far",
            format!("{next}: {program} {command} {id}"),
        );
    }
    Ok(verdict.exit_code)
}

fn print_verdict(global: &GlobalOptions, verdict: &BatchVerdict, directory: &RecordDirectory) {
    let entries = || content::batch::cell_entries(verdict);
    match global.output {
        OutputFormat::Json => terminal::print_json(verdict),
        OutputFormat::Junit => terminal::print_text(&junit::render_batch(verdict, &entries())),
        OutputFormat::Markdown => {
            let document = content::batch::batch_document(verdict, "", &entries());
            terminal::print_text(&markdown::render_markdown(&document));
        }
        OutputFormat::Text => {
            let evidence = directory.path().display().to_string();
            terminal::print_document(&content::batch::batch_document(verdict, &evidence, &[]));
        }
    }
}
