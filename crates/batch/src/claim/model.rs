//! A claim as it is checked.

use serde::{Deserialize, Serialize};

use crate::NamedValues;
use retrial_mlperf::ScenarioName;
use retrial_recipe::model;

/// A claim whose sides are resolved to cells, as the batch's plan stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchClaim {
    /// The claim's text, as it was written.
    pub text: String,
    /// Where it was published.
    pub source: Option<String>,
    /// The assertion about each part.
    pub assertion: Assertion,
    /// Only in this scenario; in each if none.
    pub scenario: Option<ScenarioName>,
    /// In this figure; if none, in the one by which the scenario is published.
    pub figure: Option<String>,
    /// The claim is that at least one part is an exception: `is not always …`.
    pub not_always: bool,
    /// The pairs of cells that the claim compares; at least one.
    pub parts: Vec<CellPair>,
}

/// An assertion about each part of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assertion {
    /// The candidate's speed, compared with the baseline's.
    Speed {
        /// Better, not worse, or equivalent.
        claim: model::Claim,
        /// The margin as it was written, a fraction: the required surplus if better is claimed, else the allowed loss.
        by: f64,
    },
    /// The candidate's accuracy, compared with the baseline's.
    Accuracy {
        /// Better, not worse, or equivalent.
        claim: model::Claim,
        /// The margin, as for speed.
        by: f64,
    },
    /// The scatter of the candidate's trials, compared with the baseline's; less is better.
    Consistency {
        /// Better, not worse, or equivalent.
        claim: model::Claim,
        /// The margin, as for speed.
        by: f64,
    },
    /// The candidate is within the benchmark's own limits of accuracy.
    Accurate,
    /// A third cell is less far from the candidate than from the baseline.
    Gap {
        /// The required reduction of the gap, a fraction.
        by: f64,
    },
    /// The step to the candidate from another cell gains more than the step to the baseline from its own.
    Gain {
        /// The required surplus of the gain, a fraction.
        by: f64,
    },
}

impl Assertion {
    /// Returns the required ratio of the candidate to the baseline: a claim, and the margin that
    /// leaves `1 - margin` of it (the word of [`model::Claim`]).
    pub fn required_ratio(self) -> Option<(model::Claim, f64)> {
        use model::Claim::Better;
        match self {
            Self::Speed { claim, by }
            | Self::Accuracy { claim, by }
            | Self::Consistency { claim, by } => Some((claim, claim.margin_of(by))),
            Self::Gain { by } => Some((Better, Better.margin_of(by))),
            Self::Gap { by } => Some((Better, by)),
            Self::Accurate => None,
        }
    }
}

/// One pair of cells that a claim is about. Names are cells' or other hosts'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellPair {
    /// The axis values that distinguish it from the other parts: `gpu=w7900`.
    pub of: NamedValues,
    /// The candidate: the cell, or the other host, that the claim is about.
    pub candidate: String,
    /// The baseline, compared with the candidate; none for a claim about one side.
    pub baseline: Option<String>,
    /// The cell to which the gap is measured, for a claim on a gap.
    pub gap_to: Option<String>,
    /// The cells at which the steps of a gain start: the candidate's and the baseline's.
    pub from: Option<[String; 2]>,
}
