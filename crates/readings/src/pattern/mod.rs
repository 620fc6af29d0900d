//! A recipe's own figures, taken from a step's lines as they arrive.
//!
//! A pattern is matched against every line; the number is its group `value`, else its first group
//! that has no meaning of its own, else the whole match. It must be plain ([`super::lexer`]). A group `unit` is
//! converted into the figure's unit. Below a heading, only the
//! first line that matches counts, and only above the next heading of its kind. Groups that a table is
//! made `by` name its entries. A line that has the figure's name and no number counts like one that
//! has (`records`): no other value takes its place. What is kept is bounded: one running value an entry, or for
//! `all` at most [`MAX_STORED_VALUES`].

mod block;
mod error;
mod loosened;
mod parts;
mod plain;
mod reader;
mod readers;
mod records;

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem::Finder;

pub use super::accumulator::{MAX_STORED_VALUES, MAX_TABLE_ENTRIES};
pub use crate::request::MatchSelection;
pub use error::{PatternError, describe_loosened};
pub use reader::PatternReader;
pub use readers::{ReaderError, expand_readers, find_readers};

use super::bounded::BoundedRegex;
use super::heading::Heading;
use super::lexer::Spelled;
use super::literal;
use super::nearest::truncate_for_message;
use super::units;
use parts::PatternParts;
use records::Records;

/// A regular expression, the choice among its matches, and the unit of the figure.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As the recipe writes it.
    source: String,
    regex: BoundedRegex,
    /// The heading below which the lines count.
    heading: Option<Heading>,
    /// The lines that have the figure's name and no number.
    records: Option<Records>,
    /// The index of the group that holds the number; 0 is the whole match.
    group: usize,
    /// What it spells out next to that group.
    spelled: Spelled,
    /// The whole words that it spells out behind that group.
    words_behind: String,
    /// The patterns of other figures: a line that one of them reads is no record of this figure.
    others: Vec<BoundedRegex>,
    /// The index of the group that holds the unit.
    unit_group: Option<usize>,
    /// The indexes of the groups that name a table's entries.
    entry_groups: Vec<usize>,
    /// A literal that every matching line contains, if one is known.
    literal: Option<Finder<'static>>,
    take: MatchSelection,
    /// Whether all matches are read, although the last one is used, to find differing values.
    reads_every_match: bool,
    unit: Cow<'static, str>,
    /// The pattern with `${number}` in place of the group, and with a group for the unit too, once a line
    /// has needed them.
    with_readers: OnceLock<Vec<Self>>,
    /// The pattern with other white space and in any case, once a figure was not read.
    loosened: OnceLock<Vec<Self>>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`PatternError::Expression`] where it is not a regular expression, or one too large;
    /// [`PatternError::Reader`] where `${…}` in it cannot be replaced.
    pub fn new(
        pattern: &str,
        take: MatchSelection,
        unit: impl Into<Cow<'static, str>>,
    ) -> Result<Self, PatternError> {
        let expression = expand_readers(pattern)
            .map_err(|reason| PatternError::Reader { pattern: pattern.to_owned(), reason })?;
        let regex = compile_expression(&expression)?;
        let mut pattern = Self {
            source: pattern.to_owned(),
            heading: None,
            records: None,
            literal: None,
            group: 0,
            spelled: Spelled::default(),
            words_behind: String::new(),
            others: Vec::new(),
            unit_group: find_group_index(&regex, "unit"),
            entry_groups: Vec::new(),
            regex,
            take,
            reads_every_match: false,
            unit: unit.into(),
            with_readers: OnceLock::new(),
            loosened: OnceLock::new(),
        };
        pattern.locate_value();
        Ok(pattern)
    }

    /// Makes it a table: the values of these groups name its entries.
    ///
    /// # Errors
    /// [`PatternError::NoGroup`] where the pattern has no such group.
    pub fn with_entry_groups(mut self, groups: &[String]) -> Result<Self, PatternError> {
        self.entry_groups = groups
            .iter()
            .map(|group| {
                find_group_index(&self.regex, group).ok_or_else(|| PatternError::NoGroup {
                    pattern: self.expression().to_owned(),
                    group: group.clone(),
                })
            })
            .collect::<Result<_, _>>()?;
        self.locate_value();
        Ok(self)
    }

    /// Reads all matches of a text, although the last one is used, to find differing values.
    #[must_use]
    pub fn with_every_match(self) -> Self {
        Self { reads_every_match: true, ..self }
    }

    /// Takes only the first line that matches below each line that matches this heading, and above the
    /// next heading of its kind.
    ///
    /// # Errors
    /// [`PatternError::Expression`] where it is not a regular expression, or one too large.
    pub fn below_heading(mut self, heading: &str) -> Result<Self, PatternError> {
        self.heading = Some(Heading::new(compile_expression(heading)?));
        // Every line may be a heading.
        self.literal = None;
        Ok(self)
    }

    /// Ends the block below a heading with the lines that match this, in place of the next heading.
    ///
    /// # Errors
    /// As [`Pattern::below_heading`].
    pub fn until_line(mut self, end: &str) -> Result<Self, PatternError> {
        if let Some(heading) = &mut self.heading {
            heading.set_end(compile_expression(end)?);
        }
        Ok(self)
    }

    /// Ends the block below a heading with those of these other headings that are of its shape.
    ///
    /// # Errors
    /// As [`Pattern::below_heading`].
    pub fn with_headings(mut self, others: &[&str]) -> Result<Self, PatternError> {
        if let Some(heading) = &mut self.heading {
            let own = heading.expression().to_owned();
            for other in others.iter().filter(|other| **other != own) {
                heading.add_end_of_same_shape(compile_expression(other)?);
            }
        }
        Ok(self)
    }

    /// Returns whether the figure of a line depends on the lines before it.
    pub fn has_heading(&self) -> bool {
        self.heading.is_some()
    }

    /// Takes no line for a record without its number that another figure's pattern reads, which begins with the same name.
    #[must_use]
    pub fn with_others(mut self, others: &[&str]) -> Self {
        let expressions = others.iter().filter(|other| **other != self.source);
        let expanded = expressions.filter_map(|other| expand_readers(other).ok());
        self.others = expanded.filter_map(|other| BoundedRegex::new(&other).ok()).collect();
        self
    }

    /// Returns the unit that the pattern itself states, behind its number or in the name before it, if it is another than
    /// the figure's.
    pub fn find_contradicting_unit(&self) -> Option<String> {
        if self.unit_group.is_some() || self.unit.trim().is_empty() {
            return None;
        }
        if let Some(printed) = units::unit_behind(&self.words_behind) {
            // The pattern may end within the unit.
            let texts = [printed.text.clone(), format!("{}/s", printed.text)];
            let is_own = texts.iter().any(|text| units::is_same(text, &self.unit));
            return (!is_own).then_some(printed.text);
        }
        let name = self.spelled.before.trim_end();
        let is_name = name.ends_with([':', '=', '|', ')', ']', '"']);
        is_name.then(|| units::find_contradiction(name, &self.unit)).flatten()
    }

    fn locate_value(&mut self) {
        let has_meaning =
            |group: &usize| self.unit_group == Some(*group) || self.entry_groups.contains(group);
        self.group = find_group_index(&self.regex, "value")
            .or_else(|| (1..self.regex.group_count()).find(|group| !has_meaning(group)))
            .unwrap_or(0);
        let expression = self.regex.as_str();
        let parts = PatternParts::around_group(expression, self.group);
        self.spelled = parts.as_ref().map_or_else(Spelled::default, PatternParts::spelled);
        self.words_behind = parts.as_ref().map_or_else(String::new, PatternParts::words_behind);
        let is_table = !self.entry_groups.is_empty();
        self.records = parts.and_then(|parts| Records::from_parts(&parts, is_table));
        self.literal = match &self.records {
            _ if self.heading.is_some() => None,
            Some(records) => records.required_literal(),
            None => literal::find_required_literal(expression),
        };
    }

    /// Returns a finder of a literal that every match contains.
    pub fn required_literal(&self) -> Option<&Finder<'static>> {
        self.literal.as_ref()
    }

    pub fn match_selection(&self) -> MatchSelection {
        self.take
    }

    /// Returns a reader for one step's output.
    pub fn reader(&self) -> PatternReader<'_> {
        PatternReader::new(self)
    }

    /// Returns the pattern as it was written.
    pub fn expression(&self) -> &str {
        &self.source
    }

    /// Returns the pattern that reads the number of a line, with `${number}` in place of the group or with a group for
    /// the unit.
    fn find_remedy(&self, line: &str) -> Option<String> {
        let patterns = self.with_readers.get_or_init(|| {
            let rewrites =
                [readers::replace_group_with_number, readers::replace_group_with_number_and_unit];
            let written = rewrites.iter().filter_map(|with| with(&self.source, self.group));
            let others = written.filter(|written| *written != self.source);
            let pattern =
                |written: String| Self::new(&written, MatchSelection::First, self.unit.clone());
            others.filter_map(|written| pattern(written).ok()).collect()
        });
        Self::find_reading(patterns, line)
    }

    /// Returns the first of these patterns, as it is written, that reads a number in a line.
    fn find_reading(patterns: &[Self], line: &str) -> Option<String> {
        let reads =
            |pattern: &&Self| matches!(pattern.reader().read_number_in_line(line), Some(Ok(_)));
        let first = patterns.iter().find(reads);
        first.map(|pattern| pattern.source.clone())
    }
}

fn compile_expression(pattern: &str) -> Result<BoundedRegex, PatternError> {
    BoundedRegex::new(pattern).map_err(|reason| PatternError::Expression {
        pattern: truncate_for_message(pattern),
        reason,
    })
}

fn find_group_index(regex: &BoundedRegex, name: &str) -> Option<usize> {
    regex.group_names().position(|group| group == Some(name))
}

#[cfg(test)]
mod entry_tests;
#[cfg(test)]
mod heading_tests;
#[cfg(test)]
mod number_tests;
#[cfg(test)]
mod tests;
