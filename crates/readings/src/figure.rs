//! A figure as it was printed: its value, its unit, and how finely it was printed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Figures by name; a name is a snake-case term of the field that ends in its unit where that is a
/// time (`latency_p99_ns`).
pub type Figures = BTreeMap<Cow<'static, str>, Figure>;

/// The unit of a throughput in samples.
pub const SAMPLES_PER_SECOND: &str = "samples/s";
/// The unit of a throughput in tokens.
pub const TOKENS_PER_SECOND: &str = "tokens/s";
/// The unit of a throughput in queries.
pub const QUERIES_PER_SECOND: &str = "queries/s";
/// Nanoseconds, LoadGen's unit of time.
pub const NANOSECONDS: &str = "ns";

/// A measured value with its unit, and how finely it was printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The value in `unit`; always finite.
    pub value: f64,
    /// The unit as text, `tokens/s` or `ns`.
    pub unit: Cow<'static, str>,
    /// Half of the last printed digit: the true value lies within `value` ± this.
    pub half_digit: f64,
}

impl Figure {
    /// Returns the same figure in another unit, `factor` of the old ones to one of the new.
    #[must_use]
    pub fn scale_to_unit(&self, factor: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self {
            value: self.value * factor,
            unit: unit.into(),
            half_digit: self.half_digit * factor.abs(),
        }
    }
}

/// A printed number and how finely it was printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedNumber {
    /// The value; always finite.
    pub value: f64,
    /// Half of the last printed digit.
    pub half_digit: f64,
}

impl PrintedNumber {
    /// Returns the same in another unit, `factor` of the new to one of the old.
    #[must_use]
    pub fn scale_by(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_digit: self.half_digit * factor.abs() }
    }
}
