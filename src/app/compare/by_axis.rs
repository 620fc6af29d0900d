//! Runs of the history along one axis, everything else being equal.

use std::sync::OnceLock;

use itertools::Itertools as _;
use rayon::prelude::*;

use super::comparison_options;
use super::pool::{Pool, PooledRun, count_runs_once};
use crate::app::failure::Failure;
use crate::app::options::{CompareRequest, GlobalOptions};
use crate::app::runs;
use retrial_document::measures::format;
use retrial_history::{
    COMPARABLE_PROPERTIES, ComparableRuns, GroupedRuns, RunSummary, group_by_axis as along,
};
use retrial_results::evidence::environment;
use retrial_results::evidence::identity::copies::find_copy_of_run;
use retrial_results::verdict::comparison::{
    Comparison, ComparisonSubject, Comparisons, Fact, PooledMeasurement, compare_subjects,
};
use retrial_results::verdict::{Evidence, ExitCode, Outcome};
use retrial_run::read_evidence;

/// With at most so many values, the environments are read from the runs' files; with more, from
/// the index.
const MAX_SIDES_READ_FROM_FILES: usize = 24;

/// Compares the runs of the history that match the filters.
pub fn compare_by_axis(
    global: &GlobalOptions,
    axis: &str,
    request: &CompareRequest,
) -> Result<Comparisons, Failure> {
    let filter = request.filter.clone();
    let rows = runs::open_index(global).runs(&filter);
    let grouped = along(&rows, axis);
    if grouped.groups.is_empty() {
        return Err(Failure::usage(explain_nothing_comparable(
            global,
            axis,
            (&rows, filter.is_unrestricted()),
            &grouped,
        )));
    }
    let sides: usize = grouped.groups.iter().map(|one| one.sides.len()).sum();
    let all_files = sides <= MAX_SIDES_READ_FROM_FILES;
    let mut comparisons = Vec::new();
    for group in &grouped.groups {
        comparisons.push(compare_group(axis, group, request, all_files)?);
    }
    let mut notes = describe_omitted(axis, &grouped);
    if !all_files {
        notes.push(format!(
            "with {sides} values in total, environments are compared using only the index; select fewer \
             (--recipe, --set, --host) to compare every file"
        ));
    }
    Ok(Comparisons {
        schema: 1,
        by: axis.to_owned(),
        exit_code: ExitCode::first_applicable(
            comparisons.iter().map(|one: &Comparison| one.exit_code),
        ),
        comparisons,
        notes,
    })
}

fn compare_group(
    axis: &str,
    group: &ComparableRuns<'_>,
    request: &CompareRequest,
    all_files: bool,
) -> Result<Comparison, Failure> {
    let mut sides = group.sides.clone();
    if let Some(baseline) = &request.baseline {
        let Some(position) = sides.iter().position(|(value, _)| value == baseline) else {
            let values: Vec<&str> = sides.iter().map(|(value, _)| *value).collect();
            return Err(Failure::usage(format!(
                "--baseline {baseline}: {} has no such {axis}; it has {}",
                group.title,
                values.join(", ")
            )));
        };
        sides[..=position].rotate_right(1);
    }
    let pools = sides.into_iter().map(|(value, runs)| {
        let runs = runs.into_par_iter().map(HistoryRun::new).collect();
        Pool::new(format!("{axis}={value}"), runs)
    });
    let mut pools: Vec<Pool<HistoryRun<'_>>> = pools.collect();
    count_runs_once(&mut pools);
    let subjects: Vec<ComparisonSubject> =
        pools.into_iter().map(|side| pool_side(side, all_files)).collect();
    let mut comparison = compare_subjects(&subjects, &comparison_options(request));
    comparison.title = Some(group.title.clone());
    Ok(comparison)
}

/// A run of the history: its figures by the index, and its files where these may be a copy's.
struct HistoryRun<'a> {
    row: &'a RunSummary,
    measured: Vec<PooledMeasurement>,
    evidence: OnceLock<Vec<Evidence>>,
}

impl<'a> HistoryRun<'a> {
    fn new(row: &'a RunSummary) -> Self {
        let measured_json = row.measured.as_deref();
        let measured = measured_json.and_then(|text| serde_json::from_str(text).ok());
        Self { row, measured: measured.unwrap_or_default(), evidence: OnceLock::new() }
    }

    /// Returns whether some trial has the same figure as one of another run.
    fn shares_figure(&self, other: &Self) -> bool {
        let mut pairs = self.measured.iter().cartesian_product(&other.measured);
        pairs.any(|(own, other)| own.is_like(other, true) && own.shares_figure(other))
    }

    /// Returns its evidence; none where its files are not here.
    fn evidence(&self) -> &[Evidence] {
        self.evidence.get_or_init(|| {
            let read = read_evidence(&self.row.directory());
            read.map(|(_, evidence)| evidence).unwrap_or_default()
        })
    }
}

impl PooledRun for HistoryRun<'_> {
    fn name(&self) -> &str {
        &self.row.id
    }

    fn find_copy(&self, other: &Self) -> Option<String> {
        if !self.shares_figure(other) {
            return None;
        }
        let mut trials = self.evidence().iter().flat_map(|evidence| &evidence.trials);
        trials.find_map(|trial| find_copy_of_run(trial, other.evidence()))
    }
}

/// One value of the axis: its runs pooled, in the order in which they began.
fn pool_side(side: Pool<HistoryRun<'_>>, all_files: bool) -> ComparisonSubject {
    let newest = side.runs.iter().rev().map(|run| run.row).find(|row| row.outcome.is_some());
    let count = side.runs.len();
    // Alone a trial of a cell shows less than all of them.
    let of_cells = side.runs.iter().filter_map(|run| run.row.cell.as_ref());
    let cell_outcome = of_cells.map(|cell| cell.outcome).max();
    // Hundreds of runs in one environment list its facts once.
    let mut listed: Vec<Vec<Fact>> = Vec::new();
    let run_subjects = side.runs.into_iter().map(|HistoryRun { row, measured, .. }| {
        let mut facts = row.environment_facts();
        if listed.contains(&facts) {
            facts.clear();
        } else {
            listed.push(facts.clone());
        }
        let labels = (&row.submission, &row.variant);
        ComparisonSubject::from_run(&*row.id, labels, measured, &row.qualifiers, facts)
    });
    let subjects: Vec<ComparisonSubject> = run_subjects.collect();
    let name = side.name;
    let mut pool = ComparisonSubject::pool(name.as_str(), subjects);
    pool.notes.extend(side.notes);
    if let Some(outcome) = cell_outcome.filter(|_| pool.outcome < Outcome::Invalid) {
        pool.outcome = outcome;
    }
    if let Some(row) = newest.filter(|_| all_files) {
        let files = environment::facts_of_run(&row.directory());
        if !files.is_empty() {
            pool.environment = files;
            if count > 1 {
                pool.notes.push(format!(
                    "the environment of {name} is that of its newest run, {}",
                    row.id
                ));
            }
        }
    }
    pool
}

fn describe_omitted(axis: &str, grouped: &GroupedRuns<'_>) -> Vec<String> {
    let counted = [
        (grouped.without_axis, format!("have no {axis}")),
        (grouped.unjudged, "have no verdict".to_owned()),
        (grouped.unmatched, format!("have no counterpart with a different {axis}")),
        (grouped.of_other_text, "are of an earlier text of the recipe".to_owned()),
    ];
    counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} omitted: they {why}", format::format_count(count, "run")))
        .collect()
}

/// Explains why nothing can be compared, and names the axes that the runs have.
fn explain_nothing_comparable(
    global: &GlobalOptions,
    axis: &str,
    (rows, all): (&[RunSummary], bool),
    grouped: &GroupedRuns<'_>,
) -> String {
    if rows.is_empty() && all {
        return format!("there are no runs in {} yet", global.home.runs_directory().display());
    }
    if rows.is_empty() {
        return runs::no_match_message(global);
    }
    if grouped.without_axis == rows.len() {
        let axis_names = rows.iter().flat_map(|row| row.variant.keys().chain(&row.modified));
        let sorted_names = axis_names.map(String::as_str).sorted_unstable().dedup();
        let names = sorted_names.chain(COMPARABLE_PROPERTIES.map(|(name, _)| name)).join(", ");
        return format!("no run has an axis or a parameter {axis}; they have: {names}");
    }
    let notes = describe_omitted(axis, grouped).join("; ");
    format!("no two runs differ in {axis} alone: {notes}")
}
