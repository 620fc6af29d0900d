//! Exit codes, and which of several applies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Outcome;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(into = "u8", try_from = "u8")]
#[repr(u8)]
pub enum ExitCode {
    /// Reproduced, or measured where nothing was published.
    Success = 0,
    /// Judged and not reproduced, or invalid.
    NotReproduced = 1,
    /// The command line or a recipe is wrong, or an approval is missing.
    Usage = 2,
    /// The host or its services failed: engine, registry, hub, disk, GPUs.
    Host = 3,
    /// A benchmark's own command failed or timed out.
    StepFailed = 4,
    /// The evidence does not decide.
    Inconclusive = 5,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl ExitCode {
    /// All codes, in the order in which they apply.
    pub const PRECEDENCE: [Self; 7] = [
        Self::Interrupted,
        Self::Usage,
        Self::Host,
        Self::StepFailed,
        Self::NotReproduced,
        Self::Inconclusive,
        Self::Success,
    ];

    /// Returns the number that the process exits with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// This code, or success if all is well.
    #[must_use]
    pub fn success_if(self, is_well: bool) -> Self {
        if is_well { Self::Success } else { self }
    }

    /// Returns whether measurements ended, and were judged.
    pub fn is_judgement(self) -> bool {
        matches!(self, Self::Success | Self::NotReproduced | Self::Inconclusive)
    }

    /// Returns the first that applies; success if there is none.
    pub fn first_applicable(codes: impl IntoIterator<Item = Self>) -> Self {
        codes
            .into_iter()
            .min_by_key(|code| Self::PRECEDENCE.iter().position(|other| other == code))
            .unwrap_or(Self::Success)
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Measured | Outcome::Reproduced => Self::Success,
            Outcome::Inconclusive | Outcome::Running => Self::Inconclusive,
            Outcome::NotReproduced | Outcome::Invalid => Self::NotReproduced,
            Outcome::Failed => Self::StepFailed,
        }
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> Self {
        code.code()
    }
}

impl TryFrom<u8> for ExitCode {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::PRECEDENCE
            .into_iter()
            .find(|exit| exit.code() == number)
            .ok_or_else(|| format!("{number} is not one of the exit codes 0, 1, 2, 3, 4, 5, 130"))
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[0, 5], 5)]
    #[case(&[5, 1], 1)]
    #[case(&[1, 4], 4)]
    #[case(&[4, 3], 3)]
    #[case(&[3, 2], 2)]
    #[case(&[0, 1, 2, 3, 4, 5, 130], 130)]
    #[case(&[], 0)]
    fn the_first_applicable_code_is_used(#[case] codes: &[u8], #[case] expected: u8) {
        let codes = codes.iter().map(|code| ExitCode::try_from(*code).unwrap());
        assert_eq!(ExitCode::first_applicable(codes).code(), expected);
    }

    #[rstest]
    #[case(Outcome::Measured, 0)]
    #[case(Outcome::Reproduced, 0)]
    #[case(Outcome::Inconclusive, 5)]
    #[case(Outcome::NotReproduced, 1)]
    #[case(Outcome::Invalid, 1)]
    #[case(Outcome::Failed, 4)]
    fn each_outcome_has_an_exit_code(#[case] outcome: Outcome, #[case] code: u8) {
        assert_eq!(ExitCode::from(outcome).code(), code);
    }

    /// The run's outcome is the largest, its exit code the first: they must not disagree.
    #[test]
    fn precedence_of_outcomes_and_codes_agree() {
        for first in Outcome::ALL {
            for second in Outcome::ALL {
                let by_outcome = ExitCode::from(first.max(second));
                assert_eq!(ExitCode::first_applicable([first.into(), second.into()]), by_outcome);
            }
        }
    }

    #[test]
    fn json_is_the_number() {
        assert_eq!(serde_json::to_string(&ExitCode::Interrupted).unwrap(), "130");
        assert!(serde_json::from_str::<ExitCode>("77").is_err());
    }
}
