//! A result: its logs together. They are as many as the round requires, different runs of one
//! implementation, and converge no faster than the reference.

use itertools::{Itertools as _, join};
use serde_json::Value;

use super::convergence::{Convergence, ConvergenceError, MIN_RUNS, normalize_convergence};
use super::dependent::BATCH_SIZE;
use super::log::{LogEnding, LoggedSetting, TrainingLog};
use super::reader::IDENTITY_KEYS;
use super::round::TrainingRules;
use super::rule::format_value;
use crate::Division;
use crate::check::{Rule, RuleCheck, StatingLines};
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

impl NamedLog {
    /// Returns a line of it, if it has one.
    fn line(&self, number: Option<u64>) -> Option<StatingLines> {
        Some(StatingLines::of_line(&self.name, number?))
    }
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
    checks.extend(convergence.map(|result| check_convergence(rules, logs, &result)));
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
    // The end of a damaged log may be a line that cannot be read.
    let is_unconverged =
        |entry: &&NamedLog| entry.log.ending != LogEnding::Converged && !entry.log.is_damaged;
    let unconverged: Vec<&NamedLog> = logs.iter().filter(is_unconverged).collect();
    let names: Vec<&str> = unconverged.iter().map(|entry| entry.name.as_str()).collect();
    let measured = match names.as_slice() {
        [] => "all".to_owned(),
        names => format!("all but {}", names.join(", ")),
    };
    let lines = unconverged.iter().filter_map(|entry| entry.line(entry.log.last_line));
    let rule = Rule::from("runs that converged").with_lines(lines.collect());
    RuleCheck::new(rule, measured, "all but one", names.len() < 2)
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
                    // One log may violate a rule several times.
                    if names.last() != Some(&&*entry.name) {
                        names.push(&entry.name);
                    }
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
    let same_pairs = logs
        .iter()
        .tuple_combinations()
        .filter(|(entry, other)| entry.log.identity().is_same_run(&other.log.identity()));
    let pairs: Vec<(&NamedLog, &NamedLog)> = same_pairs.collect();
    let of_same = pairs.iter().flat_map(|(entry, other)| [*entry, *other]);
    let of_same = of_same.unique_by(|entry| &entry.name);
    let lines = of_same.filter_map(|entry| entry.line(entry.log.start_line));
    let rule = Rule::from("runs").with_lines(lines.collect());
    let described = pairs
        .iter()
        .map(|(entry, other)| format!("{} and {} are the same run", entry.name, other.name));
    let required = "a different run in each log";
    (!pairs.is_empty()).then(|| RuleCheck::violation(rule, join(described, "; "), required))
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
    let frequency = |value: &Value| values().filter(|(_, other)| other.value == *value).count();
    let usual = values().rev().max_by_key(|(_, setting)| frequency(&setting.value));
    let Some((usual_log, LoggedSetting { value: usual, line: usual_line })) = usual else {
        return Vec::new();
    };
    // A value that its own rule does not allow is reported for its log.
    let is_reported = |log: &TrainingLog| log.violated.iter().any(|check| check.rule == key);
    let differing_values =
        values().filter(|(entry, setting)| setting.value != *usual && !is_reported(&entry.log));
    let differing: Vec<RuleCheck> = differing_values
        .map(|(entry, LoggedSetting { value, line })| {
            let measured =
                format!("{}, {} in the others", format_value(value), format_value(usual));
            let lines = [entry.line(Some(*line)), usual_log.line(Some(*usual_line))];
            let rule = Rule::from(format!("{}: {key}", entry.name))
                .with_lines(lines.into_iter().flatten().collect());
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
    let lines = [oldest, newest].into_iter().filter_map(|entry| entry.line(entry.log.start_line));
    let rule = Rule::from("dates").with_lines(lines.collect());
    Some(RuleCheck::new(rule, measured, required, days <= MAX_DAYS_APART))
}

/// Checks that each run has a seed, and no other run has it on the same line of the same source.
fn check_seeds(logs: &[NamedLog]) -> Vec<RuleCheck> {
    let mut checks = Vec::new();
    for (at, entry) in logs.iter().enumerate() {
        let rule = |lines: Vec<StatingLines>| {
            Rule::from(format!("{}: seed", entry.name)).with_lines(lines)
        };
        let is_whole = entry.log.ending == LogEnding::Converged && !entry.log.is_damaged;
        if entry.log.seeds.is_empty() && is_whole {
            let rule = rule(entry.line(entry.log.last_line).into_iter().collect());
            checks.push(RuleCheck::violation(rule, "missing", "at least one in each log"));
        }
        let before = logs[..at].iter();
        let repeated = before.filter_map(|other| {
            let mut pairs = entry.log.seeds.iter().cartesian_product(&other.log.seeds);
            Some((other, pairs.find(|(seed, others)| seed.is_same(others))?))
        });
        checks.extend(repeated.take(1).map(|(other, (seed, others))| {
            let measured = format!("{}, as in {}", seed.value, other.name);
            let lines = [entry.line(Some(seed.log_line)), other.line(Some(others.log_line))];
            let rule = rule(lines.into_iter().flatten().collect());
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
    logs: &[NamedLog],
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
    let lines = logs.iter().filter_map(|entry| entry.line(entry.log.last_evaluation_line));
    let rule = Rule::from("convergence").with_lines(lines.collect());
    RuleCheck::new(rule, measured, required, passed)
}
