//! Requests for figures of a text: the match that counts, the cell, the limit of a figure.

use itertools::join;
use retrial_document::formats::FILLED;
use retrial_document::{FieldType, OrderedMap, Scope, object, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

object! {
    /// A cell of a CSV file.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CsvCell: "a cell", or FieldType::Text(FILLED) => CsvCell::from_column;
    keys {
        /// The column, by its head.
        column: String [required] = FieldType::Text(FILLED),
        /// Only rows whose cells in these columns are these.
        #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
        filter: OrderedMap<String> [key = "where"] = FieldType::Map(FILLED, &FieldType::Scalar(Scope::DOCUMENT)),
        /// Only the row of this number among them, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<u32> = FieldType::Integer(1, 1_000_000),
    }
}

impl CsvCell {
    #[expect(clippy::unnecessary_wraps, reason = "a reader")]
    fn from_column(text: &str) -> Option<Self> {
        Some(Self { column: text.to_owned(), ..Self::default() })
    }
}

words! {
    /// Which match counts.
    #[derive(Default, JsonSchema)]
    pub enum MatchSelection {
        /// The first.
        First = "first",
        /// The last.
        #[default]
        Last = "last",
        /// All; they must agree.
        All = "all",
        /// The smallest.
        Min = "min",
        /// The largest.
        Max = "max",
        /// The sum.
        Sum = "sum",
        /// The mean.
        Mean = "mean",
    }
}

object! {
    /// The benchmark's own limit for a figure.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
    pub struct Limit: "a limit";
    keys {
        /// At least.
        min: Option<f64>,
        /// At most.
        max: Option<f64>,
        /// Strictly below.
        below: Option<f64>,
    }
}

impl Limit {
    /// Returns whether a value meets the limit. NaN and infinity meet none.
    pub fn allows(&self, value: f64) -> bool {
        value.is_finite()
            && self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
            && self.below.is_none_or(|below| value < below)
    }

    /// Describes the bounds, each as `show` writes it: `at least 43.9869`, `below 450 ms`; empty
    /// without bounds.
    pub fn describe(&self, show: impl Fn(f64) -> String) -> String {
        let bounds = [("at least", self.min), ("at most", self.max), ("below", self.below)];
        let words = bounds.into_iter();
        let descriptions =
            words.filter_map(|(word, bound)| Some(format!("{word} {}", show(bound?))));
        join(descriptions, " and ")
    }
}
