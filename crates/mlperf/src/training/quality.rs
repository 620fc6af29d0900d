//! A run's evaluations: whether the target was met, after how many samples or epochs, and whether
//! the events around them agree.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::round::TrainingRules;
use crate::Division;
use crate::check::RuleCheck;
use crate::mllog::MllogEvent;
use retrial_readings::number::format_grouped;

/// More evaluations than this are not stored: no run has so many.
const MAX_STORED_EVENTS: usize = 100_000;
/// Within so many milliseconds of a block's end a run stops whose checkpoints are evaluated later: at
/// most 2 s in 307 published logs.
const MAX_BLOCK_DISTANCE_MS: f64 = 5_000.0;
/// Events that count the samples trained on when a run is evaluated or ends.
const COUNTING_EVENTS: [&str; 5] =
    ["eval_start", "eval_stop", "block_stop", "epoch_stop", "run_stop"];

/// One evaluation of the model.
#[derive(Debug, Clone)]
struct LoggedEvaluation {
    /// The number of its line.
    line: u64,
    count: Option<f64>,
    metric: Option<String>,
    value: Option<f64>,
}

/// The end of the run.
#[derive(Debug, Clone, Copy)]
struct LoggedStop {
    /// The number of its line.
    line: u64,
    /// Samples or epochs.
    count: Option<f64>,
    time_ms: f64,
}

/// A violated rule, and the numbers of the lines that state it.
type LinedCheck = (RuleCheck, Vec<u64>);

/// The evaluations of a run so far.
#[derive(Debug, Clone, Default)]
pub(super) struct QualityTracker {
    evaluated: Vec<LoggedEvaluation>,
    /// Times of the training's blocks; where one begins, up to how many samples.
    blocks: Vec<(Option<f64>, f64)>,
    /// Samples or epochs that the events around evaluations log.
    counted: Vec<f64>,
    stopped: Option<LoggedStop>,
}

impl QualityTracker {
    /// Returns the number of the line of the last evaluation.
    pub fn last_evaluation_line(&self) -> Option<u64> {
        self.evaluated.last().map(|last| last.line)
    }

    /// Returns whether the run has ended.
    pub fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Adds an event of a line: an evaluation, the begin or end of a block, a count of samples.
    pub fn read_event(&mut self, event: &MllogEvent, line: u64, rules: &TrainingRules) {
        let rule = &rules.evaluation;
        let (key, count) = (event.key.as_str(), event.metadata_number(&rule.counts));
        if COUNTING_EVENTS.contains(&key) && self.counted.len() < MAX_STORED_EVENTS {
            self.counted.extend(count);
        }
        let is_block = key == "block_start" || key == "block_stop";
        if key == rule.key && !self.has_stopped() && self.evaluated.len() < MAX_STORED_EVENTS {
            self.evaluated.push(LoggedEvaluation {
                line,
                count,
                metric: event.metadata_text("metric").map(str::to_owned),
                value: event.value.as_f64(),
            });
        } else if key == "run_stop" && !self.has_stopped() {
            self.stopped = Some(LoggedStop { line, count, time_ms: event.time_ms });
        } else if is_block && rules.is_evaluated_later() && self.blocks.len() < MAX_STORED_EVENTS {
            let begun = count.filter(|_| key == "block_start");
            self.blocks.push((begun, event.time_ms));
        }
    }

    /// Returns the samples or epochs after which a successful run met its target, and its violations.
    pub fn finish(
        self,
        rules: &TrainingRules,
        batch: Option<f64>,
    ) -> (Option<f64>, Vec<LinedCheck>) {
        let mut violated = Vec::new();
        let count = if rules.is_evaluated_later() {
            self.check_checkpoints(rules, &mut violated)
        } else {
            self.check_target(rules, &mut violated);
            let count = self.evaluated.last().and_then(|last| last.count);
            violated.extend(count.and_then(|count| self.check_sample_count(rules, count, batch)));
            count.map(|count| (count * 1000.0).round() / 1000.0)
        };
        (count, violated)
    }

    /// The target was met, by the last evaluation and by no other: then the run stops.
    fn check_target(&self, rules: &TrainingRules, violated: &mut Vec<LinedCheck>) {
        let rule = &rules.evaluation;
        let Some((last, before)) = self.evaluated.split_last() else {
            let missing =
                RuleCheck::violation(&rule.key, "missing before run_stop", "at least once");
            return violated.push((missing, self.stop_line()));
        };
        let meets = |evaluation: &&LoggedEvaluation| {
            evaluation.value.is_some_and(|value| rule.target.allows(value))
        };
        let shown = |value: Option<f64>| value.map_or("no number".to_owned(), format_grouped);
        let early = before.iter().rev().find(meets);
        if !meets(&last) {
            let measured = format!("the last {} is {}", rule.key, shown(last.value));
            let check = RuleCheck::violation("target", measured, rule.target.describe());
            violated.push((check, vec![last.line]));
        } else if let (Some(early), Division::Closed) = (early, rules.division) {
            let (value, at) = (shown(early.value), shown(early.count));
            let measured = format!("{} {value} met it at {at} already", rule.key);
            let required = "the run stops where it is met";
            violated.push((RuleCheck::violation("target", measured, required), vec![early.line]));
        }
        let counted = self
            .evaluated
            .iter()
            .filter_map(|evaluation| Some((evaluation.line, evaluation.count?)));
        let fewer = counted.tuple_windows().find(|((_, before), (_, after))| after < before);
        if let Some(((first, before), (second, after))) = fewer {
            let measured = format!("{} after {}", format_grouped(after), format_grouped(before));
            let check = RuleCheck::violation(&rule.counts, measured, "never fewer than before");
            violated.push((check, vec![first, second]));
        }
    }

    /// Samples come in batches, and the events around the last evaluation count them too.
    fn check_sample_count(
        &self,
        rules: &TrainingRules,
        count: f64,
        batch: Option<f64>,
    ) -> Option<LinedCheck> {
        let unit = rules.evaluation.counts.as_str();
        let sample_batch = batch.filter(|batch| unit == "samples_count" && *batch > 0.0);
        // AMD's run_stop counts the batch under way.
        let within = sample_batch.unwrap_or(count * 1e-6);
        let differs = |other: &f64| (other - count).abs() > within;
        let stopped = self.stopped.and_then(|stop| stop.count).filter(differs);
        let shown = format_grouped(count);
        let (measured, required) =
            if let Some(batch) = sample_batch.filter(|batch| count % batch > 0.0) {
                (shown, format!("batches of {}", format_grouped(batch)))
            } else if let Some(stopped) = stopped {
                let stopped = format_grouped(stopped);
                let measured = format!("{shown} at the last evaluation, {stopped} at run_stop");
                (measured, "the same".to_owned())
            } else if !self.counted.is_empty() && self.counted.iter().all(differs) {
                let measured = format!("{shown} at the last evaluation alone");
                (measured, "as its eval_start and eval_stop".to_owned())
            } else {
                return None;
            };
        let lines = self.last_evaluation_line().into_iter().chain(self.stop_line()).collect();
        Some((RuleCheck::violation(unit, measured, required), lines))
    }

    /// The number of the line of `run_stop`, if it has one.
    fn stop_line(&self) -> Vec<u64> {
        self.stopped.iter().map(|stop| stop.line).collect()
    }

    /// Checkpoints are evaluated after the run, each by several metrics: the first that meets all
    /// counts.
    fn check_checkpoints(
        &self,
        rules: &TrainingRules,
        violated: &mut Vec<LinedCheck>,
    ) -> Option<f64> {
        let rule = &rules.evaluation;
        let lines = || self.evaluated.iter().map(|evaluation| evaluation.line).collect_vec();
        let mut checkpoints: Vec<(f64, BTreeMap<&str, f64>)> = Vec::new();
        for evaluation in &self.evaluated {
            let (Some(count), Some(metric), Some(value)) =
                (evaluation.count, &evaluation.metric, evaluation.value)
            else {
                continue;
            };
            let same = |(at, _): &(f64, _)| (at - count).abs() <= 0.0;
            let at = checkpoints.iter().position(same).unwrap_or_else(|| {
                checkpoints.push((count, BTreeMap::new()));
                checkpoints.len() - 1
            });
            checkpoints[at].1.insert(metric, value);
        }
        if checkpoints.len() < rule.least {
            let measured = format!("{} checkpoints", checkpoints.len());
            let required = format!("at least {}", rule.least);
            violated.push((RuleCheck::violation(&rule.key, measured, required), lines()));
        }
        let names: Vec<&str> = rule.metrics.keys().map(String::as_str).collect();
        let is_whole =
            |metrics: &BTreeMap<&str, f64>| names.iter().all(|name| metrics.contains_key(name));
        if !checkpoints.iter().all(|(_, metrics)| is_whole(metrics)) {
            let required = format!("{} of each checkpoint", names.join(" and "));
            let check = RuleCheck::violation("metrics", "some are missing", required);
            violated.push((check, lines()));
        }
        let meets = |(_, metrics): &&(f64, BTreeMap<&str, f64>)| {
            let mut targets = rule.metrics.iter();
            targets.all(|(name, range)| {
                metrics.get(name.as_str()).is_some_and(|value| range.allows(*value))
            })
        };
        let met = checkpoints.iter().filter(meets).map(|(count, _)| *count);
        let Some(first) = met.min_by(f64::total_cmp) else {
            let metric_targets = rule.metrics.iter();
            let targets =
                metric_targets.map(|(name, range)| format!("{name} {}", range.describe()));
            let required = targets.collect::<Vec<_>>().join(", ");
            let check = RuleCheck::violation("target", "no checkpoint meets it", required);
            violated.push((check, lines()));
            return None;
        };
        violated.extend(self.check_stop_time(first));
        Some(first)
    }

    /// Checks the time of `run_stop`, which is written after the checkpoints were evaluated: it is that of the end
    /// of a training block, and no block of an earlier checkpoint begins after it.
    fn check_stop_time(&self, first: f64) -> Option<LinedCheck> {
        let LoggedStop { time_ms: stopped, .. } = self.stopped?;
        let times = self.blocks.iter().map(|(_, time)| (time - stopped).abs());
        let away = times.min_by(f64::total_cmp).unwrap_or_default();
        let is_earlier = |begun: Option<f64>| begun.is_some_and(|begun| begun < first);
        let mut blocks = self.blocks.iter();
        let measured = if away > MAX_BLOCK_DISTANCE_MS {
            let seconds = format_grouped(away / 1000.0);
            format!("run_stop is {seconds} s away from the end of any training block")
        } else if blocks.any(|(begun, time)| is_earlier(*begun) && *time > stopped) {
            "run_stop is before the training of its checkpoint".to_owned()
        } else {
            return None;
        };
        let required = "the end of its checkpoint's training";
        Some((RuleCheck::violation("clock", measured, required), self.stop_line()))
    }
}
