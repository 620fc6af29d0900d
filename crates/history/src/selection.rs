//! Filters and orders of runs.

use std::cmp::Ordering;

use clap::Args;
use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

use super::RunSummary;
use super::facets::{FacetFilter, Facets};
use retrial_recipe::ParamSetting;
use retrial_rocm::RocmRelease;

/// Filters of runs. Each may be given several times; a run must match one value of each.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct RunFilter {
    /// The ids of single runs; empty for runs of any id.
    #[arg(skip)]
    pub ids: Vec<String>,
    /// Match a part of the recipe's name or title
    #[arg(long, value_name = "PART")]
    pub recipe: Vec<String>,
    /// Filters that runs share with recipes.
    #[command(flatten)]
    pub facets: FacetFilter,
    /// Match a part of the batch's id
    #[arg(long, value_name = "PART")]
    pub batch: Vec<String>,
    /// Match the host's name
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Match a variant or a parameter; if given several times, all must match
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<ParamSetting>,
    /// Match runs started since this time: 2026-11-21, 2026-11-21T18:00, or an age: 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub since: Option<Timestamp>,
    /// Match runs started before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub until: Option<Timestamp>,
}

impl RunFilter {
    /// Returns whether every run matches: no filter is set.
    pub fn is_unrestricted(&self) -> bool {
        *self == Self::default()
    }

    /// The runs of one batch.
    pub fn for_batch(id: &str) -> Self {
        Self { batch: vec![id.to_owned()], ..Self::default() }
    }

    /// Returns whether a run matches.
    pub fn matches(&self, row: &RunSummary) -> bool {
        let batch = row.batch.as_ref().map_or("", |batch| batch.id.as_str());
        let setting = |ParamSetting { name, value }: &ParamSetting| {
            let actual = row.variant.get(name).or_else(|| row.params.get(name));
            actual == Some(value)
        };
        matches_any(&self.ids, |id| row.id == id)
            && matches_any(&self.recipe, |part| {
                contains_ignoring_case(&row.recipe, part)
                    || contains_ignoring_case(&row.title, part)
            })
            && (self.facets == FacetFilter::default() || self.facets.matches(&facets_of(row)))
            && matches_any(&self.batch, |part| contains_ignoring_case(batch, part))
            && matches_any(&self.host, |host| row.host.eq_ignore_ascii_case(host))
            && self.settings.iter().all(setting)
            && self.since.is_none_or(|since| row.started >= Some(since))
            && self.until.is_none_or(|until| row.started.is_some_and(|started| started < until))
    }
}

fn matches_any(filters: &[String], fits: impl Fn(&str) -> bool) -> bool {
    filters.is_empty() || filters.iter().any(|filter| fits(filter))
}

fn contains_ignoring_case(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn facets_of(row: &RunSummary) -> Facets {
    let submission = &row.submission;
    Facets {
        outcome: Some(row.state_word().to_owned()),
        suites: vec![submission.suite.clone()],
        submitters: submission.submitter.clone().into_iter().collect(),
        benchmarks: vec![submission.benchmark.clone()],
        gpus: vec![row.gpus.clone()],
        releases: release_of(row).into_iter().collect(),
    }
}

/// A value that a filter does not accept.
#[derive(Debug, thiserror::Error)]
enum FilterValueError {
    #[error("expected a date (2026-11-21), a time (2026-11-21T18:00), or how long ago (12h, 7d)")]
    Time,
    /// A civil time that the local time zone does not have.
    #[error(transparent)]
    Zone(#[from] jiff::Error),
}

/// Parses a time: local time where no zone is named.
fn parse_time(text: &str) -> Result<Timestamp, FilterValueError> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let now = Zoned::now();
    if let Ok(civil) = text.parse::<DateTime>() {
        return Ok(civil.to_zoned(now.time_zone().clone())?.timestamp());
    }
    let ago = text.trim_end_matches("ago").trim().parse::<Span>();
    let then = ago.ok().and_then(|ago| now.checked_sub(ago.abs()).ok());
    then.map(|then| then.timestamp()).ok_or(FilterValueError::Time)
}

/// The orders of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SortKey {
    /// Start time
    #[default]
    Started,
    /// Duration
    Duration,
    /// Deciding figure
    Figure,
    /// Ratio to the published figure
    Ratio,
    /// Outcome, in order of precedence
    Outcome,
    /// Recipe, then start time
    Recipe,
    /// Host, then start time
    Host,
    /// Release of ROCm in the container, then start time
    Rocm,
}

/// Sorts runs: those without the property first, and among equals the newest last.
pub fn sort_runs(rows: &mut [RunSummary], by: SortKey) {
    rows.sort_by(|left, right| {
        let first = match by {
            SortKey::Started => Ordering::Equal,
            SortKey::Duration => compare_numbers(left.duration_seconds(), right.duration_seconds()),
            SortKey::Figure => compare_numbers(deciding_value(left), deciding_value(right)),
            SortKey::Ratio => compare_numbers(deciding_ratio(left), deciding_ratio(right)),
            SortKey::Outcome => left.outcome.cmp(&right.outcome),
            SortKey::Recipe => left.recipe.cmp(&right.recipe),
            SortKey::Host => left.host.cmp(&right.host),
            SortKey::Rocm => release_of(left).cmp(&release_of(right)),
        };
        first.then_with(|| left.started.cmp(&right.started)).then_with(|| left.id.cmp(&right.id))
    });
}

fn release_of(row: &RunSummary) -> Option<RocmRelease> {
    row.rocm.parse().ok()
}

fn deciding_value(row: &RunSummary) -> Option<f64> {
    row.deciding.as_ref()?.value
}

fn deciding_ratio(row: &RunSummary) -> Option<f64> {
    row.deciding.as_ref()?.ratio
}

fn compare_numbers(left: Option<f64>, right: Option<f64>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rstest::rstest;

    use super::*;
    use crate::{RunState, STATE_WORDS, parse_outcome};
    use retrial_recipe::model::Submission;
    use retrial_results::verdict::{ExitCode, Outcome};
    use retrial_store::process::ProcessIdentity;

    fn row(id: &str, started: &str) -> RunSummary {
        RunSummary {
            id: id.to_owned(),
            recipe: "mlperf-inference/v6.0/amd/llama2-70b-mi355x".to_owned(),
            title: "AMD, Llama 2 70B".to_owned(),
            submission: Submission {
                benchmark: "llama2-70b-99".to_owned(),
                ..Submission::default()
            },
            variant: [("rocm".to_owned(), "7.1.1".to_owned())].into(),
            params: [("batch".to_owned(), "4".to_owned())].into(),
            started: started.parse().ok(),
            gpus: "8 x MI355X".to_owned(),
            rocm: "7.1.1".to_owned(),
            host: "node-a".to_owned(),
            ..RunSummary::default()
        }
    }

    #[rstest]
    #[case::part_of_the_recipe(|filter: &mut RunFilter| filter.recipe.push("LLAMA2".into()), true)]
    #[case::part_of_the_title(|filter: &mut RunFilter| filter.recipe.push("amd, llama".into()), true)]
    #[case::one_of_two(|filter: &mut RunFilter| filter.host = vec!["node-b".into(), "Node-A".into()], true)]
    #[case::whole_host(|filter: &mut RunFilter| filter.host.push("node".into()), false)]
    #[case::benchmark(|filter: &mut RunFilter| filter.facets.benchmark.push("llama2-70b".into()), true)]
    #[case::not_its_beginning(|filter: &mut RunFilter| filter.facets.benchmark.push("llama2-7".into()), false)]
    #[case::axis(|filter: &mut RunFilter| filter.settings.push(ParamSetting::new("rocm", "7.1.1")), true)]
    #[case::both_settings(|filter: &mut RunFilter| filter.settings = vec![ParamSetting::new("rocm", "7.1.1"), ParamSetting::new("batch", "8")], false)]
    #[case::series(|filter: &mut RunFilter| filter.facets.rocm = vec!["7.1".parse().unwrap()], true)]
    #[case::another_release(|filter: &mut RunFilter| filter.facets.rocm = vec!["7.2.4".parse().unwrap()], false)]
    #[case::since(|filter: &mut RunFilter| filter.since = "2026-11-21T00:00:00Z".parse().ok(), true)]
    #[case::until(|filter: &mut RunFilter| filter.until = "2026-11-21T10:00:00Z".parse().ok(), false)]
    #[case::state(|filter: &mut RunFilter| filter.facets.outcome.push("interrupted".into()), true)]
    #[case::no_batch(|filter: &mut RunFilter| filter.batch.push("2026".into()), false)]
    fn filters_select_matching_runs(#[case] ask: fn(&mut RunFilter), #[case] fits: bool) {
        let mut filter = RunFilter::default();
        assert!(filter.is_unrestricted());
        ask(&mut filter);
        assert_eq!(filter.matches(&row("a", "2026-11-21T10:00:00Z")), fits);
    }

    #[test]
    fn every_state_of_a_run_can_be_asked_for() {
        let states = [
            RunState::Running(ProcessIdentity::current().clone()),
            RunState::Submitted,
            RunState::Interrupted,
            RunState::Ended,
        ];
        let outcomes = Outcome::ALL.iter().map(|outcome| Some(*outcome));
        let mut words = BTreeSet::new();
        for run_state in states {
            for outcome in outcomes.clone().chain([None]) {
                for exit_code in [None, Some(ExitCode::Interrupted.code())] {
                    let run_state = run_state.clone();
                    let mut summary = row("a", "2026-11-21T10:00:00Z");
                    (summary.run_state, summary.outcome, summary.exit_code) =
                        (run_state, outcome, exit_code);
                    words.insert(summary.state_word());
                }
            }
        }
        assert_eq!(words, BTreeSet::from(STATE_WORDS));
        assert!(words.iter().all(|word| parse_outcome(word).is_ok_and(|state| state == *word)));
    }

    #[test]
    fn unknown_values_sort_first_and_the_newest_last() {
        let mut rows = vec![
            row("c", "2026-11-21T12:00:00Z"),
            row("b", "2026-11-21T10:00:00Z"),
            row("a", "2026-11-21T11:00:00Z"),
        ];
        rows[2].ended = "2026-11-21T11:00:05Z".parse().ok();
        let ids =
            |rows: &[RunSummary]| -> String { rows.iter().map(|row| row.id.as_str()).collect() };
        sort_runs(&mut rows, SortKey::Started);
        assert_eq!(ids(&rows), "bac");
        sort_runs(&mut rows, SortKey::Duration);
        assert_eq!(ids(&rows), "bca");
    }

    #[rstest]
    #[case("2026-11-21")]
    #[case("2026-11-21T18:00")]
    #[case("2026-11-21T18:00:00Z")]
    #[case("12h")]
    #[case("7d")]
    #[case("2 weeks ago")]
    fn times_are_accepted_in_many_formats(#[case] text: &str) {
        assert!(parse_time(text).is_ok(), "{text}: {:?}", parse_time(text));
    }

    #[rstest]
    #[case("yesterday")]
    #[case("2026-13-01")]
    #[case("")]
    fn an_invalid_time_is_reported(#[case] text: &str) {
        assert!(parse_time(text).unwrap_err().to_string().contains("how long ago"));
    }

    #[test]
    fn a_week_ago_is_before_an_hour_ago() {
        assert!(parse_time("7d").unwrap() < parse_time("1h").unwrap());
    }
}
