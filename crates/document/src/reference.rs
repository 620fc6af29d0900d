//! The keys of a document as Markdown tables, for its documentation.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::describe::describe_type;
use super::field_type::{FieldType, Key, Object};

/// Returns a section for each map of a document, the top level first: a heading of level three and a
/// table of its keys.
pub fn render_reference(top: &'static Object) -> String {
    let mut objects = vec![top];
    let mut at = 0;
    while let Some(object) = objects.get(at).copied() {
        for key in object.keys() {
            key.field_type.visit_objects(&mut |object| {
                if !objects.iter().any(|other| other.label == object.label) {
                    objects.push(object);
                }
            });
        }
        at += 1;
    }
    let mut out = String::new();
    for object in objects {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "### {}\n", section_heading(object));
        out += "| key | value | meaning |\n| --- | --- | --- |\n";
        for key in object.keys() {
            out += &render_key_row(key, object);
        }
        out.push('\n');
    }
    out
}

/// `a setup step` is `Setup step`.
fn section_heading(object: &Object) -> String {
    let (first, rest) = object.noun().split_at(1);
    first.to_uppercase() + rest
}

/// The anchor of its heading, as Markdown renderers make it.
fn heading_anchor(object: &Object) -> String {
    let noun = object.noun().to_lowercase();
    noun.replace(' ', "-").replace('\'', "")
}

fn render_key_row(key: &Key, object: &Object) -> String {
    let mut value = markdown_type(&key.field_type);
    if key.required {
        value += ", required";
    } else if object.one_of.contains(&key.name) {
        let _ = write!(value, "; exactly one of `{}`", object.one_of.join("`, `"));
    }
    if let Some(default) = key.default {
        let _ = write!(value, "; default `{default}`");
    }
    let mut meaning = key.doc.to_owned();
    for word in key.field_type.accepted_words() {
        let _ = write!(meaning, " `{}`: {}", word.name, word.doc);
    }
    let cell = |text: &str| text.replace('|', "\\|");
    format!("| `{}` | {} | {} |\n", key.name, cell(&value), cell(&meaning))
}

/// Returns the type of a value, for a reader of a table.
fn markdown_type(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Text(_) | FieldType::Template(..) => "text".into(),
        FieldType::Scalar(_) => "text, number or boolean".into(),
        FieldType::Integer(low, high) if *high == i64::MAX && *low == i64::MIN => "integer".into(),
        FieldType::Integer(low, high) if *high == i64::MAX => format!("integer from {low}"),
        FieldType::Integer(low, high) => format!("integer from {low} to {high}"),
        FieldType::Number => "number".into(),
        FieldType::Fraction => "share: `5%` or `0.05`".into(),
        FieldType::Bool => "`true` or `false`".into(),
        FieldType::Size(_) => "size: `64G`".into(),
        FieldType::Duration => "duration: `1h30m`".into(),
        FieldType::Words(_) => describe_type(field_type),
        FieldType::List(of, _) => format!("list of {}", markdown_type(of)),
        FieldType::Map(_, of) => format!("`NAME:` {}", markdown_type(of)),
        FieldType::Object(object) => {
            format!("[{}](#{})", object.label, heading_anchor(object))
        }
        FieldType::Either(types) => types.iter().map(markdown_type).join(", or "),
        FieldType::Overlay => "keys of this document".into(),
    }
}
