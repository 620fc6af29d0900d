//! Builds nodes of a recipe that is written, without a position in a source.

use retrial_document::{MapEntry, Node, Source, Span};

fn nowhere() -> Span {
    Source::new("docker run", "").span(0..0)
}

/// Returns a text node, which is quoted where YAML needs it.
pub fn text(text: impl Into<String>) -> Node {
    Node::scalar(text, false, nowhere())
}

/// Returns a plain node: a number or a boolean.
pub fn plain(text: impl Into<String>) -> Node {
    Node::scalar(text, true, nowhere())
}

/// Returns a list node without a position.
pub fn list(items: Vec<Node>) -> Node {
    Node::list(items, nowhere())
}

/// Returns a map node without a position.
pub fn map<Key: Into<String>>(entries: impl IntoIterator<Item = (Key, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| MapEntry {
        key: key.into(),
        key_span: nowhere(),
        append: false,
        value,
    });
    Node::map(entries.collect(), nowhere())
}
