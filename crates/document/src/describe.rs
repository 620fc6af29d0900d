//! How messages describe the type of a value.

use crate::field_type::FieldType;
use crate::node::{Node, Value};

pub(crate) fn is_scalar(field_type: &FieldType) -> bool {
    !matches!(
        field_type,
        FieldType::List(..)
            | FieldType::Map(..)
            | FieldType::Object(_)
            | FieldType::Overlay
            | FieldType::Either(_)
    )
}

pub(crate) fn fits(field_type: &FieldType, node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => is_scalar(field_type),
        Value::List(_) => matches!(field_type, FieldType::List(..)),
        Value::Map(_) => matches!(
            field_type,
            FieldType::Object(_) | FieldType::Map(..) | FieldType::Overlay
        ),
        Value::Null | Value::Removed => false,
    }
}

/// Returns the noun for a value of this type, with its article.
pub(crate) fn describe(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Text(_) | FieldType::Template(..) => "text".into(),
        FieldType::Integer(..) => "an integer".into(),
        FieldType::Number => "a number".into(),
        FieldType::Fraction => "a fraction".into(),
        FieldType::Bool => "true or false".into(),
        FieldType::Size(_) => "a size".into(),
        FieldType::Duration => "a duration".into(),
        FieldType::Words(words) => {
            let words: Vec<_> = words
                .iter()
                .map(|word| format!("`{}`", word.name))
                .collect();
            words.join(" or ")
        }
        FieldType::Scalar(_) => "text, a number or a boolean".into(),
        FieldType::List(..) => "a list".into(),
        FieldType::Map(..) | FieldType::Overlay => "a map".into(),
        FieldType::Object(object) => {
            let keys: Vec<_> = object.keys().take(4).map(|key| key.name).collect();
            format!(
                "a map ({}{})",
                keys.join(", "),
                if object.keys().count() > 4 {
                    ", …"
                } else {
                    ""
                }
            )
        }
        FieldType::Either(types) => {
            let all: Vec<_> = types.iter().map(describe).collect();
            all.join(" or ")
        }
    }
}

/// Returns how to write a value of this type.
pub(crate) fn example(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Fraction => "write 5% or 0.05, from 0 to 1".into(),
        FieldType::Size(_) => "write 500 GiB, 128G or a number of bytes".into(),
        FieldType::Duration => "write 12h, 90m, 1h30m or 45s".into(),
        FieldType::Bool => "write true or false".into(),
        FieldType::Integer(..) => "write a whole number, for example 8".into(),
        FieldType::Number => "write a number, for example 103480 or 0.5".into(),
        FieldType::List(..) => "write [one, other]".into(),
        FieldType::Map(..) => "write name: value, one per line, indented".into(),
        FieldType::Object(object) => format!(
            "the keys are {}",
            object
                .keys()
                .map(|key| key.name)
                .collect::<Vec<_>>()
                .join(", ")
        ),
        FieldType::Overlay => "write the keys that this variant changes, or {}".into(),
        FieldType::Either(types) => types.last().map_or_else(String::new, example),
        _ => "write it as one value".into(),
    }
}
