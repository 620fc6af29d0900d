//! A tree as YAML text, which is parsed to the same tree again.

use std::fmt::Write;

use serde_json::Value as Json;

use super::field_type::Object;
use super::node::{MapEntry, Node, Scalar, Value};
use super::source::Source;

/// Returns the YAML text of a map, its keys in the order of their declaration. The fingerprints of recipes are of this
/// text.
pub fn to_yaml(node: &Node, object: &Object) -> String {
    let place = |entry: &MapEntry| object.keys().position(|key| key.name == entry.key);
    let mut entries = node.entries().to_vec();
    entries.sort_by_key(place);
    let mut writer = YamlWriter::default();
    writer.write_map(&Node::map(entries, node.span.clone()), 0);
    writer.out
}

/// Returns the YAML text of a JSON object, its keys in their order and those without a value omitted. Texts with
/// colons, as digests are, have no quotes.
pub fn json_to_yaml(value: &Json) -> String {
    let mut writer = YamlWriter { plain_colons: true, ..YamlWriter::default() };
    writer.write_map(&node_of_json(value), 0);
    writer.out
}

fn node_of_json(value: &Json) -> Node {
    let span = || Source::new("", "").span(0..0);
    match value {
        Json::Null => Node::null(span()),
        Json::Bool(_) | Json::Number(_) => Node::scalar(value.to_string(), true, span()),
        Json::String(text) => Node::scalar(text, false, span()),
        Json::Array(items) => Node::list(items.iter().map(node_of_json).collect(), span()),
        Json::Object(object) => {
            let entries = object.iter().map(|(key, value)| MapEntry {
                key: key.clone(),
                key_span: span(),
                append: false,
                value: node_of_json(value),
            });
            Node::map(entries.collect(), span())
        }
    }
}

/// Writes the values of a tree, indented by two spaces for each level.
#[derive(Default)]
struct YamlWriter {
    out: String,
    /// Texts may have colons without quotes.
    plain_colons: bool,
}

impl YamlWriter {
    fn write_map(&mut self, node: &Node, depth: usize) {
        for entry in node.entries().iter().filter(|entry| !entry.value.is_null()) {
            self.write_indent(depth);
            self.write_entry(entry, depth);
        }
    }

    fn write_entry(&mut self, entry: &MapEntry, depth: usize) {
        self.out.push_str(&quote_scalar(&entry.key, true));
        self.out.push(':');
        self.write_value(&entry.value, depth);
    }

    fn write_indent(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n("  ", depth));
    }

    /// Writes the text after `key:`.
    fn write_value(&mut self, node: &Node, depth: usize) {
        match &node.value {
            Value::Null | Value::Removed => self.out.push_str(" null\n"),
            Value::Scalar(written) => {
                self.out.push(' ');
                self.write_scalar(written, depth + 1);
                self.out.push('\n');
            }
            Value::List(items) if items.is_empty() => self.out.push_str(" []\n"),
            Value::List(items) => {
                self.out.push('\n');
                self.write_list(items, depth + 1);
            }
            Value::Map(_) if node.present_entries().next().is_none() => self.out.push_str(" {}\n"),
            Value::Map(_) => {
                self.out.push('\n');
                self.write_map(node, depth + 1);
            }
        }
    }

    fn write_list(&mut self, items: &[Node], depth: usize) {
        for item in items {
            self.write_indent(depth);
            self.out.push('-');
            let mut entries = item.entries().iter();
            match entries.find(|entry| !entry.value.is_null()) {
                None => self.write_value(item, depth),
                Some(first) => {
                    // The first key is on the line of the dash.
                    self.out.push(' ');
                    self.write_entry(first, depth + 1);
                    let rest = Node::map(entries.cloned().collect(), item.span.clone());
                    self.write_map(&rest, depth + 1);
                }
            }
        }
    }

    fn write_scalar(&mut self, written: &Scalar, depth: usize) {
        let text = &written.text;
        let number_or_truth = written.kind() != "text";
        let has_plain_colons = || self.plain_colons && is_plain_without_colons(text);
        if written.plain && number_or_truth || has_plain_colons() {
            self.out.push_str(text);
        } else if fits_literal_block(text) {
            self.write_literal_block(text, depth);
        } else {
            self.out.push_str(&quote_scalar(text, false));
        }
    }

    fn write_literal_block(&mut self, text: &str, depth: usize) {
        self.out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
        for line in text.trim_end_matches('\n').split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.write_indent(depth);
                self.out.push_str(line);
            }
        }
    }
}

/// Whether a text reads better line by line, and may stand so: YAML's literal blocks cannot begin
/// with a space, and hold printable characters only.
fn fits_literal_block(text: &str) -> bool {
    let odd = |letter: char| {
        (letter.is_control() && letter != '\n')
            || matches!(letter, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
    };
    let trimmed = text.trim_end_matches('\n');
    trimmed.contains('\n')
        && !text.starts_with([' ', '\n'])
        && !text.contains(odd)
        && text.len() - trimmed.len() <= 1
        && !trimmed.lines().any(|line| !line.is_empty() && line.trim().is_empty())
}

/// Returns a text as a plain or a double-quoted scalar.
pub fn quote_scalar(text: &str, key: bool) -> String {
    if is_plain(text, key) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter
                if letter.is_control()
                    || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}') =>
            {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Returns whether a text is plain but for colons within its words, where YAML has them without quotes.
fn is_plain_without_colons(text: &str) -> bool {
    let mut words = text.split(' ');
    words.all(|word| !word.ends_with(':')) && is_plain(&text.replace(':', "_"), false)
}

/// Returns whether every reader of YAML reads a text unchanged without quotes.
fn is_plain(text: &str, key: bool) -> bool {
    let word = Scalar { text: text.to_owned(), plain: true };
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "_-./+ ()=,".contains(letter);
    let like_null = matches!(
        &*text.to_lowercase(),
        "null" | "yes" | "no" | "on" | "off" | "y" | "n" | "true" | "false"
    );
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && !text.ends_with(' ')
        && text.chars().all(safe)
        && !like_null
        && word.kind() == "text"
        // A key that ends in `+` would append.
        && !(key && (text.ends_with('+') || text.len() > 200))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_json_object_is_written_as_it_is_read() {
        let value = json!({
            "title": "two: words",
            "digest": "sha256:12ab",
            "nothing": null,
            "count": 2,
            "texts": ["true", "a:", "x: y", "rocm/x:7.1", " a"],
            "cells": [{ "gpu": "mi300x", "reason": null, "trial": 1 }, {}],
            "images": {},
            "run": "first\nsecond",
        });
        let text = json_to_yaml(&value);
        let expected = "title: \"two: words\"\ndigest: sha256:12ab\ncount: 2\ntexts:\n  - \"true\"\n  - \"a:\"\n  - \"x: y\"\n  \
            - rocm/x:7.1\n  - \" a\"\ncells:\n  - gpu: mi300x\n    trial: 1\n  - {}\nimages: {}\nrun: |-\n  first\n  second\n";
        assert_eq!(text, expected);
        let read: Json = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(read["texts"], value["texts"]);
        assert_eq!(read["run"], value["run"]);
    }
}
