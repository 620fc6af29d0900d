//! Wrapping of text.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Wraps to at most `width` columns, all lines but the first indented; a longer word has its own line.
pub fn wrap_words(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    let options = Options::new(width.max(indent.len() + 1))
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // A number stays with its percent sign.
    let glued = text.replace(" %", "\u{a0}%");
    let lines = textwrap::wrap(&glued, options).into_iter();
    lines.map(|line| line.replace('\u{a0}', " ").trim_end().to_owned()).collect()
}

/// Wraps to at most `width` columns between words; only a word that is longer, such as a path, is folded.
pub(super) fn fold_words(text: &str, width: usize) -> Vec<String> {
    let lines = wrap_words(text, width, 0).into_iter();
    lines.flat_map(|line| fold_at_separators(&line, width)).collect()
}

/// Folds names and paths between their parts, and anywhere only if a part is too long:
/// `completed_tokens_per_second` as `completed_`, `tokens_per_`, `second`.
fn fold_at_separators(text: &str, longest: usize) -> Vec<String> {
    if text.width() <= longest {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for part in text.split_inclusive(['_', '/', ':', ',']) {
        let fits = |line: &String| line.width() + part.width() <= longest;
        match lines.last_mut() {
            Some(line) if fits(line) => line.push_str(part),
            _ => {
                lines.push(String::new());
                for letter in part.chars() {
                    let full = |line: &String| line.width() + letter.width().unwrap_or(0) > longest;
                    if lines.last().is_some_and(full) {
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

    #[test]
    fn a_path_is_folded_only_if_a_line_is_too_short_for_it() {
        let text = "see https://huggingface.co/docs: not found";
        assert_eq!(fold_words(text, 30), ["see", "https://huggingface.co/docs:", "not found"]);
        let short = ["see", "https://", "huggingface.co/", "docs:", "not found"];
        assert_eq!(fold_words(text, 16), short);
    }

    proptest! {
        #[test]
        fn folding_preserves_all_text(text in "[a-z_/]{0,60}", longest in 2_usize..20) {
            prop_assert_eq!(fold_at_separators(&text, longest).concat(), text.as_str());
            prop_assert!(fold_at_separators(&text, longest).iter().all(|line| line.width() <= longest));
        }
    }
}
