//! The verdicts of a submission over releases, as charts.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;

use super::group::SubmissionRuns;
use super::releases::{self, ReleaseKind};
use super::tables;
use crate::charts::{CategoryResults, Chart, history_charts};
use crate::content::runs::{deciding_ratio, truncate_cell};
use retrial_history::{AxisOrder, RunSummary};
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::Outcome;

const MAX_CHART_ROWS: usize = 8;
const MAX_RELEASES: usize = 6;

/// The most kinds of releases that have charts.
const MAX_RELEASE_KINDS: usize = 3;

pub(super) fn submission_charts(group: &SubmissionRuns<'_>, unverified: bool) -> Vec<Chart> {
    let judged_rows = group.rows.iter().filter(|row| row.outcome.is_some());
    let judged: Vec<&RunSummary> = judged_rows.copied().collect();
    let kinds = ReleaseKind::differing_kinds(&judged).into_iter().take(MAX_RELEASE_KINDS);
    kinds.flat_map(|kind| charts_over_releases(group, kind, &judged, unverified)).collect()
}

fn charts_over_releases(
    group: &SubmissionRuns<'_>,
    kind: ReleaseKind<'_>,
    rows: &[&RunSummary],
    unverified: bool,
) -> Vec<Chart> {
    let distinct_releases: BTreeSet<&str> =
        rows.iter().filter_map(|row| kind.release_of(row)).collect();
    if distinct_releases.len() < 2 {
        return Vec::new();
    }
    let order = AxisOrder::of(distinct_releases.iter().copied());
    let releases = distinct_releases.into_iter();
    let mut releases = releases.sorted_by_cached_key(|release| order.key(release)).collect_vec();
    releases.drain(..releases.len().saturating_sub(MAX_RELEASES));
    let results = results_by_row(rows, releases.len(), |row| {
        let release = kind.release_of(row)?;
        let category = releases.iter().position(|other| *other == release)?;
        Some((group.series_label(&releases::other_choices(row), &row.gpus), category))
    });
    let names = releases.iter().map(|release| short_release_name(kind, release));
    let name = kind.name();
    let axis = if order.are_releases() { format!("{name}, by release") } else { name.clone() };
    history_charts((&name, &axis), &names.collect_vec(), &results, unverified)
}

fn short_release_name(kind: ReleaseKind<'_>, release: &str) -> String {
    let name = match kind {
        ReleaseKind::Image => tables::short_image(release),
        _ => release,
    };
    truncate_cell(name)
}

/// The results of each row in each category of a chart, of the rows with the newest runs.
fn results_by_row(
    rows: &[&RunSummary],
    categories: usize,
    at: impl Fn(&RunSummary) -> Option<(String, usize)>,
) -> Vec<(String, Vec<CategoryResults>)> {
    let mut by_label: BTreeMap<String, (usize, Vec<CategoryResults>)> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate() {
        let (Some((label, category)), Some(verdict)) = (at(row), row.deciding_verdict()) else {
            continue;
        };
        let outcome = verdict.outcome.outcome;
        let empty = || (0, vec![CategoryResults::default(); categories]);
        let (newest, all) = by_label.entry(label).or_insert_with(empty);
        *newest = number;
        all[category].verdicts.push(outcome);
        let counts = |ratio: &f64| outcome < Outcome::Invalid && ratio.is_finite();
        all[category].ratios.extend(deciding_ratio(row).filter(counts));
    }
    let labelled = by_label.into_iter();
    let newest = labelled.k_largest_by_key(MAX_CHART_ROWS, |(_, (newest, _))| *newest);
    let newest_rows = newest.map(|(label, (_, categories))| (truncate_cell(&label), categories));
    let key = |(label, _): &(String, Vec<CategoryResults>)| natural_sort_key(label);
    newest_rows.sorted_by_cached_key(key).collect()
}
