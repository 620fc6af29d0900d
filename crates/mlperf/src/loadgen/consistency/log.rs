//! Checks that a detail log is the log of one run of an unmodified LoadGen: its process, its two clocks, and
//! what it states of its own source. All 5,895 detail logs of v4.1 and v5.1 pass.

use jiff::civil::DateTime;

use super::statements::loaded_samples_rule;
use super::{CLOCK_TOLERANCE_NS, LoadgenRun, collapse_passed_checks};
use crate::check::{Rule, RuleCheck, StatingLines};
use crate::loadgen::detail::{ClockReversal, UnreadableEntry};
use crate::loadgen::{DETAIL_FILE, LoadgenDetail, TestMode, TestScenario};
use crate::power::parse_moment;
use retrial_readings::number::{format_figure, format_grouped, to_f64};

/// Maximum time of LoadGen between making its queries and the first of them; ns. At most 3.0 s in
/// published logs. The log's start is stated in whole seconds, which is another second.
const MAX_START_DELAY_NS: f64 = 10e9;
/// Maximum time from the last query until it logs the end, ns: at most 2.3 s after a performance test. An
/// accuracy test first reads its answers.
const MAX_END_DELAY_NS: f64 = 10e9;
/// Local times are whole quarters of an hour from UTC.
const QUARTER_HOUR_NS: f64 = 900e9;
/// Git's status where LoadGen was not built from a repository.
const NO_REPOSITORY: &str = "NA";

impl LoadgenRun {
    /// Checks that the detail log is of one run. One passed check stands for all that hold; each that
    /// does not is a failed check of its own.
    pub fn check_detail_log(&self) -> Vec<RuleCheck> {
        let Some(detail) = self.detail.as_ref().filter(|detail| detail.tests <= 1) else {
            return Vec::new();
        };
        let relations = vec![
            check_single_process(detail),
            check_unmodified_source(detail),
            check_start(detail),
            check_duration(detail, self.mode()),
            check_clock(detail),
            self.check_scheduled_duration(),
            check_entries(detail),
            check_requested(detail),
            check_accuracy_samples(detail),
            check_accuracy_queries(detail),
        ];
        collapse_passed_checks("detail log", "the log of one run", relations)
    }
}

fn check_single_process(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let first = detail.pids.first?;
    let measured = match detail.pids.other {
        Some(other) => format!("{first} and {other}"),
        None => first.to_string(),
    };
    let passed = detail.pids.other.is_none();
    let required = "the same in all entries";
    Some(RuleCheck::new("pid of the detail log", measured, required, passed))
}

fn check_unmodified_source(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let status = detail.git_status.as_deref()?;
    let changed: Vec<&str> = status.lines().map(str::trim).collect();
    let passed = status.is_empty() || status == NO_REPOSITORY;
    let measured = if passed { "none".to_owned() } else { changed.join(", ") };
    let rule = Rule::of_entries("changes of LoadGen's source", ["loadgen_git_status_message"]);
    Some(RuleCheck::new(rule, measured, "none", passed))
}

/// From the log's date to the first query, by both clocks.
fn check_start(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let clock = detail.own_clock;
    let own = (clock.generated_ms? - clock.begun_ms?) * 1e6;
    let date = detail.started_at?.to_zoned(jiff::tz::TimeZone::UTC);
    let wall = nanoseconds_between(date.datetime(), parse_moment(detail.power_begin.as_deref()?)?)?;
    // The date is UTC, the begin is of an unknown zone.
    let later = (wall - own + CLOCK_TOLERANCE_NS).rem_euclid(QUARTER_HOUR_NS) - CLOCK_TOLERANCE_NS;
    Some(RuleCheck::new(
        Rule::of_entries(
            "start of the run by power_begin",
            ["test_datetime", "generated_query_count", "power_begin"],
        ),
        format!("{} after its queries were made", format_figure(later, "ns")),
        format!(
            "within {}, by test_datetime and the log's own clock",
            format_figure(MAX_START_DELAY_NS, "ns")
        ),
        later <= MAX_START_DELAY_NS,
    ))
}

/// From the first query to the last, by both clocks.
fn check_duration(detail: &LoadgenDetail, mode: Option<TestMode>) -> Option<RuleCheck> {
    let clock = detail.own_clock;
    let own = (clock.ended_ms? - clock.generated_ms?) * 1e6;
    let begin = parse_moment(detail.power_begin.as_deref()?)?;
    let wall = nanoseconds_between(begin, parse_moment(detail.power_end.as_deref()?)?)?;
    let is_late = mode == Some(TestMode::Performance) && own - wall > MAX_END_DELAY_NS;
    Some(RuleCheck::new(
        Rule::of_entries("duration by power_begin and power_end", ["power_begin", "power_end"]),
        format_figure(wall, "ns"),
        format!("{}, by the log's own clock", format_figure(own, "ns")),
        own - wall >= -CLOCK_TOLERANCE_NS && !is_late,
    ))
}

fn detail_line(number: u64) -> StatingLines {
    StatingLines::Line { file: DETAIL_FILE.into(), number }
}

/// Warns of an entry that was logged before the one above it, by the log's own clock.
fn check_clock(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let ClockReversal { key, line, by_ms } = detail.clock_reversal.as_ref()?;
    let earlier = format_figure(by_ms * 1e6, "ns");
    let measured = format!("line {line} ({key}) is {earlier} earlier than the entry above it");
    let rule = Rule::stated_in("time stamps of the detail log", detail_line(*line));
    Some(RuleCheck::warning(rule, measured, "in order"))
}

fn check_entries(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let UnreadableEntry { key, line, value } = detail.unreadable_entry.as_ref()?;
    let measured = format!("line {line} ({key}): {value}");
    let rule = Rule::stated_in("entries of the detail log", detail_line(*line));
    Some(RuleCheck::warning(rule, measured, "a value as LoadGen writes it"))
}

/// Settings are those that were asked for, but for the least number of queries, which LoadGen corrects.
fn check_requested(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let mut names = detail.requested.names_of_differing(&detail.parameters);
    names.retain(|name| *name != "min_query_count");
    let measured = format!("other {}", names.join(", "));
    let required = "the settings that were asked for (requested_…)";
    let keys = names
        .iter()
        .flat_map(|name| ["requested", "effective"].map(|begin| format!("{begin}_{name}").into()));
    let rule = Rule::stated_in("effective settings", StatingLines::Entries(keys.collect()));
    (!names.is_empty()).then(|| RuleCheck::warning(rule, measured, required))
}

/// Returns the number of samples that an accuracy test goes through: since v6.0 fewer than the library has may be meant.
fn accuracy_samples(detail: &LoadgenDetail) -> Option<u64> {
    (detail.mode == Some(TestMode::Accuracy)).then_some(())?;
    let library = detail.library_samples?;
    Some(detail.parameters.accuracy_sample_count.map_or(library, |count| count.min(library)))
}

/// An accuracy test loads all samples, one set after another.
fn check_accuracy_samples(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let (required, loaded) = (accuracy_samples(detail)?, detail.loaded_samples?);
    Some(warn_if_other(detail, loaded_samples_rule(), loaded, required))
}

/// It asks for each of them. Offline's query states the samples of a performance test.
fn check_accuracy_queries(detail: &LoadgenDetail) -> Option<RuleCheck> {
    let is_offline = detail.scenario == Some(TestScenario::Offline);
    let (required, queries) = (accuracy_samples(detail)?, detail.issued_queries?);
    let issued = queries.saturating_mul(detail.generated_samples_per_query?);
    let keys = ["generated_query_count", "generated_samples_per_query", "qsl_reported_total_count"];
    let rule = Rule::of_entries("generated_query_count", keys);
    (!is_offline).then(|| warn_if_other(detail, rule, issued, required))
}

fn warn_if_other(detail: &LoadgenDetail, rule: Rule, count: u64, whole: u64) -> RuleCheck {
    let [measured, all] = [count, whole].map(|count| format_grouped(to_f64(count)));
    let required = format!("all {all} samples of the accuracy run");
    // MultiStream fills its last query up.
    let may_be_more = detail.scenario == Some(TestScenario::MultiStream);
    if count == whole || may_be_more && count > whole {
        RuleCheck::new(rule, measured, required, true)
    } else {
        RuleCheck::warning(rule, format!("{measured} samples"), required)
    }
}

fn nanoseconds_between(from: DateTime, to: DateTime) -> Option<f64> {
    let nanoseconds = to.duration_since(from).as_secs_f64() * 1e9;
    nanoseconds.is_finite().then_some(nanoseconds)
}
