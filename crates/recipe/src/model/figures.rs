//! Figures: how they are read, what was published, the benchmark's own limits.

pub use retrial_readings::{CsvCell, Limit, Take};
pub use retrial_stats::{Aggregate, Better, Claim};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Template;

/// How a figure is read that is not `LoadGen`'s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureSource {
    /// Where it is found.
    pub find: Find,
    /// The file below the results directory, or a glob; none: the step's output (check's output
    /// first).
    pub file: Option<Template>,
    /// A table: the groups, columns or members whose values name a figure each, `gemm[bf16 8192]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Its unit, for example `TFLOP/s`.
    pub unit: Option<String>,
    /// Which way is better.
    pub better: Better,
    /// Which match counts.
    pub take: Take,
    /// How trials are made one figure.
    pub aggregate: Aggregate,
    /// Assumed noise of one trial (a fraction), if known.
    pub noise: Option<f64>,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Find {
    /// A regular expression; the group `value`, or the first, is the figure.
    Pattern(String),
    /// A path into a JSON document.
    Json {
        /// `JSONPath` (RFC 9535).
        path: String,
        /// Of a table: the member of each match that is the figure.
        value: Option<String>,
    },
    /// A cell of a CSV file.
    Csv(CsvCell),
    /// A key of `:::MLLOG` lines.
    Mllog(MllogFigure),
}

/// A figure of a log of `MLPerf` Training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MllogFigure {
    /// `time_to_train`, `samples_to_converge`, or a key of the log (`tracked_stats.throughput`).
    pub key: String,
    /// What the last `eval_accuracy` of a run must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Limit>,
    /// Reference convergence points, by which `MLCommons` normalises a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<ReferenceConvergence>,
}

/// Reference convergence points (RCP) of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceConvergence {
    /// How many runs a submission has.
    pub runs: u32,
    /// By global batch size: what the reference's runs took to converge, in samples or epochs.
    pub points: Vec<(u64, Vec<f64>)>,
}

/// A published figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The value.
    pub value: f64,
    /// Who says so.
    pub kind: ExpectationKind,
    /// Where it stands.
    pub source: Option<String>,
    /// Declared standard deviation of the published value (a fraction of it).
    pub sigma: Option<f64>,
    /// Assumed noise of one trial (a fraction of it).
    pub noise: Option<f64>,
    /// The margin for this figure (a fraction), where it differs from the recipe's.
    pub margin: Option<f64>,
    /// What is claimed of it.
    #[serde(default, skip_serializing_if = "Claim::is_default")]
    pub claim: Claim,
}

/// Who published a figure; official decides, the others are shown.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectationKind {
    /// In the results of the round.
    Official,
    /// Printed by the vendor's guide.
    Guide,
    /// By somebody else on the same GPU.
    ThirdParty,
}
