//! The words that a verdict may be, and the three of a claim.

use schemars::JsonSchema;

retrial_document::words! {
    /// The outcome by the evidence, in order of precedence: of several, the largest is the run's.
    #[derive(JsonSchema)]
    pub enum Outcome {
        /// Valid; there is no published figure to compare with.
        Measured = "measured",
        /// Valid, and at the stated confidence no worse than published less the margin.
        Reproduced = "reproduced",
        /// Valid; the evidence is inconclusive.
        Inconclusive = "inconclusive",
        /// Its measurement has not ended: the run is under way.
        Running = "running",
        /// Valid, and at the stated confidence worse than published less the margin.
        NotReproduced = "not reproduced",
        /// The benchmark's own rules were violated.
        Invalid = "invalid",
        /// A step failed or ran out of time.
        Failed = "failed",
    }
}

retrial_document::words! {
    /// The outcome of a claim.
    #[derive(JsonSchema)]
    pub enum ClaimOutcome {
        /// It holds, at the stated confidence.
        Supported = "supported",
        /// The evidence is inconclusive, or there is none.
        NotDecided = "not decided",
        /// It does not hold, at the stated confidence.
        Contradicted = "contradicted",
    }
}

impl ClaimOutcome {
    /// Returns what the evidence says of the opposite.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Supported => Self::Contradicted,
            Self::NotDecided => Self::NotDecided,
            Self::Contradicted => Self::Supported,
        }
    }
}

impl From<ClaimOutcome> for Outcome {
    fn from(claim: ClaimOutcome) -> Self {
        match claim {
            ClaimOutcome::Supported => Self::Reproduced,
            ClaimOutcome::NotDecided => Self::Inconclusive,
            ClaimOutcome::Contradicted => Self::NotReproduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_serialized_as_their_word() {
        for outcome in Outcome::ALL {
            let json = serde_json::to_string(&outcome).unwrap();
            assert_eq!(json, format!("{:?}", outcome.word()));
            assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
        }
    }

    #[test]
    fn precedence_is_validity_before_speed() {
        assert!(Outcome::ALL.is_sorted());
        assert!(Outcome::Failed > Outcome::Invalid && Outcome::Invalid > Outcome::NotReproduced);
    }
}
