//! Names of figures and the expressions that find them.

use std::borrow::Cow;

use super::{Format, Wrong, wrong};
use retrial_readings::json_path;

/// A figure's name, or one of a table's entries.
pub(super) fn figure(text: &str) -> Option<Wrong> {
    match text.split_once('[') {
        None => Format::Name.problem(text, false),
        Some((table, rest)) => match rest.strip_suffix(']') {
            Some(inside) => Format::Name.problem(table, false).or_else(|| entry(inside)),
            None => wrong(
                format!("`{text}` is no name of a figure"),
                "one entry of a table is written `table[entry]`",
            ),
        },
    }
}

/// An entry of a table: whatever the benchmark prints there.
pub(super) fn entry(text: &str) -> Option<Wrong> {
    let good = !text.trim().is_empty()
        && text.len() <= 200
        && !text.contains(['[', ']'])
        && !text.contains(char::is_control);
    if good {
        return None;
    }
    wrong(
        format!("`{}` is no entry of a table", text.escape_debug()),
        "an entry is the text that `by` finds, without brackets, on one line",
    )
}

pub(super) fn count(text: &str) -> Option<Wrong> {
    if text.parse::<u64>().is_ok_and(|count| count > 0) {
        return None;
    }
    wrong(
        format!("`{text}` is no number of things"),
        "write a whole number above 0",
    )
}

/// A `JSONPath` as RFC 9535 writes it: `metrics.rouge1` is short for `$.metrics.rouge1`.
pub fn whole_json_path(text: &str) -> Cow<'_, str> {
    if text.starts_with('$') {
        Cow::Borrowed(text)
    } else if text.starts_with('[') {
        Cow::Owned(format!("${text}"))
    } else {
        Cow::Owned(format!("$.{text}"))
    }
}

pub(super) fn json_path(text: &str) -> Option<Wrong> {
    let error = json_path::parse(&whole_json_path(text)).err()?;
    wrong(
        format!("this is no JSONPath: {error}"),
        "write it as RFC 9535 does: `$.metrics.rouge1`, `$.results[0]['time to train']`",
    )
}

pub(super) fn pattern(text: &str) -> Option<Wrong> {
    match regex::Regex::new(text) {
        Err(regex::Error::Syntax(report)) => {
            let reason = report
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ");
            wrong(
                format!("this is no regular expression: {reason}"),
                "the syntax is that of https://docs.rs/regex/latest/regex/#syntax",
            )
        }
        Err(error) => wrong(
            format!("this is no regular expression: {error}"),
            "make it simpler",
        ),
        Ok(pattern) if pattern.captures_len() < 2 => wrong(
            "this pattern has no group",
            "put parentheses around the figure: `score: ([0-9.]+)`",
        ),
        Ok(_) => None,
    }
}
