//! The rule of one key of a log: how often it occurs, and its allowed values.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::mllog::Event;
use retrial_readings::nearest::shortened;
use retrial_readings::number::grouped;

/// The last number of each key so far: some values depend on others before them.
pub(super) type LastNumbers = BTreeMap<String, f64>;

/// The rule of a key.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct KeyRule {
    pub count: Count,
    /// Another key that may replace it.
    pub or: Option<String>,
    /// One of these is in its metadata.
    pub metadata: Vec<String>,
    is: Option<Scalar>,
    one_of: Vec<Scalar>,
    min: Option<f64>,
    max: Option<f64>,
    above: Option<f64>,
    /// A number without a fraction.
    whole: bool,
    /// Not the empty text.
    filled: bool,
    proportional: Option<Proportional>,
    sum: Option<Sum>,
    steps: Option<Steps>,
}

/// How often a key occurs in a log. Several with the same value count as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Count {
    #[default]
    One,
    Some,
    Optional,
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Range {
    min: Option<f64>,
    max: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Number(f64),
    Text(String),
}

/// `value / is = (to / at) ^ power`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proportional {
    to: String,
    at: f64,
    is: f64,
    #[serde(default = "linear")]
    power: f64,
    #[serde(default)]
    within: f64,
}

fn linear() -> f64 {
    1.0
}

/// `value + with = is`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sum {
    with: String,
    is: f64,
}

/// `value = ⌈total × at / by⌉ − ⌈warmup × at / by⌉`, the schedule of the reference's batch size at
/// another one; logged after the warmup's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    total: f64,
    warmup: f64,
    at: f64,
    by: String,
    after: String,
}

impl Proportional {
    fn is_linear(&self) -> bool {
        self.power.total_cmp(&1.0).is_eq()
    }
}

impl Range {
    pub fn allows(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
            && self.above.is_none_or(|above| value > above)
            && self.below.is_none_or(|below| value < below)
    }

    /// `at most 0.925 and above 0`
    pub fn describe(&self) -> String {
        let bounds = [
            ("at least", self.min),
            ("at most", self.max),
            ("above", self.above),
            ("below", self.below),
        ];
        let bounds = bounds
            .into_iter()
            .filter_map(|(word, bound)| Some(format!("{word} {}", grouped(bound?))));
        bounds.collect::<Vec<_>>().join(" and ")
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Scalar {
    fn is(&self, value: &Value) -> bool {
        match self {
            Self::Number(number) => value
                .as_f64()
                .is_some_and(|value| (value - number).abs() <= 0.0),
            Self::Text(text) => value.as_str() == Some(text),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Number(number) => grouped(*number),
            Self::Text(text) => text.clone(),
        }
    }
}

impl KeyRule {
    /// Returns the requirement on its value that an event of this key violates.
    pub fn violated_by(&self, event: &Event, latest: &LastNumbers) -> Option<String> {
        let has = |name: &String| event.metadata.get(name).is_some();
        if !self.metadata.is_empty() && !self.metadata.iter().any(has) {
            return Some(format!("{} in its metadata", self.metadata.join(" or ")));
        }
        let value = &event.value;
        let (number, range) = (value.as_f64(), self.range());
        let is_one = |scalars: &[Scalar]| scalars.iter().any(|scalar| scalar.is(value));
        let passes = self.is.as_ref().is_none_or(|is| is.is(value))
            && (self.one_of.is_empty() || is_one(&self.one_of))
            && (range.is_empty() || number.is_some_and(|number| range.allows(number)))
            && (!self.whole || number.is_some_and(is_whole))
            && !(self.filled && value.as_str() == Some(""))
            && self.depends(number, latest);
        (!passes).then(|| self.describe())
    }

    fn range(&self) -> Range {
        Range {
            min: self.min,
            max: self.max,
            above: self.above,
            below: None,
        }
    }

    /// Checks the conditions on other keys; those must have been logged before.
    fn depends(&self, number: Option<f64>, latest: &LastNumbers) -> bool {
        let is = |expected: Option<f64>, within: f64| match (number, expected) {
            (Some(number), Some(expected)) => (number - expected).abs() <= within,
            _ => false,
        };
        let of_batch = self.proportional.as_ref().is_none_or(|rule| {
            let by = latest.get(&rule.to).copied();
            if rule.is_linear() {
                // In this order, so that rounding is the checker's.
                let scaled = number.map(|number| number * rule.at);
                return match (scaled, by) {
                    (Some(scaled), Some(by)) => (scaled - by * rule.is).abs() <= rule.within,
                    _ => false,
                };
            }
            is(
                by.map(|by| rule.is * (by / rule.at).powf(rule.power)),
                rule.within,
            )
        });
        let of_sum = self.sum.as_ref().is_none_or(|rule| {
            let with = latest.get(&rule.with);
            is(with.map(|with| rule.is - with), 0.0)
        });
        let of_steps = self.steps.as_ref().is_none_or(|rule| {
            let by = latest
                .get(&rule.by)
                .filter(|_| latest.contains_key(&rule.after));
            let steps = |count: f64, by: &f64| (count * rule.at / by).ceil();
            is(
                by.map(|by| steps(rule.total, by) - steps(rule.warmup, by)),
                0.0,
            )
        });
        of_batch && of_sum && of_steps
    }

    /// Describes the requirement on the value.
    pub fn describe(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.is.as_ref().map(Scalar::describe));
        if !self.one_of.is_empty() {
            let names: Vec<String> = self.one_of.iter().map(Scalar::describe).collect();
            words.push(format!("one of {}", names.join(", ")));
        }
        if !self.range().is_empty() {
            words.push(self.range().describe());
        }
        if self.whole {
            words.push("a whole number".to_owned());
        }
        if self.filled {
            words.push("not empty".to_owned());
        }
        words.extend(self.proportional.as_ref().map(|rule| {
            let power = (!rule.is_linear()).then(|| format!(" ^ {}", rule.power));
            let (is, to, at) = (rule.is, &rule.to, grouped(rule.at));
            format!("{is} × ({to} / {at}){}", power.unwrap_or_default())
        }));
        words.extend(
            self.sum
                .as_ref()
                .map(|rule| format!("{} − {}", grouped(rule.is), rule.with)),
        );
        words.extend(self.steps.as_ref().map(|rule| {
            let (total, warmup) = (grouped(rule.total), grouped(rule.warmup));
            let at = grouped(rule.at);
            let by = &rule.by;
            format!("⌈{total} × {at} / {by}⌉ − ⌈{warmup} × {at} / {by}⌉")
        }));
        words.join(", ")
    }
}

fn is_whole(number: f64) -> bool {
    (number.round() - number).abs() < 1e-5
}

/// Formats a value for a message.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), grouped),
        other => shortened(&other.to_string()),
    }
}
