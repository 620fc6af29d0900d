//! Formats of figures' names and of the expressions that find them.

use std::borrow::Cow;

use retrial_document::formats::{NAME, mismatch_unless, mismatch_with_help};
use retrial_document::{FormatMismatch, StringFormat};

use crate::bounded::{BoundedRegex, RegexError};
use crate::json_path::parse_json_path;
use crate::lexer;
use crate::pattern::{expand_readers, find_readers};

/// A figure's name, or one of a table's: `gemm[bf16 8192]`.
pub const FIGURE: StringFormat = StringFormat::new(check_figure_name)
    .with_pattern(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(\[[^\[\]]+\])?$");

/// An entry of a table: `bf16 8192`.
pub const ENTRY: StringFormat = StringFormat::new(check_entry_name).with_pattern(r"^[^\[\]]+$");

/// A regular expression in Rust's syntax, without the named readers of a figure's pattern.
pub const REGEX: StringFormat =
    StringFormat::new(|text| reject_named_readers(text).or_else(|| compile_regex(text).err()));

/// A regular expression with a group.
pub const PATTERN: StringFormat = StringFormat::new(check_pattern);

/// A `JSONPath` as RFC 9535 defines it; `$.` may be omitted.
pub const JSON_PATH: StringFormat = StringFormat::new(check_json_path);

/// A published value, written as outputs print it: `1,010`, `12.3k tok/s`, `812.5 ± 3`.
pub const PUBLISHED_VALUE: StringFormat = StringFormat::new(check_published_value);

fn check_published_value(text: &str) -> Option<FormatMismatch> {
    let reason = lexer::read_published(text).err()?;
    mismatch_with_help(
        format!("`{text}` is not a published value: {reason}"),
        "write a number, for example 103480 or 0.5, and its unit if you like",
    )
}

/// Checks a figure's name, or one of a table's entries.
fn check_figure_name(text: &str) -> Option<FormatMismatch> {
    match text.split_once('[') {
        None => NAME.mismatch(text),
        Some((table, rest)) => match rest.strip_suffix(']') {
            Some(inside) => NAME.mismatch(table).or_else(|| check_entry_name(inside)),
            None => mismatch_with_help(
                format!("`{text}` is not the name of a figure"),
                "one entry of a table is written `table[entry]`",
            ),
        },
    }
}

/// Checks an entry of a table, which is any text that the benchmark prints there.
fn check_entry_name(text: &str) -> Option<FormatMismatch> {
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
pub fn complete_json_path(text: &str) -> Cow<'_, str> {
    if text.starts_with('$') {
        Cow::Borrowed(text)
    } else if text.starts_with('[') {
        Cow::Owned(format!("${text}"))
    } else {
        Cow::Owned(format!("$.{text}"))
    }
}

fn check_json_path(text: &str) -> Option<FormatMismatch> {
    let error = parse_json_path(&complete_json_path(text)).err()?;
    mismatch_with_help(
        format!("invalid JSONPath: {error}"),
        "write it as RFC 9535 does: `$.metrics.rouge1`, `$.results[0]['time to train']`",
    )
}

/// Rejects a named reader, which belongs to the pattern of a figure.
fn reject_named_readers(text: &str) -> Option<FormatMismatch> {
    let (_, name) = *find_readers(text).first()?;
    mismatch_with_help(
        format!("`${{{name}}}` is read in the `pattern` of a figure only"),
        "write what the line has there: `[0-9.]+`",
    )
}

fn check_pattern(text: &str) -> Option<FormatMismatch> {
    let expression = match expand_readers(text) {
        Ok(expression) => expression,
        Err(error) => {
            let help = "write the figure as `${number}`, once: `score: ${number}`";
            return mismatch_with_help(error.to_string(), help);
        }
    };
    match compile_regex(&expression) {
        Err(mismatch) => Some(mismatch),
        Ok(pattern) if pattern.group_count() < 2 => mismatch_with_help(
            "this pattern has no group",
            "write the figure as `${number}`: `score: ${number}`",
        ),
        Ok(_) => None,
    }
}

fn compile_regex(text: &str) -> Result<BoundedRegex, FormatMismatch> {
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
