//! What is asked of a text: which match counts, which cell, which limit a figure must meet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ordered;

/// A cell of a CSV file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvCell {
    /// The column, by its head.
    pub column: String,
    /// Only rows whose cells in these columns are these.
    #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Ordered<String>,
    /// Only the row of this number among them, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
}

/// Which match counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// The first.
    First,
    /// The last.
    #[default]
    Last,
    /// All: more than one is an error unless they agree.
    All,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum.
    Sum,
    /// The mean.
    Mean,
}

/// The benchmark's own limit for a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// At least.
    pub min: Option<f64>,
    /// At most.
    pub max: Option<f64>,
    /// Strictly below (MLPerf's latency limits).
    pub below: Option<f64>,
}
