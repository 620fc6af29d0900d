//! The rules of a performance run.

use super::{FigureLookup, count, loadgen_version, milliseconds, time};
use crate::check::RuleCheck;
use crate::loadgen::{RunSettings, TestScenario};
use crate::rounds::InferenceRules;
use retrial_readings::number::{figure, to_f64};

/// `LoadGen` logs real numbers with six digits.
const ROUNDING: f64 = 2e-5;

/// Checks the rules in the official checker's order.
pub(super) fn check(
    rules: &InferenceRules,
    run: &RunSettings,
    figures: FigureLookup<'_>,
) -> Vec<RuleCheck> {
    let mut checks = vec![scenario(rules, run)];
    checks.extend(errors(run));
    checks.extend(equal_issue(rules, run));
    let held = run.settings.performance_sample_count;
    let required = rules.performance_samples;
    checks.push(least("performance sample count", held, required, count));
    checks.extend(seeds(rules, run));
    checks.extend(loadgen_version::check(rules, run));
    checks.extend(queries(rules, run));
    checks.extend(target_percentile(rules, run));
    checks.extend(query_latency(rules, run, figures));
    checks.extend(token_latencies(rules, run, figures));
    checks.extend(min_duration(rules, run));
    checks
}

fn scenario(rules: &InferenceRules, run: &RunSettings) -> RuleCheck {
    let required = rules.scenario.logged();
    let passed = run.scenario.is_some_and(|logged| rules.stands_for(logged));
    let shown = run.scenario.map(|logged| {
        if passed && logged != required && logged != rules.scenario {
            format!("{logged}, from which an edge system's {required} may be inferred")
        } else {
            logged.to_string()
        }
    });
    RuleCheck::of_logs("scenario", shown, required.as_str(), passed)
}

/// Checks the errors that LoadGen counted: a run can be VALID and have some.
fn errors(run: &RunSettings) -> Option<RuleCheck> {
    let errors = run.errors?;
    let check = RuleCheck::new("LoadGen's errors", count(errors), "none", errors == 0);
    Some(check.by_loadgen())
}

fn equal_issue(rules: &InferenceRules, run: &RunSettings) -> Option<RuleCheck> {
    let value = run.settings.sample_concatenate_permutation;
    // Only a detail log states it.
    let is_expected = run.has_detail && !rules.unlogged_issue;
    if !rules.equal_issue || value.is_none() && !is_expected {
        return None;
    }
    let shown = value.map(|value| value.to_string());
    let rule = "sample_concatenate_permutation";
    let passed = value == Some(true);
    Some(RuleCheck::of_logs(rule, shown, "true", passed))
}

pub(super) fn seeds(rules: &InferenceRules, run: &RunSettings) -> [RuleCheck; 3] {
    let (required, settings) = (rules.seeds, &run.settings);
    let seed = |rule: &str, value: Option<u64>, required: u64| {
        let shown = value.map(|seed| seed.to_string());
        RuleCheck::of_logs(rule, shown, required.to_string(), value == Some(required))
    };
    [
        seed("qsl_rng_seed", settings.qsl_rng_seed, required.qsl),
        seed(
            "sample_index_rng_seed",
            settings.sample_index_rng_seed,
            required.sample_index,
        ),
        seed(
            "schedule_rng_seed",
            settings.schedule_rng_seed,
            required.schedule,
        ),
    ]
}

/// Checks the amount measured: in Offline the samples of its query, elsewhere early stopping.
fn queries(rules: &InferenceRules, run: &RunSettings) -> Vec<RuleCheck> {
    let settings = &run.settings;
    // A result may have been inferred from another scenario's log.
    if run.scenario.unwrap_or(rules.scenario) != TestScenario::Offline {
        let required = "satisfied";
        let met = run.constraints.early_stopping;
        let shown = met.map(|met| if met { required } else { "not satisfied" }.to_owned());
        let check = RuleCheck::of_logs("early stopping", shown, required, met == Some(true));
        return vec![check.by_loadgen()];
    }
    let mut checks = Vec::new();
    if let Some(required) = rules.min_queries {
        let logged = settings.min_query_count;
        checks.push(least("min_query_count", logged, required, count));
    }
    if let Some(required) = rules.min_samples_per_query {
        let logged = settings.samples_per_query;
        checks.push(least("samples per query", logged, required, count));
    }
    checks
}

/// Checks the share of queries that early stopping and the limit of Server's latency are about. With a lower
/// one, slower queries do not count. Only a detail log states it.
fn target_percentile(rules: &InferenceRules, run: &RunSettings) -> Option<RuleCheck> {
    let logged = run.scenario.filter(|_| run.has_detail)?;
    let usual = match logged {
        TestScenario::Offline => return None,
        TestScenario::SingleStream => 0.9,
        TestScenario::Server | TestScenario::Interactive | TestScenario::MultiStream => 0.99,
    };
    let own = rules.percentile.filter(|_| logged == rules.scenario);
    let required = own.unwrap_or(usual);
    let value = run.settings.target_latency_percentile;
    let passed = value.is_some_and(|value| value >= required * (1.0 - ROUNDING));
    Some(RuleCheck::of_logs(
        "target percentile",
        value.map(|value| figure(value * 100.0, "%")),
        format!("at least {}", figure(required * 100.0, "%")),
        passed,
    ))
}

/// Checks the 99th percentile of queries, and early stopping's target for it. Where token
/// latencies are measured `LoadGen` uses neither.
fn query_latency(
    rules: &InferenceRules,
    run: &RunSettings,
    figures: FigureLookup<'_>,
) -> Vec<RuleCheck> {
    let Some(limit) = rules.latency.query_ns.filter(|_| !rules.token_latencies) else {
        return Vec::new();
    };
    let required = format!("at most {}", time(to_f64(limit)));
    let target = run.settings.target_latency_ns;
    let p99 = figures("latency_p99_ns").map(|(value, _)| value);
    vec![
        RuleCheck::of_logs(
            "latency target",
            target.map(|target| time(to_f64(target))),
            required.clone(),
            target.is_some_and(|target| target <= limit),
        ),
        RuleCheck::of_logs(
            "latency, 99th percentile",
            p99.map(time),
            required,
            p99.is_some_and(|p99| p99 <= to_f64(limit)),
        ),
    ]
}

pub(super) fn token_latencies(
    rules: &InferenceRules,
    run: &RunSettings,
    figures: FigureLookup<'_>,
) -> Vec<RuleCheck> {
    let mut checks = Vec::new();
    if rules.token_latencies {
        // The summary of such a run prints these limits in place of the query's.
        let measured = run.settings.use_token_latencies.or_else(|| {
            let limits = [run.settings.ttft_latency_ns, run.settings.tpot_latency_ns];
            limits.iter().any(Option::is_some).then_some(true)
        });
        let words = |measured| if measured { "measured" } else { "not measured" };
        let shown = measured.map(|measured| words(measured).to_owned());
        // Only a detail log states that they are not.
        if measured.is_some() || run.has_detail {
            let passed = measured == Some(true);
            checks.push(RuleCheck::of_logs(
                "token latencies",
                shown,
                "measured",
                passed,
            ));
        }
    }
    let limits = [
        (
            "time to first token, 99th percentile",
            "ttft_p99_ns",
            rules.latency.ttft_ns,
        ),
        (
            "time per output token, 99th percentile",
            "tpot_p99_ns",
            rules.latency.tpot_ns,
        ),
    ];
    let [ttft, tpot] = [run.settings.ttft_latency_ns, run.settings.tpot_latency_ns];
    for (rule, target, limit) in [
        ("time to first token target", ttft, rules.latency.ttft_ns),
        ("time per output token target", tpot, rules.latency.tpot_ns),
    ] {
        // Early stopping counts the queries above it. Summaries of an endpoint have none.
        let Some((target, limit)) = target.zip(limit) else {
            continue;
        };
        let [measured, most] = [target, limit].map(|value| time(to_f64(value)));
        let required = format!("at most {most}");
        checks.push(RuleCheck::new(rule, measured, required, target <= limit));
    }
    for (rule, name, limit) in limits {
        let Some(limit) = limit else { continue };
        let value = figures(name).map(|(value, _)| value);
        let required = format!("below {}", time(to_f64(limit)));
        let passed = value.is_some_and(|value| value < to_f64(limit));
        checks.push(RuleCheck::of_logs(rule, value.map(time), required, passed));
    }
    checks
}

pub(super) fn min_duration(rules: &InferenceRules, run: &RunSettings) -> Option<RuleCheck> {
    let (value, required) = (run.settings.min_duration_ms, rules.min_duration_ms?);
    Some(least("min_duration", value, required, milliseconds))
}

fn least(rule: &str, value: Option<u64>, required: u64, show: fn(u64) -> String) -> RuleCheck {
    let words = format!("at least {}", show(required));
    let passed = value.is_some_and(|value| value >= required);
    RuleCheck::of_logs(rule, value.map(show), words, passed)
}
