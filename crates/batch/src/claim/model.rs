//! A claim as it is checked.

use serde::{Deserialize, Serialize};

use crate::Values;
use retrial_recipe::model;

/// A claim, its sides found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// As it was written.
    pub text: String,
    /// Where it was published.
    pub source: Option<String>,
    /// What it says.
    pub assertion: Assertion,
    /// Only in this scenario; in each if none.
    pub scenario: Option<String>,
    /// In this figure; in the one by which the scenario is published if none.
    pub figure: Option<String>,
    /// That the assertion does not hold of at least one part: `is not always …`.
    pub not_always: bool,
    /// About whom, one after the other; at least one.
    pub parts: Vec<Part>,
}

/// What is claimed of each part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assertion {
    /// Of the candidate's speed next to the baseline's.
    Speed {
        /// Better, not worse, or equivalent.
        claim: model::Claim,
        /// The margin as it was written: of better, how much more; else how much is let through.
        by: f64,
    },
    /// Of its accuracy.
    Accuracy {
        /// Better, not worse, or equivalent.
        claim: model::Claim,
        /// As for speed.
        by: f64,
    },
    /// Of how little the candidate's trials scatter next to the baseline's.
    Consistency {
        /// Better, not worse, or equivalent.
        claim: model::Claim,
        /// As for speed.
        by: f64,
    },
    /// The candidate is within the benchmark's own limits of accuracy.
    Accurate,
    /// That a third is less far from the candidate than from the baseline.
    Gap {
        /// By how much of the gap.
        by: f64,
    },
    /// That the step to the candidate from another gains more than the step to the baseline from its own.
    Gain {
        /// By how much more.
        by: f64,
    },
}

impl Assertion {
    /// Returns the required ratio of the candidate to the baseline: a claim, and the margin that
    /// leaves `1 - margin` of it (the word of [`model::Claim`]).
    pub fn required(self) -> Option<(model::Claim, f64)> {
        use model::Claim::Better;
        match self {
            Self::Speed { claim, by }
            | Self::Accuracy { claim, by }
            | Self::Consistency { claim, by }
                if claim != Better =>
            {
                Some((claim, by))
            }
            // 10 % more is what 9.1 % less is seen from the other side.
            Self::Speed { by, .. }
            | Self::Accuracy { by, .. }
            | Self::Consistency { by, .. }
            | Self::Gain { by } => Some((Better, by / (1.0 + by))),
            Self::Gap { by } => Some((Better, by)),
            Self::Accurate => None,
        }
    }
}

/// One pair of cells that a claim is about. Names are cells' or other hosts'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What tells it from the other parts: `gpu=w7900`.
    pub of: Values,
    /// Of whom.
    pub candidate: String,
    /// Next to whom.
    pub baseline: Option<String>,
    /// The gap to whom.
    pub gap_to: Option<String>,
    /// Where the steps of a gain begin: the candidate's and the baseline's.
    pub from: Option<[String; 2]>,
}
