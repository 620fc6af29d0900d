//! A verdict as it is kept in verdict.json and shown in reports.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::exp;
use super::{ExitCode, FigureValue, MoreTrials, Outcome, Qualifier, RuleCheck, StepOutcome};
use crate::telemetry::Summary;
use retrial_recipe::model::{Claim, ExpectationKind, Mode, Submission};
use retrial_stats::Order;

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Version of this document.
    pub schema: u32,
    /// What was published.
    pub submission: Submission,
    /// Chosen value of each variant axis.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variant: BTreeMap<String, String>,
    /// The run's outcome: the first of its results' in order of precedence.
    pub outcome: Outcome,
    /// What stands beside it.
    pub qualifiers: Vec<Qualifier>,
    /// What was unwise on the host, and may have cost speed or trust.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// One sentence.
    pub sentence: String,
    /// What the process exits with.
    pub exit_code: ExitCode,
    /// `MLCommons`' trademark notice, where the figures are `MLPerf`'s.
    pub notice: Option<String>,
    /// One-sided confidence that was asked for.
    pub confidence: f64,
    /// One per scenario and mode.
    pub results: Vec<ResultVerdict>,
}

/// The verdict on one scenario in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultVerdict {
    /// Where the results lie below the run's directory.
    pub path: String,
    /// The round, where it is known: `v5.1`.
    #[serde(default)]
    pub round: Option<String>,
    /// The division, where it is known: `closed`.
    #[serde(default)]
    pub division: Option<String>,
    /// Who submitted it, where it is known.
    #[serde(default)]
    pub submitter: Option<String>,
    /// The system, as published.
    pub system: Option<String>,
    /// The benchmark, as published.
    pub benchmark: String,
    /// The scenario.
    pub scenario: String,
    /// The mode.
    pub mode: Mode,
    /// Every figure, its trials made one.
    pub figures: BTreeMap<String, FigureValue>,
    /// The figures that the recipe declares, in its order: shown even if nothing was published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<String>,
    /// The figure that decided, or by which the suite publishes this scenario.
    pub deciding: Option<String>,
    /// The benchmark's own rules passed.
    pub valid: bool,
    /// Every rule that was checked.
    pub rules: Vec<RuleCheck>,
    /// What was published for the deciding figure.
    pub references: Vec<Reference>,
    /// The deciding figure's ratio; see [`Judgement::ratio`].
    pub ratio: Option<f64>,
    /// The deciding figure's bounds.
    pub bounds: Option<Bounds>,
    /// The deciding figure's margin, as a fraction.
    pub margin: Option<f64>,
    /// The deciding figure's noise.
    pub noise: Option<Noise>,
    /// What was seen of GPUs and container while it ran, all trials together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Summary>,
    /// All trials.
    pub trials: Vec<TrialVerdict>,
    /// The trials before them, which were not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<TrialVerdict>,
    /// One per published figure.
    pub judgements: Vec<Judgement>,
    /// The outcome.
    pub outcome: Outcome,
    /// What stands beside it.
    pub qualifiers: Vec<Qualifier>,
    /// One sentence.
    pub sentence: String,
}

/// One trial, as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialVerdict {
    /// Which, from 1.
    pub trial: u32,
    /// Where its results lie below the run's directory.
    pub path: String,
    /// How its step ended.
    pub step: StepOutcome,
    /// The benchmark's own rules passed.
    pub valid: bool,
    /// What it gave.
    pub figures: BTreeMap<String, FigureValue>,
    /// Judged figures in which it lies far from the other trials; it counts all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlier_in: Vec<String>,
    /// What was seen of GPUs and container meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Summary>,
}

/// One published figure, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The figure's name.
    pub figure: String,
    /// Its trials made one: their geometric mean, median, or Olympic mean.
    pub measured: Option<FigureValue>,
    /// What was published; the first that `decides` was compared with.
    pub references: Vec<Reference>,
    /// How good it is next to the published figure: above 1 is better, whichever way the figure
    /// goes (published over measured for latencies).
    pub ratio: Option<f64>,
    /// One-sided bounds of the ratio, each at `confidence`.
    pub bounds: Option<Bounds>,
    /// What each bound holds at: the run's confidence, its error split between the stages.
    pub confidence: f64,
    /// What was claimed of it.
    #[serde(default)]
    pub claim: Claim,
    /// The margin, as a fraction.
    pub margin: f64,
    /// What the trials made one were multiplied with by reference convergence points (`MLPerf`
    /// Training).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalised_by: Option<f64>,
    /// The noise of one trial.
    pub noise: Noise,
    /// Where an assumed noise is from: `the recipe`, `16 published pairs of llama2-70b Offline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_basis: Option<String>,
    /// How many trials it was judged on.
    pub trials: u32,
    /// Which of them lie far from the others; they count all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<u32>,
    /// Which of them are slow, where these are rare: they count in the median, by which the figure is
    /// judged then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<u32>,
    /// How they depend on their order: they count as one then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// By how much the first is slower than the others, as a log ratio, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<f64>,
    /// By how much it may be worse than published (where an equivalence is claimed: differ from
    /// it), at `confidence`; 0: it is no worse.
    pub holds_within: Option<f64>,
    /// Where it is inconclusive: how many more trials would decide.
    pub more_trials: Option<MoreTrials>,
    /// The outcome.
    pub outcome: Outcome,
    /// One sentence.
    pub sentence: String,
}

/// A published figure that was compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// The value, in the figure's unit.
    pub value: f64,
    /// Who says so.
    pub kind: ExpectationKind,
    /// Where it stands.
    pub source: Option<String>,
    /// Declared standard deviation, as a fraction; none: taken as exact.
    pub sigma: Option<f64>,
    /// The measured figure next to it; above 1 is better.
    pub ratio: Option<f64>,
    /// It decides; the others are shown.
    pub decides: bool,
}

/// Bounds of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// No lower than this.
    pub lower: f64,
    /// No higher than this.
    pub upper: f64,
}

impl Bounds {
    /// Of a ratio, whose logarithm has these bounds.
    pub(crate) fn of_logs((lower, upper): (f64, f64)) -> Self {
        Self {
            lower: exp(lower),
            upper: exp(upper),
        }
    }
}

/// The relative standard deviation of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// From the trials.
    Measured(f64),
    /// Assumed, since there is one trial.
    Assumed(f64),
    /// Not known.
    Unknown,
}
