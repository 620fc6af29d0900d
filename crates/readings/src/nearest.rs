//! Hints for a missing figure: the nearest line, path or name, so that
//! a person sees at once what to fix.

use itertools::{Itertools as _, join};
use serde_json::Value;

/// Leaves of a document that are looked at.
const MAX_LEAVES: usize = 10_000;
/// Words of a pattern that are looked for in every line.
const MAX_WORDS: usize = 32;
/// The longest path for which a near one is looked for, characters.
const MAX_PATH_CHARS: usize = 200;
/// The most letters that are shown.
const MAX_MESSAGE_CHARS: usize = 100;

/// Returns a text short enough for a sentence, on one line.
pub fn truncate_for_message(text: &str) -> String {
    truncate_to_chars(text, MAX_MESSAGE_CHARS)
}

/// At most so many letters of a text, on one line.
pub fn truncate_to_chars(text: &str, most: usize) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut short: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

/// Names in a sentence: the first of them, and how many more there are.
pub fn join_first_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MAX_LISTED_NAMES: usize = 12;
    let mut remaining = names.into_iter().peekable();
    if remaining.peek().is_none() {
        return "none".to_owned();
    }
    let shown = join(remaining.by_ref().take(MAX_LISTED_NAMES).map(truncate_for_message), ", ");
    match remaining.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Finds the line that has most of a pattern's words; of equals the last.
#[derive(Debug, Clone)]
pub struct NearestLine {
    words: Vec<String>,
    best: Option<(usize, String)>,
}

impl NearestLine {
    /// For the words in a regular expression.
    pub fn for_pattern(pattern: &str) -> Self {
        Self { words: required_words(pattern), best: None }
    }

    pub fn consider_line(&mut self, line: &str) {
        let low = line.to_lowercase();
        let score =
            self.words.iter().filter(|word| low.contains(word.as_str())).map(String::len).sum();
        if score > 0 && self.best.as_ref().is_none_or(|(best, _)| score >= *best) {
            self.best = Some((score, line.to_owned()));
        }
    }

    /// The line, if one has any of the words.
    pub fn line(&self) -> Option<&str> {
        self.best.as_ref().map(|(_, line)| line.as_str())
    }

    /// `; the nearest line is: …`, or nothing.
    pub fn into_hint(self) -> String {
        self.best.map_or(String::new(), |(_, line)| {
            format!("; the nearest line is: {}", truncate_for_message(line.trim()))
        })
    }
}

/// Words of two letters and more that a line would have to have, without escapes and group names.
fn required_words(pattern: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
                plain.push(' ');
            }
            '[' => {
                letters.find(|inner| *inner == ']');
                plain.push(' ');
            }
            '<' => drop(letters.find(|inner| *inner == '>')),
            // A count, or a named reader.
            '{' => drop(letters.find(|inner| *inner == '}')),
            _ => plain.push(letter),
        }
    }
    let parts = plain.split(|letter: char| !letter.is_alphanumeric());
    let long_parts = parts.filter(|word| word.chars().count() > 1);
    let words = long_parts.map(str::to_lowercase).sorted().dedup();
    words.take(MAX_WORDS).collect()
}

/// `; the nearest is …`: the number of a document whose path is nearest to the written one.
pub fn describe_nearest_path(written: &str, document: &Value) -> String {
    if written.chars().count() > MAX_PATH_CHARS {
        return String::new();
    }
    let mut leaves = Vec::new();
    collect_leaves(document, "$".to_owned(), &mut leaves);
    let near = leaves
        .into_iter()
        .map(|(path, value)| (strsim::normalized_damerau_levenshtein(written, &path), path, value))
        .max_by(|(one, ..), (other, ..)| one.total_cmp(other));
    near.map_or(String::new(), |(_, path, value)| {
        format!(
            "; the nearest is `{}`: {}",
            truncate_for_message(&path),
            truncate_for_message(&value)
        )
    })
}

fn collect_leaves(value: &Value, path: String, leaves: &mut Vec<(String, String)>) {
    if leaves.len() >= MAX_LEAVES || path.len() > 300 {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let plain = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
                let path =
                    if plain { format!("{path}.{name}") } else { format!("{path}['{name}']") };
                collect_leaves(value, path, leaves);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect_leaves(value, format!("{path}[{index}]"), leaves);
            }
        }
        Value::Number(number) => leaves.push((path, number.to_string())),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(pattern: &str, lines: &[&str]) -> String {
        let mut nearest = NearestLine::for_pattern(pattern);
        for line in lines {
            nearest.consider_line(line);
        }
        nearest.into_hint()
    }

    #[test]
    fn the_nearest_line_shares_most_words() {
        let lines = ["starting", "Throughput: 12 samples/sec", "done in 3 s"];
        assert_eq!(
            near(r"throughput = (?<value>[\d.]+) samples/s", &lines),
            "; the nearest line is: Throughput: 12 samples/sec"
        );
        assert_eq!(near(r"(\d+) tokens", &lines), "");
        assert_eq!(required_words(r"^(?<name>\w+): +([a-z.]+) TFLOP/s"), ["tflop"]);
    }

    #[test]
    fn long_and_hostile_lines_are_truncated() {
        let line = format!("speed \u{1b}[31m{}", "x".repeat(1000));
        let message = near("speed", &[&line]);
        assert!(message.chars().count() < 140 && !message.contains('\u{1b}'));
    }

    #[test]
    fn names_are_joined_and_truncated() {
        assert_eq!(join_first_names([]), "none");
        assert_eq!(join_first_names(["a", "b"]), "a, b");
        assert!(join_first_names(["a"; 20]).ends_with("and 8 more"));
    }

    proptest! {
        #[test]
        fn any_pattern_and_line(pattern in "\\PC{0,60}", line in "\\PC{0,60}") {
            let _ = near(&pattern, &[&line]);
        }
    }
}
