//! Expressions that name the axis of a sweep: its value at a point is written in their place.

use retrial_document::{Node, Value};

use crate::expression::find_expressions;

/// Writes a point's value where expressions name the axis.
pub(super) fn substitute(node: &mut Node, axis: &str, value: &str) {
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries {
                substitute(&mut entry.value, axis, value);
            }
        }
        Value::List(items) => {
            for item in items {
                substitute(item, axis, value);
            }
        }
        Value::Scalar(scalar) => scalar.text = substitute_text(&scalar.text, axis, value),
        Value::Null | Value::Removed => {}
    }
}

fn substitute_text(text: &str, axis: &str, value: &str) -> String {
    let name = format!("sweep.{axis}");
    let mut out = String::new();
    let mut done = 0;
    // What is not closed is reported where expressions are checked.
    for expression in find_expressions(text).unwrap_or_default() {
        out.push_str(&text[done..expression.inner.start]);
        out.push_str(&replace_name(&text[expression.inner.clone()], &name, value));
        done = expression.inner.end;
    }
    out + &text[done..]
}

/// Replaces a dotted name where it is whole.
fn replace_name(text: &str, name: &str, value: &str) -> String {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        out.push_str(before);
        let is_whole = !before.ends_with(is_inside) && !after.starts_with(is_inside);
        out.push_str(if is_whole { value } else { name });
        rest = after;
    }
    out + rest
}

/// Returns whether an expression in it names the axis.
pub(super) fn names_axis(node: &Node, axis: &str) -> bool {
    match &node.value {
        Value::Map(entries) => entries.iter().any(|entry| names_axis(&entry.value, axis)),
        Value::List(items) => items.iter().any(|item| names_axis(item, axis)),
        Value::Scalar(scalar) => substitute_text(&scalar.text, axis, "") != scalar.text,
        Value::Null | Value::Removed => false,
    }
}
