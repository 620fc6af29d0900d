//! Results of an endpoint, without LoadGen's logs (MLPerf Inference v6.1 and later): a scenario's
//! `config.yaml`, `performance/result_summary.json` and `accuracy/accuracy_results.json`.
//!
//! Figures have LoadGen's names (see [`super::loadgen`]). Percentiles are those of early stopping
//! where the run estimated them: the rules ask for these.

mod accuracy;
mod audit;
mod consistency;
mod performance;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use accuracy::{EndpointAccuracy, Score};
pub use audit::{audit_name, check_audit_outcome, is_audit_required};
pub use performance::EndpointPerformance;

/// The reason why a text is no configuration of an endpoint.
#[derive(Debug, thiserror::Error)]
pub enum ParseConfigError {
    /// A number, a text or a list.
    #[error("it is not a YAML mapping")]
    NotAMapping,
    /// No YAML at all; the lines after the first show the text.
    #[error("it is not YAML: {}", .0.to_string().lines().next().unwrap_or_default())]
    Syntax(#[source] Box<serde_saphyr::Error>),
}

/// Reads a `config.yaml`.
///
/// # Errors
/// The text is none.
pub fn parse_config(text: &str) -> Result<Map<String, Value>, ParseConfigError> {
    match serde_saphyr::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ParseConfigError::NotAMapping),
        Err(error) => Err(ParseConfigError::Syntax(Box::new(error))),
    }
}

fn member_at_path<'a>(object: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let mut value = object.get(*first)?;
    for name in rest {
        value = value.get(name)?;
    }
    Some(value)
}

/// Returns a finite number, of a number or a text.
fn to_number(value: Option<&Value>) -> Option<f64> {
    retrial_readings::json::parse_json_number(value?).map(|printed| printed.value)
}

/// Returns a whole number, exactly: seeds have 64 bits.
fn to_whole_number(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
