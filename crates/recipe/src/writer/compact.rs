//! Values on one line: `{ value: 42, source: "the guide" }`.

use itertools::Itertools as _;
use retrial_document::{Node, Value, quote_scalar};

/// Returns a value in YAML's flow style.
pub(super) fn render_compact(node: &Node) -> String {
    match &node.value {
        Value::Null | Value::Removed => "null".to_owned(),
        Value::Scalar(scalar) if scalar.plain && scalar.kind() != "text" => scalar.text.clone(),
        Value::Scalar(scalar) => quote_in_flow(&scalar.text),
        Value::List(items) => format!("[{}]", items.iter().map(render_compact).join(", ")),
        Value::Map(_) => {
            let entry = |(key, value): (&str, &Node)| {
                format!("{}: {}", quote_scalar(key, true), render_compact(value))
            };
            format!("{{ {} }}", node.present_entries().map(entry).join(", "))
        }
    }
}

/// Returns a text, in quotes unless it is a single word, since a comma would end it.
fn quote_in_flow(text: &str) -> String {
    if text.contains([' ', ',']) {
        // The strings of JSON are YAML's.
        return serde_json::Value::from(text).to_string();
    }
    quote_scalar(text, false)
}

#[cfg(test)]
mod tests {
    use retrial_document::{Diagnostics, Source, parse_yaml};

    use super::*;
    use crate::writer::{list_node, map_node, plain_node, text_node};

    #[test]
    fn values_are_read_as_they_were() {
        let texts = ["a, b", "x: y", "7", "\"", "{a}", "plain", "two words", ""];
        let node = map_node([
            ("texts", list_node(texts.map(text_node).to_vec())),
            ("count", plain_node("8")),
            ("map", map_node([("a:b", text_node("c"))])),
        ]);
        let source = Source::new("flow", render_compact(&node));
        let read = parse_yaml(&source, &mut Diagnostics::default()).unwrap();
        assert_eq!(read.texts_at("texts"), texts);
        assert_eq!(read.get("count").unwrap().kind(), "an integer");
        assert_eq!(read.get("map").unwrap().text_at("a:b"), Some("c"));
    }
}
