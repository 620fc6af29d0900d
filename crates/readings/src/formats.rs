//! Formats of figures' names and of the expressions that find them.

use std::borrow::Cow;

use retrial_document::formats::{NAME, mismatch_unless, mismatch_with_help};
use retrial_document::{FormatMismatch, StringFormat};

use crate::bounded::{BoundedRegex, RegexError};
use crate::json_path::parse;
use crate::pattern::{expanded, places};

/// A figure's name, or one of a table's: `gemm[bf16 8192]`.
pub const FIGURE: StringFormat =
    StringFormat::new(figure).with_pattern(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(\[[^\[\]]+\])?$");

/// An entry of a table: `bf16 8192`.
pub const ENTRY: StringFormat = StringFormat::new(entry).with_pattern(r"^[^\[\]]+$");

/// A regular expression in Rust's syntax, without the named readers of a figure's pattern.
pub const REGEX: StringFormat =
    StringFormat::new(|text| no_reader(text).or_else(|| compiled(text).err()));

/// A regular expression with a group.
pub const PATTERN: StringFormat = StringFormat::new(pattern);

/// A `JSONPath` as RFC 9535 defines it; `$.` may be omitted.
pub const JSON_PATH: StringFormat = StringFormat::new(json_path);

/// Checks a figure's name, or one of a table's entries.
fn figure(text: &str) -> Option<FormatMismatch> {
    match text.split_once('[') {
        None => NAME.mismatch(text),
        Some((table, rest)) => match rest.strip_suffix(']') {
            Some(inside) => NAME.mismatch(table).or_else(|| entry(inside)),
            None => mismatch_with_help(
                format!("`{text}` is not the name of a figure"),
                "one entry of a table is written `table[entry]`",
            ),
        },
    }
}

/// Checks an entry of a table, which is any text that the benchmark prints there.
fn entry(text: &str) -> Option<FormatMismatch> {
    let good = !text.trim().is_empty()
        && text.len() <= 200
        && !text.contains(['[', ']'])
        && !text.contains(char::is_control);
    mismatch_unless(
        good,
        format!("`{}` is not an entry of a table", text.escape_debug()),
        "an entry is the text that `by` finds, without brackets, on one line",
    )
}

/// Returns a `JSONPath` as RFC 9535 writes it: `metrics.rouge1` is short for `$.metrics.rouge1`.
pub fn whole_json_path(text: &str) -> Cow<'_, str> {
    if text.starts_with('$') {
        Cow::Borrowed(text)
    } else if text.starts_with('[') {
        Cow::Owned(format!("${text}"))
    } else {
        Cow::Owned(format!("$.{text}"))
    }
}

fn json_path(text: &str) -> Option<FormatMismatch> {
    let error = parse(&whole_json_path(text)).err()?;
    mismatch_with_help(
        format!("invalid JSONPath: {error}"),
        "write it as RFC 9535 does: `$.metrics.rouge1`, `$.results[0]['time to train']`",
    )
}

/// Rejects a named reader, which belongs to the pattern of a figure.
fn no_reader(text: &str) -> Option<FormatMismatch> {
    let (_, name) = *places(text).first()?;
    mismatch_with_help(
        format!("`${{{name}}}` is read in the `pattern` of a figure only"),
        "write what the line has there: `[0-9.]+`",
    )
}

fn pattern(text: &str) -> Option<FormatMismatch> {
    let expression = match expanded(text) {
        Ok(expression) => expression,
        Err(error) => {
            let help = "write the figure as `${number}`, once: `score: ${number}`";
            return mismatch_with_help(error.to_string(), help);
        }
    };
    match compiled(&expression) {
        Err(mismatch) => Some(mismatch),
        Ok(pattern) if pattern.groups() < 2 => mismatch_with_help(
            "this pattern has no group",
            "write the figure as `${number}`: `score: ${number}`",
        ),
        Ok(_) => None,
    }
}

fn compiled(text: &str) -> Result<BoundedRegex, FormatMismatch> {
    BoundedRegex::new(text).map_err(|error| {
        let help = match error {
            RegexError::Syntax(_) => {
                "the syntax is that of https://docs.rs/regex/latest/regex/#syntax"
            }
            _ => "make it simpler: fewer alternatives, and smaller counts of repetitions",
        };
        let message = format!("invalid regular expression: {error}");
        (message, Some(help.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::long(&format!("{}${{number}}", "speed|".repeat(2000)), "bytes; the limit is 8192")]
    #[case::large(r"(\w{500}){500} ${number}", "larger than 1048576 bytes when compiled")]
    #[case::syntax("(${number}", "unclosed group")]
    fn patterns_that_cannot_be_searched_for_are_reported(#[case] text: &str, #[case] reason: &str) {
        let (message, help) = PATTERN.mismatch(text).unwrap();
        assert!(message.contains(reason), "{message}");
        assert!(help.is_some());
    }
}
