//! The verdict on a claim, as stored in verdict.json and shown in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::comparison::MeasuredSide;
use crate::verdict::outcome::ClaimOutcome;
use crate::verdict::{Bounds, MoreTrials};
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{Better, Claim, Mode};

/// The verdict on a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimVerdict {
    /// The claim as it was written.
    pub claim: String,
    /// Where it was published.
    pub source: Option<String>,
    /// Supported where all of its parts are, contradicted where one is. That something does not always hold is
    /// supported where one part is, and contradicted where all are.
    pub outcome: ClaimOutcome,
    /// The verdict in one sentence.
    pub sentence: String,
    /// One for each pair of cells that it is about, scenario and figure.
    pub parts: Vec<ClaimPart>,
}

/// A claim about one pair of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimPart {
    /// What distinguishes it from the other parts: `gpu=w7900`; empty if there is one pair.
    pub of: String,
    /// The benchmark's name: `llama2-70b-99`.
    pub benchmark: String,
    /// The scenario's name: `Offline`.
    pub scenario: ScenarioName,
    /// The mode of the compared results.
    pub mode: Mode,
    /// The figure; empty if none could be compared.
    pub figure: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Whether higher or lower is better.
    pub better: Better,
    /// The compared property of the figure.
    pub statistic: Statistic,
    /// The required `ratio`.
    pub required: RequiredRatio,
    /// The side that the claim is about.
    pub candidate: MeasuredSide,
    /// The side that it is compared with; none if the claim is about one side.
    pub baseline: Option<MeasuredSide>,
    /// The gaps or the gains, if the claim is about these: with the candidate and with the baseline.
    pub gaps: Vec<Gap>,
    /// Whether trials were compared in pairs, round by round.
    pub paired: bool,
    /// How good the candidate is compared with the baseline: above 1 is better. Of scatters: how much smaller the
    /// candidate's is. Of a gap or a gain: the one with the candidate over the one with the baseline; of a gap, below 1
    /// is smaller.
    pub ratio: Option<f64>,
    /// One-sided bounds of the ratio, each at the batch's confidence.
    pub bounds: Option<Bounds>,
    /// What the bounds show, corrected for all claims of the batch (Holm).
    pub outcome: ClaimOutcome,
    /// If undecided: how many more trials of each would decide.
    pub more_trials: Option<MoreTrials>,
    /// The result in one sentence.
    pub sentence: String,
}

impl ClaimPart {
    /// Returns whether its lower bound decides, or its upper; none if both do. For an undecided part, the one that
    /// would have to pass the edge for it to be supported.
    pub fn is_decided_by_lower_bound(&self) -> Option<bool> {
        let holds = (self.outcome != ClaimOutcome::Contradicted) != self.required.negated;
        let asks = self.required.claim?;
        let is_gap = self.statistic == Statistic::Gap;
        (asks != Claim::Equivalent).then_some(holds != is_gap)
    }
}

/// The ratio that a claim requires.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequiredRatio {
    /// Better, not worse, or equivalent; of a gap, better is smaller. None: within the benchmark's
    /// own limits of accuracy.
    pub claim: Option<Claim>,
    /// The margin, a fraction: 0.05 for 5 %.
    pub margin: f64,
    /// Whether the claim is negated.
    pub negated: bool,
}

retrial_document::words! {
    /// The property of a figure that a claim compares.
    #[derive(JsonSchema)]
    pub enum Statistic {
        /// The figure itself.
        Value = "value",
        /// The scatter of its trials.
        Scatter = "scatter",
        /// Its gap to another one's.
        Gap = "gap",
        /// The gain of a step.
        Gain = "gain",
    }
}

/// How far another is from a cell, or what the step from the cell to the other gains: the ratio of the other's figure
/// to the cell's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The name of the cell.
    pub cell: String,
    /// What it is compared with.
    pub to: MeasuredSide,
    /// How good the other is, compared with the cell: above 1, the cell is behind.
    pub ratio: Option<f64>,
    /// One-sided bounds of it, each at the batch's confidence.
    pub bounds: Option<Bounds>,
}
