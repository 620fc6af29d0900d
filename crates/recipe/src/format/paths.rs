//! Paths of the host and in the container.

use super::{Format, Wrong, wrong};
use crate::expression;

pub(super) fn relative() -> Option<Wrong> {
    wrong(
        "a path in the container must be absolute",
        "begin it with `/`",
    )
}

pub(super) fn absolute(text: &str) -> Option<Wrong> {
    if !text.starts_with('/') {
        return relative();
    }
    if text == "/.retrial" || text.starts_with("/.retrial/") {
        return wrong(
            "`/.retrial` in the container is Retrial's own",
            "choose another path: the run's control directory is mounted there",
        );
    }
    climbs(text)
}

pub(super) fn climbs(text: &str) -> Option<Wrong> {
    if text.split('/').any(|part| part == "..") {
        return wrong(
            "`..` in a path",
            "write the path as it is meant, without `..`",
        );
    }
    None
}

pub(super) fn host_path(text: &str) -> Option<Wrong> {
    if text.starts_with('/') || text.starts_with("./") {
        return climbs(text);
    }
    wrong(
        "a path of the host must be absolute, or begin with `./`",
        "`./x` is beside the recipe; a bare name could mean a place or a volume",
    )
}

pub(super) fn inner(text: &str) -> Option<Wrong> {
    if text.is_empty() {
        return wrong("this is empty", "write a relative path");
    }
    if text.starts_with('/') || text.starts_with('~') {
        return wrong(
            "this path must be relative",
            "it stands below a directory of its own",
        );
    }
    climbs(text)
}

/// Splits `source:target[:ro|:rw]` outside of expressions.
pub fn split_mount(text: &str) -> Option<(&str, &str, bool)> {
    let expressions = expression::scan(text).ok()?;
    let inside = |at: usize| {
        expressions
            .iter()
            .any(|expression| expression.outer.contains(&at))
    };
    let colons: Vec<usize> = text
        .match_indices(':')
        .map(|(at, _)| at)
        .filter(|&at| !inside(at))
        .collect();
    match colons[..] {
        [colon] => Some((&text[..colon], &text[colon + 1..], false)),
        [first, second] => match &text[second + 1..] {
            "ro" => Some((&text[..first], &text[first + 1..second], true)),
            "rw" => Some((&text[..first], &text[first + 1..second], false)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn mount(text: &str) -> Option<Wrong> {
    let Some((source, target, _)) = split_mount(text) else {
        return wrong(
            "this is no mount",
            "write source:target, source:target:ro, or {source, target, read_only}",
        );
    };
    let part = |text: &str, format: Format| match text.split_once("${{") {
        Some((start, _)) => format.problem(start, true),
        None => format.problem(text, false),
    };
    part(source, Format::HostPath).or_else(|| part(target, Format::Absolute))
}
