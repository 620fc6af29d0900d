//! The rules of a performance run.

use super::{FigureLookup, format_count, format_milliseconds, format_nanoseconds, loadgen_version};
use crate::check::{Rule, RuleCheck};
use crate::loadgen::{EARLY_STOPPING_KEYS, RunSettings, TestScenario, error_rule};
use crate::rounds::InferenceRules;
use retrial_readings::number::{format_figure, to_f64};

/// `LoadGen` logs real numbers with six digits.
const ROUNDING_TOLERANCE: f64 = 2e-5;

/// Checks the rules in the official checker's order.
pub(super) fn check_performance_rules(
    rules: &InferenceRules,
    run: &RunSettings,
    figures: FigureLookup<'_>,
) -> Vec<RuleCheck> {
    let mut checks = vec![check_scenario(rules, run)];
    checks.extend(check_errors(run));
    checks.extend(check_equal_issue(rules, run));
    let held = run.settings.performance_sample_count;
    let required = rules.performance_samples;
    let rule = Rule::of_entries("performance sample count", ["effective_performance_sample_count"]);
    checks.push(check_at_least(rule, held, required, format_count));
    checks.extend(check_seeds(rules, run));
    checks.extend(loadgen_version::check_loadgen_version(rules, run));
    checks.extend(check_query_amount(rules, run));
    checks.extend(check_target_percentile(rules, run));
    checks.extend(check_query_latency(rules, run, figures));
    checks.extend(check_token_latencies(rules, run, figures));
    checks.extend(check_min_duration(rules, run));
    checks
}

fn check_scenario(rules: &InferenceRules, run: &RunSettings) -> RuleCheck {
    let required = rules.scenario.to_logged();
    let passed = run.scenario.is_some_and(|logged| rules.stands_for(logged));
    let shown = run.scenario.map(|logged| {
        if passed && logged != required && logged != rules.scenario {
            format!("{logged}, from which an edge system's {required} may be inferred")
        } else {
            logged.to_string()
        }
    });
    let rule = Rule::of_entries("scenario", ["effective_scenario"]);
    RuleCheck::from_logs(rule, shown, required.word(), passed)
}

/// Checks the errors that LoadGen counted: a run can be VALID and have some.
fn check_errors(run: &RunSettings) -> Option<RuleCheck> {
    let errors = run.errors?;
    let rule = error_rule("LoadGen's errors");
    let check = RuleCheck::new(rule, format_count(errors), "none", errors == 0);
    Some(check.into_loadgen_check())
}

fn check_equal_issue(rules: &InferenceRules, run: &RunSettings) -> Option<RuleCheck> {
    let value = run.settings.sample_concatenate_permutation;
    // Only a detail log states it.
    let is_expected = run.has_detail && !rules.unlogged_issue;
    if !rules.equal_issue || value.is_none() && !is_expected {
        return None;
    }
    let shown = value.map(|value| value.to_string());
    let name = "sample_concatenate_permutation";
    let rule = Rule::of_entries(name, ["effective_sample_concatenate_permutation"]);
    let passed = value == Some(true);
    Some(RuleCheck::from_logs(rule, shown, "true", passed))
}

pub(super) fn check_seeds(rules: &InferenceRules, run: &RunSettings) -> [RuleCheck; 3] {
    let (required, settings) = (rules.seeds, &run.settings);
    let seed = |name: &str, key, value: Option<u64>, required: u64| {
        let rule = Rule::of_entries(name, [key]);
        let shown = value.map(|seed| seed.to_string());
        RuleCheck::from_logs(rule, shown, required.to_string(), value == Some(required))
    };
    [
        seed("qsl_rng_seed", "effective_qsl_rng_seed", settings.qsl_rng_seed, required.qsl),
        seed(
            "sample_index_rng_seed",
            "effective_sample_index_rng_seed",
            settings.sample_index_rng_seed,
            required.sample_index,
        ),
        seed(
            "schedule_rng_seed",
            "effective_schedule_rng_seed",
            settings.schedule_rng_seed,
            required.schedule,
        ),
    ]
}

/// Checks the amount measured: in Offline the samples of its query, elsewhere early stopping.
fn check_query_amount(rules: &InferenceRules, run: &RunSettings) -> Vec<RuleCheck> {
    let settings = &run.settings;
    // A result may have been inferred from another scenario's log.
    if run.scenario.unwrap_or(rules.scenario) != TestScenario::Offline {
        let required = "satisfied";
        let met = run.constraints.early_stopping;
        let shown = met.map(|met| if met { required } else { "not satisfied" }.to_owned());
        let rule = Rule::of_entries("early stopping", EARLY_STOPPING_KEYS);
        let check = RuleCheck::from_logs(rule, shown, required, met == Some(true));
        return vec![check.into_loadgen_check()];
    }
    let mut checks = Vec::new();
    if let Some(required) = rules.min_queries {
        let logged = settings.min_query_count;
        let rule = Rule::of_entries("min_query_count", ["effective_min_query_count"]);
        checks.push(check_at_least(rule, logged, required, format_count));
    }
    if let Some(required) = rules.min_samples_per_query {
        let logged = settings.samples_per_query;
        let rule = Rule::of_entries("samples per query", ["effective_samples_per_query"]);
        checks.push(check_at_least(rule, logged, required, format_count));
    }
    checks
}

/// Checks the share of queries that early stopping and the limit of Server's latency are about. With a lower
/// one, slower queries do not count. Only a detail log states it.
fn check_target_percentile(rules: &InferenceRules, run: &RunSettings) -> Option<RuleCheck> {
    let logged = run.scenario.filter(|_| run.has_detail)?;
    let usual = match logged {
        TestScenario::Offline => return None,
        TestScenario::SingleStream => 0.9,
        TestScenario::Server | TestScenario::Interactive | TestScenario::MultiStream => 0.99,
    };
    let own = rules.percentile.filter(|_| logged == rules.scenario);
    let required = own.unwrap_or(usual);
    let value = run.settings.target_latency_percentile;
    let passed = value.is_some_and(|value| value >= required * (1.0 - ROUNDING_TOLERANCE));
    Some(RuleCheck::from_logs(
        Rule::of_entries("target percentile", ["effective_target_latency_percentile"]),
        value.map(|value| format_figure(value * 100.0, "%")),
        format!("at least {}", format_figure(required * 100.0, "%")),
        passed,
    ))
}

/// Checks the 99th percentile of queries, and early stopping's target for it. Where token
/// latencies are measured `LoadGen` uses neither.
fn check_query_latency(
    rules: &InferenceRules,
    run: &RunSettings,
    figures: FigureLookup<'_>,
) -> Vec<RuleCheck> {
    let Some(limit) = rules.latency.query_ns.filter(|_| !rules.token_latencies) else {
        return Vec::new();
    };
    let required = format!("at most {}", format_nanoseconds(to_f64(limit)));
    let target = run.settings.target_latency_ns;
    let p99 = figures("latency_p99_ns").map(|(value, _)| value);
    vec![
        RuleCheck::from_logs(
            Rule::of_entries("latency target", ["effective_target_latency_ns"]),
            target.map(|target| format_nanoseconds(to_f64(target))),
            required.clone(),
            target.is_some_and(|target| target <= limit),
        ),
        RuleCheck::from_logs(
            Rule::of_figure("latency, 99th percentile", "latency_p99_ns"),
            p99.map(format_nanoseconds),
            required,
            p99.is_some_and(|p99| p99 <= to_f64(limit)),
        ),
    ]
}

pub(super) fn check_token_latencies(
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
            let rule = Rule::of_entries(
                "token latencies",
                ["effective_use_token_latencies", "requested_use_token_latencies"],
            );
            checks.push(RuleCheck::from_logs(rule, shown, "measured", passed));
        }
    }
    let limits = [
        ("time to first token, 99th percentile", "ttft_p99_ns", rules.latency.ttft_ns),
        ("time per output token, 99th percentile", "tpot_p99_ns", rules.latency.tpot_ns),
    ];
    let [ttft, tpot] = [run.settings.ttft_latency_ns, run.settings.tpot_latency_ns];
    for (name, key, target, limit) in [
        (
            "time to first token target",
            "requested_server_ttft_latency",
            ttft,
            rules.latency.ttft_ns,
        ),
        (
            "time per output token target",
            "requested_server_tpot_latency",
            tpot,
            rules.latency.tpot_ns,
        ),
    ] {
        // Early stopping counts the queries above it. Summaries of an endpoint have none.
        let Some((target, limit)) = target.zip(limit) else {
            continue;
        };
        let [measured, most] = [target, limit].map(|value| format_nanoseconds(to_f64(value)));
        let required = format!("at most {most}");
        let rule = Rule::of_entries(name, [key]);
        checks.push(RuleCheck::new(rule, measured, required, target <= limit));
    }
    for (rule, figure, limit) in limits {
        let Some(limit) = limit else { continue };
        let value = figures(figure).map(|(value, _)| value);
        let rule = Rule::of_figure(rule, figure);
        let required = format!("below {}", format_nanoseconds(to_f64(limit)));
        let passed = value.is_some_and(|value| value < to_f64(limit));
        checks.push(RuleCheck::from_logs(rule, value.map(format_nanoseconds), required, passed));
    }
    checks
}

pub(super) fn check_min_duration(rules: &InferenceRules, run: &RunSettings) -> Option<RuleCheck> {
    let (value, required) = (run.settings.min_duration_ms, rules.min_duration_ms?);
    let rule = Rule::of_entries("min_duration", ["effective_min_duration_ms"]);
    Some(check_at_least(rule, value, required, format_milliseconds))
}

fn check_at_least(
    rule: Rule,
    value: Option<u64>,
    required: u64,
    show: fn(u64) -> String,
) -> RuleCheck {
    let words = format!("at least {}", show(required));
    let passed = value.is_some_and(|value| value >= required);
    RuleCheck::from_logs(rule, value.map(show), words, passed)
}
