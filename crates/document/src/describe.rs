//! How messages describe the type of a value.

use itertools::Itertools as _;

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

pub(crate) fn accepts_kind_of(field_type: &FieldType, node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => is_scalar(field_type),
        Value::List(_) => matches!(field_type, FieldType::List(..)),
        Value::Map(_) => {
            matches!(field_type, FieldType::Object(_) | FieldType::Map(..) | FieldType::Overlay)
        }
        Value::Null | Value::Removed => false,
    }
}

/// Returns the noun for a value of this type, with its article.
pub(crate) fn describe_type(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Text(_) | FieldType::Template(..) => "text".into(),
        FieldType::Integer(..) => "an integer".into(),
        FieldType::Number => "a number".into(),
        FieldType::Fraction => "a fraction".into(),
        FieldType::Bool => "true or false".into(),
        FieldType::Size(_) => "a size".into(),
        FieldType::Duration => "a duration".into(),
        FieldType::Words(words) => {
            let alternatives = words.iter();
            alternatives.map(|word| format!("`{}`", word.name)).join(" or ")
        }
        FieldType::Scalar(_) => "text, a number or a boolean".into(),
        FieldType::List(..) => "a list".into(),
        FieldType::Map(..) | FieldType::Overlay => "a map".into(),
        FieldType::Object(object) => {
            let mut keys = object.keys().map(|key| key.name);
            let first = keys.by_ref().take(4).join(", ");
            let more = keys.next().map_or("", |_| ", …");
            format!("a map ({first}{more})")
        }
        FieldType::Either(types) => types.iter().map(describe_type).join(" or "),
    }
}

/// Returns how to write a value as this type: a single value of a map of keys goes below the first of them.
pub(crate) fn writing_hint_for(node: &Node, field_type: &FieldType) -> String {
    let hint = || writing_hint(field_type);
    node.text()
        .and_then(|text| example_around(text, field_type))
        .map_or_else(hint, |example| format!("write {example}"))
}

/// Returns an example of this type that has the value: `{ value: 1250, kind: … }`. None if its first key takes no
/// single value.
fn example_around(text: &str, field_type: &FieldType) -> Option<String> {
    match field_type {
        FieldType::Object(object) => {
            let first = object.keys().next()?;
            let value = match first.field_type {
                FieldType::Text(format) if format.mismatch(text).is_some() => return None,
                FieldType::Text(_) | FieldType::Template(..) => text,
                // Its unit is another key's.
                FieldType::Number => {
                    text.split_whitespace().next().filter(|word| word.parse::<f64>().is_ok())?
                }
                _ => return None,
            };
            let others = object.keys().skip(1).filter(|key| key.required);
            let others = others.map(|key| format!(", {}: …", key.name)).join("");
            Some(format!("{{ {}: {value}{others} }}", first.name))
        }
        FieldType::Map(_, of) => {
            let inner = example_around(text, of)?;
            Some(format!("{{ NAME: {inner} }}"))
        }
        FieldType::Either(types) => types.iter().find_map(|one| example_around(text, one)),
        _ => None,
    }
}

/// Returns how to write a value of this type.
pub(crate) fn writing_hint(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Fraction => "write 5% or 0.05, from 0 to 1".into(),
        FieldType::Size(_) => "write 500 GiB, 128G or a number of bytes".into(),
        FieldType::Duration => "write 12h, 90m, 1h30m or 45s".into(),
        FieldType::Bool => "write true or false".into(),
        FieldType::Integer(..) => "write a whole number, for example 8".into(),
        FieldType::Number => "write a number, for example 103480 or 0.5".into(),
        FieldType::List(..) => "write [one, other]".into(),
        FieldType::Map(..) => "write name: value, one per line, indented".into(),
        FieldType::Object(object) => {
            let keys = object.keys().map(|key| key.name);
            format!("the keys are {}", keys.format(", "))
        }
        FieldType::Overlay => "write the keys that it changes, or {}".into(),
        FieldType::Either(types) => {
            let keyed = types.iter().find(|one| matches!(one, FieldType::Object(_)));
            keyed.or(types.last()).map_or_else(String::new, writing_hint)
        }
        _ => "write it as one value".into(),
    }
}
