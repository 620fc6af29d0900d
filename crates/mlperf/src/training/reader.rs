//! Reads one log line by line, and checks it against the rules of a single log.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dependent::{BATCH_SIZE, LastNumbers};
use super::log::{LogEnding, Seed, TrainingLog};
use super::phases::PhaseTracker;
use super::quality::QualityTracker;
use super::round::TrainingRules;
use super::rule::{OccurrenceCount, format_value};
use crate::check::{RuleCheck, StatingLines};
use crate::mllog::{MllogEvent, TrainingRun, TrainingRunReader, parse_entries};
use retrial_document::measures::format;

/// The identity of a result, the same in all of its logs.
pub(super) const IDENTITY_KEYS: [&str; 4] =
    ["submission_benchmark", "submission_division", "submission_org", "submission_platform"];
/// More lines of a rule are not named.
const MAX_STATED_LINES: usize = 12;
/// More seeds than this are not stored: no run has so many.
const MAX_SEEDS: usize = 100_000;

/// The occurrences of a key.
#[derive(Debug, Clone)]
struct Occurrences {
    count: usize,
    first: Value,
    first_line: u64,
    /// The line of the first other value.
    differing_line: Option<u64>,
}

/// Reads one log, and checks it against the rules of a single log.
#[derive(Debug)]
pub struct LogReader<'a> {
    rules: &'a TrainingRules,
    /// The name of the log's file.
    file: &'a str,
    /// The number of the line that is read, from 1.
    line: u64,
    runs: TrainingRunReader,
    phases: PhaseTracker,
    quality: QualityTracker,
    occurrences: BTreeMap<&'a str, Occurrences>,
    settings: BTreeMap<String, Value>,
    latest: LastNumbers,
    /// Samples or epochs of the evaluation before.
    last_evaluation: Option<f64>,
    seeds: Vec<Seed>,
    malformed: usize,
    /// The numbers of the first lines that cannot be read.
    malformed_lines: Vec<u64>,
    violated: Vec<RuleCheck>,
}

impl<'a> LogReader<'a> {
    pub fn new(rules: &'a TrainingRules, file: &'a str) -> Self {
        Self {
            rules,
            file,
            line: 0,
            runs: TrainingRunReader::default(),
            phases: PhaseTracker::default(),
            quality: QualityTracker::default(),
            occurrences: BTreeMap::new(),
            settings: BTreeMap::new(),
            latest: LastNumbers::new(),
            last_evaluation: None,
            seeds: Vec::new(),
            malformed: 0,
            malformed_lines: Vec::new(),
            violated: Vec::new(),
        }
    }

    /// Reads one line, which may have several events or none.
    pub fn feed_line(&mut self, line: &str) {
        self.line += 1;
        for entry in parse_entries(line) {
            let Some(event) = entry else {
                self.malformed += 1;
                if self.malformed_lines.len() < MAX_STATED_LINES {
                    self.malformed_lines.push(self.line);
                }
                continue;
            };
            self.read_event(&event);
        }
    }

    fn read_event(&mut self, event: &MllogEvent) {
        self.runs.read_event(event);
        self.quality.read_event(event, self.line, self.rules);
        if let Some(check) = self.phases.check_event(event, self.rules) {
            self.add_check(check, &[self.line]);
        }
        let key = event.key.as_str();
        if let Some((name, rule)) = self.rules.keys.get_key_value(key) {
            let entry = self.occurrences.entry(name).or_insert_with(|| Occurrences {
                count: 0,
                first: event.value.clone(),
                first_line: self.line,
                differing_line: None,
            });
            entry.count += 1;
            if entry.first != event.value {
                entry.differing_line.get_or_insert(self.line);
            }
            if let Some(required) = rule.find_violation(event, &self.latest) {
                self.add_violation(key, format_value(&event.value), required);
            }
            let number = event.value.as_f64();
            self.latest.extend(number.map(|number| (key.to_owned(), number)));
        }
        let evaluation = &self.rules.evaluation;
        if key == evaluation.key && event.metadata.get(&evaluation.counts).is_none() {
            let required = format!("{} in its metadata", evaluation.counts);
            self.add_violation(key, format_value(&event.value), required);
        }
        if key == evaluation.key {
            self.check_evaluation(event);
        }
        let is_setting = || self.rules.settings.iter().any(|name| name == key);
        if (IDENTITY_KEYS.contains(&key) || key == BATCH_SIZE || is_setting())
            && !self.settings.contains_key(key)
        {
            self.settings.insert(key.to_owned(), event.value.clone());
        }
        if key == "seed" && self.seeds.len() < MAX_SEEDS {
            self.store_seed(event);
        }
    }

    /// Checks an evaluation against the round's schedule, and its value.
    fn check_evaluation(&mut self, event: &MllogEvent) {
        let rules = self.rules;
        let evaluation = &rules.evaluation;
        let value = event.value.as_f64();
        if let Some(each) = &evaluation.each
            && !value.is_some_and(|value| each.allows(value))
        {
            self.add_violation(&evaluation.key, format_value(&event.value), each.describe());
        }
        let Some(count) = event.metadata_number(&evaluation.counts) else {
            return;
        };
        let batch = self.latest.get(BATCH_SIZE).copied();
        let before = self.last_evaluation.replace(count);
        let violated = evaluation.schedule.find_violation(count, before, batch);
        if let Some(check) = violated {
            self.add_violation(&check.rule, check.measured, check.required);
        }
    }

    fn store_seed(&mut self, event: &MllogEvent) {
        let Some(value) = parse_seed(&event.value) else {
            return self.add_violation("seed", "not a number", "whole numbers");
        };
        let line = event.metadata.get("lineno").and_then(Value::as_i64);
        self.seeds.push(Seed {
            file: event.metadata_text("file").unwrap_or_default().to_owned(),
            line: line.unwrap_or(-1),
            value,
        });
    }

    /// Adds a violation by the event of this line.
    fn add_violation(
        &mut self,
        rule: &str,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) {
        self.add_violation_in(&[self.line], rule, measured, required);
    }

    /// Adds a violation that these lines state, unless one of its rule was added; no line states what is missing.
    fn add_violation_in(
        &mut self,
        lines: &[u64],
        rule: &str,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) {
        if !self.violated.iter().any(|check| check.rule == rule) {
            self.add_check(RuleCheck::violation(rule, measured, required), lines);
        }
    }

    fn add_check(&mut self, mut check: RuleCheck, lines: &[u64]) {
        let file = || self.file.to_owned().into();
        let lines = lines.iter().take(MAX_STATED_LINES);
        check
            .stated_in
            .extend(lines.map(|number| StatingLines::Line { file: file(), number: *number }));
        self.violated.push(check);
    }

    /// Returns the log's contents, and the rules that it violates.
    pub fn finish(mut self) -> TrainingLog {
        let runs = std::mem::take(&mut self.runs);
        let last_event = runs.last_key.clone();
        let run = match runs.finish() {
            Ok(mut runs) => {
                if runs.len() > 1 {
                    let measured = format!("{} runs", runs.len());
                    self.add_violation_in(&[], "run", measured, "one run in a log");
                }
                runs.remove(0)
            }
            Err(error) => {
                self.add_violation_in(&[], "run", error.to_string(), "one run");
                TrainingRun::default()
            }
        };
        let ending = match run.status.as_deref() {
            Some("success") => LogEnding::Converged,
            Some(_) => LogEnding::Aborted,
            None if self.quality.has_stopped() => LogEnding::Aborted,
            None => LogEnding::Truncated,
        };
        if self.malformed > 0 {
            let lines = format::format_count(self.malformed, "line");
            let measured = format!("{lines} cannot be read");
            let first = std::mem::take(&mut self.malformed_lines);
            self.add_violation_in(&first, "lines", measured, "JSON after :::MLLOG");
        }
        let mut converged_after = Some(f64::INFINITY);
        if ending == LogEnding::Converged {
            self.check_occurrences();
            let batch = self.settings.get(BATCH_SIZE).and_then(Value::as_f64);
            let quality = std::mem::take(&mut self.quality);
            let (count, violated) = quality.finish(self.rules, batch);
            converged_after = count;
            for (check, lines) in violated {
                self.add_check(check, &lines);
            }
        }
        let minutes = self.minutes_to_train(&run, ending);
        TrainingLog {
            ending,
            minutes,
            converged_after,
            started_ms: run.started_ms,
            last_event,
            settings: self.settings,
            seeds: self.seeds,
            violated: self.violated,
        }
    }

    fn minutes_to_train(&mut self, run: &TrainingRun, ending: LogEnding) -> Option<f64> {
        if ending != LogEnding::Converged {
            return Some(f64::INFINITY);
        }
        match run.minutes_to_train(None) {
            Ok(minutes) => Some(minutes),
            Err(error) => {
                self.add_violation_in(&[], "time", error.to_string(), "run_stop after run_start");
                None
            }
        }
    }

    /// Checks that every key occurs as often as its rule requires.
    fn check_occurrences(&mut self) {
        let rules = self.rules;
        for (name, rule) in &rules.keys {
            let occurrences = self.occurrences.get(name.as_str());
            let count = occurrences.map_or(0, |occurrences| occurrences.count);
            let alternative_key = rule.or.as_deref();
            let other = alternative_key.and_then(|or| self.occurrences.get(or));
            let differing =
                occurrences.and_then(|found| Some([found.first_line, found.differing_line?]));
            match rule.count {
                OccurrenceCount::One if count == 0 => {
                    self.add_violation_in(&[], name, "missing", "once in each log");
                }
                // Several with the same value count as one.
                OccurrenceCount::One if let Some(lines) = differing => {
                    let measured = format!("{count} times, with different values");
                    self.add_violation_in(&lines, name, measured, "once in each log");
                }
                OccurrenceCount::Some if count == 0 && other.is_none() => {
                    let alternative_text = alternative_key.map(|or| format!(", or {or}"));
                    let required = format!("at least once{}", alternative_text.unwrap_or_default());
                    self.add_violation_in(&[], name, "missing", required);
                }
                _ => {}
            }
        }
    }
}

/// Reads a seed as the official checker does: a number, or a text of one.
fn parse_seed(value: &Value) -> Option<i64> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "seeds are compared only")]
        Value::Number(number) => number.as_i64().or(number.as_f64().map(|value| value as i64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
