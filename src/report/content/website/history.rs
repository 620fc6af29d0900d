//! The history of a submission's verdicts as charts: over time, and over releases.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use super::group::Group;
use super::releases::{self, Kind};
use crate::history::RunSummary;
use crate::report::charts::{Chart, Place, of_history};
use crate::report::content::runs::cut;
use crate::results::verdict::Outcome;
use retrial_readings::natural::natural;

/// The most rows of a chart.
const ROWS: usize = 8;
/// The most periods, and the most releases, whose names are longer.
const PERIODS: usize = 12;
const RELEASES: usize = 6;

/// The most kinds of releases that have charts.
const KINDS: usize = 3;

/// The charts of a submission.
pub(super) fn charts(group: &Group<'_>, unverified: bool) -> Vec<Chart> {
    let judged = group.rows.iter().filter(|row| row.outcome.is_some());
    let judged: Vec<&RunSummary> = judged.copied().collect();
    let mut charts = over_time(group, &judged, unverified);
    for kind in Kind::that_differ(&judged).into_iter().take(KINDS) {
        charts.extend(over_releases(group, kind, &judged, unverified));
    }
    charts
}

fn over_time(group: &Group<'_>, rows: &[&RunSummary], unverified: bool) -> Vec<Chart> {
    let times: BTreeSet<DateTime> = rows
        .iter()
        .filter_map(|row| Some(utc(row.began?)))
        .collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Vec::new();
    };
    let (period, periods) = Period::of(&times);
    if periods.len() < 2 {
        return Vec::new();
    }
    let names: Vec<String> = periods.iter().map(|start| period.name(*start)).collect();
    let found = found(rows, periods.len(), |row| {
        let start = period.start(utc(row.began?));
        let place = periods.binary_search(&start).ok()?;
        Some((group.label(&row.choices(), &row.gpus), place))
    });
    let axis = match (first.date(), last.date()) {
        (first, last) if first == last => format!("{}, {first}", period.word()),
        (first, last) => format!("{}, {first} to {last}", period.word()),
    };
    of_history((period.word(), &axis), &names, &found, unverified)
}

fn over_releases(
    group: &Group<'_>,
    kind: Kind<'_>,
    rows: &[&RunSummary],
    unverified: bool,
) -> Vec<Chart> {
    let releases: BTreeSet<&str> = rows.iter().filter_map(|row| kind.release(row)).collect();
    if releases.len() < 2 {
        return Vec::new();
    }
    let mut releases: Vec<&str> = releases.into_iter().collect();
    releases.sort_by_cached_key(|release| natural(release));
    releases.drain(..releases.len().saturating_sub(RELEASES));
    let found = found(rows, releases.len(), |row| {
        let release = kind.release(row)?;
        let place = releases.iter().position(|one| *one == release)?;
        Some((group.label(&releases::other_choices(row), &row.gpus), place))
    });
    let names: Vec<String> = releases
        .iter()
        .map(|release| short(kind, release))
        .collect();
    of_history((&kind.name(), &kind.name()), &names, &found, unverified)
}

/// An image's name without its registry and namespace.
fn short(kind: Kind<'_>, release: &str) -> String {
    let name = match kind {
        Kind::Image => release.rsplit('/').next().unwrap_or(release),
        _ => release,
    };
    cut(name)
}

/// What was found in each row at each place, of the rows with the newest runs.
fn found(
    rows: &[&RunSummary],
    places: usize,
    at: impl Fn(&RunSummary) -> Option<(String, usize)>,
) -> Vec<(String, Vec<Place>)> {
    let mut found: BTreeMap<String, (usize, Vec<Place>)> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate() {
        let (Some((label, place)), Some(outcome)) = (at(row), row.outcome) else {
            continue;
        };
        let empty = || (0, vec![Place::default(); places]);
        let (newest, all) = found.entry(label).or_insert_with(empty);
        *newest = number;
        all[place].verdicts.push(outcome);
        let deciding = row.deciding.as_ref().filter(|one| one.value.is_some());
        let ratio = deciding.and_then(|one| one.ratio);
        let counts = outcome < Outcome::Invalid;
        all[place]
            .ratios
            .extend(ratio.filter(|ratio| counts && ratio.is_finite()));
    }
    let mut newest: Vec<usize> = found.values().map(|(newest, _)| *newest).collect();
    newest.sort_unstable_by(|one, other| other.cmp(one));
    let least = newest.get(ROWS - 1).copied().unwrap_or(0);
    let shown = found
        .into_iter()
        .filter(|(_, (newest, _))| *newest >= least);
    let mut shown: Vec<(String, Vec<Place>)> = shown
        .map(|(label, (_, places))| (cut(&label), places))
        .collect();
    shown.sort_by_cached_key(|(label, _)| natural(label));
    shown
}

fn utc(time: Timestamp) -> DateTime {
    time.to_zoned(TimeZone::UTC).datetime()
}

/// A period of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Period {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Period {
    /// The shortest of which few have runs, and the beginnings of those that have, in their order.
    fn of(times: &BTreeSet<DateTime>) -> (Self, Vec<DateTime>) {
        let starts = |period: Self| {
            let starts: BTreeSet<DateTime> = times.iter().map(|time| period.start(*time)).collect();
            starts.into_iter().collect::<Vec<_>>()
        };
        for period in [Self::Minute, Self::Hour, Self::Day, Self::Week, Self::Month] {
            let found = starts(period);
            if found.len() <= period.most() {
                return (period, found);
            }
        }
        let mut years = starts(Self::Year);
        years.drain(..years.len().saturating_sub(PERIODS));
        (Self::Year, years)
    }

    /// As many as have room for their names.
    fn most(self) -> usize {
        match self {
            Self::Minute | Self::Hour => PERIODS / 2,
            _ => PERIODS,
        }
    }

    fn start(self, time: DateTime) -> DateTime {
        let date = time.date();
        let at = |hour, minute| date.at(hour, minute, 0, 0);
        match self {
            Self::Minute => at(time.hour(), time.minute()),
            Self::Hour => at(time.hour(), 0),
            Self::Day => at(0, 0),
            Self::Week => {
                let since = i64::from(date.weekday().to_monday_zero_offset());
                let monday = date.checked_sub(jiff::Span::new().days(since));
                monday.unwrap_or(date).to_datetime(Time::midnight())
            }
            Self::Month => date.first_of_month().to_datetime(Time::midnight()),
            Self::Year => date.first_of_year().to_datetime(Time::midnight()),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Minute => "start",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week from Monday",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    fn name(self, start: DateTime) -> String {
        let format = match self {
            Self::Minute | Self::Hour => "%m-%d %H:%M",
            Self::Day | Self::Week => "%m-%d",
            Self::Month => "%Y-%m",
            Self::Year => "%Y",
        };
        start.strftime(format).to_string()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(6, 1, Period::Minute, "11-20 00:00")]
    #[case(100, 3, Period::Hour, "11-20 00:00")]
    #[case(12, 1440, Period::Day, "11-20")]
    #[case(13, 1440, Period::Week, "11-16")]
    #[case(90, 1440, Period::Month, "2026-11")]
    #[case(500, 1440, Period::Year, "2026")]
    fn the_period_has_room_for_all(
        #[case] runs: i64,
        #[case] minutes: i64,
        #[case] period: Period,
        #[case] first: &str,
    ) {
        let start = jiff::civil::date(2026, 11, 20).at(0, 0, 0, 0);
        let all = (0..runs).map(|run| start + jiff::Span::new().minutes(run * minutes));
        let (found, places) = Period::of(&all.collect());
        assert_eq!((found, &*found.name(places[0])), (period, first));
        assert!(places.len() <= PERIODS);
    }
}
