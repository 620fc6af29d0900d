//! What shapes are called in messages, and what people write instead.

use crate::node::{Node, Value};
use crate::shape::{Object, Shape};

/// Words that people bring from elsewhere.
pub(super) fn elsewhere(name: &str, object: &Object) -> Option<String> {
    let (meant, home) = match name {
        "volumes" | "volume" => ("mounts", "container"),
        "environment" => ("env", "container"),
        "cwd" | "working_dir" => ("workdir", "container"),
        "capabilities" | "caps" => ("cap_add", "container"),
        "cmd" | "command" | "script" => ("run", "a mode of a scenario"),
        "gpus" | "gpu" => ("gpus", "requires"),
        "name" => ("title", "the top of the file"),
        "inherits" | "include" | "base" => ("extends", "the top of the file"),
        "expected" | "reference" => ("expect", "a mode of a scenario"),
        "privileged" | "ipc" | "network" | "devices" | "cap_add" | "shm_size" | "security_opt"
        | "mounts" | "ulimits" | "env" => (name, "container"),
        _ => return None,
    };
    if object.key(meant).is_some() {
        return Some(format!("did you mean `{meant}`?"));
    }
    Some(format!("`{meant}` stands under {home}"))
}

pub(super) fn is_scalar(shape: &Shape) -> bool {
    !matches!(
        shape,
        Shape::List(..) | Shape::Map(..) | Shape::Object(_) | Shape::Overlay | Shape::Either(_)
    )
}

pub(super) fn fits(shape: &Shape, node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => is_scalar(shape),
        Value::List(_) => matches!(shape, Shape::List(..)),
        Value::Map(_) => matches!(shape, Shape::Object(_) | Shape::Map(..) | Shape::Overlay),
        Value::Null | Value::Removed => false,
    }
}

/// What a shape is, with its article.
pub(super) fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Text(_) | Shape::Template(..) => "text".into(),
        Shape::Integer(..) => "an integer".into(),
        Shape::Number => "a number".into(),
        Shape::Fraction => "a share of one".into(),
        Shape::Bool => "true or false".into(),
        Shape::Size(_) => "a size".into(),
        Shape::Duration => "a duration".into(),
        Shape::Choice(choices) => {
            let words: Vec<_> = choices
                .iter()
                .map(|choice| format!("`{}`", choice.word))
                .collect();
            words.join(" or ")
        }
        Shape::Scalar(_) => "text, a number or a truth value".into(),
        Shape::List(..) => "a list".into(),
        Shape::Map(..) | Shape::Overlay => "a map".into(),
        Shape::Object(object) => {
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
        Shape::Either(shapes) => {
            let all: Vec<_> = shapes.iter().map(describe).collect();
            all.join(" or ")
        }
    }
}

/// How to write it.
pub(super) fn example(shape: &Shape) -> String {
    match shape {
        Shape::Fraction => "write 5% or 0.05, from 0 to 1".into(),
        Shape::Size(_) => "write 500 GiB, 128G or a number of bytes".into(),
        Shape::Duration => "write 12h, 90m, 1h30m or 45s".into(),
        Shape::Bool => "write true or false".into(),
        Shape::Integer(..) => "write a whole number, for example 8".into(),
        Shape::Number => "write a number, for example 103480 or 0.5".into(),
        Shape::List(..) => "write [one, other]".into(),
        Shape::Map(..) => "write name: value, one a line, indented".into(),
        Shape::Object(object) => format!(
            "the keys are {}",
            object
                .keys()
                .map(|key| key.name)
                .collect::<Vec<_>>()
                .join(", ")
        ),
        Shape::Overlay => "write the keys that this variant changes, or {}".into(),
        Shape::Either(shapes) => shapes.last().map_or_else(String::new, example),
        _ => "write it as one value".into(),
    }
}
