//! JSON Schema, as much of it as our schemas use.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Value, json};

/// The deepest place at which a value does not fit a schema is the error.
///
/// # Errors
/// Where it does not fit.
///
/// # Panics
/// On a keyword that no schema of ours had so far.
pub fn fits(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let here = || Err(place.to_owned());
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$ref" => {
                let pointer = rule.as_str().unwrap().trim_start_matches('#');
                fits(root, root.pointer(pointer).unwrap(), value, place)?;
            }
            "type" if !has_type(rule, value) => return here(),
            "const" if rule != value => return here(),
            "not" if *rule == json!({}) => return here(),
            "minimum" if compared(value, rule) == Some(Ordering::Less) => return here(),
            "maximum" if compared(value, rule) == Some(Ordering::Greater) => return here(),
            "enum" if !rule.as_array().unwrap().contains(value) => return here(),
            "minItems" if (value.as_array().unwrap().len() as u64) < rule.as_u64().unwrap() => {
                return here();
            }
            "$schema" | "$defs" | "title" | "description" | "default" | "type" | "const"
            | "enum" | "format" | "minimum" | "maximum" | "minItems" => {}
            "pattern" => {
                let pattern = Regex::new(rule.as_str().unwrap()).unwrap();
                if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                    return here();
                }
            }
            "required" => {
                let missing = |name: &&Value| value.get(name.as_str().unwrap()).is_none();
                if rule.as_array().unwrap().iter().any(|name| missing(&name)) {
                    return here();
                }
            }
            "anyOf" | "oneOf" => {
                let results: Vec<_> = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|rule| fits(root, rule, value, place))
                    .collect();
                if results.iter().all(Result::is_err) {
                    return results
                        .into_iter()
                        .max_by_key(|result| result.as_ref().err().map(String::len))
                        .unwrap();
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    fits(root, rule, item, &format!("{place}/{index}"))?;
                }
            }
            "propertyNames" => {
                for name in value.as_object().unwrap().keys() {
                    fits(root, rule, &json!(name), &format!("{place}/{name}"))?;
                }
            }
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    if let Some(rule) = rule.get(name) {
                        fits(root, rule, value, &format!("{place}/{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    let place = format!("{place}/{name}");
                    match rule {
                        _ if !schema["properties"][name].is_null() => {}
                        Value::Bool(false) => return Err(place),
                        rule => fits(root, rule, value, &place)?,
                    }
                }
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        }
    }
    Ok(())
}

/// How a number compares with a limit.
fn compared(value: &Value, limit: &Value) -> Option<Ordering> {
    value.as_f64()?.partial_cmp(&limit.as_f64().unwrap())
}

fn has_type(rule: &Value, value: &Value) -> bool {
    if let Some(types) = rule.as_array() {
        return types.iter().any(|rule| has_type(rule, value));
    }
    match rule.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}
