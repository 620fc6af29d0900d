//! Bounds of a ratio, as verdicts store them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::published_figure::finite_exp;

/// Bounds of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// The lower bound, as a ratio.
    pub lower: f64,
    /// The upper bound, as a ratio.
    pub upper: f64,
}

impl Bounds {
    /// Returns the bounds of a ratio whose logarithm has these bounds.
    pub fn from_logs((lower, upper): (f64, f64)) -> Self {
        Self { lower: finite_exp(lower), upper: finite_exp(upper) }
    }
}
