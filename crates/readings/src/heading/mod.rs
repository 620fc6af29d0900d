//! Blocks of an output: from a heading to the next of its kind.
//!
//! A heading is recognised by the recipe's expression (`below:`). Its block ends with the next line
//! that is a heading of the same kind, and the kind is derived from the expression: its numbers, quoted
//! texts and values (`users: 32`, `model=a`, `--model a`) stand for any. In an expression without numbers
//! the text behind its last `:` or `=` does (`scenario: Offline`), or the text between marks
//! (`=== Offline ===`). One of none of these ends with the next line between the marks of its own line.
//! With `until:`, only its lines end the block.

mod kind;

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::bounded::{BoundedRegex, BoundedSearch};
use kind::heading_kinds;

#[derive(Debug, Clone)]
struct BlockEnd {
    line: BoundedRegex,
    /// Whether lines of a log look alike, and are none.
    is_any_text: bool,
}

impl BlockEnd {
    fn from_expression(line: BoundedRegex) -> Self {
        let is_any_text = false;
        Self { line, is_any_text }
    }
}

/// Returns whether a line begins with the level of a log.
fn is_log_line(line: &str) -> bool {
    static LEVEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\W*(?i:info|warn|warning|error|debug|trace|notice|fatal|critical|log)\b").ok()
    });
    LEVEL.as_ref().is_some_and(|level| level.is_match(line))
}

/// A heading and the ends of its block.
#[derive(Debug, Clone)]
pub struct Heading {
    own: BoundedRegex,
    /// Whether the recipe states them.
    has_stated_ends: bool,
    ends: Vec<BlockEnd>,
}

impl Heading {
    /// Returns a heading whose block ends with the next of its kind.
    pub fn new(own: BoundedRegex) -> Self {
        let kinds = heading_kinds(own.as_str()).into_iter();
        let ends = kinds.filter_map(|kind| {
            let line = BoundedRegex::new(&kind.expression).ok()?;
            let is_any_text = kind.is_any_text;
            Some(BlockEnd { line, is_any_text })
        });
        Self { ends: ends.collect(), own, has_stated_ends: false }
    }

    /// Ends the block with the lines that match this only.
    pub fn set_end(&mut self, end: BoundedRegex) {
        self.has_stated_ends = true;
        self.ends = vec![BlockEnd::from_expression(end)];
    }

    /// Ends the block with another heading, too, if it is of the same shape.
    pub fn add_end_of_same_shape(&mut self, other: BoundedRegex) {
        if !self.has_stated_ends && word_shape(other.as_str()) == word_shape(self.own.as_str()) {
            self.ends.push(BlockEnd::from_expression(other));
        }
    }

    pub fn expression(&self) -> &str {
        self.own.as_str()
    }

    /// Returns a search of one text for the heading and the ends of its blocks.
    pub fn start_search(&self) -> HeadingSearch<'_> {
        HeadingSearch {
            heading: self,
            own: self.own.start_search(),
            ends: self.ends.iter().map(|end| end.line.start_search()).collect(),
        }
    }
}

/// The search of one text for a heading and the ends of its blocks.
#[derive(Debug, Clone)]
pub struct HeadingSearch<'a> {
    heading: &'a Heading,
    own: BoundedSearch<'a>,
    /// In the order of the heading's ends.
    ends: Vec<BoundedSearch<'a>>,
}

impl HeadingSearch<'_> {
    /// Returns the identity of a line that is the heading: the line without the numbers around the heading, such as
    /// times, the same for each repetition of a block.
    pub fn identify_heading(&mut self, line: &str) -> Option<String> {
        let own = self.find_heading(line)?;
        let around = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "0");
        let (before, after) = (&line[..own.start], &line[own.end..]);
        Some(format!("{}{}{}", around(before), &line[own], around(after)))
    }

    /// Returns the heading in a line. One whose number goes on is another: `clients: 64` for `clients: 6`.
    fn find_heading(&mut self, line: &str) -> Option<Range<usize>> {
        let mut from = 0;
        loop {
            let found = self.own.find_from(line, from)?;
            if !is_in_longer_number(line, &found) {
                return Some(found);
            }
            let next = line[found.start..].chars().next().map_or(1, char::len_utf8);
            from = found.end.max(found.start + next);
        }
    }

    /// Returns whether a line that is not the heading ends its block, whose own line has these marks.
    pub fn is_block_end(&mut self, line: &str, marks: Option<char>) -> bool {
        let Heading { own, has_stated_ends: stated, ends } = self.heading;
        let mut all = self.ends.iter_mut().zip(ends);
        let is_end = all.any(|(search, end)| {
            let found = search.find(line).map(|found| &line[found.end..]);
            let is_log = || end.is_any_text && is_log_line(line) && !is_log_line(own.as_str());
            found.is_some_and(|behind| *stated || !starts_with_total(behind) && !is_log())
        });
        is_end || marks.is_some() && surrounding_mark(line) == marks
    }

    /// Returns the marks of a heading's line, where nothing else tells what ends its block.
    pub fn closing_marks(&self, line: &str) -> Option<char> {
        self.ends.is_empty().then(|| surrounding_mark(line)).flatten()
    }

    pub fn expression_searches(&self) -> impl Iterator<Item = &BoundedSearch<'_>> {
        std::iter::once(&self.own).chain(&self.ends)
    }
}

/// Returns whether a match begins or ends within a number.
fn is_in_longer_number(line: &str, found: &Range<usize>) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let (before, behind) = (&line[..found.start], &line[found.end..]);
    let text = &line[found.clone()];
    let goes_on = text.ends_with(is_digit)
        && behind.trim_start_matches(['.', ',', '_']).starts_with(is_digit);
    let comes_before = text.starts_with(is_digit) && before.ends_with(is_digit);
    goes_on || comes_before
}

/// Returns whether what follows a number makes it one of several: ` of 10`, `/10`.
fn starts_with_total(behind: &str) -> bool {
    let trimmed = behind.trim_start();
    let total = trimmed.strip_prefix("of ").or_else(|| trimmed.strip_prefix('/'));
    total.is_some_and(|total| total.trim_start().starts_with(|first: char| first.is_ascii_digit()))
}

/// Returns the mark of a line whose text stands between several: `---- first token ----`.
fn surrounding_mark(line: &str) -> Option<char> {
    let trimmed = line.trim();
    let mark = trimmed.chars().next().filter(|mark| !mark.is_alphanumeric())?;
    let text = trimmed.trim_matches(mark);
    let length = trimmed.len() - text.len();
    (length >= 4 * mark.len_utf8()
        && trimmed.ends_with(mark)
        && text.contains(char::is_alphanumeric))
    .then_some(mark)
}

/// Returns an expression with each of its words and numbers as one letter.
fn word_shape(expression: &str) -> String {
    let mut shape = String::new();
    for letter in expression.chars() {
        if !letter.is_alphanumeric() {
            shape.push(letter);
        } else if !shape.ends_with('w') {
            shape.push('w');
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[derive(Debug, PartialEq)]
    enum Role {
        Heading,
        End,
        Content,
    }

    fn role_of(heading: &Heading, line: &str) -> Role {
        let mut search = heading.start_search();
        match (search.identify_heading(line).is_some(), search.is_block_end(line, None)) {
            (true, _) => Role::Heading,
            (false, true) => Role::End,
            (false, false) => Role::Content,
        }
    }

    #[rstest]
    #[case::number("clients: 32$", "clients: 64", Role::End)]
    #[case::own("clients: 32$", "clients: 32", Role::Heading)]
    #[case::longer_number("clients: 32$", "clients: 1,024", Role::End)]
    #[case::in_a_group("clients: (8|16)$", "clients: 32", Role::End)]
    #[case::one_of_a_group("clients: (8|16)$", "clients: 16", Role::Heading)]
    #[case::any_case("(?i)clients: 32$", "Clients: 64", Role::End)]
    #[case::quoted("model \"a\"", "model \"b c\"", Role::End)]
    #[case::after_a_separator("^scenario: Offline$", "scenario: Server", Role::End)]
    #[case::assigned("mode=fast", "mode=slow", Role::End)]
    #[case::between_marks("^=== Offline ===$", "=== Single stream ===", Role::End)]
    #[case::in_brackets(r"^\[Offline\]", "[Server]", Role::End)]
    #[case::other_kind("clients: 32$", "---- first token ----", Role::Content)]
    #[case::summary("^=== batch 8 ===$", "=== summary ===", Role::Content)]
    #[case::a_line_of_marks("^=== Offline ===$", "==================", Role::Content)]
    #[case::one_word("^Server", "Offline", Role::Content)]
    #[case::name_with_digits("^=== bf16 ===$", "=== fp8 ===", Role::End)]
    #[case::name_of_a_model("^Model: llama2-70b$", "Model: mixtral-8x7b", Role::End)]
    #[case::markdown("^## llama-3", "## qwen", Role::End)]
    #[case::word_for_a_number("^clients: 64", "clients: unlimited", Role::End)]
    #[case::assignments("mode=a2 tp=8", "mode=b tp=8", Role::End)]
    #[case::options(r"\+ run --mode a --tp 8", "+ run --mode b --tp 8", Role::End)]
    #[case::first_word(r"^Offline \(8 GPUs\)", "Server (8 GPUs)", Role::End)]
    #[case::line_of_a_word("^Server$", "Offline", Role::End)]
    #[case::word_and_colon("^Server:", "Offline:", Role::End)]
    #[case::longer("clients: 6", "clients: 64", Role::End)]
    #[case::log_level("INFO: Offline scenario", "INFO: warm-up", Role::Content)]
    #[case::log_scenario("INFO: Offline scenario", "INFO: Server scenario", Role::End)]
    #[case::rank(r"^\[Offline\]", "[rank0] warm-up", Role::Content)]
    #[case::level_in_brackets(r"^\[Offline\]", "[WARNING] slow", Role::Content)]
    #[case::small("^== Offline ==", "== warm-up ==", Role::Content)]
    #[case::progress("batch 8", "batch 1 of 10 done", Role::Content)]
    fn lines(#[case] heading: &str, #[case] line: &str, #[case] expected: Role) {
        let heading = Heading::new(BoundedRegex::new(heading).unwrap());
        assert_eq!(role_of(&heading, line), expected);
    }

    #[test]
    fn ends_can_be_stated() {
        let mut heading = Heading::new(BoundedRegex::new("clients: 32$").unwrap());
        heading.set_end(BoundedRegex::new("^done").unwrap());
        heading.add_end_of_same_shape(BoundedRegex::new("clients: 64$").unwrap());
        assert_eq!(role_of(&heading, "clients: 64"), Role::Content);
        assert_eq!(role_of(&heading, "done"), Role::End);
    }

    #[test]
    fn headings_of_one_shape_end_each_other() {
        let mut heading = Heading::new(BoundedRegex::new("^Server$").unwrap());
        heading.add_end_of_same_shape(BoundedRegex::new("^Offline$").unwrap());
        heading.add_end_of_same_shape(BoundedRegex::new("^-- Offline").unwrap());
        assert_eq!(role_of(&heading, "Offline"), Role::End);
        assert_eq!(role_of(&heading, "-- Offline"), Role::Content);
    }
}
