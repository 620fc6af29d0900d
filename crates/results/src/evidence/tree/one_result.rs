//! Checks that the logs of one result (performance, accuracy, compliance) belong together.

use std::collections::BTreeMap;

use itertools::{Itertools as _, join};

use crate::evidence::identity::copies::check_shared_log;
use crate::verdict::{Evidence, RuleCheck, number};
use retrial_mlperf::check::Rule;
use retrial_mlperf::loadgen::{Parameters, RunSettings};
use retrial_mlperf::rounds::InferenceRules;
use retrial_mlperf::submission_layout::is_test;
use retrial_recipe::model::Mode;

/// Mean length of the answers, as the accuracy scripts print it.
const TOKENS_PER_SAMPLE: &str = "TOKENS_PER_SAMPLE";
/// By how much the tokens of a sample may differ between a result's runs. In 816 published results
/// of v4.1 to v6.0 they differ by 1.8 % at most in the closed division.
const MAX_TOKEN_DIFFERENCE: f64 = 0.025;
/// By how much they may differ between scenarios.
const MAX_SCENARIO_DIFFERENCE: f64 = 0.02;
/// The logs of a published result were begun within 24 days.
const MAX_DAYS_APART: i64 = 60;

const SEED_KEYS: [&str; 3] =
    ["effective_qsl_rng_seed", "effective_sample_index_rng_seed", "effective_schedule_rng_seed"];

/// Returns warnings of differences between the logs of a result: none violates a rule by itself. Where the
/// round measures accuracy with samples of its own, their number means nothing.
pub(crate) fn find_differences(
    all: &[&Evidence],
    rules: Option<&InferenceRules>,
) -> Vec<RuleCheck> {
    let has_own = rules.is_some_and(|rules| {
        rules.accuracy_samples.is_some() && rules.accuracy_samples != rules.dataset
    });
    let named: Vec<(&str, &RunSettings)> = all
        .iter()
        .filter_map(|evidence| Some((log_name(evidence), first_run_settings(evidence)?)))
        .collect();
    // A test of the audit has settings of its own.
    let is_run = |(name, _): &&(&str, &RunSettings)| !is_test(name);
    let runs: Vec<(&str, &RunSettings)> = named.iter().filter(is_run).copied().collect();
    let different_in = |logs: &[(&str, &RunSettings)],
                        rule: Rule,
                        property: &dyn Fn(&RunSettings) -> Option<String>| {
        let mut values: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, log) in logs {
            if let Some(value) = property(log) {
                values.entry(value).or_default().push(*name);
            }
        }
        let required = "the same in all its logs";
        let describe =
            |(value, logs): (&String, &Vec<&str>)| format!("{value} in {}", logs.join(", "));
        let measured = join(values.iter().map(describe), " and ");
        (values.len() > 1).then(|| RuleCheck::warning(rule, measured, required))
    };
    let different = |rule: Rule, property: &dyn Fn(&RunSettings) -> Option<String>| {
        different_in(&named, rule, property)
    };
    let seeds = |log: &RunSettings| {
        let Parameters { qsl_rng_seed, sample_index_rng_seed, schedule_rng_seed, .. } =
            log.settings;
        let seeds = [qsl_rng_seed?, sample_index_rng_seed?, schedule_rng_seed?];
        Some(join(seeds, ", "))
    };
    let held = |log: &RunSettings| Some(log.settings.performance_sample_count?.to_string());
    let version = |log: &RunSettings| {
        let version = log.loadgen_version.as_deref()?.split_whitespace().next();
        version.map(str::to_owned)
    };
    let checks = [
        different(Rule::of_entries("LoadGen's version", ["loadgen_version"]), &version),
        different("SUT name".into(), &|log| log.sut_name.clone()),
        different(
            Rule::of_entries("samples of the data set", ["qsl_reported_total_count"]),
            &|log| {
                let count = log.library_samples.filter(|_| !has_own)?;
                Some(count.to_string())
            },
        ),
        different_in(&runs, Rule::of_entries("seeds", SEED_KEYS), &seeds),
        different_in(
            &runs,
            Rule::of_entries("performance sample count", ["effective_performance_sample_count"]),
            &held,
        ),
        check_dates(&named),
    ];
    checks.into_iter().flatten().collect()
}

/// Checks the tokens of a sample, by the two rates of the performance run, against those of the
/// accuracy run: the same requests get answers of the same length.
pub(crate) fn check_tokens(
    performance: &Evidence,
    accuracy: &Evidence,
    is_open: bool,
) -> Option<RuleCheck> {
    let by_rate = tokens_by_rate(performance)?;
    let accuracy_trial = accuracy.trials.first();
    let answered = accuracy_trial?.figure(TOKENS_PER_SAMPLE)?.value;
    let keys = [
        "result_tokens_per_second",
        "result_samples_per_second",
        "result_completed_tokens_per_second",
        "result_completed_samples_per_sec",
    ];
    let rule = Rule::of_entries("tokens per sample, by tokens/s and samples/s", keys);
    let measured = number::format_grouped(by_rate);
    let required = format!(
        "within {} of the accuracy run's {}",
        number::format_percent(MAX_TOKEN_DIFFERENCE),
        number::format_grouped(answered)
    );
    let is_near = (by_rate / answered - 1.0).abs() <= MAX_TOKEN_DIFFERENCE;
    // The open division may measure other requests than it answers.
    Some(if is_near || !is_open {
        RuleCheck::new(rule, measured, required, is_near)
    } else {
        RuleCheck::warning(rule, measured, required)
    })
}

/// Tokens of a sample by the two rates of a performance run.
fn tokens_by_rate(performance: &Evidence) -> Option<f64> {
    let trial = performance.trials.first()?;
    let figure = |name: &str| Some(trial.figure(name)?.value);
    let rates = [
        ("tokens_per_second", "samples_per_second"),
        ("completed_tokens_per_second", "completed_samples_per_second"),
    ];
    let mut rate_pairs = rates.iter();
    rate_pairs.find_map(|(tokens, samples)| Some(figure(tokens)? / figure(samples)?))
}

/// Compares the tokens of a sample between the scenarios of a benchmark, which answer the same requests
/// with the same model; nothing forbids that they differ.
pub(crate) fn compare_tokens_of_scenarios(results: &[Evidence]) -> Option<RuleCheck> {
    let performance = results.iter().filter(|result| result.plan.mode == Mode::Performance);
    let tokens: Vec<(&str, f64)> = performance
        .filter_map(|result| Some((result.plan.scenario.as_str(), tokens_by_rate(result)?)))
        .collect();
    let by_tokens = |one: &&(&str, f64), other: &&(&str, f64)| one.1.total_cmp(&other.1);
    let (fewest, most) = (tokens.iter().min_by(by_tokens)?, tokens.iter().max_by(by_tokens)?);
    (most.1 / fewest.1 - 1.0 > MAX_SCENARIO_DIFFERENCE).then(|| {
        let shown = tokens
            .iter()
            .map(|(name, tokens)| format!("{} in {name}", number::format_grouped(*tokens)));
        let required = format!("within {}", number::format_percent(MAX_SCENARIO_DIFFERENCE));
        RuleCheck::warning("tokens per sample", join(shown, ", "), required)
    })
}

fn check_dates(logs: &[(&str, &RunSettings)]) -> Option<RuleCheck> {
    let entries = logs.iter();
    let started = entries.filter_map(|(name, log)| Some((log.started_at?, *name)));
    let (first, last) = started.minmax().into_option()?;
    let days = (last.0.as_second() - first.0.as_second()) / (24 * 60 * 60);
    (days > MAX_DAYS_APART).then(|| {
        let date = |time: jiff::Timestamp| time.strftime("%F").to_string();
        let ends = [first, last].map(|(time, name)| format!("{} ({name})", date(time)));
        RuleCheck::warning(
            Rule::of_entries("dates of its logs", ["test_datetime"]),
            format!("from {}", ends.join(" to ")),
            format!("within {MAX_DAYS_APART} days"),
        )
    })
}

/// Warns of a performance run that is a copy of another scenario's.
pub(crate) fn check_copied_scenarios(results: &mut [Evidence]) {
    for at in 1..results.len() {
        let (earlier, rest) = results.split_at_mut(at);
        let result = &mut rest[0];
        let mut others = earlier.iter().filter(|other| other.plan.mode == Mode::Performance);
        let copied = others
            .find_map(|other| check_shared_log(result, other).filter(|check| !check.passed))
            .filter(|_| result.plan.mode == Mode::Performance);
        let warning = copied.map(|check| RuleCheck { passed: true, warning: true, ..check });
        result.checks.extend(warning);
    }
}

/// Returns the log's name within its result: `performance`, `accuracy`, `TEST01`.
fn log_name(evidence: &Evidence) -> &str {
    match evidence.plan.mode {
        Mode::Performance => "performance",
        Mode::Accuracy => "accuracy",
        Mode::Compliance => {
            evidence.path.rsplit('/').find(|part| is_test(part)).unwrap_or("a test")
        }
    }
}

fn first_run_settings(evidence: &Evidence) -> Option<&RunSettings> {
    evidence.trials.first()?.run_settings.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::TrialEvidence;

    fn log(mode: Mode, path: &str, version: &str) -> Evidence {
        let mut evidence = Evidence::new("Offline", mode);
        evidence.path = path.to_owned();
        let mut trial = TrialEvidence::new_finished(1, path);
        trial.run_settings = Some(RunSettings {
            loadgen_version: Some(version.to_owned()),
            ..RunSettings::default()
        });
        evidence.trials.push(trial);
        evidence
    }

    #[test]
    fn a_difference_names_the_logs() {
        let logs = [
            log(Mode::Performance, "r/Offline/performance/run_1", "5.1.0"),
            log(Mode::Accuracy, "r/Offline/accuracy", "5.0.24"),
            log(Mode::Compliance, "r/Offline/TEST06", "5.1.0"),
        ];
        let all: Vec<&Evidence> = logs.iter().collect();
        let checks = find_differences(&all, None);
        assert_eq!(checks.len(), 1);
        assert_eq!(
            checks[0].to_string(),
            "LoadGen's version: 5.0.24 in accuracy and 5.1.0 in performance, TEST06; required the same in all its logs"
        );
        assert!(find_differences(&all[..1], None).is_empty());
    }
}
