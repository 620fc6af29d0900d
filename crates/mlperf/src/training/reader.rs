//! Reads one log line by line, and holds it against the rules that one log has.

use std::collections::BTreeMap;

use serde_json::Value;

use super::log::{Ending, Seed, TrainingLog};
use super::phases::Phases;
use super::round::{Division, TrainingRules};
use super::rule::{Count, Seen, shown};
use crate::check::RuleCheck;
use crate::mllog::{Event, Runs, TrainingRun, entries};
use retrial_readings::number::grouped;

/// Who ran what, which all logs of a result say alike.
pub(super) const IDENTITY: [&str; 4] = [
    "submission_benchmark",
    "submission_division",
    "submission_org",
    "submission_platform",
];
pub(super) const BATCH_SIZE: &str = "global_batch_size";
/// Within so many milliseconds of a block's end a run stops whose checkpoints are evaluated later: at
/// most 2 s in 307 published logs.
const BLOCK_MS: f64 = 5_000.0;
/// Events that count what was trained on when a run is evaluated or ends.
const COUNTING: [&str; 5] = [
    "eval_start",
    "eval_stop",
    "block_stop",
    "epoch_stop",
    "run_stop",
];
/// More seeds or evaluations than this are not kept: no run has so many.
const MOST: usize = 100_000;

/// An evaluation of the run.
#[derive(Debug, Clone)]
struct Evaluated {
    count: Option<f64>,
    metric: Option<String>,
    value: Option<f64>,
}

/// How often a key stood there.
#[derive(Debug, Clone)]
struct Occurrences {
    count: usize,
    first: Value,
    differ: bool,
}

/// Reads one log.
#[derive(Debug)]
pub struct LogReader<'a> {
    rules: &'a TrainingRules,
    runs: Runs,
    phases: Phases,
    found: BTreeMap<&'a str, Occurrences>,
    told: BTreeMap<String, Value>,
    seen: Seen,
    evaluated: Vec<Evaluated>,
    /// Times of the training's blocks; where one begins, up to how many samples.
    blocks: Vec<(Option<f64>, f64)>,
    /// Samples or epochs that other events of evaluations and of the training's end tell.
    counted: Vec<f64>,
    /// Those of `run_stop`, and its time.
    stopped: Option<(Option<f64>, f64)>,
    seeds: Vec<Seed>,
    seeds_are_numbers: bool,
    malformed: usize,
    violated: Vec<RuleCheck>,
}

impl<'a> LogReader<'a> {
    /// A log that has not been read yet.
    #[must_use]
    pub fn new(rules: &'a TrainingRules) -> Self {
        Self {
            rules,
            runs: Runs::new(&[]),
            phases: Phases::default(),
            found: BTreeMap::new(),
            told: BTreeMap::new(),
            seen: Seen::new(),
            evaluated: Vec::new(),
            blocks: Vec::new(),
            counted: Vec::new(),
            stopped: None,
            seeds: Vec::new(),
            seeds_are_numbers: true,
            malformed: 0,
            violated: Vec::new(),
        }
    }

    /// Reads a line.
    pub fn feed(&mut self, line: &str) {
        for entry in entries(line) {
            match entry {
                Some(event) => self.event(&event),
                None => self.malformed += 1,
            }
        }
    }

    fn event(&mut self, event: &Event) {
        self.runs.event(event);
        let order = self.phases.event(event, self.rules);
        self.violated.extend(order);
        let key = event.key.as_str();
        if let Some((name, rule)) = self.rules.keys.get_key_value(key) {
            let known = self.found.entry(name).or_insert_with(|| Occurrences {
                count: 0,
                first: event.value.clone(),
                differ: false,
            });
            known.count += 1;
            known.differ |= known.first != event.value;
            let asked = rule.violated_by(event, &self.seen);
            if let Some(asked) = asked {
                self.violate(key, shown(&event.value), asked);
            }
        }
        if let Some(number) = event.value.as_f64()
            && self.rules.keys.contains_key(key)
        {
            self.seen.insert(key.to_owned(), number);
        }
        let is_setting = || self.rules.settings.iter().any(|name| name == key);
        if (IDENTITY.contains(&key) || key == BATCH_SIZE || is_setting())
            && !self.told.contains_key(key)
        {
            self.told.insert(key.to_owned(), event.value.clone());
        }
        self.evaluation(event);
    }

    /// What quality, convergence and randomness are judged by.
    fn evaluation(&mut self, event: &Event) {
        let rule = &self.rules.evaluation;
        let count = event.number(&rule.counts);
        if COUNTING.contains(&event.key.as_str()) && self.counted.len() < MOST {
            self.counted.extend(count);
        }
        if event.key == rule.key && event.metadata.get(&rule.counts).is_none() {
            let required = format!("{} in its metadata", rule.counts);
            self.violate(&rule.key, shown(&event.value), required);
        }
        match event.key.as_str() {
            key if key == rule.key && !self.phases.is_over() && self.evaluated.len() < MOST => {
                self.evaluated.push(Evaluated {
                    count,
                    metric: event.text("metric").map(str::to_owned),
                    value: event.value.as_f64(),
                });
            }
            "run_stop" if self.stopped.is_none() => self.stopped = Some((count, event.time_ms)),
            "block_start" | "block_stop"
                if self.rules.is_evaluated_later() && self.blocks.len() < MOST =>
            {
                let begun = count.filter(|_| event.key == "block_start");
                self.blocks.push((begun, event.time_ms));
            }
            "seed" if self.seeds.len() < MOST => match whole(&event.value) {
                Some(value) => self.seeds.push(Seed {
                    file: event.text("file").unwrap_or_default().to_owned(),
                    line: event
                        .metadata
                        .get("lineno")
                        .and_then(Value::as_i64)
                        .unwrap_or(-1),
                    value,
                }),
                None => self.seeds_are_numbers = false,
            },
            _ => {}
        }
    }

    fn violate(&mut self, rule: &str, measured: impl Into<String>, required: impl Into<String>) {
        if !self.violated.iter().any(|known| known.rule == rule) {
            let check = RuleCheck::failed(rule, measured, required);
            self.violated.push(check);
        }
    }

    /// What the log says, and which of its rules it violates.
    #[must_use]
    pub fn finish(mut self) -> TrainingLog {
        let runs = std::mem::replace(&mut self.runs, Runs::new(&[]));
        let last_event = runs.last_key().to_owned();
        let runs = runs.finish();
        let (run, others) = match runs {
            Ok(mut runs) => (Some(runs.remove(0)), runs.len()),
            Err(because) => {
                self.violate("run", because, "one run");
                (None, 0)
            }
        };
        if others > 0 {
            self.violate("run", format!("{} runs", others + 1), "one run in a log");
        }
        let run = run.unwrap_or_default();
        let ending = match run.status.as_deref() {
            Some("success") => Ending::Converged,
            Some(_) => Ending::Aborted,
            None if self.stopped.is_some() => Ending::Aborted,
            None => Ending::Cut,
        };
        if !self.seeds_are_numbers {
            self.violate("seed", "not a number", "whole numbers");
        }
        let mut converged_after = Some(f64::INFINITY);
        if self.malformed > 0 {
            let lines = format!("{} lines cannot be read", self.malformed);
            self.violate("lines", lines, "JSON behind :::MLLOG");
        }
        if ending == Ending::Converged {
            self.occurrences();
            converged_after = self.target();
        }
        let minutes = self.minutes(&run, ending);
        TrainingLog {
            ending,
            minutes,
            converged_after,
            started_ms: run.started_ms(),
            last_event,
            told: self.told,
            seeds: self.seeds,
            violated: self.violated,
        }
    }

    fn minutes(&mut self, run: &TrainingRun, ending: Ending) -> Option<f64> {
        if ending != Ending::Converged {
            return Some(f64::INFINITY);
        }
        match run.minutes(None) {
            Ok(minutes) => Some(minutes),
            Err(because) => {
                self.violate("time", because, "run_stop after run_start");
                None
            }
        }
    }

    /// Every key stands there as often as it must.
    fn occurrences(&mut self) {
        let rules = self.rules;
        for (name, rule) in &rules.keys {
            let found = self.found.get(name.as_str());
            let count = found.map_or(0, |found| found.count);
            let other = rule.or.as_ref().and_then(|or| self.found.get(or.as_str()));
            let differ = found.is_some_and(|found| found.differ);
            match rule.count {
                Count::One if count == 0 => self.violate(name, "missing", "once in each log"),
                // Several that say the same are as good as one.
                Count::One if differ => {
                    let measured = format!("{count} times, with different values");
                    self.violate(name, measured, "once in each log");
                }
                Count::Some if count == 0 && other.is_none() => {
                    let or = rule.or.as_ref().map(|or| format!(", or {or}"));
                    let required = format!("at least once{}", or.unwrap_or_default());
                    self.violate(name, "missing", required);
                }
                _ => {}
            }
        }
    }

    /// The target was met, by the last evaluation and by no other: then the run stops. Returns after
    /// how many samples or epochs.
    fn target(&mut self) -> Option<f64> {
        if self.rules.is_evaluated_later() {
            return self.target_of_checkpoints();
        }
        let rule = &self.rules.evaluation;
        let evaluated = std::mem::take(&mut self.evaluated);
        let Some(last) = evaluated.last() else {
            self.violate(&rule.key, "missing before run_stop", "at least once");
            return None;
        };
        let meets = |one: &Evaluated| one.value.is_some_and(|value| rule.target.allows(value));
        if !meets(last) {
            let measured = last.value.map_or("no number".to_owned(), grouped);
            self.violate(
                "target",
                format!("the last {} is {measured}", rule.key),
                rule.target.words(),
            );
        } else if self.rules.division == Division::Closed
            && let Some(early) = evaluated.iter().rev().skip(1).find(|one| meets(one))
        {
            let (value, at) = (early.value.map(grouped), early.count.map(grouped));
            let measured = format!(
                "{} {} met it at {} already",
                rule.key,
                value.unwrap_or_default(),
                at.unwrap_or_default()
            );
            self.violate("target", measured, "the run stops where it is met");
        }
        let counts: Vec<f64> = evaluated.iter().filter_map(|one| one.count).collect();
        if let Some(pair) = counts.windows(2).find(|pair| pair[1] < pair[0]) {
            let measured = format!("{} after {}", grouped(pair[1]), grouped(pair[0]));
            self.violate(&rule.counts, measured, "never fewer than before");
        }
        let count = last.count?;
        self.counted(count);
        Some((count * 1000.0).round() / 1000.0)
    }

    /// Samples come in batches, and `run_stop` counts them too.
    fn counted(&mut self, count: f64) {
        let rule = &self.rules.evaluation;
        let batch = self.told.get(BATCH_SIZE).and_then(Value::as_f64);
        let samples = rule.counts == "samples_count";
        if let Some(batch) = batch.filter(|batch| samples && *batch > 0.0)
            && count % batch > 0.0
        {
            let required = format!("batches of {}", grouped(batch));
            self.violate(&rule.counts, grouped(count), required);
        }
        // AMD's run_stop counts the batch under way.
        let within = batch.filter(|_| samples).unwrap_or(count * 1e-6);
        let differs = |other: &f64| (other - count).abs() > within;
        let stopped = self.stopped.and_then(|(count, _)| count).filter(differs);
        if let Some(stopped) = stopped {
            let measured = format!(
                "{} at the last evaluation, {} at run_stop",
                grouped(count),
                grouped(stopped)
            );
            self.violate(&rule.counts, measured, "the same");
        } else if !self.counted.is_empty() && self.counted.iter().all(differs) {
            let measured = format!("{} at the last evaluation alone", grouped(count));
            self.violate(&rule.counts, measured, "as its eval_start and eval_stop");
        }
    }

    /// As [`Self::target`], where checkpoints are evaluated after the run, each by several metrics.
    fn target_of_checkpoints(&mut self) -> Option<f64> {
        let rule = &self.rules.evaluation;
        let mut checkpoints: Vec<(f64, BTreeMap<String, f64>)> = Vec::new();
        for one in std::mem::take(&mut self.evaluated) {
            let (Some(count), Some(metric), Some(value)) = (one.count, one.metric, one.value)
            else {
                continue;
            };
            let known = checkpoints
                .iter()
                .position(|(at, _)| (at - count).abs() <= 0.0);
            let at = known.unwrap_or_else(|| {
                checkpoints.push((count, BTreeMap::new()));
                checkpoints.len() - 1
            });
            checkpoints[at].1.insert(metric, value);
        }
        if checkpoints.len() < rule.least {
            let measured = format!("{} checkpoints", checkpoints.len());
            self.violate(&rule.key, measured, format!("at least {}", rule.least));
        }
        let names: Vec<&str> = rule.metrics.keys().map(String::as_str).collect();
        let whole =
            |metrics: &BTreeMap<String, f64>| names.iter().all(|name| metrics.contains_key(*name));
        if checkpoints.iter().any(|(_, metrics)| !whole(metrics)) {
            let required = format!("{} of each checkpoint", names.join(" and "));
            self.violate("metrics", "some are missing", required);
        }
        let meets = |metrics: &BTreeMap<String, f64>| {
            rule.metrics
                .iter()
                .all(|(name, range)| metrics.get(name).is_some_and(|value| range.allows(*value)))
        };
        let met = checkpoints.iter().filter(|(_, metrics)| meets(metrics));
        let Some(first) = met.map(|(count, _)| *count).min_by(f64::total_cmp) else {
            let targets = rule.metrics.iter();
            let targets = targets.map(|(name, range)| format!("{name} {}", range.words()));
            let required = targets.collect::<Vec<_>>().join(", ");
            self.violate("target", "no checkpoint meets it", required);
            return None;
        };
        self.stopped_with_a_block(first);
        Some(first)
    }

    /// The time of `run_stop` is written after the checkpoints were evaluated: it is that of the end
    /// of a training block, and no block of an earlier checkpoint begins after it.
    fn stopped_with_a_block(&mut self, first: f64) {
        let Some((_, stopped)) = self.stopped else {
            return;
        };
        let times = self.blocks.iter().map(|(_, time)| (time - stopped).abs());
        let away = times.min_by(f64::total_cmp).unwrap_or_default();
        let earlier = self
            .blocks
            .iter()
            .filter(|(begun, _)| begun.is_some_and(|begun| begun < first));
        let begun = earlier.map(|(_, time)| *time).max_by(f64::total_cmp);
        let measured = if away > BLOCK_MS {
            let seconds = grouped(away / 1000.0);
            format!("run_stop is {seconds} s away from the end of any training block")
        } else if begun.is_some_and(|begun| stopped < begun) {
            "run_stop is before the training of its checkpoint".to_owned()
        } else {
            return;
        };
        self.violate("clock", measured, "the end of its checkpoint's training");
    }
}

/// A seed as the official checker reads it: a number, or a text of one.
fn whole(value: &Value) -> Option<i64> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "seeds are compared only")]
        Value::Number(number) => number
            .as_i64()
            .or(number.as_f64().map(|value| value as i64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
