//! Relations between the figures of one performance run that follow from how LoadGen computes them.
//!
//! An edited log rarely keeps them: a throughput raised by 3 % in both logs no longer equals the
//! samples over the time they took. Every relation holds in all 3,788 detail logs of performance
//! and compliance runs of v4.1 and v5.1. They do not show whether a run followed the rules.

mod estimates;
mod log;
mod settings;
mod statements;

use super::{LoadgenRun, TestMode, TestScenario};
use crate::check::{Rule, RuleCheck, RuleCheckKind, StatingLines};
use retrial_readings::figure::Figure;
use retrial_readings::number::{format_figure, format_grouped, to_f64};

/// The most by which two factors of six printed digits may differ.
const ROUNDING_TOLERANCE: f64 = 2e-5;
/// Maximum difference between the wall clock and the sum of latencies; ns. Nothing bounds how long a busy machine is
/// away between two readings of the same moment. Of the 600 s that MLPerf asks for it is less than 0.1 %.
const CLOCK_TOLERANCE_NS: f64 = 5e8;
/// LoadGen computes SingleStream's rate from a clock of its own; they differed by 0.11 % at most.
const OWN_CLOCK_TOLERANCE: f64 = 5e-3;
/// MultiStream issues a query when the one before has ended: at most 10.5 µs later, and 6.8 % of a
/// query's latency, in published logs. Programs in Python take longer.
const MAX_IDLE_SHARE: f64 = 0.1;
const MAX_IDLE_NS: f64 = 1e5;
/// Tokens per sample by Server's token throughput, over those by its completed tokens: 0.990 to
/// 1.000 in published logs.
const TOKEN_RATIO_RANGE: (f64, f64) = (0.98, 1.002);
/// By how much the scheduled rate of many queries may differ from its target, a share: 1 % in
/// published runs of 10,000 queries and more.
const MAX_TARGET_DEVIATION: f64 = 0.03;
/// Of few queries the rate is a matter of chance: their number is Poisson's. So many standard
/// deviations of it, where that is more.
const MAX_POISSON_DEVIATIONS: f64 = 4.0;
/// The fewest samples with which a percentile is a share of them.
const MIN_SAMPLES_FOR_PERCENTILES: f64 = 1000.0;
/// LoadGen adds latencies up in 64 bits; the mean of a sum beyond that is wrong in the log.
const MAX_LATENCY_SUM_NS: f64 = 18_446_744_073_709_551_616.0;
/// Percentiles that LoadGen prints, with the share of samples between each and the one before.
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.4), ("p95", 0.05), ("p97", 0.02), ("p99", 0.02), ("p99_9", 0.009)];
/// The share of samples above the last percentile.
const SHARE_ABOVE_LAST_PERCENTILE: f64 = 0.001;

impl LoadgenRun {
    /// Checks the figures of a performance run against each other and against its settings. One passed
    /// check stands for all relations that hold; each that does not is a failed check of its own.
    pub fn check_consistency(&self) -> Vec<RuleCheck> {
        if self.mode() != Some(TestMode::Performance) {
            return Vec::new();
        }
        let mut relations = vec![self.check_above_zero()];
        relations.extend(match self.scenario() {
            Some(TestScenario::Offline) => self.offline_relations(),
            Some(TestScenario::Server | TestScenario::Interactive) => self.server_relations(),
            Some(TestScenario::SingleStream) => self.single_stream_relations(),
            Some(TestScenario::MultiStream) => self.multi_stream_relations(),
            None => Vec::new(),
        });
        relations.push(self.check_query_counts());
        relations.extend(self.statement_relations());
        relations.extend(self.amount_relations());
        relations.push(self.check_min_duration());
        for kind in ["latency", "sample_latency", "ttft", "tpot"] {
            relations.push(self.check_percentile_order(kind));
            relations.push(self.check_mean(kind));
        }
        let required = "as LoadGen computes its figures from each other";
        collapse_passed_checks("figures agree", required, relations)
    }

    fn figure_value(&self, name: &str) -> Option<f64> {
        self.figure(name).map(|figure| figure.value)
    }

    /// Returns how long the test took by its wall clock, ns.
    fn duration_ns(&self) -> Option<f64> {
        let measured_ms = self.detail.as_ref()?.measured_ms?;
        #[expect(clippy::cast_precision_loss, reason = "a test takes hours")]
        let measured = measured_ms as f64;
        Some(measured * 1e6)
    }

    fn check_above_zero(&self) -> Option<RuleCheck> {
        let figures = self.figures();
        let (name, figure) = figures.iter().find(|(_, figure)| figure.value <= 0.0)?;
        let measured = figure.value.to_string();
        let rule = Rule::of_figure(name.as_ref(), name);
        Some(RuleCheck::violation(rule, measured, "above zero"))
    }

    /// Checks Offline's one query: its samples over the longest latency are the throughput.
    fn offline_relations(&self) -> Vec<Option<RuleCheck>> {
        let rate = self.figure("samples_per_second");
        let longest = self.figure_value("latency_max_ns");
        let throughput = || {
            let (rate, longest) = (rate?, longest?);
            let product = rate.value * longest / 1e9;
            let samples = self.offline_sample_counts()?;
            let near =
                |samples: &f64| (product / samples - 1.0).abs() <= rounding_tolerance(&[rate]);
            Some(RuleCheck::new(
                Rule::of_entries(
                    "samples/s times the longest latency",
                    [
                        "result_samples_per_second",
                        "result_max_latency_ns",
                        "generated_samples_per_query",
                    ],
                ),
                format!("{} samples", format_grouped(product)),
                format!("{} samples", format_grouped(samples[0])),
                samples.iter().any(near),
            ))
        };
        let duration = || {
            let (took, longest) = (self.duration_ns()?, longest?);
            Some(check_duration_between(run_duration_rule(), took, longest, longest))
        };
        vec![throughput(), duration()]
    }

    /// Samples of Offline's query: LoadGen 4.1 filled up the last permutation without logging it.
    fn offline_sample_counts(&self) -> Option<[f64; 2]> {
        let detail = self.detail.as_ref();
        let logged = detail.and_then(|detail| detail.generated_samples_per_query);
        let settings = self.parameters();
        let samples = to_f64(logged.or(settings.samples_per_query)?);
        let held = settings.performance_sample_count.filter(|held| *held > 0);
        let filled = held.map(|held| (samples / to_f64(held)).ceil() * to_f64(held));
        Some([samples, filled.unwrap_or(samples)])
    }

    /// Queries are issued by a schedule, and each takes between the shortest and longest latency.
    fn server_relations(&self) -> Vec<Option<RuleCheck>> {
        let scheduled = self.figure("scheduled_samples_per_second");
        let completed = self.figure("completed_samples_per_second");
        let rates = || {
            let (scheduled, completed) = (scheduled?, completed?);
            let most = scheduled.value * (1.0 + rounding_tolerance(&[scheduled, completed]));
            Some(RuleCheck::new(
                Rule::of_entries("completed samples/s", RATE_KEYS),
                format_figure(completed.value, &completed.unit),
                format!("at most the scheduled {}", format_grouped(scheduled.value)),
                completed.value <= most,
            ))
        };
        let queries = self.detail.as_ref().and_then(|detail| detail.query_count);
        let ends = || {
            let (queries, scheduled) = (to_f64(queries?), scheduled?);
            let issued = (queries - 1.0) / scheduled.value * 1e9;
            let (least, most) =
                (self.figure_value("latency_min_ns")?, self.figure_value("latency_max_ns")?);
            Some((issued + least, issued + most))
        };
        let last = || {
            let (queries, (earliest, latest)) = (to_f64(queries?), ends()?);
            let ended = (queries - 1.0) / completed?.value * 1e9;
            let rule = Rule::of_entries("end of the last query", RATE_KEYS);
            Some(check_within(rule, ended, (earliest, latest), ended * ROUNDING_TOLERANCE))
        };
        let duration = || {
            let (took, (earliest, latest)) = (self.duration_ns()?, ends()?);
            Some(check_duration_between(run_duration_rule(), took, earliest, latest))
        };
        let tokens = || {
            let speed = self.figure_value("tokens_per_second_without_loadgen_overhead")?;
            let by_latency = speed * self.figure_value("latency_mean_ns")? / 1e9;
            let by_rate = self.figure_value("completed_tokens_per_second")? / completed?.value;
            let share = by_latency / by_rate;
            Some(RuleCheck::new(
                Rule::of_entries(
                    "tokens per sample by completed tokens/s",
                    [
                        "result_completed_tokens_per_second",
                        "result_token_throughput",
                        "result_mean_latency_ns",
                    ],
                ),
                format_grouped(by_rate),
                format!("{}, by the token throughput", format_grouped(by_latency)),
                share >= TOKEN_RATIO_RANGE.0 && share <= TOKEN_RATIO_RANGE.1,
            ))
        };
        vec![rates(), self.check_target_rate(), last(), duration(), tokens()]
    }

    /// Checks SingleStream's queries, one at a time.
    fn single_stream_relations(&self) -> Vec<Option<RuleCheck>> {
        let rate = || {
            let rate = self.figure("queries_per_second_without_loadgen_overhead")?;
            let product = rate.value * self.figure_value("latency_mean_ns")? / 1e9;
            let passed = (product - 1.0).abs() <= rounding_tolerance(&[rate]);
            let keys = ["result_qps_without_loadgen_overhead", "result_mean_latency_ns"];
            let rule = Rule::of_entries("queries/s times the mean latency", keys);
            Some(RuleCheck::new(rule, format_grouped(product), "1", passed))
        };
        let duration = || {
            let rate = self.figure_value("queries_per_second_with_loadgen_overhead")?;
            let queries = to_f64(self.detail.as_ref()?.query_count?);
            let (took, expected) = (self.duration_ns()?, queries / rate * 1e9);
            let (least, most) =
                (expected * (1.0 - OWN_CLOCK_TOLERANCE), expected * (1.0 + OWN_CLOCK_TOLERANCE));
            Some(check_duration_between(run_duration_rule(), took, least, most))
        };
        let mut relations = vec![rate(), duration()];
        relations.extend(self.estimate_relations());
        relations
    }

    fn multi_stream_relations(&self) -> Vec<Option<RuleCheck>> {
        let duration = || {
            let queries = to_f64(self.detail.as_ref()?.query_count?);
            let took = self.duration_ns()?;
            let mean = self.figure_value("latency_mean_ns")?;
            let idle = (MAX_IDLE_SHARE * mean).min(MAX_IDLE_NS + mean * MAX_IDLE_SHARE / 5.0);
            let (least, most) = (queries * mean, queries * (mean + idle));
            Some(check_duration_between(run_duration_rule(), took, least, most))
        };
        let mut relations = vec![duration()];
        relations.extend(self.estimate_relations());
        relations
    }

    fn check_query_counts(&self) -> Option<RuleCheck> {
        let detail = self.detail.as_ref()?;
        let (count, generated) = (detail.query_count?, detail.generated_query_count?);
        let late = detail.overlatency_query_count.unwrap_or(0);
        Some(RuleCheck::new(
            Rule::of_entries(
                "queries of the result",
                ["generated_query_count", "result_query_count", "result_overlatency_query_count"],
            ),
            format!("{count}, of which {late} above the latency limit"),
            format!("1 to the {generated} generated"),
            count > 0 && count <= generated && late <= count,
        ))
    }

    /// LoadGen reports that the run was long enough.
    fn check_min_duration(&self) -> Option<RuleCheck> {
        let detail = self.detail.as_ref()?;
        let required = detail.parameters.min_duration_ms?;
        (detail.constraints.min_duration? && required > 0).then_some(())?;
        let least = to_f64(required) * 1e6;
        let took = self.duration_ns()?;
        let rule = Rule::of_entries(
            "duration for min_duration_met",
            ["result_min_duration_met", "effective_min_duration_ms", "power_begin", "power_end"],
        );
        Some(check_duration_between(rule, took, least, f64::INFINITY))
    }

    /// Returns the statistics of a latency, from the least to the most.
    fn latency_statistics(&self, kind: &str) -> Option<Vec<(&'static str, f64)>> {
        let names = PERCENTILES.iter().map(|(name, _)| *name);
        let names = std::iter::once("min").chain(names).chain(["max"]);
        names.map(|name| Some((name, self.figure_value(&format!("{kind}_{name}_ns"))?))).collect()
    }

    fn check_percentile_order(&self, kind: &str) -> Option<RuleCheck> {
        let statistics = self.latency_statistics(kind)?;
        let wrong = statistics.windows(2).find(|pair| pair[0].1 > pair[1].1);
        let measured = wrong.map_or_else(
            || "in order".to_owned(),
            |pair| {
                let [low, high] = [pair[0], pair[1]].map(|(name, value)| {
                    format!("{} {}", name.replace('_', "."), format_figure(value, "ns"))
                });
                format!("{low}, {high}")
            },
        );
        let rule = statistics_rule(format!("{} percentiles", latency_label(kind)), kind);
        Some(RuleCheck::new(rule, measured, "in order", wrong.is_none()))
    }

    /// Checks that the mean lies between the means that put every sample at the lower or the upper end of its
    /// share.
    fn check_mean(&self, kind: &str) -> Option<RuleCheck> {
        let statistics = self.latency_statistics(kind)?;
        let detail = self.detail.as_ref()?;
        let per_query = match (self.scenario()?, kind) {
            (TestScenario::Offline, _) | (_, "sample_latency") => {
                detail.generated_samples_per_query?
            }
            _ => 1,
        };
        let samples = to_f64(detail.query_count?) * to_f64(per_query);
        let longest = statistics.last()?.1;
        if samples < MIN_SAMPLES_FOR_PERCENTILES || samples * longest >= MAX_LATENCY_SUM_NS {
            return None;
        }
        let shares =
            PERCENTILES.iter().map(|(_, share)| *share).chain([SHARE_ABOVE_LAST_PERCENTILE]);
        let (mut least, mut most) = (0.0, 0.0);
        for (share, pair) in shares.zip(statistics.windows(2)) {
            least += share * pair[0].1;
            most += share * pair[1].1;
        }
        let mean = self.figure_value(&format!("{kind}_mean_ns"))?;
        Some(RuleCheck::new(
            statistics_rule(format!("mean {}", latency_label(kind)), kind),
            format_figure(mean, "ns"),
            format!(
                "{} to {}, by the percentiles",
                format_figure(least, "ns"),
                format_figure(most, "ns")
            ),
            mean >= least * (1.0 - ROUNDING_TOLERANCE) && mean <= most * (1.0 + ROUNDING_TOLERANCE),
        ))
    }
}

/// Returns each relation that does not hold, and each warning, as a relation; where no relation is violated, one passed
/// check for all that hold.
fn collapse_passed_checks(
    rule: &str,
    required: &str,
    relations: Vec<Option<RuleCheck>>,
) -> Vec<RuleCheck> {
    let checked = relations.into_iter().flatten();
    let (mut notable, held): (Vec<RuleCheck>, Vec<RuleCheck>) =
        checked.partition(RuleCheck::is_notable);
    for check in &mut notable {
        check.kind = RuleCheckKind::Relation;
    }
    if notable.iter().all(|check| check.passed) && !held.is_empty() {
        let measured = format!("{} relations hold", held.len());
        notable.insert(0, RuleCheck::new(rule, measured, required, true));
    }
    notable
}

/// Checks a duration by the wall clock, ns.
fn check_duration_between(rule: Rule, measured: f64, least: f64, most: f64) -> RuleCheck {
    let slack = CLOCK_TOLERANCE_NS + measured * ROUNDING_TOLERANCE;
    check_within(rule, measured, (least, most), slack)
}

fn check_within(rule: Rule, measured: f64, (least, most): (f64, f64), slack: f64) -> RuleCheck {
    let passed = measured >= least - slack && measured <= most + slack;
    let required = if most.is_infinite() {
        format!("at least {}", format_figure(least, "ns"))
    } else if (most - least).abs() <= slack {
        format_figure(least, "ns")
    } else {
        format!("{} to {}", format_figure(least, "ns"), format_figure(most, "ns"))
    };
    RuleCheck::new(rule, format_figure(measured, "ns"), required, passed)
}

/// Returns the tolerance of a product of these, as a share: their own printed digits, and those of the value
/// it is compared with.
fn rounding_tolerance(figures: &[&Figure]) -> f64 {
    let digits = figures.iter().map(|figure| figure.half_digit / figure.value.abs());
    ROUNDING_TOLERANCE + digits.sum::<f64>()
}

/// The entries that state the rate of Server's queries.
const RATE_KEYS: [&str; 3] =
    ["result_completed_samples_per_sec", "result_scheduled_samples_per_sec", "result_query_count"];

fn run_duration_rule() -> Rule {
    let keys = ["power_begin", "power_end", "result_max_latency_ns"];
    Rule::of_entries("duration of the run", keys)
}

/// Returns a rule about all statistics of a latency.
fn statistics_rule(name: String, kind: &str) -> Rule {
    Rule::stated_in(name, StatingLines::Figures(format!("{kind}_")))
}

fn latency_label(kind: &str) -> &'static str {
    match kind {
        "ttft" => "time to first token",
        "tpot" => "time per output token",
        "sample_latency" => "sample latency",
        _ => "latency",
    }
}

#[cfg(test)]
mod tests;
