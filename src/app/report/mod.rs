//! Reports on runs and folders of results, a batch, or the history, and the objections to a submission tree.

mod batch;
mod bundle;
mod history;
mod objections;
mod runs;
mod steps;
pub mod website;

use std::path::Path;

use itertools::join;

use crate::app::evidence;
use crate::app::failure::Failure;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::{GlobalOptions, ReportContent, ReportFormat, ReportRequest};
use retrial_document::measures::format;
use retrial_history::RunFilter;
use retrial_report::charts::Chart;
use retrial_report::document::{Line, StyledText};
use retrial_results::evidence::environment::OTHER_MACHINES;
use retrial_results::verdict::comparison::Fact;
use retrial_store::RecordDirectory;
use retrial_store::journal::Event;

/// The default name of a page.
pub const PAGE_FILE: &str = "report.html";

/// A report, before it is written in a format.
pub trait Report {
    /// The directory of its only run or batch, which its page is written to.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// Returns the charts of its figures and its telemetry.
    fn charts(&self) -> Vec<Chart> {
        Vec::new()
    }

    /// Renders it in a format. Links on a page are relative to the page's directory.
    fn render(&self, output: ReportFormat, page: Option<&Path>) -> Result<String, Failure>;
}

/// Reads and judges the subjects of a report.
pub fn open_report<'a>(
    global: &'a GlobalOptions,
    request: &ReportRequest,
    output: ReportFormat,
) -> Result<Box<dyn Report + 'a>, Failure> {
    if request.all {
        return Ok(Box::new(history::HistoryReport::open(global, request)?));
    }
    refuse_filters(request)?;
    if request.content == ReportContent::Objections {
        return Ok(Box::new(objections::ObjectionsReport::open(global, request)?));
    }
    let mut subjects = Vec::new();
    let mut bundles = Vec::new();
    for name in &request.subjects {
        let subject = if evidence::is_bundle(Path::new(name)) {
            let opened_bundle = bundle::open_verified_bundle(Path::new(name))?;
            let run = RunOrBatch::Run(opened_bundle.run.clone());
            bundles.push(opened_bundle);
            Some(run)
        } else {
            open::find_results(&global.home, name)?
        };
        subjects.push((name, subject));
    }
    if let Some((name, _)) = subjects.iter().find(|(_, subject)| subject.is_some()) {
        refuse_selections(request, name)?;
    }
    let batch_subjects = subjects.iter().filter_map(|(_, subject)| match subject {
        Some(RunOrBatch::Batch(directory)) => Some(directory),
        _ => None,
    });
    let batches: Vec<&RecordDirectory> = batch_subjects.collect();
    match batches[..] {
        [] => Ok(Box::new(runs::RunsReport::open(global, request, output, subjects, bundles)?)),
        [directory] if subjects.len() == 1 => {
            Ok(Box::new(batch::BatchReport::open(global, directory.clone())?))
        }
        _ => Err(Failure::usage(
            "a batch has its own report: give only its name; `retrial compare` compares its cells \
             with other runs",
        )),
    }
}

/// Refuses filters of the history if subjects are named; outcomes and a benchmark select results of folders and trees.
fn refuse_filters(request: &ReportRequest) -> Result<(), Failure> {
    let mut rest = RunFilter { recipe: Vec::new(), settings: Vec::new(), ..request.filter.clone() };
    rest.facets.outcome.clear();
    let benchmarks = std::mem::take(&mut rest.facets.benchmark);
    if !rest.is_unrestricted() {
        return Err(Failure::usage(
            "only --outcome, --benchmark, --division and --scenario select results of folders; other filters select runs",
        )
        .with_help("report on the runs that match: --all, without subjects"));
    }
    if benchmarks.len() > 1 || !benchmarks.is_empty() && !request.filter.recipe.is_empty() {
        return Err(Failure::usage(
            "--benchmark selects one benchmark of folders, without --recipe",
        ));
    }
    Ok(())
}

/// Refuses what selects results of folders, for a run or a batch.
fn refuse_selections(request: &ReportRequest, name: &str) -> Result<(), Failure> {
    let facets = &request.filter.facets;
    let selections = [
        ("--outcome", !facets.outcome.is_empty()),
        ("--benchmark", !facets.benchmark.is_empty()),
        ("--division", request.division.is_some()),
        ("--scenario", request.scenario.is_some()),
    ];
    let Some((option, _)) = selections.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    Err(Failure::usage(format!("{option} selects results of folders: {name} is a run or a batch"))
        .with_help("report on the runs that match: --all, without subjects"))
}

/// The recipe, the machine and the time.
fn describe_origin(
    recipe: &str,
    environment: &[Fact],
    events: &[Event],
) -> Vec<(Line, StyledText)> {
    let mut about = vec![("recipe".into(), StyledText::Code(recipe.into()))];
    // The facts of `retrial_results::evidence::environment` that name a machine.
    let value = |name| {
        let fact = environment.iter().find(|fact| fact.what == name)?;
        Some(fact.value.clone())
    };
    let machine = ["host", "GPUs", "processor"].into_iter().filter_map(value);
    let others = value(OTHER_MACHINES).map(|machines| {
        let count = machines.split(", ").count();
        format!("and {}", format::format_count(count, "other machine"))
    });
    let machine = join(machine.chain(others), ", ");
    if !machine.is_empty() {
        about.push(("host".into(), machine.into()));
    }
    if let (Some(first), Some(last)) = (events.first(), events.last()) {
        let lasted = last.time.duration_since(first.time).as_secs_f64();
        let started = first.time.strftime("%Y-%m-%d %H:%M UTC");
        let text = format!("{started}, took {}", format::format_duration(lasted));
        about.push(("measured".into(), text.into()));
    }
    about
}

/// `retrial 0.1.0, 2026-11-21 18:40:02 UTC`
fn generator_line() -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC");
    format!("retrial {}, {now}", env!("CARGO_PKG_VERSION"))
}
