//! Patterns that differ from the written one in white space and case only: hints for a figure that was not read. They
//! never read a figure themselves.

use super::{MatchSelection, Pattern};

impl Pattern {
    /// Returns the pattern that reads the number of a line of which this one reads none: with any number of spaces
    /// where it has one, in any case, or both.
    pub fn find_loosened(&self, line: &str) -> Option<String> {
        let patterns = self.loosened.get_or_init(|| {
            let source = &self.source;
            // The least change first: most often the number is aligned.
            let (aligned, spaced) = (align_number(source), allow_any_spaces(source));
            let rewrites = [
                aligned.clone(),
                spaced.clone(),
                format!("(?i){source}"),
                format!("(?i){aligned}"),
                format!("(?i){spaced}"),
            ];
            let others = rewrites.into_iter().filter(|written| written != source);
            let pattern =
                |written: String| Self::new(&written, MatchSelection::First, self.unit.clone());
            others.filter_map(|written| pattern(written).ok()).collect()
        });
        Self::find_reading(patterns, line)
    }
}

/// Returns an expression that takes any number of spaces in front of `${number}`.
fn align_number(expression: &str) -> String {
    expression.replace(" ${number}", " +${number}")
}

/// Returns an expression that takes any number of spaces where this one has spaces, and before a line's first word.
fn allow_any_spaces(expression: &str) -> String {
    let mut out = String::with_capacity(expression.len());
    let mut characters = expression.chars().peekable();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        out.push(character);
        match character {
            '\\' => out.extend(characters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '^' if !in_class => out.push_str(" *"),
            ' ' if !in_class => {
                while characters.next_if_eq(&' ').is_some() {}
                let is_repeated =
                    characters.peek().is_some_and(|next| matches!(next, '*' | '+' | '?' | '{'));
                if !is_repeated {
                    out.push('+');
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::spaces("rate: ${number}", "rate:     12.5", Some("rate: +${number}"))]
    #[case::indented("^rate: ${number}", "    rate: 12.5", Some("^ *rate: +${number}"))]
    #[case::letters("rate: ${number}", "Rate: 12.5", Some("(?i)rate: ${number}"))]
    #[case::both("my rate: ${number}", "My  rate: 12.5", Some("(?i)my +rate: +${number}"))]
    #[case::aligned("my rate: ${number}", "my rate:  5", Some("my rate: +${number}"))]
    #[case::class("my[ _]rate: ${number}", "my rate:  5", Some("my[ _]rate: +${number}"))]
    #[case::no_number("rate: ${number}", "rate:   n/a", None)]
    #[case::other_words("rate: ${number}", "speed: 5", None)]
    fn a_pattern_that_differs_in_space_or_case_is_found(
        #[case] written: &str,
        #[case] line: &str,
        #[case] expected: Option<&str>,
    ) {
        let pattern = Pattern::new(written, MatchSelection::Last, "").unwrap();
        assert_eq!(pattern.find_loosened(line).as_deref(), expected);
    }
}
