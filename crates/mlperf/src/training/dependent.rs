//! Values that depend on others of the same log: on the batch size, on a schedule, on another setting.

use std::collections::BTreeMap;

use serde::Deserialize;

use retrial_readings::number::format_grouped;

/// The key of the batch size, on which most of these values depend.
pub(super) const BATCH_SIZE: &str = "global_batch_size";

/// The last number of each key so far.
pub(super) type LastNumbers = BTreeMap<String, f64>;

/// A requirement on a value that is computed from values which were logged before it.
pub(super) trait DependentRule {
    /// Returns whether the value meets it; one that was logged before its basis does not.
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool;
    /// Describes the required value.
    fn describe(&self) -> String;
}

/// `value / is = (to / at) ^ power`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProportionalRule {
    to: String,
    at: f64,
    is: f64,
    #[serde(default = "default_power")]
    power: f64,
    #[serde(default)]
    within: f64,
}

fn default_power() -> f64 {
    1.0
}

/// `value + with = is`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SumRule {
    with: String,
    is: f64,
}

/// `value × with = is`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProductRule {
    with: String,
    is: String,
}

/// `min × to / at ≤ value ≤ max × to / at`, each bound with the relative tolerance `within`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScaledRangeRule {
    to: String,
    at: f64,
    min: f64,
    max: f64,
    within: f64,
}

/// The value of another key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct SameAsRule(String);

/// `value = ⌈total × at / by⌉ − ⌈warmup × at / by⌉`, the schedule of the reference's batch size at
/// another one; logged after the warmup's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScheduledStepsRule {
    total: f64,
    warmup: f64,
    at: f64,
    by: String,
    after: String,
}

/// Whole batches: `batch × ⌈plus + samples / batch⌉`, or the next lower number of batches.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeBatches {
    #[serde(default)]
    plus: f64,
    #[serde(default)]
    samples: f64,
    #[serde(default)]
    rounded: Rounding,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rounding {
    #[default]
    Up,
    Down,
}

impl WholeBatches {
    /// Returns the number of samples at this batch size.
    pub fn samples_at(&self, batch: f64) -> f64 {
        let batches = self.plus + self.samples / batch;
        batch
            * match self.rounded {
                Rounding::Up => batches.ceil(),
                Rounding::Down => batches.floor(),
            }
    }
}

fn is_equal(number: f64, expected: Option<f64>, within: f64) -> bool {
    expected.is_some_and(|expected| (number - expected).abs() <= within)
}

impl ProportionalRule {
    fn is_linear(&self) -> bool {
        self.power.total_cmp(&1.0).is_eq()
    }
}

impl DependentRule for ProportionalRule {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        let by = latest.get(&self.to).copied();
        if self.is_linear() {
            // In this order, so that rounding is the checker's.
            return is_equal(number * self.at, by.map(|by| by * self.is), self.within);
        }
        let expected = by.map(|by| self.is * (by / self.at).powf(self.power));
        is_equal(number, expected, self.within)
    }

    fn describe(&self) -> String {
        let power = (!self.is_linear()).then(|| format!(" ^ {}", self.power));
        let (is, to, at) = (self.is, &self.to, format_grouped(self.at));
        format!("{is} × ({to} / {at}){}", power.unwrap_or_default())
    }
}

impl DependentRule for SumRule {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        let with = latest.get(&self.with);
        is_equal(number, with.map(|with| self.is - with), 0.0)
    }

    fn describe(&self) -> String {
        format!("{} − {}", format_grouped(self.is), self.with)
    }
}

impl DependentRule for ProductRule {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        let product = latest.get(&self.with).map(|with| number * with);
        product.is_some_and(|product| is_equal(product, latest.get(&self.is).copied(), 0.0))
    }

    fn describe(&self) -> String {
        format!("{} / {}", self.is, self.with)
    }
}

impl DependentRule for ScaledRangeRule {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        latest.get(&self.to).is_some_and(|to| {
            let bound = |bound: f64| bound * to / self.at;
            number >= bound(self.min) * (1.0 - self.within)
                && number <= bound(self.max) * (1.0 + self.within)
        })
    }

    fn describe(&self) -> String {
        let (min, max, to, at) = (self.min, self.max, &self.to, format_grouped(self.at));
        format!("{min} to {max} × ({to} / {at})")
    }
}

impl DependentRule for SameAsRule {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        is_equal(number, latest.get(&self.0).copied(), 0.0)
    }

    fn describe(&self) -> String {
        format!("as {}", self.0)
    }
}

impl DependentRule for ScheduledStepsRule {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        let by = latest.get(&self.by).filter(|_| latest.contains_key(&self.after));
        let steps = |count: f64, by: &f64| (count * self.at / by).ceil();
        let expected = by.map(|by| steps(self.total, by) - steps(self.warmup, by));
        is_equal(number, expected, 0.0)
    }

    fn describe(&self) -> String {
        let (total, warmup, at) =
            (format_grouped(self.total), format_grouped(self.warmup), format_grouped(self.at));
        let by = &self.by;
        format!("⌈{total} × {at} / {by}⌉ − ⌈{warmup} × {at} / {by}⌉")
    }
}

impl DependentRule for WholeBatches {
    fn allows(&self, number: f64, latest: &LastNumbers) -> bool {
        let batch = latest.get(BATCH_SIZE).filter(|batch| **batch > 0.0);
        is_equal(number, batch.map(|batch| self.samples_at(*batch)), 0.0)
    }

    fn describe(&self) -> String {
        let plus = match format_grouped(self.plus) {
            zero if zero == "0" => String::new(),
            plus => format!("{plus} + "),
        };
        let (open, close) = match self.rounded {
            Rounding::Up => ('⌈', '⌉'),
            Rounding::Down => ('⌊', '⌋'),
        };
        let samples = format_grouped(self.samples);
        format!("{BATCH_SIZE} × {open}{plus}{samples} / {BATCH_SIZE}{close}")
    }
}
