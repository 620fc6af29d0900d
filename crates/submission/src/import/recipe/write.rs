//! Pieces of YAML.

use retrial_document::{Keys as _, to_yaml};
use retrial_recipe::docker_run::{map_node, text_node};
use retrial_recipe::model::Recipe;

/// A text in one line, without expressions.
pub(super) fn to_single_line(text: &str) -> String {
    let printable = text.replace(char::is_control, " ");
    printable.replace("${{", "$ {{").trim().to_owned()
}

/// A text as YAML, in quotes if it needs them.
pub(super) fn quote_if_needed(text: &str) -> String {
    retrial_document::quote_scalar(text, false)
}

/// A text in quotes, valid within `{ … }`: JSON's strings are YAML's.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(to_single_line(text)).to_string()
}

/// Keys with their texts; texts of several lines become block scalars.
pub(super) fn mapping_to_yaml(entries: &[(&str, String)]) -> String {
    let nodes = entries
        .iter()
        .map(|(key, value)| (*key, text_node(value.as_str())));
    to_yaml(&map_node(nodes), Recipe::OBJECT)
}
