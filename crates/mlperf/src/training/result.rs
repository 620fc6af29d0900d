//! A result: its logs together. They are as many as the round requires, different runs of one
//! implementation, and converge no faster than the reference.

use serde_json::Value;

use super::convergence::{Convergence, ConvergenceError, MIN_RUNS, normalize_convergence};
use super::dependent::BATCH_SIZE;
use super::log::{LogEnding, TrainingLog};
use super::reader::IDENTITY_KEYS;
use super::round::TrainingRules;
use super::rule::format_value;
use crate::Division;
use crate::check::RuleCheck;
use retrial_readings::number::format_grouped;

/// Rounds are half a year apart; the logs of no published result are more than 52 days apart.
const MAX_DAYS_APART: f64 = 90.0;
const DAY_MS: f64 = 86_400_000.0;
/// Factors that differ by less are one.
const FACTOR_TOLERANCE: f64 = 1e-6;

/// A log of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLog {
    /// The file name of the log, `result_3.txt`.
    pub name: String,
    pub log: TrainingLog,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ResultCheck {
    /// Every rule, passed or violated.
    pub checks: Vec<RuleCheck>,
    /// The factor by which the mean of the times is multiplied.
    pub factor: f64,
}

/// Checks the logs of a result; `scaling` is the factor of its `scaling.json`.
pub fn check_result(rules: &TrainingRules, logs: &[NamedLog], scaling: Option<f64>) -> ResultCheck {
    let mut checks = vec![check_log_count(rules, logs), check_converged_runs(logs)];
    checks.extend(group_violations(logs));
    checks.extend(check_distinct_runs(logs));
    checks.extend(check_same_settings(rules, logs));
    checks.extend(check_dates(logs));
    if rules.division == Division::Closed {
        checks.extend(check_seeds(logs));
    }
    let convergence = compute_convergence(rules, logs);
    let converged = convergence.as_ref().and_then(|result| result.as_ref().ok());
    let by_convergence = converged.map_or(1.0, |convergence| convergence.factor);
    let factor = scaling.unwrap_or(by_convergence).max(by_convergence);
    checks.extend(convergence.map(|result| check_convergence(rules, &result)));
    checks.extend(scaling.map(|scaling| {
        let passed = scaling.is_finite() && scaling > by_convergence - FACTOR_TOLERANCE;
        let required = format!("at least {}, by its convergence", format_grouped(by_convergence));
        RuleCheck::new("scaling.json", format_grouped(scaling), required, passed)
    }));
    ResultCheck { checks, factor }
}

fn check_log_count(rules: &TrainingRules, logs: &[NamedLog]) -> RuleCheck {
    let runs = rules.runs as usize;
    let required = format!("{runs} (result_*.txt), by round {}", rules.round);
    RuleCheck::new("logs", logs.len().to_string(), required, logs.len() == runs)
}

/// Checks that all runs but one converged: that one counts as the slowest, which is dropped.
fn check_converged_runs(logs: &[NamedLog]) -> RuleCheck {
    let unconverged = logs.iter().filter(|entry| entry.log.ending != LogEnding::Converged);
    let names: Vec<&str> = unconverged.map(|entry| entry.name.as_str()).collect();
    let measured = match names.as_slice() {
        [] => "all".to_owned(),
        names => format!("all but {}", names.join(", ")),
    };
    RuleCheck::new("runs that converged", measured, "all but one", names.len() < 2)
}

/// Rules that single logs violate: logs that violate one in the same way are listed together.
fn group_violations(logs: &[NamedLog]) -> Vec<RuleCheck> {
    let mut groups: Vec<(RuleCheck, Vec<&str>)> = Vec::new();
    for entry in logs {
        for check in &entry.log.violated {
            let is_same = |(other, _): &&mut (RuleCheck, Vec<&str>)| other.says_the_same(check);
            match groups.iter_mut().find(is_same) {
                Some((violated, names)) => {
                    violated.stated_in.extend_from_slice(&check.stated_in);
                    names.push(&entry.name);
                }
                None => groups.push((check.clone(), vec![&entry.name])),
            }
        }
    }
    if groups.is_empty() {
        let measured = format!("as the rules require in all {} logs", logs.len());
        return vec![RuleCheck::new(
            "keys, order and target of each log",
            measured,
            "as the rules require",
            true,
        )];
    }
    let checks = groups.into_iter().map(|(check, names)| RuleCheck {
        rule: format!("{}: {}", join_names(&names), check.rule),
        ..check
    });
    checks.collect()
}

/// `result_0.txt`, or `result_0.txt and 9 more`.
fn join_names(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    }
}

fn check_distinct_runs(logs: &[NamedLog]) -> Option<RuleCheck> {
    let same_pairs = logs.iter().enumerate().flat_map(|(at, entry)| {
        let others = logs[at + 1..].iter();
        others.filter_map(move |other| {
            let same = entry.log.identity().is_same_run(&other.log.identity());
            same.then(|| format!("{} and {} are the same run", entry.name, other.name))
        })
    });
    let pairs: Vec<String> = same_pairs.collect();
    let required = "a different run in each log";
    (!pairs.is_empty()).then(|| RuleCheck::violation("runs", pairs.join("; "), required))
}

/// Checks that the logs of a result are of one submitter's implementation with one set of hyperparameters.
fn check_same_settings(rules: &TrainingRules, logs: &[NamedLog]) -> Vec<RuleCheck> {
    let setting_names = rules.settings.iter().map(String::as_str);
    let settings = setting_names.filter(|key| *key != BATCH_SIZE);
    let keys = IDENTITY_KEYS.into_iter().chain([BATCH_SIZE]).chain(settings);
    keys.flat_map(|key| check_same_setting(rules, logs, key)).collect()
}

fn check_same_setting(rules: &TrainingRules, logs: &[NamedLog], key: &str) -> Vec<RuleCheck> {
    let values = || logs.iter().filter_map(|entry| Some((entry, entry.log.settings.get(key)?)));
    let frequency = |value: &Value| values().filter(|(_, other)| *other == value).count();
    let Some((_, usual)) = values().rev().max_by_key(|(_, value)| frequency(value)) else {
        return Vec::new();
    };
    // A value that its own rule does not allow is reported for its log.
    let is_reported = |log: &TrainingLog| log.violated.iter().any(|check| check.rule == key);
    let differing_values =
        values().filter(|(entry, value)| *value != usual && !is_reported(&entry.log));
    let differing: Vec<RuleCheck> = differing_values
        .map(|(entry, value)| {
            let measured =
                format!("{}, {} in the others", format_value(value), format_value(usual));
            let rule = format!("{}: {key}", entry.name);
            RuleCheck::violation(rule, measured, "the same in all logs of a result")
        })
        .collect();
    if !differing.is_empty() {
        return differing;
    }
    let rule_text = rules.keys.get(key).map(super::rule::KeyRule::describe);
    let rule = rule_text.filter(|rule| !rule.is_empty());
    let required = rule.unwrap_or_else(|| "the same in all logs".to_owned());
    if logs.iter().any(|entry| is_reported(&entry.log)) {
        return Vec::new();
    }
    vec![RuleCheck::new(key, format_value(usual), required, true)]
}

fn check_dates(logs: &[NamedLog]) -> Option<RuleCheck> {
    let start_times = logs.iter().filter_map(|entry| Some((entry.log.started_ms?, entry)));
    let mut started: Vec<(f64, &NamedLog)> = start_times.collect();
    started.sort_by(|(start, _), (other, _)| start.total_cmp(other));
    let ((first, oldest), (last, newest)) = (*started.first()?, *started.last()?);
    let days = (last - first) / DAY_MS;
    let measured = if days > MAX_DAYS_APART {
        format!(
            "{} is {} days older than {}",
            oldest.name,
            format_grouped(days.round()),
            newest.name
        )
    } else {
        match days.ceil() {
            days if days > 1.0 => format!("within {} days", format_grouped(days)),
            _ => "within a day".to_owned(),
        }
    };
    let required = format!("within {MAX_DAYS_APART} days: one round");
    Some(RuleCheck::new("dates", measured, required, days <= MAX_DAYS_APART))
}

/// Checks that each run has a seed, and no other run has it on the same line of the same source.
fn check_seeds(logs: &[NamedLog]) -> Vec<RuleCheck> {
    let mut checks = Vec::new();
    for (at, entry) in logs.iter().enumerate() {
        let converged = entry.log.ending == LogEnding::Converged;
        if entry.log.seeds.is_empty() && converged {
            let rule = format!("{}: seed", entry.name);
            checks.push(RuleCheck::violation(rule, "missing", "at least one in each log"));
        }
        let before = logs[..at].iter();
        let repeated = before.filter_map(|other| {
            let mut seeds = entry.log.seeds.iter();
            Some((other, seeds.find(|seed| other.log.seeds.contains(seed))?))
        });
        checks.extend(repeated.take(1).map(|(other, seed)| {
            let measured = format!("{}, as in {}", seed.value, other.name);
            let rule = format!("{}: seed", entry.name);
            RuleCheck::violation(rule, measured, "a different one in each run")
        }));
    }
    if checks.is_empty() {
        checks.push(RuleCheck::new("seeds", "all different", "a different one in each run", true));
    }
    checks
}

/// Compares the convergence with the reference's; `None` where it is unknown, for which there is
/// another reason.
fn compute_convergence(
    rules: &TrainingRules,
    logs: &[NamedLog],
) -> Option<Result<Convergence, ConvergenceError>> {
    let reference = rules.reference.as_ref()?;
    let count_options = logs.iter().map(|entry| entry.log.converged_after);
    let counts = count_options.collect::<Option<Vec<f64>>>()?;
    let mut sizes = logs.iter().filter_map(|entry| entry.log.setting_number(BATCH_SIZE));
    let size = sizes.next().filter(|size| *size >= 1.0)?;
    if counts.len() < MIN_RUNS || sizes.any(|other| (other - size).abs() > 0.0) {
        return None;
    }
    Some(normalize_convergence(reference, rules.runs, size, &counts))
}

fn check_convergence(
    rules: &TrainingRules,
    result: &Result<Convergence, ConvergenceError>,
) -> RuleCheck {
    let unit = match rules.evaluation.counts.as_str() {
        "epoch_num" => "epochs",
        _ => "samples",
    };
    let (convergence, passed) = match result {
        Ok(convergence) | Err(ConvergenceError::TooFast(convergence)) => {
            (convergence, result.is_ok())
        }
        Err(other) => {
            let required = "a reference convergence point";
            return RuleCheck::violation("convergence", other.to_string(), required);
        }
    };
    let result = if passed {
        format!("the time is multiplied by {}", format_grouped(convergence.factor))
    } else {
        "faster than chance can explain".to_owned()
    };
    let [samples, reference] = [convergence.samples, convergence.reference].map(format_grouped);
    let measured = format!("{samples} {unit}, {reference} in the reference: {result}");
    let required = format!("at least {} {unit}", format_grouped(convergence.fewest));
    RuleCheck::new("convergence", measured, required, passed)
}
