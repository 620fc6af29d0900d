//! Reads one log line by line, and checks it against the rules of a single log.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dependent::{BATCH_SIZE, LastNumbers};
use super::log::{LogEnding, LoggedSetting, Seed, TrainingLog};
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
    settings: BTreeMap<String, LoggedSetting>,
    latest: LastNumbers,
    /// Samples or epochs of the evaluation before.
    last_evaluation: Option<f64>,
    seeds: Vec<Seed>,
    /// The first lines that start a run.
    start_lines: Vec<u64>,
    /// The line of the last event.
    last_line: Option<u64>,
    malformed: usize,
    /// The numbers of the first lines that cannot be read.
    malformed_lines: Vec<u64>,
    violated: Vec<ViolatedRule>,
}

/// A violated rule of a log.
#[derive(Debug)]
struct ViolatedRule {
    check: RuleCheck,
    /// It is violated by several lines, or by what no line states. In a damaged log an unreadable line may be the cause.
    needs_whole_log: bool,
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
            start_lines: Vec::new(),
            last_line: None,
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
        self.last_line = Some(self.line);
        if event.key == "run_start" && self.start_lines.len() < MAX_STATED_LINES {
            self.start_lines.push(self.line);
        }
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
                let measured = format_value(&event.value);
                if rule.is_dependent() {
                    self.add_violation_in(&[self.line], key, measured, required);
                } else {
                    self.add_violation(key, measured, required);
                }
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
            let setting = LoggedSetting { value: event.value.clone(), line: self.line };
            self.settings.insert(key.to_owned(), setting);
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
            self.add_violation_in(&[self.line], &check.rule, check.measured, check.required);
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
            log_line: self.line,
        });
    }

    /// Adds a violation by the event of this line alone, unless one of its rule was added.
    fn add_violation(
        &mut self,
        rule: &str,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) {
        if !self.has_violated(rule) {
            let check =
                self.with_lines(RuleCheck::violation(rule, measured, required), &[self.line]);
            self.violated.push(ViolatedRule { check, needs_whole_log: false });
        }
    }

    /// Adds a violation that these lines state together, unless one of its rule was added. What is missing is missing
    /// up to the last event.
    fn add_violation_in(
        &mut self,
        lines: &[u64],
        rule: &str,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) {
        if !self.has_violated(rule) {
            self.add_check(RuleCheck::violation(rule, measured, required), lines);
        }
    }

    fn add_missing(
        &mut self,
        rule: &str,
        measured: impl Into<String>,
        required: impl Into<String>,
    ) {
        let last: Vec<u64> = self.last_line.into_iter().collect();
        self.add_violation_in(&last, rule, measured, required);
    }

    fn has_violated(&self, rule: &str) -> bool {
        self.violated.iter().any(|violated| violated.check.rule == rule)
    }

    fn add_check(&mut self, check: RuleCheck, lines: &[u64]) {
        let check = self.with_lines(check, lines);
        self.violated.push(ViolatedRule { check, needs_whole_log: true });
    }

    fn with_lines(&self, mut check: RuleCheck, lines: &[u64]) -> RuleCheck {
        let lines = lines.iter().take(MAX_STATED_LINES);
        let stated = lines.map(|number| StatingLines::of_line(self.file, *number));
        check.stated_in.extend(stated);
        check
    }

    /// Returns the log's contents, and the rules that it violates.
    pub fn finish(mut self) -> TrainingLog {
        let runs = std::mem::take(&mut self.runs);
        let last_event = runs.last_key.clone();
        let run = match runs.finish() {
            Ok(mut runs) => {
                if runs.len() > 1 {
                    let measured = format!("{} runs", runs.len());
                    let starts = self.start_lines.clone();
                    self.add_violation_in(&starts, "run", measured, "one run in a log");
                }
                runs.remove(0)
            }
            Err(error) => {
                self.add_missing("run", error.to_string(), "one run");
                TrainingRun::default()
            }
        };
        let ending = match run.status.as_deref() {
            Some("success") => LogEnding::Converged,
            Some(_) => LogEnding::Aborted,
            None if self.quality.has_stopped() => LogEnding::Aborted,
            None => LogEnding::Truncated,
        };
        let last_evaluation_line = self.quality.last_evaluation_line();
        let mut converged_after = Some(f64::INFINITY);
        if ending == LogEnding::Converged {
            self.check_occurrences();
            let batch = self.settings.get(BATCH_SIZE).and_then(|batch| batch.value.as_f64());
            let quality = std::mem::take(&mut self.quality);
            let (count, violated) = quality.finish(self.rules, batch);
            converged_after = count;
            for (check, lines) in violated {
                self.add_check(check, &lines);
            }
        }
        let mut minutes = self.minutes_to_train(&run, ending);
        let is_damaged = self.malformed > 0;
        if is_damaged {
            self.report_damage();
            // Without its time it counts as the slowest.
            let is_lost = minutes.get_or_insert(f64::INFINITY).is_infinite();
            converged_after = is_lost.then_some(f64::INFINITY);
        }
        TrainingLog {
            ending,
            minutes,
            converged_after,
            started_ms: run.started_ms,
            start_line: self.start_lines.first().copied(),
            last_event,
            last_line: self.last_line,
            last_evaluation_line,
            is_damaged,
            settings: self.settings,
            seeds: self.seeds,
            violated: self.violated.into_iter().map(|violated| violated.check).collect(),
        }
    }

    /// Reports the lines that cannot be read, in place of each violation of which one of them may be the cause.
    fn report_damage(&mut self) {
        self.violated.retain(|violated| !violated.needs_whole_log);
        let lines = format::format_count(self.malformed, "line");
        let measured = format!("{lines} cannot be read");
        let first = std::mem::take(&mut self.malformed_lines);
        self.add_violation_in(&first, "lines", measured, "JSON after :::MLLOG");
    }

    fn minutes_to_train(&mut self, run: &TrainingRun, ending: LogEnding) -> Option<f64> {
        if ending != LogEnding::Converged {
            return Some(f64::INFINITY);
        }
        match run.minutes_to_train(None) {
            Ok(minutes) => Some(minutes),
            Err(error) => {
                self.add_missing("time", error.to_string(), "run_stop after run_start");
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
                    self.add_missing(name, "missing", "once in each log");
                }
                // Several with the same value count as one.
                OccurrenceCount::One if let Some(lines) = differing => {
                    let measured = format!("{count} times, with different values");
                    self.add_violation_in(&lines, name, measured, "once in each log");
                }
                OccurrenceCount::Some if count == 0 && other.is_none() => {
                    let alternative_text = alternative_key.map(|or| format!(", or {or}"));
                    let required = format!("at least once{}", alternative_text.unwrap_or_default());
                    self.add_missing(name, "missing", required);
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
