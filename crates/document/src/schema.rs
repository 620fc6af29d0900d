//! The JSON schema of a document, for editors: the declaration of its keys in JSON Schema's words.
//!
//! It is weaker than the validation, on purpose: null is an absent value, and an expression
//! for any.

use serde_json::{Map, Value, json};

use super::field_type::{FieldType, Key, Object, Word};

const EXPRESSION_REFERENCE: &str = "#/$defs/expression";

/// The end of the pattern of a map's names, where `name+` may append to a list.
const APPENDING_NAME_END: &str = r"\+?$";

/// Returns the schema of a document in which nothing is merged, as pretty JSON with a newline at
/// its end.
pub fn schema_json(top: &'static Object, title: &str, description: &str) -> String {
    let mut schema = Value::Object(build_schema(top, title, description));
    remove_appending_keys(&mut schema);
    format!("{schema:#}\n")
}

/// Returns the schema of a document in which `key+` appends to a list of the document below it.
pub fn build_schema(top: &'static Object, title: &str, description: &str) -> Map<String, Value> {
    let mut definitions = Map::new();
    definitions.insert("expression".into(), expression_schema());
    for key in top.keys() {
        define_objects(&key.field_type, &mut definitions);
    }
    let mut schema = Map::from_iter([
        ("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into()),
        ("title".to_owned(), title.into()),
        ("description".to_owned(), description.into()),
    ]);
    schema.extend(object_schema(top, &|_| true));
    let required_keys = top.keys().filter(|key| key.required);
    let required: Vec<Value> = required_keys.map(|key| key.name.into()).collect();
    schema.insert("required".into(), required.into());
    let exclusive_keys = top.one_of.iter();
    let one_of: Vec<Value> = exclusive_keys.map(|name| json!({ "required": [name] })).collect();
    if !one_of.is_empty() {
        schema.insert("oneOf".into(), one_of.into());
    }
    schema.insert("$defs".into(), Value::Object(definitions));
    schema
}

fn remove_appending_keys(value: &mut Value) {
    if let Some(Value::Object(properties)) = value.get_mut("properties") {
        properties.retain(|name, _| !name.ends_with('+'));
    }
    if let Some(Value::String(pattern)) = value.pointer_mut("/propertyNames/pattern")
        && let Some(name) = pattern.strip_suffix(APPENDING_NAME_END)
    {
        *pattern = format!("{name}$");
    }
    match value {
        Value::Object(entries) => entries.values_mut().for_each(remove_appending_keys),
        Value::Array(items) => items.iter_mut().for_each(remove_appending_keys),
        _ => {}
    }
}

fn expression_schema() -> Value {
    json!({
        "description": "An expression, for example ${{ params.name }}.",
        "type": "string",
        "pattern": "\\$\\{\\{",
    })
}

fn define_objects(field_type: &FieldType, definitions: &mut Map<String, Value>) {
    field_type.visit_objects(&mut |keys| {
        let name = keys.definition_name();
        if !definitions.contains_key(&name) {
            definitions.insert(name, Value::Object(object_schema(keys, &|_| true)));
            for key in keys.keys() {
                define_objects(&key.field_type, definitions);
            }
        }
    });
}

/// Returns the schema of a map of these keys, those that `keep` takes.
pub fn object_schema(object: &Object, keep: &dyn Fn(&Key) -> bool) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in object.keys().filter(|key| keep(key)) {
        properties.insert(key.name.into(), key_schema(key));
        if let FieldType::List(item, _) = key.field_type {
            let (name, doc) = (key.name, key.doc);
            let appended = json!({
                "description": format!("Appended to the `{name}` of templates. {doc}"),
                "type": "array",
                "items": value_schema(item),
            });
            properties.insert(format!("{name}+"), appended);
        }
    }
    Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), Value::Object(properties)),
        ("additionalProperties".to_owned(), false.into()),
    ])
}

/// A key's value, or null, with its purpose.
fn key_schema(key: &Key) -> Value {
    let mut choices = alternative_schemas(&key.field_type);
    choices.push(json!({ "type": "null" }));
    let Some(default) = key.default else {
        return json!({ "description": key.doc, "anyOf": choices });
    };
    let default_value = default.parse().map_or_else(|_| Value::from(default), Value::Bool);
    json!({ "description": key.doc, "default": default_value, "anyOf": choices })
}

fn value_schema(field_type: &FieldType) -> Value {
    let mut choices = alternative_schemas(field_type);
    if choices.len() == 1 {
        return choices.remove(0);
    }
    json!({ "anyOf": choices })
}

/// Returns everything that is a value of this type.
fn alternative_schemas(field_type: &FieldType) -> Vec<Value> {
    let with_expression = |value: Value| vec![value, json!({ "$ref": EXPRESSION_REFERENCE })];
    match field_type {
        // A version like 6.4 is a number to YAML; recipes take it as it is written.
        FieldType::Text(format) | FieldType::Template(_, format) => match format.pattern {
            Some(pattern) => with_expression(json!({ "type": "string", "pattern": pattern })),
            None => vec![json!({ "type": ["string", "number"] })],
        },
        FieldType::Scalar(_) => vec![json!({ "type": ["string", "number", "boolean"] })],
        FieldType::Integer(low, high) => {
            let mut value = json!({ "type": "integer", "minimum": low });
            if low == high {
                value = json!({ "const": low });
            } else if *high != i64::MAX {
                value["maximum"] = (*high).into();
            }
            with_expression(value)
        }
        FieldType::Number => with_expression(json!({ "type": "number" })),
        FieldType::Bool => with_expression(json!({ "type": "boolean" })),
        FieldType::Fraction => with_expression(json!({
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^[0-9.]+ ?%$" },
            ],
        })),
        FieldType::Size(_) => with_expression(json!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^[0-9.]+ ?([kKmMgGtTpP](i?[bB])?|[bB])?$" },
            ],
        })),
        FieldType::Duration => with_expression(json!({
            "type": "string",
            "pattern": "^([0-9]+ ?(d|h|m|min|s) ?)+$",
        })),
        FieldType::Words(words) => with_expression(words_schema(words)),
        FieldType::List(item, least) => {
            let mut value = json!({ "type": "array", "items": value_schema(item) });
            if *least > 0 {
                value["minItems"] = (*least).into();
            }
            vec![value]
        }
        FieldType::Map(format, of) => {
            let mut choices = alternative_schemas(of);
            choices.push(json!({ "type": "null" }));
            let mut out = json!({ "type": "object", "additionalProperties": { "anyOf": choices } });
            if let Some(pattern) = format.pattern {
                let name = pattern.strip_suffix('$').filter(|_| is_list(of));
                let pattern = name.map_or_else(
                    || pattern.to_owned(),
                    |name| format!("{name}{APPENDING_NAME_END}"),
                );
                out["propertyNames"] = json!({ "pattern": pattern });
            }
            vec![out]
        }
        FieldType::Object(keys) => {
            vec![json!({ "$ref": format!("#/$defs/{}", keys.definition_name()) })]
        }
        FieldType::Either(types) => types.iter().flat_map(alternative_schemas).collect(),
        FieldType::Overlay => vec![json!({ "$ref": "#/$defs/overlay" })],
    }
}

/// Whether a value of this type may be a list.
fn is_list(field_type: &FieldType) -> bool {
    match field_type {
        FieldType::List(..) => true,
        FieldType::Either(types) => types.iter().any(is_list),
        _ => false,
    }
}

/// Words with their meanings, as editors show them.
fn words_schema(words: &[Word]) -> Value {
    let word_schemas =
        words.iter().map(|word| json!({ "const": word.name, "description": word.doc }));
    json!({ "oneOf": word_schemas.collect::<Vec<_>>() })
}
