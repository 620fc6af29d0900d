//! A tree as YAML text, which is parsed to the same tree again.

use std::fmt::Write;

use super::field_type::Object;
use super::node::{MapEntry, Node, Scalar, Value};

/// Returns the YAML text of a map, its keys in the order of their declaration.
pub fn to_yaml(node: &Node, object: &Object) -> String {
    let place = |entry: &MapEntry| object.keys().position(|key| key.name == entry.key);
    let mut entries = node.entries().to_vec();
    entries.sort_by_key(place);
    let mut out = String::new();
    write_map(&mut out, &Node::map(entries, node.span.clone()), 0);
    out
}

fn write_map(out: &mut String, node: &Node, depth: usize) {
    for entry in node.entries().iter().filter(|entry| !entry.value.is_null()) {
        write_indent(out, depth);
        out.push_str(&quote_scalar(&entry.key, true));
        out.push(':');
        write_value(out, &entry.value, depth);
    }
}

fn write_indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// The text after `key:`.
fn write_value(out: &mut String, node: &Node, depth: usize) {
    match &node.value {
        Value::Null | Value::Removed => out.push_str(" null\n"),
        Value::Scalar(written) => {
            out.push(' ');
            write_scalar(out, written, depth + 1);
            out.push('\n');
        }
        Value::List(items) if items.is_empty() => out.push_str(" []\n"),
        Value::List(items) => {
            out.push('\n');
            write_list(out, items, depth + 1);
        }
        Value::Map(_) if node.present_entries().next().is_none() => out.push_str(" {}\n"),
        Value::Map(_) => {
            out.push('\n');
            write_map(out, node, depth + 1);
        }
    }
}

fn write_list(out: &mut String, items: &[Node], depth: usize) {
    for item in items {
        write_indent(out, depth);
        out.push('-');
        if item.present_entries().next().is_some() {
            // The first key is on the line of the dash.
            let mut keys = String::new();
            write_map(&mut keys, item, depth + 1);
            out.push(' ');
            out.push_str(keys.trim_start_matches(' '));
        } else {
            write_value(out, item, depth);
        }
    }
}

fn write_scalar(out: &mut String, written: &Scalar, depth: usize) {
    let text = &written.text;
    let number_or_truth = written.kind() != "text";
    if written.plain && number_or_truth {
        out.push_str(text);
    } else if fits_literal_block(text) {
        write_literal_block(out, text, depth);
    } else {
        out.push_str(&quote_scalar(text, false));
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
        && !trimmed
            .lines()
            .any(|line| !line.is_empty() && line.trim().is_empty())
}

fn write_literal_block(out: &mut String, text: &str, depth: usize) {
    out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
    for line in text.trim_end_matches('\n').split('\n') {
        out.push('\n');
        if !line.is_empty() {
            write_indent(out, depth);
            out.push_str(line);
        }
    }
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

/// Returns whether every reader of YAML reads a text unchanged without quotes.
fn is_plain(text: &str, key: bool) -> bool {
    let word = Scalar {
        text: text.to_owned(),
        plain: true,
    };
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
