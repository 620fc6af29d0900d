//! The six words that a verdict may be.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the evidence says, in order of precedence: of several, the largest is the run's.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Outcome {
    /// Valid, and nothing was published to compare with.
    #[serde(rename = "measured")]
    Measured,
    /// Valid, and at the stated confidence no worse than published less the margin.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Valid, and the evidence does not decide.
    #[serde(rename = "inconclusive")]
    Inconclusive,
    /// Valid, and at the stated confidence worse than published less the margin.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// The benchmark's own rules were broken.
    #[serde(rename = "invalid")]
    Invalid,
    /// A step failed or ran out of time.
    #[serde(rename = "failed")]
    Failed,
}

impl Outcome {
    /// All outcomes, in order of precedence.
    pub const ALL: [Self; 6] = [
        Self::Measured,
        Self::Reproduced,
        Self::Inconclusive,
        Self::NotReproduced,
        Self::Invalid,
        Self::Failed,
    ];

    /// The word, as design and JSON spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Reproduced => "reproduced",
            Self::Inconclusive => "inconclusive",
            Self::NotReproduced => "not reproduced",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_word() {
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
