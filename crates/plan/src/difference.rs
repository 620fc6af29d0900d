//! Differences between two JSON documents, each named by the path of its key. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// The largest number of differences that are found: somebody may have made a document of millions.
const MAX_DIFFERENCES: usize = 1000;
/// The largest number of characters of a value that is shown.
const MAX_VALUE_CHARS: usize = 100;
/// Characters that are shown before the first one in which two long texts differ.
const MAX_SHARED_CHARS: usize = 16;

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlanDifference {
    /// The path of its key: `measurements.0.expect.speed.0.value`, `steps.create.when`.
    pub path: String,
    /// The recorded value as JSON, shortened; none if it is missing.
    pub recorded: Option<String>,
    /// The derived value as JSON, shortened; none if there is none.
    pub derived: Option<String>,
}

impl PlanDifference {
    /// Returns the plan's own key: `measurements`.
    pub fn key(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let (recorded, derived) = (value(&self.recorded), value(&self.derived));
        write!(formatter, "{}: recorded {recorded}, derived {derived}", self.path)
    }
}

/// The differences of two documents, in the order of the recorded one.
pub fn find_differences(recorded: &Value, derived: &Value) -> Vec<PlanDifference> {
    let mut found = Vec::new();
    collect_differences("", Some(recorded), Some(derived), &mut found);
    found
}

fn collect_differences(
    path: &str,
    recorded: Option<&Value>,
    derived: Option<&Value>,
    found: &mut Vec<PlanDifference>,
) {
    if recorded == derived || found.len() >= MAX_DIFFERENCES {
        return;
    }
    if let (Some(left), Some(right)) = (recorded, derived)
        && let (Some(left), Some(right)) = (named_parts(left), named_parts(right))
    {
        let before = found.len();
        let [by_name, others] = [&left, &right].map(|entries| {
            let parts = entries.iter();
            parts.map(|(name, value)| (name.as_str(), *value)).collect::<BTreeMap<_, _>>()
        });
        for (name, value) in &left {
            let other = others.get(name.as_str()).copied();
            collect_differences(&join_key_path(path, name), Some(value), other, found);
        }
        for (name, value) in right.iter().filter(|(name, _)| !by_name.contains_key(name.as_str())) {
            collect_differences(&join_key_path(path, name), None, Some(value), found);
        }
        // If nothing else differs, their order does.
        if found.len() > before {
            return;
        }
    }
    let (recorded, derived) = truncate_pair(recorded, derived);
    found.push(PlanDifference { path: path.to_owned(), recorded, derived });
}

/// The parts of a map or list by their names; a list's elements are named by their own names where each has one,
/// else by their positions. None for a value without parts.
fn named_parts(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(map) => Some(map.iter().map(|(key, value)| (key.clone(), value)).collect()),
        Value::Array(items) => {
            let named_items: Option<Vec<_>> = items.iter().map(named_element).collect();
            let has_unique_names = |entries: &Vec<(String, &Value)>| {
                let distinct: BTreeSet<&str> =
                    entries.iter().map(|(name, _)| name.as_str()).collect();
                distinct.len() == entries.len()
            };
            let named = named_items.filter(has_unique_names);
            let numbered = || (0..).map(|at: usize| at.to_string()).zip(items).collect();
            Some(named.unwrap_or_else(numbered))
        }
        _ => None,
    }
}

/// The name of a list's element: of a pair its first text, of a map its `name`.
fn named_element(item: &Value) -> Option<(String, &Value)> {
    match item {
        Value::Array(pair) => match &pair[..] {
            [Value::String(name), value] => Some((name.clone(), value)),
            _ => None,
        },
        Value::Object(map) => Some((map.get("name")?.as_str()?.to_owned(), item)),
        _ => None,
    }
}

fn join_key_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Returns both values as text, without most of the beginning that two long ones share.
fn truncate_pair(
    recorded: Option<&Value>,
    derived: Option<&Value>,
) -> (Option<String>, Option<String>) {
    let [recorded, derived] = [recorded, derived].map(|value| value.map(ToString::to_string));
    let (Some(left), Some(right)) = (&recorded, &derived) else {
        return (
            recorded.map(|text| truncate_value(&text, 0)),
            derived.map(|text| truncate_value(&text, 0)),
        );
    };
    let shared_prefix = left.chars().zip(right.chars()).take_while(|(a, b)| a == b);
    let shared = shared_prefix.count();
    let is_long = [left, right].iter().any(|text| text.chars().count() > MAX_VALUE_CHARS);
    let from = if is_long { shared.saturating_sub(MAX_SHARED_CHARS) } else { 0 };
    (Some(truncate_value(left, from)), Some(truncate_value(right, from)))
}

fn truncate_value(text: &str, from: usize) -> String {
    let begin = if from > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(from);
    let part: String = rest.by_ref().take(MAX_VALUE_CHARS).collect();
    let end = if rest.next().is_some() { "…" } else { "" };
    format!("{begin}{part}{end}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference_lines(recorded: &Value, derived: &Value) -> Vec<String> {
        let found = find_differences(recorded, derived);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_difference_has_the_path_of_its_key() {
        let recorded = json!({
            "steps": [{ "name": "pull", "policy": "never" }, { "name": "more" }],
            "expect": [["speed", [{ "value": 80.0 }]]],
            "image": "a",
            "certified": true,
        });
        let derived = json!({
            "steps": [{ "name": "create" }, { "name": "pull", "policy": "always" }],
            "expect": [["speed", [{ "value": 100.0 }]], ["latency", []]],
            "image": "a",
        });
        let expected = [
            r#"steps.pull.policy: recorded "never", derived "always""#,
            r#"steps.more: recorded {"name":"more"}, derived nothing"#,
            r#"steps.create: recorded nothing, derived {"name":"create"}"#,
            "expect.speed.0.value: recorded 80.0, derived 100.0",
            "expect.latency: recorded nothing, derived []",
            "certified: recorded true, derived nothing",
        ];
        assert_eq!(difference_lines(&recorded, &derived), expected);
        assert!(difference_lines(&recorded, &recorded).is_empty());
    }

    #[test]
    fn another_order_of_the_same_elements_is_a_difference() {
        let found = difference_lines(
            &json!({ "a": [["x", 1], ["y", 2]] }),
            &json!({ "a": [["y", 2], ["x", 1]] }),
        );
        assert_eq!(found, [r#"a: recorded [["x",1],["y",2]], derived [["y",2],["x",1]]"#]);
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let text = |end: &str| json!({ "script": format!("{}{end}", "x".repeat(500)) });
        let found = difference_lines(&text("curl"), &text("true"));
        let shared = "x".repeat(MAX_SHARED_CHARS);
        assert_eq!(found, [format!("script: recorded …{shared}curl\", derived …{shared}true\"")]);
    }
}
