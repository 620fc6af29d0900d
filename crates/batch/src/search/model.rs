//! The result of a search, as stored in verdict.json.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Criterion;
use retrial_mlperf::ScenarioName;
use retrial_results::verdict::comparison::EnvironmentGroup;
use retrial_results::verdict::{Bounds, ExitCode};

retrial_document::words! {
    /// The outcome of a search.
    #[derive(JsonSchema)]
    pub enum SearchOutcome {
        /// Two neighbours differ.
        Found = "found",
        /// The first and the last value do not differ as the criterion says.
        NoDifference = "no difference",
        /// The trials do not decide.
        NotDecided = "not decided",
    }
}

/// The result of a search along one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchVerdict {
    /// The name of the axis that was searched.
    pub axis: String,
    /// The values of the axis, in order.
    pub values: Vec<String>,
    /// The difference that the search looks for.
    pub criterion: Criterion,
    /// The scenario, or of several points their sweep; empty before there is a figure.
    pub scenario: ScenarioName,
    /// The number of points of which the figure is the geometric mean; 1 outside a sweep, 0 before there is a figure.
    pub points: usize,
    /// The figure; empty if trials say yes or no.
    pub figure: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// The outcome of the search.
    pub outcome: SearchOutcome,
    /// The last value before the change. If the search is undecided, the last value known to be
    /// before it.
    pub before: Option<String>,
    /// The first value after the change. If the search is undecided, the first value known to be
    /// after it.
    pub after: Option<String>,
    /// The probability that the change is there, given that there is one.
    pub probability: Option<f64>,
    /// How good `after` is compared with `before`: above 1 is better.
    pub ratio: Option<f64>,
    /// The two-sided interval of the ratio, at the batch's confidence.
    pub interval: Option<Bounds>,
    /// Every trial, in the order in which it was taken.
    pub trials: Vec<SearchTrial>,
    /// The trials of a sweep over all values with the same error rate.
    pub sweep: Option<usize>,
    /// Values that could not be measured, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The differences between the environments of `before` and `after`.
    pub changes: Vec<EnvironmentGroup>,
    /// The result in one sentence.
    pub sentence: String,
    /// The exit code of the process.
    pub exit_code: ExitCode,
}

impl SearchVerdict {
    /// `serving output_throughput, the geometric mean of 4 points`; empty if trials say yes or no.
    pub fn figure_name(&self) -> String {
        format!("{} {}{}", self.scenario, self.figure, self.mean_clause()).trim().to_owned()
    }

    /// `, the geometric mean of 4 points`; empty outside a sweep.
    pub fn mean_clause(&self) -> String {
        match self.points {
            0 | 1 => String::new(),
            points => format!(", the geometric mean of {points} points"),
        }
    }
}

/// One trial of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchTrial {
    /// The value of the axis.
    pub value: String,
    /// The run's id.
    pub run: String,
    /// The figure, if it has one.
    pub figure: Option<f64>,
    /// Whether it is accurate or valid, for the criteria `accuracy` and `validity`.
    pub answer: Option<bool>,
}
