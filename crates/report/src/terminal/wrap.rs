//! Wrapping of text.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Wraps to at most `width` columns, all lines but the first indented; a longer word has its own line.
pub fn wrap_words(text: &str, width: usize, indent: usize) -> Vec<String> {
    wrap_text(text, width, indent, false)
}

/// Wraps, and breaks words that are longer than a line.
pub(super) fn wrap_anywhere(text: &str, width: usize, indent: usize) -> Vec<String> {
    wrap_text(text, width, indent, true)
}

fn wrap_text(text: &str, width: usize, indent: usize, anywhere: bool) -> Vec<String> {
    let indent = " ".repeat(indent);
    let options = Options::new(width.max(indent.len() + 1))
        .subsequent_indent(&indent)
        .break_words(anywhere)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // A number stays with its percent sign.
    let glued = text.replace(" %", "\u{a0}%");
    let lines = textwrap::wrap(&glued, options).into_iter();
    lines.map(|line| line.replace('\u{a0}', " ").trim_end().to_owned()).collect()
}

/// Folds names and paths between their parts, and anywhere only if a part is too long:
/// `completed_tokens_per_second` as `completed_`, `tokens_per_`, `second`.
pub(super) fn fold_at_separators(text: &str, longest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split_inclusive(['_', ' ', '/', ':', ',']) {
        let fits = |line: &String| line.width() + part.trim_end().width() <= longest;
        match lines.last_mut() {
            Some(line) if fits(line) => line.push_str(part),
            _ => {
                lines.push(String::new());
                for letter in part.chars() {
                    let full = |line: &String| line.width() + letter.width().unwrap_or(0) > longest;
                    if letter != ' ' && lines.last().is_some_and(full) {
                        lines.push(String::new());
                    }
                    if let Some(line) = lines.last_mut() {
                        line.push(letter);
                    }
                }
            }
        }
    }
    if lines.len() > 1 && lines[0].is_empty() {
        lines.remove(0);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("completed_tokens_per_second", 16, &["completed_", "tokens_per_", "second"])]
    #[case("completed_tokens_per_second", 18, &["completed_tokens_", "per_second"])]
    #[case("completed_tokens_per_second", 27, &["completed_tokens_per_second"])]
    #[case("/opt/rocm/lib:/usr/lib", 12, &["/opt/rocm/", "lib:/usr/lib"])]
    #[case("0123456789", 4, &["0123", "4567", "89"])]
    #[case("", 16, &[""])]
    fn names_are_folded(#[case] name: &str, #[case] longest: usize, #[case] expected: &[&str]) {
        assert_eq!(fold_at_separators(name, longest), expected);
    }

    #[test]
    fn lines_are_wrapped_and_indented() {
        assert_eq!(wrap_words("one two three four", 9, 2), ["one two", "  three", "  four"]);
        assert_eq!(wrap_words("  help: do it", 9, 4), ["  help:", "    do it"]);
        assert_eq!(wrap_words("a-very-long-word b", 6, 2), ["a-very-long-word", "  b"]);
        assert_eq!(wrap_words("", 6, 2), [""]);
        assert_eq!(wrap_words("within 5 %", 9, 0), ["within", "5 %"]);
    }

    proptest! {
        #[test]
        fn folding_preserves_all_text(text in "[a-z_/ ]{0,60}", longest in 2_usize..20) {
            prop_assert_eq!(fold_at_separators(&text, longest).concat(), text.as_str());
            prop_assert!(fold_at_separators(&text, longest).iter().all(|line| line.trim_end().width() <= longest));
        }
    }
}
