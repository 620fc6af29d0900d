//! The source of the noise that is assumed of one trial.

use std::fmt;

use serde::{Deserialize, Serialize};

const OF_RECIPE: &str = "the recipe";

/// The source of an assumed noise; files contain its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum NoiseBasis {
    Recipe,
    /// Published runs on one system: `16 published pairs of llama2-70b Offline`.
    Published(String),
}

impl fmt::Display for NoiseBasis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Recipe => OF_RECIPE,
            Self::Published(pairs) => pairs,
        })
    }
}

impl From<String> for NoiseBasis {
    fn from(text: String) -> Self {
        if text == OF_RECIPE { Self::Recipe } else { Self::Published(text) }
    }
}

impl From<NoiseBasis> for String {
    fn from(basis: NoiseBasis) -> Self {
        basis.to_string()
    }
}
