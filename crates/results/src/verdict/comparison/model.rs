//! A comparison as it is shown and written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EnvironmentGroup, FailIf};
use crate::verdict::{Bounds, ExitCode, Outcome, QualifierKind};
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{Aggregate, Better, Mode};
use retrial_stats::Decision;

/// Runs or folders side by side: the first is the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of this document.
    pub schema: u32,
    /// The properties that its subjects share, if it is one of several comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The subjects; the first is the baseline.
    pub subjects: Vec<SubjectSummary>,
    /// Whether trials were interleaved: trials with the same number form pairs.
    pub paired: bool,
    /// Confidence of each interval.
    pub confidence: f64,
    /// Every figure that the baseline and another have.
    pub figures: Vec<ComparedFigure>,
    /// Notes: figures that only one subject has, other target rates.
    pub notes: Vec<String>,
    /// The environments: what differs, and what is the same.
    pub environment: Vec<EnvironmentGroup>,
    /// `--fail-if`: by how much a candidate may be slower.
    pub fail_if: Option<FailIf>,
    /// The exit code of the process.
    pub exit_code: ExitCode,
    /// `MLCommons`' trademark notice, where figures are `MLPerf`'s.
    pub notice: Option<String>,
}

/// A history along an axis: one comparison for each combination of everything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparisons {
    /// Version of this document.
    pub schema: u32,
    /// The axis along which the runs are compared (`--by`).
    pub by: String,
    /// The comparisons, in the order of what their runs have in common.
    pub comparisons: Vec<Comparison>,
    /// Notes: runs that are excluded.
    pub notes: Vec<String>,
    /// The exit code of the process.
    pub exit_code: ExitCode,
}

/// One run or folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectSummary {
    /// Its letter in tables: `A` is the baseline.
    pub letter: String,
    /// Its name as requested.
    pub name: String,
    /// The measured submission: suite, round, benchmark, variant.
    pub title: String,
    /// The number of its runs; 0 for a folder of results.
    #[serde(default)]
    pub runs: usize,
    /// The outcome of its own verdict.
    pub outcome: Outcome,
    /// The kinds of the qualifiers of its own verdict.
    pub qualifiers: Vec<QualifierKind>,
}

/// One figure of one subject against the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// The benchmark, as published.
    pub benchmark: String,
    /// The scenario, for example `Offline`.
    pub scenario: ScenarioName,
    /// Performance or accuracy.
    pub mode: Mode,
    /// The figure's name, for example `tokens_per_second`.
    pub figure: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Whether higher or lower is better.
    pub better: Better,
    /// How trials were aggregated.
    pub aggregate: Aggregate,
    /// The baseline's measurement.
    pub baseline: MeasuredSide,
    /// The candidate's measurement.
    pub candidate: MeasuredSide,
    /// Whether trials were compared in pairs, round by round.
    pub paired: bool,
    /// The candidate's figure as a ratio to the baseline's: above 1 is better, whichever way the
    /// figure goes.
    pub ratio: Option<f64>,
    /// The two-sided interval of the ratio, at the comparison's confidence.
    pub interval: Option<Bounds>,
    /// The change that the interval shows, corrected for all figures of the comparison (Holm).
    pub change: Change,
    /// The decision about the limit of `fail_if`.
    pub limit: Option<Decision>,
    /// The change in one sentence.
    pub sentence: String,
}

/// The measurement of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredSide {
    /// The letter of the subject, for example `A`.
    pub subject: String,
    /// Its value, aggregated over the trials.
    pub value: Option<f64>,
    /// The value of each trial, in order.
    pub trials: Vec<f64>,
}

impl MeasuredSide {
    /// A subject without a measurement.
    pub fn unmeasured(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), value: None, trials: Vec::new() }
    }
}

retrial_document::words! {
    /// The change that an interval shows.
    #[derive(JsonSchema)]
    pub enum Change {
        /// Faster than the baseline.
        Faster = "faster",
        /// Slower than the baseline.
        Slower = "slower",
        /// Better than the baseline, for figures that are not a speed, such as accuracy.
        Better = "better",
        /// Worse than the baseline, for figures that are not a speed.
        Worse = "worse",
        /// No difference is shown; nor is equality.
        NoDifference = "no difference shown",
        /// One of them is invalid or failed, or has no usable figure.
        NotCompared = "not compared",
    }
}

impl Change {
    /// Returns whether one of the two is shown to be ahead.
    pub fn is_difference(self) -> bool {
        !matches!(self, Self::NoDifference | Self::NotCompared)
    }
}
