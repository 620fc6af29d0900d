//! One load of a server, as its client states it.

use retrial_readings::json::{UniqueValue, quote_non_finite_numbers};
use serde_json::Value;

use crate::Client;
use crate::layout::{Latency, Layout};

/// What a client states of one load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPoint {
    /// The most requests at a time.
    pub concurrency: Option<f64>,
    pub requested: Option<f64>,
    pub completed: f64,
    pub failed: f64,
    /// Seconds.
    pub duration: Option<f64>,
    /// The tokens of all answers, as the figures count them.
    pub output_tokens: Option<f64>,
    pub answer_lengths: Option<AnswerLengths>,
    /// The sum of the tokens of single answers.
    pub summed_tokens: Option<f64>,
    /// The tokens of all answers by the client's tokenizer, where `output_tokens` are others.
    pub recounted_tokens: Option<f64>,
    /// Answers whose tokens were counted otherwise than the server says.
    pub miscounted: f64,
    /// Answers whose tokens the server did not state.
    pub uncounted: f64,
    /// Tokens per second of all answers.
    pub output_rate: Option<f64>,
    /// The mean and the median of the time to the first token, seconds.
    pub first_token: Option<(f64, f64)>,
    /// Means in seconds: from the first token to the last by the number of the others, between chunks, of an answer.
    pub per_token: Option<f64>,
    pub between_chunks: Option<f64>,
    pub whole_answer: Option<f64>,
}

/// Tokens of completed answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerLengths {
    pub shortest: f64,
    pub median: f64,
    pub longest: f64,
}

impl AnswerLengths {
    /// Returns none where there is no answer.
    fn of(mut lengths: Vec<f64>) -> Option<Self> {
        lengths.sort_by(f64::total_cmp);
        let (shortest, longest) = (*lengths.first()?, *lengths.last()?);
        Some(Self { shortest, median: lengths[lengths.len() / 2], longest })
    }
}

/// Why an output is none of this client's.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the output states no number of completed requests ({0})")]
    OtherProgram(String),
}

impl Client {
    /// Reads the loads of an output, in their order.
    ///
    /// # Errors
    /// If the output is not JSON, or does not have the members that this client writes.
    pub fn read_loads(self, output: &str) -> Result<Vec<LoadPoint>, OutputError> {
        let layout = self.layout();
        // Python writes an unlimited rate as `Infinity`.
        let parse = |text: &str| {
            let parsed = serde_json::from_slice(&quote_non_finite_numbers(text.as_bytes()));
            parsed.map(|UniqueValue(value)| value)
        };
        let documents: Vec<Value> = if layout.is_lines {
            let lines = output.lines().filter(|line| !line.trim().is_empty());
            lines.map(parse).collect::<Result<_, _>>()?
        } else {
            vec![parse(output)?]
        };
        let loads = documents.iter().flat_map(|document| match find(document, layout.loads) {
            Some(Value::Array(loads)) if !layout.loads.is_empty() => loads.iter().collect(),
            _ => vec![document],
        });
        loads.map(|load| read_load(layout, load)).collect()
    }
}

fn read_load(layout: &Layout, load: &Value) -> Result<LoadPoint, OutputError> {
    let number = |place: &str| find_number(load, place);
    let mean = |latency: Latency| {
        let place = latency.place.replace("{}", layout.statistics[0]);
        number(&place).map(|value| latency.to_seconds(value))
    };
    let median = layout.first_token.place.replace("{}", layout.statistics[1]);
    let median = number(&median).map(|value| layout.first_token.to_seconds(value));
    let completed = number(layout.completed)
        .ok_or_else(|| OutputError::OtherProgram(layout.completed.to_owned()))?;
    let requested = number(layout.requested);
    let errors = find_list(load, layout.errors);
    let has_error = |error: &&Value| error.as_str().is_some_and(|text| !text.is_empty());
    let with_error = errors.map(|errors| errors.iter().filter(has_error).map(|_| 1.0).sum::<f64>());
    let failed = number(layout.failed)
        .or_else(|| requested.map(|requested| requested - completed))
        .or(with_error)
        .unwrap_or_default();
    let lengths = find_list(load, layout.lengths).map(|lengths| {
        let is_completed = |at: usize| {
            errors.and_then(|errors| errors.get(at)).is_none_or(|error| !has_error(&error))
        };
        let completed = lengths.iter().enumerate().filter(|(at, _)| is_completed(*at));
        completed.filter_map(|(_, length)| length.as_f64()).collect::<Vec<f64>>()
    });
    let stated = || {
        let [shortest, median, longest] =
            [layout.shortest, layout.median_length, layout.longest].map(number);
        Some(AnswerLengths { shortest: shortest?, median: median?, longest: longest? })
    };
    Ok(LoadPoint {
        concurrency: number(layout.concurrency),
        requested,
        completed,
        failed,
        duration: number(layout.duration),
        output_tokens: number(layout.output_tokens),
        summed_tokens: lengths.as_ref().map(|lengths| lengths.iter().sum()),
        answer_lengths: lengths.map_or_else(stated, AnswerLengths::of),
        recounted_tokens: number(layout.recounted_tokens),
        miscounted: number(layout.miscounted).unwrap_or_default(),
        uncounted: number(layout.uncounted).unwrap_or_default(),
        output_rate: number(layout.output_rate),
        first_token: mean(layout.first_token).zip(median),
        per_token: mean(layout.per_token),
        between_chunks: mean(layout.between_chunks),
        whole_answer: mean(layout.whole_answer),
    })
}

/// Finds a value by a JSON pointer; `-` is the last entry of a list.
fn find<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    place.split('/').skip(1).try_fold(value, |at, step| match at {
        Value::Array(entries) if step == "-" => entries.last(),
        Value::Array(entries) => entries.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

fn find_number(value: &Value, place: &str) -> Option<f64> {
    if place.is_empty() { None } else { find(value, place)?.as_f64() }
}

fn find_list<'v>(value: &'v Value, place: &str) -> Option<&'v Vec<Value>> {
    if place.is_empty() { None } else { find(value, place)?.as_array() }
}
