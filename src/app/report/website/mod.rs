//! `report --all --to DIR`: a website of all runs. Which pages there are and what they have is of
//! `retrial_report::content::website`; here runs are read, and files written.

mod folder;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use rayon::prelude::*;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, ReportRequest};
use crate::app::{batch, runs, terminal};
use retrial_batch::run::read_state;
use retrial_batch::verdict::BatchVerdict;
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_plan::Plan;
use retrial_report::content::website::{
    BatchRecord, FRONT, OpenBatch, OpenBatchState, RecordedBatch, Website, WebsiteOptions,
};
use retrial_report::{feed, html};
use retrial_results::verdict::Verdict;
use retrial_store::RecordDirectory;
use retrial_store::lock::FileLock;

use super::steps;

/// Writes the website into a directory. Pages that have not changed are left as they are.
pub fn write_website(
    global: &GlobalOptions,
    request: &ReportRequest,
    directory: &Path,
) -> Result<(), Failure> {
    if request.charts.is_some() {
        return Err(Failure::usage(
            "--charts writes the charts of a page, but a website has its own: omit it",
        ));
    }
    let rows = readable_runs(global, request)?;
    let site_folder = folder::WebsiteFolder::open(directory)?;
    let reports = report_links(&rows, &site_folder.path);
    let batches = read_batches(global, &rows, &site_folder.path);
    let options = WebsiteOptions {
        made_by: concat!("retrial ", env!("CARGO_PKG_VERSION")),
        link: &|row| reports.get(row.id.as_str()).cloned(),
        batches: &batches,
        url: request.url.as_deref(),
    };
    let website = Website::new(&rows, &options);
    let feed = website.feed();
    let mut names = website.page_names();
    let pages = names.len();
    names.push(feed::FEED_FILE);
    let written = site_folder.update(&names, &|at| {
        if names[at] == feed::FEED_FILE {
            return feed.to_atom();
        }
        let page = website.build_page(at);
        html::render_website_page(&page.document, &page.links)
    })?;
    terminal::print_text(&format!("{}\n", directory.join(FRONT).display()));
    if !global.quiet {
        terminal::print_note(&format!(
            "{} of {}: {} written, {} unchanged, {} removed",
            format::format_count(pages, "page"),
            format::format_count(rows.len(), "run"),
            format::format_count(written.written, "file"),
            written.unchanged,
            written.removed,
        ));
    }
    Ok(())
}

/// The runs that match, without those whose files cannot be read.
fn readable_runs(
    global: &GlobalOptions,
    request: &ReportRequest,
) -> Result<Vec<RunSummary>, Failure> {
    let mut rows = runs::open_index(global).runs(&request.filter);
    if rows.is_empty() {
        return Err(if request.filter.is_unrestricted() {
            Failure::usage(format!("no run in {}", global.home.runs_directory().display()))
                .with_help("`retrial run RECIPE` makes one, --home DIR names another home")
        } else {
            Failure::usage(runs::no_match_message(global))
        });
    }
    rows.retain(|row| match unreadable_reason(row) {
        Some(reason) => {
            terminal::print_note(&format!("warning: run {} is skipped: {reason}", row.id));
            false
        }
        None => true,
    });
    if rows.is_empty() {
        return Err(Failure::host("no run can be read"));
    }
    Ok(rows)
}

/// Returns why a run cannot be shown, if its plan or its verdict exists and cannot be read.
fn unreadable_reason(row: &RunSummary) -> Option<String> {
    let run = row.directory();
    let has_verdict = || run.join("verdict.json").symlink_metadata().is_ok();
    let read = if row.recipe.is_empty() {
        run.read_json::<Plan>("plan.json").map(drop)
    } else if row.outcome.is_none() && has_verdict() {
        run.read_json::<Verdict>("verdict.json").map(drop)
    } else {
        Ok(())
    };
    read.err().map(|error| error.to_string())
}

/// The batches of runs, with their verdicts if they were judged. One whose verdict cannot be read is not there.
fn read_batches(
    global: &GlobalOptions,
    rows: &[RunSummary],
    from: &Path,
) -> HashMap<String, BatchRecord> {
    let ids = rows.iter().filter_map(RunSummary::local_batch);
    let ids = ids.map(|batch| batch.id.as_str());
    // A plan is a file that anybody may have written.
    let ids: BTreeSet<&str> = ids.filter(|id| RecordDirectory::is_valid_id(id)).collect();
    let read = ids.into_par_iter().filter_map(|id| {
        let directory = RecordDirectory::from_path(global.home.batches_directory().join(id));
        let record = if directory.join("verdict.json").exists() {
            let verdict: BatchVerdict = directory.read_json("verdict.json").ok()?;
            let report = report_link(directory.path(), from);
            BatchRecord::Judged(RecordedBatch::new(&verdict, report))
        } else {
            let stored: batch::record::BatchRecord = directory.read_json("batch.json").ok()?;
            BatchRecord::Open(OpenBatch {
                planned: stored.plan.planned_runs(),
                title: stored.plan.title,
                state: read_open_state(&directory),
            })
        };
        Some((id.to_owned(), record))
    });
    read.collect()
}

/// How far a batch without a verdict is.
fn read_open_state(directory: &RecordDirectory) -> OpenBatchState {
    if FileLock::find_holder(&directory.lock_path()).is_some() {
        OpenBatchState::Running
    } else if read_state(directory).is_ok_and(|state| state.was_stopped()) {
        OpenBatchState::Stopped
    } else {
        OpenBatchState::Interrupted
    }
}

/// The paths to the runs' own reports, where these were written.
fn report_links<'a>(rows: &'a [RunSummary], from: &Path) -> HashMap<&'a str, String> {
    let written =
        rows.iter().filter_map(|row| Some((row.id.as_str(), report_link(&row.path, from)?)));
    written.collect()
}

/// The path to the report of a run or a batch, where it was written.
fn report_link(directory: &Path, from: &Path) -> Option<String> {
    let report = steps::written_report(directory)?;
    Some(steps::relative_path(from, &report).display().to_string())
}
