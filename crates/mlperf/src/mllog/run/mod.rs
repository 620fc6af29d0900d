//! Runs: from `run_start` to `run_stop`, with their events.

use serde_json::Value;

use super::error::{EventError, MAX_RUNS, TrainingLogError, TrainingRunError};
use super::identity::TrainingRunIdentity;
use super::line::{MllogEvent, event_texts, may_have_key, parse_event};
use retrial_readings::accumulator::Accumulator;
use retrial_readings::json::parse_json_number;
use retrial_readings::nearest::{join_first_names, truncate_for_message};
use retrial_readings::place::{RecordLocation, UnreadableRecord};
use retrial_readings::{Limit, MatchSelection};

/// Minutes from `run_start` to `run_stop`: the figure by which `MLPerf` Training is scored.
pub const TIME_TO_TRAIN: &str = "time_to_train";
/// Samples (or epochs) at the evaluation that met the target: the unit of reference convergence
/// points.
pub const SAMPLES_TO_CONVERGE: &str = "samples_to_converge";

/// The most seeds of a run that are stored.
const MAX_SEEDS: usize = 100;
/// The most events of a run whose times are stored.
const MAX_EVENT_TIMES: usize = 1000;
/// The most distinct keys that are stored for a message.
const MAX_KEYS: usize = 200;
/// Events that a program logs before it starts the clock: the first of them begins a new run.
const OPENING_EVENTS: [&str; 3] = ["cache_clear", "init_start", "submission_benchmark"];
/// Evaluations, of an accuracy or a loss.
const EVALUATION_EVENTS: [&str; 2] = ["eval_accuracy", "eval_error"];
/// Events of a run in progress: a `run_start` after one of them belongs to another run,
/// before it to another rank.
const PROGRESS_EVENTS: [&str; 4] = ["block_stop", "epoch_stop", "eval_accuracy", "eval_error"];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastEvaluation {
    /// `eval_accuracy` or `eval_error`: an accuracy, or a loss; NaN if the log has no number.
    pub value: f64,
    /// The samples, else epochs, before it.
    pub samples: Option<f64>,
}

/// One training run, as its log records it.
#[derive(Debug, Clone, Default)]
pub struct TrainingRun {
    /// `success`, `aborted`; none where the log is truncated.
    pub status: Option<String>,
    /// The last evaluation before `run_stop`.
    pub evaluation: Option<LastEvaluation>,
    /// The value of `global_batch_size`.
    pub batch_size: Option<f64>,
    /// The value of `submission_benchmark`, for example `llama2_70b_lora`.
    pub benchmark: Option<String>,
    /// Its start, in milliseconds since 1970.
    pub started_ms: Option<f64>,
    stopped_ms: Option<f64>,
    seeds: Vec<i64>,
    /// The times of its events until `run_stop`.
    times_ms: Vec<f64>,
    /// The line of an evaluation after the last one that can be read.
    broken_evaluation: Option<u64>,
    /// Its ranks log different statuses.
    contradicted: bool,
    progressed: bool,
    last_key: String,
    accumulators: Vec<Accumulator<EventError>>,
}

impl TrainingRun {
    pub fn identity(&self) -> TrainingRunIdentity {
        let span = self.started_ms.zip(self.stopped_ms);
        TrainingRunIdentity {
            started_ms: self.started_ms,
            elapsed_ms: span.map(|(started, stopped)| stopped - started),
            seeds: self.seeds.clone(),
            offsets_ms: self.offsets_ms(),
        }
    }

    fn offsets_ms(&self) -> Vec<i64> {
        let started = self.started_ms.unwrap_or_default();
        let rounded_offsets = self.times_ms.iter().map(|time| (time - started).round());
        #[expect(clippy::cast_possible_truncation, reason = "a run takes days")]
        let offsets = rounded_offsets.map(|offset| offset as i64);
        offsets.filter(|offset| *offset >= 0).collect()
    }

    fn add_seed(&mut self, value: &Value) {
        let seed = value.as_i64().filter(|seed| !self.seeds.contains(seed));
        if self.seeds.len() < MAX_SEEDS {
            self.seeds.extend(seed);
        }
    }

    /// Minutes from `run_start` to `run_stop`; infinite where the run ended without converging, as
    /// `MLCommons` counts it.
    ///
    /// # Errors
    /// The log does not state them, or contradicts itself or its target.
    pub fn minutes_to_train(&self, target: Option<&Limit>) -> Result<f64, TrainingRunError> {
        let started = self.started_ms.ok_or(TrainingRunError::NoStart)?;
        let Some(stopped) = self.stopped_ms else {
            let last_key = self.last_key.clone();
            return Err(TrainingRunError::NoStop { last_key });
        };
        match self.status.as_deref() {
            _ if self.contradicted => return Err(TrainingRunError::RanksDisagree),
            None => return Err(TrainingRunError::NoStatus),
            Some("success") => {}
            Some(_) => return Ok(f64::INFINITY),
        }
        self.check_evaluation()?;
        if let Some(target) = target {
            let last = self.evaluation.ok_or(TrainingRunError::NoEvaluation)?;
            let value = last.value;
            if !target.allows(value) {
                return Err(TrainingRunError::TargetMissed { value });
            }
        }
        let minutes = (stopped - started) / 60_000.0;
        if minutes > 0.0 { Ok(minutes) } else { Err(TrainingRunError::StopNotAfterStart) }
    }

    /// Checks that the last evaluation of a run that reports success has a number.
    ///
    /// # Errors
    /// It has none.
    pub fn check_evaluation(&self) -> Result<(), TrainingRunError> {
        if self.status.as_deref() != Some("success") {
            return Ok(());
        }
        if let Some(line) = self.broken_evaluation {
            return Err(TrainingRunError::BrokenEvaluation { line });
        }
        if self.evaluation.is_none_or(|last| !last.value.is_nan()) {
            return Ok(());
        }
        Err(TrainingRunError::EvaluationNotANumber)
    }

    /// Returns what was read of the key that was requested at this position.
    pub fn requested_accumulator(&self, position: usize) -> Option<&Accumulator<EventError>> {
        self.accumulators.get(position)
    }

    /// Samples (else epochs) at the last evaluation of a run that converged; infinite for another.
    pub fn samples_to_converge(&self) -> Option<f64> {
        if self.status.as_deref() != Some("success") {
            return self.status.as_ref().map(|_| f64::INFINITY);
        }
        self.evaluation?.samples
    }
}

/// Reads a log and separates its runs.
#[derive(Debug, Clone, Default)]
pub struct TrainingRunReader {
    requested: Vec<(String, MatchSelection)>,
    done: Vec<TrainingRun>,
    /// The run in progress, or one that has events before its start.
    current: Option<TrainingRun>,
    keys: Vec<String>,
    lines: u64,
    pub last_key: String,
    too_many: bool,
}

impl TrainingRunReader {
    /// Returns a reader for figures of these keys: each `KEY` or `KEY.member`, and its value to take.
    pub fn new(requested: &[(String, MatchSelection)]) -> Self {
        Self { requested: requested.to_vec(), ..Self::default() }
    }

    /// Reads one line, which may have several events or none.
    pub fn feed_line(&mut self, line: &str) {
        self.lines += 1;
        for text in event_texts(line) {
            match parse_event(text) {
                Some(event) => self.read_event(&event),
                None => self.note_broken_event(text),
            }
        }
    }

    /// An event that cannot be read announces a figure if it has the figure's key, or was cut within it.
    fn note_broken_event(&mut self, text: &str) {
        let place = RecordLocation::at_line(0, self.lines);
        let Some(run) = &mut self.current else {
            return;
        };
        if run.stopped_ms.is_none() && EVALUATION_EVENTS.iter().any(|key| may_have_key(text, key)) {
            run.broken_evaluation = Some(self.lines);
        }
        for ((path, _), accumulator) in self.requested.iter().zip(&mut run.accumulators) {
            let key = path.split('.').next().unwrap_or(path);
            if may_have_key(text, key) {
                let (key, text) = (key.to_owned(), truncate_for_message(text.trim()));
                let error = EventError::Broken { key, text };
                accumulator.add_unreadable(UnreadableRecord { place, error });
            }
        }
    }

    /// Ends a file or step: the next line belongs to another log.
    pub fn finish_log(&mut self) {
        if let Some(run) = self.current.take() {
            // It has events but never started: it is no run.
            if run.started_ms.is_some() || run.stopped_ms.is_some() {
                self.store_run(run);
            }
        }
    }

    /// Keeps a run. A program may print its log again in the end: that is the same run, of which the whole
    /// log counts.
    fn store_run(&mut self, run: TrainingRun) {
        let identity = run.identity();
        let mut done = self.done.iter_mut();
        if let Some(printed) = done.find(|printed| printed.identity().is_same_run(&identity)) {
            if printed.stopped_ms.is_none() {
                *printed = run;
            }
        } else if self.done.len() < MAX_RUNS {
            self.done.push(run);
        } else {
            self.too_many = true;
        }
    }

    /// Adds an event to the run in progress, or begins another run with it.
    pub fn read_event(&mut self, event: &MllogEvent) {
        let key = event.key.as_str();
        key.clone_into(&mut self.last_key);
        if self.keys.len() < MAX_KEYS && !self.keys.iter().any(|other| other == key) {
            self.keys.push(key.to_owned());
        }
        let restarts = self.current.as_ref().is_some_and(|run| {
            let over = run.stopped_ms.is_some();
            let opens = OPENING_EVENTS.contains(&key) || key == "run_start";
            // The clock started and the run progressed: this is not another rank of it.
            opens && (over || (run.started_ms.is_some() && run.progressed))
        });
        if restarts {
            self.finish_log();
        }
        let requested = &self.requested;
        let run = self.current.get_or_insert_with(|| TrainingRun {
            accumulators: requested.iter().map(|(_, take)| Accumulator::new(*take)).collect(),
            ..TrainingRun::default()
        });
        run.progressed |= PROGRESS_EVENTS.contains(&key);
        if run.started_ms.is_some()
            && run.stopped_ms.is_none()
            && run.times_ms.len() < MAX_EVENT_TIMES
        {
            run.times_ms.push(event.time_ms);
        }
        key.clone_into(&mut run.last_key);
        match key {
            // Ranks start and stop nearly together: the first start and the last stop are the run's.
            "run_start" => {
                let first = run.started_ms.unwrap_or(f64::INFINITY);
                run.started_ms = Some(first.min(event.time_ms));
            }
            "run_stop" => {
                let last = run.stopped_ms.unwrap_or(f64::NEG_INFINITY);
                run.stopped_ms = Some(last.max(event.time_ms));
                let status = event.metadata_text("status").map(str::to_owned);
                run.contradicted |=
                    run.status.is_some() && status.is_some() && run.status != status;
                run.status = run.status.take().or(status);
            }
            // As MLCommons' checker, which takes the last one before run_stop.
            "eval_accuracy" | "eval_error" if run.stopped_ms.is_none() => {
                run.broken_evaluation = None;
                let value = parse_json_number(&event.value);
                run.evaluation = Some(LastEvaluation {
                    value: value.map_or(f64::NAN, |printed| printed.value),
                    samples: event
                        .metadata_number("samples_count")
                        .or(event.metadata_number("epoch_num")),
                });
            }
            "seed" => run.add_seed(&event.value),
            "global_batch_size" => run.batch_size = event.value.as_f64().or(run.batch_size),
            "submission_benchmark" => run.benchmark = event.value.as_str().map(str::to_owned),
            _ => {}
        }
        for ((path, _), accumulator) in requested.iter().zip(&mut run.accumulators) {
            let Some(value) = requested_member(event, path) else {
                continue;
            };
            let place = RecordLocation::at_line(0, self.lines);
            if let Some(printed) = parse_json_number(value) {
                accumulator.add_number(printed, place);
            } else {
                let text = value.as_str().map_or(value.to_string(), str::to_owned);
                let (key, text) = (path.clone(), truncate_for_message(&text));
                let error = EventError::NotANumber { key, text };
                accumulator.add_unreadable(UnreadableRecord { place, error });
            }
        }
    }

    /// Returns the runs of the log.
    ///
    /// # Errors
    /// It has none, or too many.
    pub fn finish(mut self) -> Result<Vec<TrainingRun>, TrainingLogError> {
        self.finish_log();
        if self.too_many {
            return Err(TrainingLogError::TooManyRuns);
        }
        if self.done.is_empty() {
            let keys = self.describe_keys();
            return Err(if self.keys.is_empty() {
                TrainingLogError::NoEvents
            } else {
                TrainingLogError::NoRuns { keys }
            });
        }
        Ok(self.done)
    }

    /// Returns the log's keys, for a message.
    pub fn describe_keys(&self) -> String {
        join_first_names(self.keys.iter().map(String::as_str))
    }
}

/// Returns the value, or its member where it is a map: `tracked_stats.throughput`. A value that is no
/// map stands in place of its members.
fn requested_member<'a>(event: &'a MllogEvent, path: &str) -> Option<&'a Value> {
    if event.key == path {
        return Some(&event.value);
    }
    let rest = path.strip_prefix(event.key.as_str())?.strip_prefix('.')?;
    match &event.value {
        Value::Object(members) => members.get(rest),
        value => Some(value).filter(|value| value.is_string()),
    }
}

#[cfg(test)]
mod tests;
