//! The criterion of a search, as the command line and batch.json state it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retrial_results::verdict::number;

/// The axis, the figure and the criterion of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The axis of the recipe's variants, or the param, along which the cells are ordered.
    pub axis: String,
    /// The figure; none for the one by which the scenario is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// How cells after the change differ from those before it.
    pub criterion: Criterion,
    /// No more trials than this.
    pub most: u32,
}

/// How cells after the change differ from those before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Criterion {
    /// The figure is worse by more than a margin, as a fraction.
    Slower {
        /// The margin, a fraction: 0.05 for 5 %.
        margin: f64,
    },
    /// The figure is better by more than a margin, as a fraction.
    Faster {
        /// The margin, a fraction: 0.05 for 5 %.
        margin: f64,
    },
    /// The accuracy is not within the benchmark's limits.
    Accuracy,
    /// The result violates a rule of the benchmark, or its command fails.
    Validity,
}

impl Criterion {
    /// Returns the property that cells lose at the change; none if the search compares a figure.
    pub fn lost_property(self) -> Option<&'static str> {
        match self {
            Self::Slower { .. } | Self::Faster { .. } => None,
            Self::Accuracy => Some("accurate"),
            Self::Validity => Some("valid"),
        }
    }
}

/// The text is not a criterion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected slower, slower:5%, faster, faster:5%, accuracy or validity")]
pub struct CriterionError;

impl FromStr for Criterion {
    type Err = CriterionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, margin) = match text.split_once(':') {
            None => (text, None),
            Some((word, margin)) => {
                (word, Some(number::parse_percent(margin).ok_or(CriterionError)?))
            }
        };
        match (word, margin) {
            ("slower", margin) => Ok(Self::Slower { margin: margin.unwrap_or(0.0) }),
            ("faster", margin) => Ok(Self::Faster { margin: margin.unwrap_or(0.0) }),
            ("accuracy", None) => Ok(Self::Accuracy),
            ("validity", None) => Ok(Self::Validity),
            _ => Err(CriterionError),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, margin) = match self {
            Self::Slower { margin } => ("slower", *margin),
            Self::Faster { margin } => ("faster", *margin),
            Self::Accuracy => ("not accurate", 0.0),
            Self::Validity => ("not valid", 0.0),
        };
        formatter.write_str(word)?;
        if margin > 0.0 {
            write!(formatter, " by more than {}", number::format_percent(margin))?;
        }
        Ok(())
    }
}
