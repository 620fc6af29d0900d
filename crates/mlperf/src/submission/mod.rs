//! A submission's own description in JSON: `systems/SYSTEM.json`, and `measurements.json` (up to
//! v5.1 `measurements/SYSTEM/…/SYSTEM.json`). Rounds from v4.1 to v6.1 require the same fields.

pub mod accelerators;
pub mod fields;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::check::RuleCheck;
use crate::Division;
use fields::FieldRequirement;
use retrial_readings::nearest::{join_first_names, truncate_for_message};

/// The reason why a text is no JSON object.
#[derive(Debug, thiserror::Error)]
pub enum ParseObjectError {
    /// A number, a text or a list.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// No JSON at all.
    #[error("it is not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
}

/// Reads a file's object; a byte order mark before it is skipped.
///
/// # Errors
/// The text is none.
pub fn parse_object(text: &str) -> Result<Map<String, Value>, ParseObjectError> {
    match serde_json::from_str(text.trim_start_matches('\u{feff}'))? {
        Value::Object(object) => Ok(object),
        _ => Err(ParseObjectError::NotAnObject),
    }
}

/// Checks a system's description in a division's folder of a submitter.
pub fn check_system(
    system: &Map<String, Value>,
    division: Division,
    submitter: &str,
) -> Vec<RuleCheck> {
    let is_network = text_field(system, "is_network").eq_ignore_ascii_case("true");
    let network_names = fields::NETWORK_FIELDS.iter().filter(|_| is_network);
    let network = network_names.map(|name| (*name, FieldRequirement::Exist));
    let required_fields: Vec<(&str, FieldRequirement)> =
        fields::SYSTEM_FIELDS.into_iter().chain(network).collect();
    let same = |rule: &str, name: &str, folder: &str| {
        let value = text_field(system, name);
        let passed = value.eq_ignore_ascii_case(folder);
        RuleCheck::new(rule, quote_text(value), format!("\"{folder}\", as its folder"), passed)
    };
    let status = text_field(system, "status").to_lowercase();
    let mut checks = vec![
        check_fields("system's fields", system, &required_fields),
        RuleCheck::new(
            "system's status",
            quote_text(text_field(system, "status")),
            fields::STATUS_VALUES.join(", "),
            fields::STATUS_VALUES.contains(&status.as_str()),
        ),
        same("system's division", "division", division.word()),
        same("system's submitter", "submitter", submitter),
    ];
    let wrong = match division {
        Division::Closed if is_network => Some("over a network"),
        Division::Network if !is_network => Some("not over a network"),
        _ => None,
    };
    checks.extend(wrong.map(|wrong| {
        let required = format!("as the division {division} has it");
        RuleCheck::violation("system's network mode", wrong, required)
    }));
    checks
}

/// Checks a system's description in `MLPerf` Training, in a submitter's folder.
pub fn check_training_system(system: &Map<String, Value>, submitter: &str) -> Vec<RuleCheck> {
    let status = text_field(system, "status");
    let named = text_field(system, "submitter");
    let required_fields: Vec<(&str, FieldRequirement)> =
        fields::training_fields().map(|name| (name, FieldRequirement::Exist)).collect();
    vec![
        check_fields("system's fields", system, &required_fields),
        RuleCheck::new(
            "system's status",
            quote_text(status),
            fields::TRAINING_STATUS_VALUES.join("; "),
            fields::TRAINING_STATUS_VALUES.contains(&status),
        ),
        RuleCheck::new(
            "system's submitter",
            quote_text(named),
            format!("\"{submitter}\", as its folder"),
            is_same_organization(named, submitter),
        ),
    ]
}

/// Returns whether two names are of one organization, or of several that have one in common:
/// `Supermicro_MangoBoost` and `MangoBoost`.
pub fn is_same_organization(one: &str, other: &str) -> bool {
    let words = |name: &str| {
        let lower = name.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| word.len() > 1).map(str::to_owned).collect::<Vec<_>>()
    };
    let others = words(other);
    words(one).iter().any(|word| others.contains(word))
}

pub fn check_measurements(measurements: &Map<String, Value>) -> Vec<RuleCheck> {
    let required_fields = fields::MEASUREMENT_FIELDS.map(|name| (name, FieldRequirement::BeFilled));
    vec![check_fields("measurements' fields", measurements, &required_fields)]
}

fn text_field<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn quote_text(text: &str) -> String {
    format!("\"{}\"", truncate_for_message(text))
}

/// Checks that every field exists, and is not empty where it must not be.
fn check_fields(
    rule: &str,
    object: &Map<String, Value>,
    fields: &[(&str, FieldRequirement)],
) -> RuleCheck {
    let wrong: Vec<String> = fields
        .iter()
        .filter_map(|(name, must)| match object.get(*name) {
            None => Some(format!("no {name}")),
            Some(value) if *must == FieldRequirement::BeFilled && is_falsy(value) => {
                Some(format!("{name} is empty"))
            }
            Some(_) => None,
        })
        .collect();
    let measured = if wrong.is_empty() {
        format!("all {}", fields.len())
    } else {
        join_first_names(wrong.iter().map(String::as_str))
    };
    let required = format!("{} fields, the important ones not empty", fields.len());
    RuleCheck::new(rule, measured, required, wrong.is_empty())
}

/// Returns whether Python takes it for false: the checker tests `not value`.
fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64().is_some_and(|value| value.abs() <= 0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}
