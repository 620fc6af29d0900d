//! A comparison as it is shown and written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EnvironmentGroup, FailIf};
use crate::results::verdict::{Bounds, ExitCode, Outcome};
use retrial_recipe::model::{Aggregate, Better, Mode};
use retrial_stats::Decision;

/// Runs or folders side by side: the first is the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of this document.
    pub schema: u32,
    /// What its subjects have in common, where it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What was compared; the first is the baseline.
    pub subjects: Vec<SubjectSummary>,
    /// Trials were taken in turns: the first of one belongs to the first of the other.
    pub paired: bool,
    /// Confidence of each interval.
    pub confidence: f64,
    /// Every figure that the baseline and another have.
    pub figures: Vec<ComparedFigure>,
    /// What is worth knowing: figures that only one has, other target rates.
    pub notes: Vec<String>,
    /// What is known of where they were measured: what differs, and what does not.
    pub environment: Vec<EnvironmentGroup>,
    /// `--fail-if`
    pub fail_if: Option<FailIf>,
    /// What the process exits with.
    pub exit_code: ExitCode,
    /// `MLCommons`' trademark notice, where figures are `MLPerf`'s.
    pub notice: Option<String>,
}

/// A history along an axis: one comparison for each combination of everything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparisons {
    /// Version of this document.
    pub schema: u32,
    /// The axis.
    pub by: String,
    /// In the order of what their runs have in common.
    pub comparisons: Vec<Comparison>,
    /// What is worth knowing: runs that are left out.
    pub notes: Vec<String>,
    /// What the process exits with.
    pub exit_code: ExitCode,
}

/// One run or folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectSummary {
    /// Its letter in tables: `A` is the baseline.
    pub letter: String,
    /// What it was called by.
    pub name: String,
    /// What it measured: suite, round, benchmark, variant.
    pub title: String,
    /// How many runs it is made of; 0 for a folder of results.
    #[serde(default)]
    pub runs: usize,
    /// Its own verdict.
    pub outcome: Outcome,
}

/// One figure of one subject against the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// The benchmark.
    pub benchmark: String,
    /// The scenario.
    pub scenario: String,
    /// The mode.
    pub mode: Mode,
    /// The figure.
    pub figure: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// How trials were made one figure.
    pub aggregate: Aggregate,
    /// The first subject's.
    pub baseline: MeasuredSide,
    /// The other's.
    pub candidate: MeasuredSide,
    /// The trials of a round were compared with each other.
    pub paired: bool,
    /// How good the candidate is next to the baseline: above 1 is better, whichever way the figure
    /// goes.
    pub ratio: Option<f64>,
    /// The two-sided interval of the ratio, at the comparison's confidence.
    pub interval: Option<Bounds>,
    /// What the interval shows, corrected for all figures of the comparison (Holm).
    pub change: Change,
    /// Where it lies beside the limit of `fail_if`.
    pub limit: Option<Decision>,
    /// One sentence.
    pub sentence: String,
}

/// What one subject measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredSide {
    /// The subject's letter.
    pub subject: String,
    /// Its trials made one.
    pub value: Option<f64>,
    /// Its trials.
    pub trials: Vec<f64>,
}

words! {
    /// What an interval shows.
    #[derive(JsonSchema)]
    pub enum Change {
        /// More speed than the baseline.
        Faster = "faster",
        /// Less.
        Slower = "slower",
        /// Of what is no speed, accuracy: better than the baseline.
        Better = "better",
        /// Worse.
        Worse = "worse",
        /// Neither is shown; that they are equal is not shown either.
        NoDifference = "no difference shown",
        /// One of them is invalid or failed, or has no usable figure.
        NotCompared = "not compared",
    }
}

impl Change {
    /// One of the two is shown to be ahead.
    pub fn is_difference(self) -> bool {
        !matches!(self, Self::NoDifference | Self::NotCompared)
    }
}
