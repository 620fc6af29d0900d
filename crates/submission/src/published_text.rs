//! Nodes of a recipe with texts of a published result.

use retrial_document::Node;
use retrial_recipe::writer::{list_node, text_node};

/// Returns a text in one line, without expressions.
pub(crate) fn to_single_line(text: &str) -> String {
    let printable = text.replace(char::is_control, " ");
    printable.replace("${{", "$ {{").trim().to_owned()
}

/// Returns a foreign text as a node.
pub(crate) fn published_text(text: &str) -> Node {
    text_node(to_single_line(text))
}

/// Returns foreign texts as a list.
pub(crate) fn published_texts<Text: AsRef<str>>(texts: &[Text]) -> Node {
    let items = texts.iter().map(|text| published_text(text.as_ref()));
    list_node(items.collect())
}
