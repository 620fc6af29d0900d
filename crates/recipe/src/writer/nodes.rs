//! Builds nodes of a recipe that is written, without a position in a source.

use retrial_document::{MapEntry, Node, Source, Span};

fn empty_span() -> Span {
    Source::new("recipe", "").span(0..0)
}

/// Returns a text node, which is quoted where YAML needs it.
pub fn text_node(text: impl Into<String>) -> Node {
    Node::scalar(text, false, empty_span())
}

/// Returns a plain node: a number or a boolean.
pub fn plain_node(text: impl Into<String>) -> Node {
    Node::scalar(text, true, empty_span())
}

/// Returns a list node without a position.
pub fn list_node(items: Vec<Node>) -> Node {
    Node::list(items, empty_span())
}

/// Returns a map node without a position.
pub fn map_node<Key: Into<String>>(entries: impl IntoIterator<Item = (Key, Node)>) -> Node {
    let map_entries = entries.into_iter().map(|(key, value)| MapEntry {
        key: key.into(),
        key_span: empty_span(),
        append: false,
        value,
    });
    Node::map(map_entries.collect(), empty_span())
}
