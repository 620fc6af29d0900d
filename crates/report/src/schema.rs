//! JSON schemas of `--output json`, from the printed types.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Renders the schema of a type as pretty JSON with a newline at its end.
pub fn render_schema<T: schemars::JsonSchema>(title: &str) -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = Map::new();
    schema
        .insert("$schema".to_owned(), Value::from("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), Value::from(title));
    let type_schema = generator.into_root_schema_for::<T>().to_value();
    for (name, value) in type_schema.as_object().into_iter().flatten() {
        schema.entry(name).or_insert_with(|| value.clone());
    }
    format!("{:#}\n", Value::Object(schema))
}
