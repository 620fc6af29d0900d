//! A recipe's own figures, taken from a step's lines as they arrive.
//!
//! A pattern is matched against every line; the number is its group `value`, else its first group
//! that has no meaning of its own, else the whole match. It is read whole or not at all
//! ([`super::extent`]). A group `unit` is converted into the figure's unit. Below a heading, only the
//! first line that matches counts, and only above the next heading of its kind. Groups that a table is
//! made `by` name its entries. A line that announces the figure and has no number counts like one that
//! has: no other value takes its place. What is kept is bounded: one running value an entry, or for
//! `all` at most [`MAX_STORED_VALUES`].

mod block;
mod error;
mod loosened;
mod neighbours;
mod reader;
mod readers;
mod whole;

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem::Finder;

pub use super::accumulator::{MAX_STORED_VALUES, MAX_TABLE_ENTRIES};
pub use crate::request::MatchSelection;
pub use error::{PatternError, describe_loosened};
pub use reader::PatternReader;
pub use readers::{ReaderError, expand_readers, find_readers};
pub use whole::{PartialNumber, PartialUnit};

use super::announcement::Announcement;
use super::bounded::BoundedRegex;
use super::extent;
use super::heading::Heading;
use super::literal;
use super::nearest::truncate_for_message;
use super::units;
use neighbours::Neighbours;

/// A regular expression, the choice among its matches, and the unit of the figure.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As the recipe writes it.
    source: String,
    regex: BoundedRegex,
    /// The heading below which the lines count.
    heading: Option<Heading>,
    /// The lines that have the figure's name and no number.
    announcement: Option<Announcement>,
    /// The index of the group that holds the number; 0 is the whole match.
    group: usize,
    /// The parts of the pattern next to that group.
    neighbours: Neighbours,
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
            announcement: None,
            literal: None,
            group: 0,
            neighbours: Neighbours::default(),
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

    /// Returns the unit that the pattern itself has behind its number, if it contradicts the figure's unit: it is of
    /// another kind, or another multiple.
    pub fn find_contradicting_unit(&self) -> Option<String> {
        if self.unit_group.is_some() {
            return None;
        }
        let behind = self.neighbours.text_behind();
        let other_kind = extent::find_unit_of_other_kind(&behind, &(0..0), &self.unit);
        let other_multiple = || {
            let is_other = extent::has_other_unit(&behind, 0, &self.unit);
            is_other.then(|| units::leading_unit(behind.trim_start()).to_owned())
        };
        other_kind.or_else(other_multiple)
    }

    fn locate_value(&mut self) {
        let has_meaning =
            |group: &usize| self.unit_group == Some(*group) || self.entry_groups.contains(group);
        self.group = find_group_index(&self.regex, "value")
            .or_else(|| (1..self.regex.group_count()).find(|group| !has_meaning(group)))
            .unwrap_or(0);
        let expression = self.regex.as_str();
        self.neighbours = Neighbours::around_group(expression, self.group);
        self.announcement =
            Announcement::from_pattern(expression, self.group, !self.entry_groups.is_empty());
        self.literal = match &self.announcement {
            _ if self.heading.is_some() => None,
            Some(announcement) => announcement.required_literal(),
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

    /// Returns the pattern that reads the whole number of a line, where `${number}` in place of the
    /// group does, or with a group for the unit.
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
