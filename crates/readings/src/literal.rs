//! The literal that every line that matches a pattern has.

use memchr::memmem::Finder;
use regex_syntax::hir::{Hir, HirKind};

/// A shorter literal is on nearly every line, and looking for it first costs more than it saves.
const MIN_LITERAL_BYTES: usize = 3;

/// Returns the longest literal that every match contains, if it is worth searching for.
pub fn find_required_literal(expression: &str) -> Option<Finder<'static>> {
    find_literal_in(&regex_syntax::parse(expression).ok()?)
}

/// Returns the same of an expression that was parsed.
pub fn find_literal_in(expression: &Hir) -> Option<Finder<'static>> {
    let literal = longest_literal(expression)?;
    // A replacement character also replaces bytes that are not UTF-8.
    let is_itself =
        std::str::from_utf8(literal).is_ok_and(|text| !text.contains(['\u{fffd}', '\n', '\r']));
    (is_itself && literal.len() >= MIN_LITERAL_BYTES).then(|| Finder::new(literal).into_owned())
}

fn longest_literal(expression: &Hir) -> Option<&[u8]> {
    match expression.kind() {
        HirKind::Literal(literal) => Some(&literal.0),
        HirKind::Capture(group) => longest_literal(&group.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => longest_literal(&repetition.sub),
        HirKind::Concat(parts) => {
            parts.iter().filter_map(longest_literal).max_by_key(|part| part.len())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::before(r"throughput: ([\d.,]+)", Some("throughput: "))]
    #[case::after(r"([\d.,]+) tokens/s$", Some(" tokens/s"))]
    #[case::between(r"^\s*([\d.]+) tokens/s after (\w+)", Some(" tokens/s after "))]
    #[case::in_a_group(r"(?:loss=)+(\d+)", Some("loss="))]
    #[case::perhaps(r"(?:loss=)?(\d+)", None)]
    #[case::one_of_two(r"(?:throughput|speed)(\d+)", None)]
    #[case::any_case(r"(?i)speed (\d+)", None)]
    #[case::short(r"a=(\d+)", None)]
    #[case::replaced("\u{fffd}\u{fffd}(\\d+)", None)]
    fn a_literal_required_by_every_match_is_found(
        #[case] expression: &str,
        #[case] literal: Option<&str>,
    ) {
        let actual = find_required_literal(expression);
        assert_eq!(actual.as_ref().map(Finder::needle), literal.map(str::as_bytes));
    }
}
