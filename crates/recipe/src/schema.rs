//! The JSON schema of recipes, for editors.
//!
//! It is weaker than `check`, on purpose: a template may be partial, so nothing but `schema` is
//! required, null removes a template's value, `key+` appends to it, and an expression may be written
//! for any value.

use retrial_document::Keys as _;
use retrial_document::schema::{build_schema, object_schema};
use serde_json::{Map, Value, json};

use super::keys::{RESERVED_KEYS, SCHEMA_VERSION, TOP_LEVEL_KEYS};
use super::model::Recipe;

/// Returns the schema as pretty JSON with a newline at its end.
pub fn recipe_schema_json() -> String {
    format!("{:#}\n", Value::Object(recipe_schema()))
}

/// Returns the tables of keys for the documentation, as Markdown.
pub fn render_key_tables() -> String {
    retrial_document::reference::render_reference(Recipe::OBJECT)
}

fn recipe_schema() -> Map<String, Value> {
    let mut schema = build_schema(
        Recipe::OBJECT,
        "Retrial recipe",
        "How to re-run one benchmark submission on one kind of system, and what was published.",
    );
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        if let Some(version) = properties.get_mut("schema") {
            version["const"] = SCHEMA_VERSION.into();
        }
        properties.extend(RESERVED_KEYS.iter().map(|name| {
            let text = json!({ "description": "Reserved for a later release.", "not": {} });
            ((*name).to_owned(), text)
        }));
    }
    schema.insert("required".into(), json!(["schema"]));
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        let overlay = object_schema(Recipe::OBJECT, &|key| !TOP_LEVEL_KEYS.contains(&key.name));
        definitions.shift_insert(1, "overlay".into(), Value::Object(overlay));
    }
    schema
}

#[cfg(test)]
mod tests {
    use retrial_document::{FieldType, Object};

    use super::*;

    fn collect_objects(field_type: &FieldType, objects: &mut Vec<&'static Object>) {
        field_type.visit_objects(&mut |object| {
            if !objects.iter().any(|other| std::ptr::eq(*other, object)) {
                objects.push(object);
                for key in object.keys() {
                    collect_objects(&key.field_type, objects);
                }
            }
        });
    }

    #[test]
    fn each_definition_has_a_unique_name() {
        let mut objects = Vec::new();
        collect_objects(&FieldType::Object(Recipe::OBJECT), &mut objects);
        let mut names: Vec<_> = objects.iter().map(|object| object.definition_name()).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(!names.iter().any(|name| matches!(&**name, "overlay" | "expression")));
    }
}
