//! The history of a submission's verdicts as charts: over time, and over releases.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::group::SubmissionRuns;
use super::releases::{self, ReleaseKind};
use super::tables;
use crate::charts::{CategoryResults, Chart, history_charts};
use crate::content::runs::{deciding_ratio, truncate_cell};
use retrial_history::{AxisOrder, RunSummary};
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::Outcome;

const MAX_CHART_ROWS: usize = 8;
/// The most periods, and the most releases, whose names are longer.
const MAX_PERIODS: usize = 12;
const MAX_RELEASES: usize = 6;

/// The most kinds of releases that have charts.
const MAX_RELEASE_KINDS: usize = 3;

pub(super) fn submission_charts(group: &SubmissionRuns<'_>, unverified: bool) -> Vec<Chart> {
    let judged_rows = group.rows.iter().filter(|row| row.outcome.is_some());
    let judged: Vec<&RunSummary> = judged_rows.copied().collect();
    let mut charts = charts_over_time(group, &judged, unverified);
    for kind in ReleaseKind::differing_kinds(&judged).into_iter().take(MAX_RELEASE_KINDS) {
        charts.extend(charts_over_releases(group, kind, &judged, unverified));
    }
    charts
}

fn charts_over_time(
    group: &SubmissionRuns<'_>,
    rows: &[&RunSummary],
    unverified: bool,
) -> Vec<Chart> {
    let times: BTreeSet<DateTime> =
        rows.iter().filter_map(|row| Some(to_utc(row.started?))).collect();
    let (Some(first), Some(last), Some((period, periods))) =
        (times.first(), times.last(), fitting_period(&times))
    else {
        return Vec::new();
    };
    if periods.len() < 2 {
        return Vec::new();
    }
    let starts = periods.iter();
    let names = starts.map(|start| start.strftime(period.name).to_string());
    let results = results_by_row(rows, periods.len(), |row| {
        let start = (period.start)(to_utc(row.started?));
        let category = periods.binary_search(&start).ok()?;
        Some((group.series_label(&row.format_choices(), &row.gpus), category))
    });
    let axis = match (first.date(), last.date()) {
        (first, last) if first == last => format!("{}, {first}", period.word),
        (first, last) => format!("{}, {first} to {last}", period.word),
    };
    history_charts((period.word, &axis), &names.collect_vec(), &results, unverified)
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
        let (Some((label, category)), Some(outcome)) = (at(row), row.outcome) else {
            continue;
        };
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

fn to_utc(time: Timestamp) -> DateTime {
    time.to_zoned(TimeZone::UTC).datetime()
}

struct Period {
    word: &'static str,
    /// The format of the name of one that begins at a time.
    name: &'static str,
    /// The most periods whose names fit below a chart.
    max_categories: usize,
    start: fn(DateTime) -> DateTime,
}

/// The periods, the shortest first.
const PERIODS: [Period; 6] = [
    Period {
        word: "start",
        name: "%m-%d %H:%M",
        max_categories: MAX_PERIODS / 2,
        start: |time| time.date().at(time.hour(), time.minute(), 0, 0),
    },
    Period {
        word: "hour",
        name: "%m-%d %H:%M",
        max_categories: MAX_PERIODS / 2,
        start: |time| time.date().at(time.hour(), 0, 0, 0),
    },
    Period {
        word: "day",
        name: "%m-%d",
        max_categories: MAX_PERIODS,
        start: |time| time.date().into(),
    },
    Period {
        word: "week from Monday",
        name: "%m-%d",
        max_categories: MAX_PERIODS,
        start: |time| {
            let since = i64::from(time.date().weekday().to_monday_zero_offset());
            let monday = time.date().checked_sub(Span::new().days(since));
            monday.unwrap_or(time.date()).into()
        },
    },
    Period {
        word: "month",
        name: "%Y-%m",
        max_categories: MAX_PERIODS,
        start: |time| time.date().first_of_month().into(),
    },
    Period {
        word: "year",
        name: "%Y",
        max_categories: usize::MAX,
        start: |time| time.date().first_of_year().into(),
    },
];

/// The shortest period of which few have times, and the beginnings of the latest that have, in their order.
fn fitting_period(times: &BTreeSet<DateTime>) -> Option<(&'static Period, Vec<DateTime>)> {
    PERIODS.iter().find_map(|period| {
        let distinct_starts: BTreeSet<DateTime> = times.iter().copied().map(period.start).collect();
        let mut starts = distinct_starts.into_iter().collect_vec();
        let fits = starts.len() <= period.max_categories;
        starts.drain(..starts.len().saturating_sub(MAX_PERIODS));
        fits.then_some((period, starts))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(6, 1, "start", "11-20 00:00")]
    #[case(100, 3, "hour", "11-20 00:00")]
    #[case(12, 1440, "day", "11-20")]
    #[case(13, 1440, "week from Monday", "11-16")]
    #[case(90, 1440, "month", "2026-11")]
    #[case(500, 1440, "year", "2026")]
    fn the_period_fits_all_runs(
        #[case] runs: i64,
        #[case] minutes: i64,
        #[case] word: &str,
        #[case] first: &str,
    ) {
        let start = jiff::civil::date(2026, 11, 20).at(0, 0, 0, 0);
        let all = (0..runs).map(|run| start + Span::new().minutes(run * minutes));
        let (chosen, categories) = fitting_period(&all.collect()).unwrap();
        let name = categories[0].strftime(chosen.name).to_string();
        assert_eq!((chosen.word, &*name), (word, first));
        assert!(categories.len() <= MAX_PERIODS);
    }
}
