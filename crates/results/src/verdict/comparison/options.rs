//! Options of a comparison, and the loss of speed that fails it: `--fail-if slower:2%`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::number;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonOptions {
    /// Confidence of each two-sided interval.
    pub confidence: f64,
    /// Whether trials were interleaved.
    pub paired: bool,
    /// The loss of speed that fails a candidate.
    pub fail_if: Option<FailIf>,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self { confidence: 0.95, paired: false, fail_if: None }
    }
}

/// How much slower than the baseline is too slow, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailIf {
    /// Slower by more than this.
    pub slower: f64,
}

/// A text that is not such a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid limit `{text}`: write slower:2% (0 % or more, and under 100 %)")]
pub struct FailIfError {
    text: String,
}

impl FromStr for FailIf {
    type Err = FailIfError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let percent = text.strip_prefix("slower:");
        let slower = percent.and_then(number::parse_percent);
        slower.map(|slower| Self { slower }).ok_or_else(|| FailIfError { text: text.to_owned() })
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slower = number::format_percent(self.slower);
        write!(formatter, "slower by more than {slower}")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("slower:2%", Some(0.02))]
    #[case("slower: 0.5 %", Some(0.005))]
    #[case("slower:0%", Some(0.0))]
    #[case("slower:2", None)]
    #[case("slower", None)]
    #[case("faster:2%", None)]
    #[case("slower:-1%", None)]
    #[case("slower:100%", None)]
    #[case("slower:NaN%", None)]
    fn typed(#[case] text: &str, #[case] slower: Option<f64>) {
        assert_eq!(text.parse().ok(), slower.map(|slower| FailIf { slower }));
    }
}
