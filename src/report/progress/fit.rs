//! Text in a given number of columns.

use unicode_width::UnicodeWidthChar as _;

/// Where the next tab stops.
const TAB: usize = 8;

/// Columns that a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The text in at most `width` columns, with `…` where something was cut; tabs become blanks.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    // Where to cut if the text turns out too long: the last place with room for the ellipsis.
    let mut cut = 0;
    for character in text.chars() {
        let wide = if character == '\t' {
            TAB - used % TAB
        } else {
            columns(character)
        };
        if used + wide > width {
            out.truncate(cut);
            if width > 0 {
                out.push('…');
            }
            return out;
        }
        if character == '\t' {
            out.extend(std::iter::repeat_n(' ', wide));
        } else {
            out.push(character);
        }
        used += wide;
        if used < width {
            cut = out.len();
        }
    }
    out
}

/// The text and blanks up to `width` columns.
#[must_use]
pub fn pad(text: &str, to: usize) -> String {
    let blanks = to.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The text broken between words into lines of at most `width` columns, all but the first
/// indented by `indent`. A word that is wider than a line stays whole: paths and commands are
/// there to be copied.
#[must_use]
pub fn wrap(text: &str, to: usize, indent: usize) -> Vec<String> {
    let lead = text.len() - text.trim_start().len();
    let mut lines = vec![text[..lead].to_owned()];
    let mut used = width(&text[..lead]);
    let mut empty = true;
    for word in text.split_whitespace() {
        let wide = width(word);
        if !empty && used + 1 + wide > to {
            lines.push(" ".repeat(indent));
            used = indent;
            empty = true;
        }
        if let Some(last) = lines.last_mut() {
            if !empty {
                last.push(' ');
                used += 1;
            }
            last.push_str(word);
        }
        used += wide;
        empty = false;
    }
    lines
}

fn columns(character: char) -> usize {
    character.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("short", 10, "short")]
    #[case("exactly ten", 11, "exactly ten")]
    #[case("one too many", 11, "one too ma…")]
    #[case("日本語のログ", 12, "日本語のログ")]
    #[case("日本語のログ", 11, "日本語のロ…")]
    #[case("日本語のログ", 10, "日本語の…")]
    #[case("a\tb", 20, "a       b")]
    #[case("a\tb", 8, "a…")]
    #[case("abc", 1, "…")]
    #[case("abc", 0, "")]
    #[case("", 0, "")]
    fn texts_are_cut_at_columns(#[case] text: &str, #[case] to: usize, #[case] fitted: &str) {
        assert_eq!(fit(text, to), fitted);
    }

    #[rstest]
    #[case("one two three", 8, 2, &["one two", "  three"])]
    #[case("    one two three", 11, 4, &["    one two", "    three"])]
    #[case("a-word-wider-than-the-line and on", 10, 0, &["a-word-wider-than-the-line", "and on"])]
    #[case("", 10, 2, &[""])]
    fn texts_are_broken_between_words(
        #[case] text: &str,
        #[case] to: usize,
        #[case] indent: usize,
        #[case] lines: &[&str],
    ) {
        assert_eq!(wrap(text, to, indent), lines);
    }

    proptest! {
        #[test]
        fn nothing_is_ever_too_wide(text in any::<String>(), to in 0_usize..100) {
            prop_assert!(width(&fit(&text, to)) <= to);
        }
    }
}
