//! The rule of one key of a log: how often it occurs, and its allowed values.

use serde::Deserialize;
use serde_json::Value;

use super::dependent::{
    DependentRule, LastNumbers, ProductRule, ProportionalRule, SameAsRule, ScaledRangeRule,
    ScheduledStepsRule, SumRule, WholeBatches,
};
use crate::mllog::MllogEvent;
use retrial_readings::nearest::truncate_for_message;
use retrial_readings::number::format_grouped;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct KeyRule {
    pub count: OccurrenceCount,
    /// Another key that may replace it.
    pub or: Option<String>,
    /// One of these is in its metadata.
    pub metadata: Vec<String>,
    is: Option<RuleValue>,
    one_of: Vec<RuleValue>,
    min: Option<f64>,
    max: Option<f64>,
    above: Option<f64>,
    /// A number without a fraction.
    whole: bool,
    /// Not the empty text.
    filled: bool,
    proportional: Option<ProportionalRule>,
    between: Option<ScaledRangeRule>,
    sum: Option<SumRule>,
    product: Option<ProductRule>,
    same_as: Option<SameAsRule>,
    steps: Option<ScheduledStepsRule>,
    batches: Option<WholeBatches>,
}

/// How often a key occurs in a log. Several with the same value count as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OccurrenceCount {
    #[default]
    One,
    Some,
    Optional,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NumberRange {
    min: Option<f64>,
    max: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum RuleValue {
    Number(f64),
    Text(String),
}

impl NumberRange {
    pub fn allows(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
            && self.above.is_none_or(|above| value > above)
            && self.below.is_none_or(|below| value < below)
    }

    /// `at most 0.925 and above 0`
    pub fn describe(&self) -> String {
        let named_bounds = [
            ("at least", self.min),
            ("at most", self.max),
            ("above", self.above),
            ("below", self.below),
        ];
        let bounds = named_bounds
            .into_iter()
            .filter_map(|(word, bound)| Some(format!("{word} {}", format_grouped(bound?))));
        bounds.collect::<Vec<_>>().join(" and ")
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl RuleValue {
    fn equals(&self, value: &Value) -> bool {
        match self {
            Self::Number(number) => {
                value.as_f64().is_some_and(|value| (value - number).abs() <= 0.0)
            }
            Self::Text(text) => value.as_str() == Some(text),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Number(number) => format_grouped(*number),
            Self::Text(text) => text.clone(),
        }
    }
}

impl KeyRule {
    /// Returns the requirement on its value that an event of this key violates.
    pub fn find_violation(&self, event: &MllogEvent, latest: &LastNumbers) -> Option<String> {
        let has = |name: &String| event.metadata.get(name).is_some();
        if !self.metadata.is_empty() && !self.metadata.iter().any(has) {
            return Some(format!("{} in its metadata", self.metadata.join(" or ")));
        }
        let value = &event.value;
        let (number, range) = (value.as_f64(), self.value_range());
        let is_one = |scalars: &[RuleValue]| scalars.iter().any(|scalar| scalar.equals(value));
        let passes = self.is.as_ref().is_none_or(|is| is.equals(value))
            && (self.one_of.is_empty() || is_one(&self.one_of))
            && (range.is_empty() || number.is_some_and(|number| range.allows(number)))
            && (!self.whole || number.is_some_and(is_whole))
            && !(self.filled && value.as_str() == Some(""))
            && self
                .dependent_rules()
                .all(|rule| number.is_some_and(|number| rule.allows(number, latest)));
        (!passes).then(|| self.describe())
    }

    /// Returns whether a requirement on its value depends on other lines.
    pub fn is_dependent(&self) -> bool {
        self.dependent_rules().next().is_some()
    }

    fn value_range(&self) -> NumberRange {
        NumberRange { min: self.min, max: self.max, above: self.above, below: None }
    }

    /// Checks its requirements that depend on other keys; those must have been logged before.
    fn dependent_rules(&self) -> impl Iterator<Item = &dyn DependentRule> {
        fn as_dependent_rule(rule: Option<&impl DependentRule>) -> Option<&dyn DependentRule> {
            rule.map(|rule| rule as &dyn DependentRule)
        }
        let rules = [
            as_dependent_rule(self.proportional.as_ref()),
            as_dependent_rule(self.between.as_ref()),
            as_dependent_rule(self.sum.as_ref()),
            as_dependent_rule(self.product.as_ref()),
            as_dependent_rule(self.same_as.as_ref()),
            as_dependent_rule(self.steps.as_ref()),
            as_dependent_rule(self.batches.as_ref()),
        ];
        rules.into_iter().flatten()
    }

    /// Describes the requirement on the value.
    pub fn describe(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.is.as_ref().map(RuleValue::describe));
        if !self.one_of.is_empty() {
            let names: Vec<String> = self.one_of.iter().map(RuleValue::describe).collect();
            words.push(format!("one of {}", names.join(", ")));
        }
        if !self.value_range().is_empty() {
            words.push(self.value_range().describe());
        }
        if self.whole {
            words.push("a whole number".to_owned());
        }
        if self.filled {
            words.push("not empty".to_owned());
        }
        words.extend(self.dependent_rules().map(DependentRule::describe));
        words.join(", ")
    }
}

fn is_whole(number: f64) -> bool {
    (number.round() - number).abs() < 1e-5
}

pub(super) fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => truncate_for_message(text),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), format_grouped),
        other => truncate_for_message(&other.to_string()),
    }
}
