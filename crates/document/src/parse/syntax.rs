//! Diagnostics for a text that is not YAML.

use serde_saphyr::granit_parser::{ErrorKind, ScanError};

use super::too_deep_problem;
use crate::diagnostic::Diagnostic;
use crate::source::Source;

/// The problem that stopped the scanner.
pub(super) fn describe_syntax_error(source: &Source, error: &ScanError) -> Diagnostic {
    let text = &*source.text;
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let width = text[at..].chars().next().map_or(0, char::len_utf8);
    let span = source.span(at..at + width);
    if let ErrorKind::RecursionLimitExceeded = error.kind() {
        return too_deep_problem(span);
    }
    if let Some(tab) = find_tab_in_indentation(text, at) {
        return Diagnostic::error("tab", "a tab in the indentation", source.span(tab..tab + 1))
            .with_help("YAML is indented with spaces only");
    }
    let message = format!("this is not YAML: {}", error.info());
    Diagnostic::error("syntax", message, span).with_optional_help(syntax_help(text, at))
}

/// A tab before the first other character of the line at `at`, or of the line before it: the
/// scanner often notices one token later.
fn find_tab_in_indentation(text: &str, at: usize) -> Option<usize> {
    let line_start = |upto: usize| text[..upto].rfind('\n').map_or(0, |newline| newline + 1);
    let tab_of = |start: usize| {
        let line = text[start..].lines().next().unwrap_or("");
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[..indentation].find('\t').map(|tab| start + tab)
    };
    let here = line_start(at);
    tab_of(here).or_else(|| tab_of(line_start(here.checked_sub(1)?)))
}

/// The intended text of common slips.
fn syntax_help(text: &str, at: usize) -> Option<String> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let value = line.split_once(": ").map_or(line, |(_, value)| value).trim();
    let is_within_flow = value.starts_with(['{', '[']) || !value.contains(": ");
    if line.contains("${{") && is_within_flow {
        return Some("inside { } and [ ], an expression needs quotes: \"${{ … }}\"".into());
    }
    if value.starts_with(['*', '&', '!', '%', '@', '`', '{', '[', '|', '>']) || value.contains(": ")
    {
        return Some(
            "a value that begins with a special character or has `: ` in it needs quotes".into(),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_of_what_is_wrong_with_the_line() {
        let help = |line: &str| syntax_help(line, line.len()).unwrap_or_default();
        assert!(help("run: echo \"speed: ${{ params.m }}\"").contains("has `: ` in it"));
        assert!(help("run: echo speed: 1").contains("has `: ` in it"));
        assert!(help("limits: { max: ${{ params.m }} }").contains("an expression needs quotes"));
        assert!(help("  max: ${{ params.m }} }").contains("an expression needs quotes"));
    }
}
