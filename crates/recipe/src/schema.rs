//! The JSON schema of recipes, for editors: the table of keys in JSON Schema's words.
//!
//! It is weaker than `check`, on purpose: a template may be partial, so nothing but `schema` is
//! required, null removes what a template gave, `key+` appends to it, and an expression may stand
//! for any value.

use serde_json::{Map, Value, json};

use super::format::Format;
use super::keys::{RESERVED, SCHEMA, TOP_ONLY, recipe};
use super::shape::{Choice, Key, Object, Shape};

const EXPRESSION: &str = "#/$defs/expression";

/// The schema as pretty JSON with a newline at its end.
#[must_use]
pub fn json() -> String {
    let mut text = format!("{:#}", schema());
    text.push('\n');
    text
}

fn schema() -> Value {
    let mut top = object(recipe(), &|_| true);
    let reserved = RESERVED.iter().map(|name| {
        let text = json!({ "description": "Reserved for a later release.", "not": {} });
        ((*name).to_owned(), text)
    });
    if let Some(Value::Object(properties)) = top.get_mut("properties") {
        properties.extend(reserved);
    }
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    schema.insert("title".into(), "Retrial recipe".into());
    schema.insert(
        "description".into(),
        "How to re-run one benchmark submission on one kind of system, and what was published."
            .into(),
    );
    schema.extend(top);
    schema.insert("required".into(), json!(["schema"]));
    schema.insert("$defs".into(), Value::Object(definitions()));
    Value::Object(schema)
}

/// The schema of another language of the same words, in which nothing is merged: no key appends.
pub fn of(top: &'static Object, title: &str, description: &str) -> String {
    let mut definitions = Map::new();
    definitions.insert("expression".into(), expression());
    for key in top.keys() {
        define(&key.shape, &mut definitions);
    }
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    schema.insert("title".into(), title.into());
    schema.insert("description".into(), description.into());
    schema.extend(object(top, &|_| true));
    let required = top.keys().filter(|key| key.required);
    let required: Vec<Value> = required.map(|key| key.name.into()).collect();
    schema.insert("required".into(), required.into());
    let one_of = top.one_of.iter();
    let one_of: Vec<Value> = one_of.map(|name| json!({ "required": [name] })).collect();
    if !one_of.is_empty() {
        schema.insert("oneOf".into(), one_of.into());
    }
    schema.insert("$defs".into(), Value::Object(definitions));
    let mut schema = Value::Object(schema);
    without_appending(&mut schema);
    format!("{schema:#}\n")
}

fn without_appending(value: &mut Value) {
    if let Some(Value::Object(properties)) = value.get_mut("properties") {
        properties.retain(|name, _| !name.ends_with('+'));
    }
    match value {
        Value::Object(entries) => entries.values_mut().for_each(without_appending),
        Value::Array(items) => items.iter_mut().for_each(without_appending),
        _ => {}
    }
}

/// Each kind of map once, by name.
fn definitions() -> Map<String, Value> {
    let mut definitions = Map::new();
    definitions.insert("expression".into(), expression());
    let overlay = object(recipe(), &|key| !TOP_ONLY.contains(&key.name));
    definitions.insert("overlay".into(), Value::Object(overlay));
    for key in recipe().keys() {
        define(&key.shape, &mut definitions);
    }
    definitions
}

fn expression() -> Value {
    json!({
        "description": "An expression, for example ${{ params.name }}.",
        "type": "string",
        "pattern": "\\$\\{\\{",
    })
}

fn define(shape: &Shape, definitions: &mut Map<String, Value>) {
    match shape {
        Shape::Object(keys) => {
            let name = name_of(keys);
            if !definitions.contains_key(&name) {
                definitions.insert(name, Value::Object(object(keys, &|_| true)));
                for key in keys.keys() {
                    define(&key.shape, definitions);
                }
            }
        }
        Shape::Either(shapes) => shapes.iter().for_each(|shape| define(shape, definitions)),
        Shape::List(shape, _) | Shape::Map(_, shape) => define(shape, definitions),
        _ => {}
    }
}

/// `a setup step` is `setup-step`.
fn name_of(object: &Object) -> String {
    let what = object.what;
    let bare = ["a ", "an ", "the "]
        .iter()
        .find_map(|article| what.strip_prefix(article));
    bare.unwrap_or(what).replace([' ', '\''], "-")
}

fn object(object: &Object, keep: &dyn Fn(&Key) -> bool) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in object.keys().filter(|key| keep(key)) {
        let mut value = described(key);
        if key.name == "schema" {
            value.insert("const".into(), SCHEMA.into());
        }
        if let Shape::List(item, _) = key.shape {
            let mut appended = Map::new();
            appended.insert(
                "description".into(),
                format!(
                    "Appended to `{}` of what this is merged over. {}",
                    key.name, key.doc
                )
                .into(),
            );
            appended.insert("type".into(), "array".into());
            appended.insert("items".into(), shape(item));
            properties.insert(key.name.into(), Value::Object(value));
            properties.insert(format!("{}+", key.name), Value::Object(appended));
        } else {
            properties.insert(key.name.into(), Value::Object(value));
        }
    }
    let mut out = Map::new();
    out.insert("type".into(), "object".into());
    out.insert("properties".into(), Value::Object(properties));
    out.insert("additionalProperties".into(), false.into());
    out
}

/// A key's value, or null, with what it is for.
fn described(key: &Key) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("description".into(), key.doc.into());
    if let Some(default) = key.default {
        out.insert(
            "default".into(),
            match default {
                "true" => true.into(),
                "false" => false.into(),
                text => text.into(),
            },
        );
    }
    let mut choices = alternatives(&key.shape);
    choices.push(json!({ "type": "null" }));
    out.insert("anyOf".into(), Value::Array(choices));
    out
}

fn shape(shape: &Shape) -> Value {
    let mut choices = alternatives(shape);
    if choices.len() == 1 {
        return choices.remove(0);
    }
    json!({ "anyOf": choices })
}

/// Everything that may stand as a value of this shape.
fn alternatives(shape_of: &Shape) -> Vec<Value> {
    let with_expression = |value: Value| vec![value, json!({ "$ref": EXPRESSION })];
    match shape_of {
        // A version like 6.4 is a number to YAML; recipes take it as it is written.
        Shape::Text(format) | Shape::Template(_, format) => match pattern(*format) {
            Some(pattern) => with_expression(json!({ "type": "string", "pattern": pattern })),
            None => vec![json!({ "type": ["string", "number"] })],
        },
        Shape::Scalar(_) => vec![json!({ "type": ["string", "number", "boolean"] })],
        Shape::Integer(low, high) => {
            let mut value = json!({ "type": "integer", "minimum": low });
            if *high != i64::MAX {
                value["maximum"] = (*high).into();
            }
            with_expression(value)
        }
        Shape::Number => with_expression(json!({ "type": "number" })),
        Shape::Bool => with_expression(json!({ "type": "boolean" })),
        Shape::Fraction => with_expression(json!({
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^[0-9.]+ ?%$" },
            ],
        })),
        Shape::Size(_) => with_expression(json!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^[0-9.]+ ?([kKmMgGtTpP](i?[bB])?|[bB])?$" },
            ],
        })),
        Shape::Duration => with_expression(json!({
            "type": "string",
            "pattern": "^([0-9]+ ?(d|h|m|min|s) ?)+$",
        })),
        Shape::Choice(choices) => with_expression(words(choices)),
        Shape::List(item, least) => {
            let mut value = json!({ "type": "array", "items": shape(item) });
            if *least > 0 {
                value["minItems"] = (*least).into();
            }
            vec![value]
        }
        Shape::Map(format, value) => {
            let mut choices = alternatives(value);
            choices.push(json!({ "type": "null" }));
            let mut out = json!({ "type": "object", "additionalProperties": { "anyOf": choices } });
            if let Some(pattern) = pattern(*format) {
                out["propertyNames"] = json!({ "pattern": pattern });
            }
            vec![out]
        }
        Shape::Object(keys) => vec![json!({ "$ref": format!("#/$defs/{}", name_of(keys)) })],
        Shape::Either(shapes) => shapes.iter().flat_map(alternatives).collect(),
        Shape::Overlay => vec![json!({ "$ref": "#/$defs/overlay" })],
    }
}

/// Words with their meanings, as editors show them.
fn words(choices: &[Choice]) -> Value {
    let words = choices
        .iter()
        .map(|choice| json!({ "const": choice.word, "description": choice.doc }));
    json!({ "oneOf": words.collect::<Vec<_>>() })
}

/// What a text must look like, where a pattern can say it.
fn pattern(format: Format) -> Option<&'static str> {
    Some(match format {
        Format::Name => "^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        Format::Figure => "^[A-Za-z0-9_][A-Za-z0-9_.-]*(\\[[^\\[\\]]+\\])?$",
        Format::Entry => "^[^\\[\\]]+$",
        Format::Count => "^[1-9][0-9]*$",
        Format::Variable => "^[A-Za-z_][A-Za-z0-9_]*$",
        Format::Absolute | Format::Device => "^/",
        Format::HostPath => "^(/|\\./)",
        Format::Digest => "^sha256:[0-9a-fA-F]{64}$",
        Format::Sha256 => "^[0-9a-fA-F]{64}$",
        Format::Hub => "^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$",
        Format::Capability => "^[A-Z_]+$",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(shape: &Shape, found: &mut Vec<&'static Object>) {
        match shape {
            Shape::Object(object) if !found.iter().any(|known| std::ptr::eq(*known, *object)) => {
                found.push(object);
                object.keys().for_each(|key| objects(&key.shape, found));
            }
            Shape::Either(shapes) => shapes.iter().for_each(|shape| objects(shape, found)),
            Shape::List(shape, _) | Shape::Map(_, shape) => objects(shape, found),
            _ => {}
        }
    }

    #[test]
    fn each_definition_has_a_name_of_its_own() {
        let mut found = Vec::new();
        objects(&Shape::Object(recipe()), &mut found);
        let mut names: Vec<_> = found.iter().map(|object| name_of(object)).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(
            !names
                .iter()
                .any(|name| matches!(&**name, "overlay" | "expression"))
        );
    }
}
