//! The JSON schema of recipes, for editors.
//!
//! It is weaker than `check`, on purpose: a template may be partial, so nothing but `schema` is
//! required, null removes a template's value, `key+` appends to it, and an expression may be written
//! for any value.

use retrial_document::Keys as _;
use retrial_document::schema::{object, of};
use serde_json::{Map, Value, json};

use super::keys::{RESERVED, SCHEMA, TOP_ONLY};
use super::model::Recipe;

/// Returns the schema as pretty JSON with a newline at its end.
pub fn json() -> String {
    format!("{:#}\n", Value::Object(schema()))
}

/// Returns the tables of keys for the documentation, as Markdown.
pub fn tables() -> String {
    retrial_document::reference::markdown(Recipe::OBJECT)
}

fn schema() -> Map<String, Value> {
    let mut schema = of(
        Recipe::OBJECT,
        "Retrial recipe",
        "How to re-run one benchmark submission on one kind of system, and what was published.",
    );
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        if let Some(version) = properties.get_mut("schema") {
            version["const"] = SCHEMA.into();
        }
        properties.extend(RESERVED.iter().map(|name| {
            let text = json!({ "description": "Reserved for a later release.", "not": {} });
            ((*name).to_owned(), text)
        }));
    }
    schema.insert("required".into(), json!(["schema"]));
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        let overlay = object(Recipe::OBJECT, &|key| !TOP_ONLY.contains(&key.name));
        definitions.shift_insert(1, "overlay".into(), Value::Object(overlay));
    }
    schema
}

#[cfg(test)]
mod tests {
    use retrial_document::{FieldType, Object};

    use super::*;

    fn collect(field_type: &FieldType, objects: &mut Vec<&'static Object>) {
        field_type.objects(&mut |object| {
            if !objects.iter().any(|other| std::ptr::eq(*other, object)) {
                objects.push(object);
                for key in object.keys() {
                    collect(&key.field_type, objects);
                }
            }
        });
    }

    #[test]
    fn each_definition_has_a_unique_name() {
        let mut objects = Vec::new();
        collect(&FieldType::Object(Recipe::OBJECT), &mut objects);
        let mut names: Vec<_> = objects.iter().map(|object| object.definition()).collect();
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
