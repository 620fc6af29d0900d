//! An accuracy run: `accuracy_results.json`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value};

use super::{member_at_path, to_number, to_whole_number};
use crate::accuracy::parse_accuracy;
use retrial_readings::number::to_f64;

/// Figures of a score's breakdown that a round limits: of function calls, the mean over categories.
const BREAKDOWN_FIGURES: [&str; 1] = ["normalized_single_turn_score"];
/// The most scores that are read.
const MAX_SCORES: usize = 100;

/// The results of an accuracy run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EndpointAccuracy {
    /// The scores of the data sets that were run for accuracy.
    pub scores: Vec<Score>,
}

/// The score of one data set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Score {
    /// The name of the data set.
    pub dataset: String,
    /// The score, where it is one number: a share or in percent.
    pub value: Option<f64>,
    /// Its figures by their published names, where it is several.
    pub figures: BTreeMap<&'static str, f64>,
    /// Number of samples that were judged.
    pub samples: Option<u64>,
    /// Number of different samples among these: with repeats, each occurs several times.
    pub unit_samples: Option<u64>,
    /// Whether all samples were judged.
    pub complete: bool,
    /// Mean number of output tokens of an answer.
    pub mean_tokens: Option<f64>,
    /// Duration of the run, seconds.
    pub duration_s: Option<f64>,
}

impl EndpointAccuracy {
    /// Reads a run from `accuracy_results.json`.
    pub fn from_json(results: &Map<String, Value>) -> Self {
        let all = member_at_path(results, &["accuracy_scores"]).and_then(Value::as_array);
        let scores = all.into_iter().flatten().filter_map(Value::as_object).filter(|score| {
            let kind = score.get("dataset_type").and_then(Value::as_str);
            kind.is_none_or(|kind| kind == "accuracy")
        });
        Self { scores: scores.take(MAX_SCORES).map(Score::from_json).collect() }
    }

    /// Samples of all data sets.
    pub fn sample_count(&self) -> Option<u64> {
        let mut counts = self.scores.iter().map(|score| score.samples);
        let sum = counts.try_fold(0_u64, |sum, count| sum.checked_add(count?));
        sum.filter(|_| !self.scores.is_empty())
    }

    /// Returns a digest of how long its runs took and how long their answers are, in which no two runs agree; none
    /// where one states no duration.
    pub fn digest(&self) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        for score in &self.scores {
            (score.duration_s?.to_bits(), score.mean_tokens.map(f64::to_bits)).hash(&mut hasher);
        }
        (!self.scores.is_empty()).then(|| hasher.finish())
    }

    /// Returns the figures, by their published names. `of_benchmark` is the name of a score that is one
    /// number; of several data sets each counts by its samples. `percent`: the round has it
    /// in percent, and a share becomes it.
    pub fn published_figures(&self, of_benchmark: &str, percent: bool) -> BTreeMap<String, f64> {
        let mut figures: BTreeMap<String, f64> = self
            .scores
            .iter()
            .flat_map(|score| &score.figures)
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        if let Some(value) = self.weighted_mean(|score| score.value) {
            let is_share = percent && (0.0..=1.0).contains(&value);
            let value = if is_share { value * 100.0 } else { value };
            figures.insert(of_benchmark.to_owned(), value);
        }
        if let Some(tokens) = self.weighted_mean(|score| score.mean_tokens) {
            figures.entry("TOKENS_PER_SAMPLE".to_owned()).or_insert(tokens);
        }
        figures
    }

    /// Returns the mean over the data sets, each by how many different samples it has; none where one of
    /// them has no value.
    fn weighted_mean(&self, of: impl Fn(&Score) -> Option<f64>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for score in &self.scores {
            let weight = to_f64(score.unit_samples.or(score.samples).unwrap_or(1));
            sum += of(score)? * weight;
            weights += weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }
}

impl Score {
    fn from_json(score: &Map<String, Value>) -> Self {
        let (value, figures) = match score.get("score") {
            Some(Value::Object(figures)) => {
                let text = Value::Object(figures.clone()).to_string();
                let read = parse_accuracy(text.as_bytes()).figures;
                let all = read.into_iter().map(|(name, figure)| (name, figure.value));
                (None, all.collect::<Vec<_>>())
            }
            other => (to_number(other), Vec::new()),
        };
        let breakdown_names = BREAKDOWN_FIGURES.into_iter();
        let breakdown_figures = breakdown_names.filter_map(|name| {
            let value = to_number(member_at_path(score, &["breakdown", name]))?;
            Some((name, value))
        });
        let figures = figures.into_iter().chain(breakdown_figures).collect();
        let issued = to_whole_number(member_at_path(score, &["response_counts", "issued"]));
        let name = score.get("dataset_name").and_then(Value::as_str);
        Self {
            dataset: name.unwrap_or_default().to_owned(),
            value,
            figures,
            samples: to_whole_number(score.get("total_samples")).or(issued),
            unit_samples: to_whole_number(score.get("unit_samples")),
            complete: score.get("complete").and_then(Value::as_bool).unwrap_or(true),
            duration_s: to_number(score.get("duration_s")),
            mean_tokens: to_number(member_at_path(score, &["output_sequence_lengths", "avg"])),
        }
    }
}
