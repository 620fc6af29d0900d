//! A recipe's own figures, taken from a step's lines as they arrive.
//!
//! A pattern is matched against every line; the number is its group `value`, else its first group
//! that has no meaning of its own, else the whole match. It is read whole or not at all
//! ([`super::extent`]). A group `unit` is converted into the figure's unit. Below a heading, only the
//! first line that matches counts, and only above the next heading of its kind. Groups that a table is
//! made `by` name its entries. A line that announces the figure and has no number counts like one that
//! has: no other value takes its place. What is kept is bounded: one running value an entry, or for
//! `all` at most [`MOST_VALUES`].

mod block;
mod neighbours;
mod readers;
mod whole;

use std::borrow::Cow;

use memchr::memmem::Finder;
use regex::{CaptureLocations, Regex, RegexBuilder};

pub use super::accumulator::{MOST_ENTRIES, MOST_VALUES};
pub use crate::request::Take;
pub use readers::{ReaderError, expanded, places};
pub use whole::{PartOfNumber, PartOfUnit};

use super::accumulator::{Accumulator, Entries, entry};
use super::announcement::Announcement;
use super::figure::{self, Printed};
use super::heading::Heading;
use super::literal;
use super::nearest::shortened;
use super::place::{Place, Unreadable};
use super::units;
use block::Blocks;
use neighbours::Neighbours;
use whole::{find_longer_number, find_longer_unit};

/// Why a pattern gives no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// The regular expression does not compile.
    #[error(
        "the pattern `{pattern}` is not a regular expression: {reason}; write it in Rust's regex syntax, with the number as `${{number}}`"
    )]
    Syntax {
        /// The pattern.
        pattern: String,
        /// The compiler's message.
        reason: String,
    },
    /// A named reader cannot be replaced.
    #[error("the pattern `{pattern}`: {reason}")]
    Reader {
        /// The pattern.
        pattern: String,
        /// What is wrong with the reader.
        reason: ReaderError,
    },
    /// No line matched.
    #[error(
        "no line matches the pattern `{pattern}`; check in the step's output how the figure is printed"
    )]
    NoMatch {
        /// The pattern.
        pattern: String,
    },
    /// No line below a heading matched.
    #[error(
        "no line matches the pattern `{pattern}` below one that matches `{below}`; check in the step's output how the figure is printed"
    )]
    NoMatchBelow {
        /// The pattern.
        pattern: String,
        /// The heading's.
        below: String,
    },
    /// A line matched, but the captured text is not a number.
    #[error(
        "the pattern `{pattern}` captured `{text}`, which is not a number; put only the number into the group, or read it with `${{number}}`"
    )]
    NotANumber {
        /// The pattern.
        pattern: String,
        /// What was captured.
        text: String,
    },
    /// A line announces the figure, and has no number.
    #[error("`{line}` announces the figure, but has no number that the pattern `{pattern}` reads")]
    NoNumber {
        /// The pattern.
        pattern: String,
        /// The line.
        line: String,
    },
    /// A block that had the figure before is repeated without it.
    #[error(
        "no line matches the pattern `{pattern}` below `{heading}`, which has the figure in another place"
    )]
    NoneInBlock {
        /// The pattern.
        pattern: String,
        /// The heading's line.
        heading: String,
    },
    /// A line matched, but the captured text is a part of a longer number.
    #[error(
        "the pattern `{pattern}` captured `{}`, which is only a part of `{}` in the line `{}`; {}",
        .part.captured,
        .part.whole,
        .part.line,
        how_to_read_all(.remedy.as_deref())
    )]
    PartOfNumber {
        /// The pattern.
        pattern: String,
        /// What was captured, and of what.
        part: PartOfNumber,
        /// The pattern that reads the whole number of this line, if there is one.
        remedy: Option<String>,
    },
    /// A line matched, but the captured unit is a part of another one.
    #[error(
        "the pattern `{pattern}` captured `{}`, which is only a part of the unit `{}`; write the group as `(?<unit>\\S+)`",
        .part.captured,
        .part.whole
    )]
    PartOfUnit {
        /// The pattern.
        pattern: String,
        /// What was captured, and of what.
        part: PartOfUnit,
    },
    /// A line matched, and its unit is of another kind than the figure's.
    #[error(
        "the pattern `{pattern}` captured the unit `{captured}`, which cannot be converted to `{unit}`; correct the figure's `unit`"
    )]
    Unit {
        /// The pattern.
        pattern: String,
        /// What was captured.
        captured: String,
        /// The figure's unit.
        unit: String,
    },
    /// The groups that name entries are not the pattern's.
    #[error("the pattern `{pattern}` has no group `{group}`: write it as `(?<{group}>\\S+)`")]
    NoGroup {
        /// The pattern.
        pattern: String,
        /// The group.
        group: String,
    },
    /// A table without end.
    #[error(
        "the pattern `{pattern}` names more than {MOST_ENTRIES} figures; make the groups of `by` narrower"
    )]
    TooManyEntries {
        /// The pattern.
        pattern: String,
    },
    /// More values than `take: all` stores.
    #[error(
        "the pattern `{pattern}` matches more than {MOST_VALUES} lines; narrow it, or take one of first, last, min, max, sum, mean"
    )]
    TooMany {
        /// The pattern.
        pattern: String,
    },
}

/// A regular expression, the choice among its matches, and the unit of the figure.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As the recipe writes it.
    written: String,
    regex: Regex,
    /// What the line of a heading matches.
    below: Option<Heading>,
    /// The lines that have the figure's name and no number.
    announcement: Option<Announcement>,
    /// The index of the group that holds the number; 0 is the whole match.
    group: usize,
    /// What it matches next to that group.
    neighbours: Neighbours,
    /// The index of the group that holds the unit.
    unit_group: Option<usize>,
    /// The indexes of the groups that name a table's entries.
    by: Vec<usize>,
    /// What every line that matches holds, if that is known.
    literal: Option<Finder<'static>>,
    take: Take,
    unit: Cow<'static, str>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`PatternError::Syntax`] where it is not a regular expression, or one too large;
    /// [`PatternError::Reader`] where `${…}` in it cannot be replaced.
    pub fn new(
        pattern: &str,
        take: Take,
        unit: impl Into<Cow<'static, str>>,
    ) -> Result<Self, PatternError> {
        let expression = expanded(pattern).map_err(|reason| PatternError::Reader {
            pattern: pattern.to_owned(),
            reason,
        })?;
        let regex = compiled(&expression)?;
        let mut pattern = Self {
            written: pattern.to_owned(),
            below: None,
            announcement: None,
            literal: None,
            group: 0,
            neighbours: Neighbours::default(),
            unit_group: group_of(&regex, "unit"),
            by: Vec::new(),
            regex,
            take,
            unit: unit.into(),
        };
        pattern.locate_value();
        Ok(pattern)
    }

    /// Makes it a table: the values of these groups name its entries.
    ///
    /// # Errors
    /// [`PatternError::NoGroup`] where the pattern has no such group.
    pub fn by(mut self, groups: &[String]) -> Result<Self, PatternError> {
        self.by = groups
            .iter()
            .map(|group| {
                group_of(&self.regex, group).ok_or_else(|| PatternError::NoGroup {
                    pattern: self.expression().to_owned(),
                    group: group.clone(),
                })
            })
            .collect::<Result<_, _>>()?;
        self.locate_value();
        Ok(self)
    }

    /// Takes only the first line that matches below each line that matches this heading, and above the
    /// next heading of its kind.
    ///
    /// # Errors
    /// [`PatternError::Syntax`] where it is not a regular expression, or one too large.
    pub fn below(mut self, heading: &str) -> Result<Self, PatternError> {
        self.below = Some(Heading::new(compiled(heading)?));
        // Every line may be a heading.
        self.literal = None;
        Ok(self)
    }

    /// Ends the block below a heading with the lines that match this, in place of the next heading.
    ///
    /// # Errors
    /// As [`Pattern::below`].
    pub fn until(mut self, end: &str) -> Result<Self, PatternError> {
        if let Some(heading) = &mut self.below {
            heading.until(compiled(end)?);
        }
        Ok(self)
    }

    /// Ends the block below a heading with those of these other headings that are of its shape.
    ///
    /// # Errors
    /// As [`Pattern::below`].
    pub fn with_headings(mut self, others: &[&str]) -> Result<Self, PatternError> {
        if let Some(heading) = &mut self.below {
            let own = heading.expression().to_owned();
            for other in others.iter().filter(|other| **other != own) {
                heading.end_with(compiled(other)?);
            }
        }
        Ok(self)
    }

    /// Returns whether the figure of a line depends on the lines before it.
    pub fn has_heading(&self) -> bool {
        self.below.is_some()
    }

    fn locate_value(&mut self) {
        let has_meaning =
            |group: &usize| self.unit_group == Some(*group) || self.by.contains(group);
        self.group = group_of(&self.regex, "value")
            .or_else(|| (1..self.regex.captures_len()).find(|group| !has_meaning(group)))
            .unwrap_or(0);
        let expression = self.regex.as_str();
        self.neighbours = Neighbours::of_group(expression, self.group);
        self.announcement = Announcement::of(expression, self.group);
        self.literal = match &self.announcement {
            _ if self.below.is_some() => None,
            Some(announcement) => announcement.literal(),
            None => literal::required(expression),
        };
    }

    /// Returns a finder of a literal that every match contains.
    pub fn literal(&self) -> Option<&Finder<'static>> {
        self.literal.as_ref()
    }

    /// Which match it takes.
    pub fn take(&self) -> Take {
        self.take
    }

    /// A reader for one step's output.
    pub fn reader(&self) -> Reader<'_> {
        Reader {
            pattern: self,
            locations: self.regex.capture_locations(),
            entries: Entries::new(),
            matches: 0,
            overflowed: false,
            file: 0,
            blocks: Blocks::default(),
        }
    }

    /// The pattern as it was written.
    pub fn expression(&self) -> &str {
        &self.written
    }

    /// Returns the pattern that reads the whole number of a line, where `${number}` in place of the
    /// group does.
    fn remedy(&self, line: &str) -> Option<String> {
        let written = readers::with_number(&self.written, self.group)?;
        let pattern = Self::new(&written, Take::First, self.unit.clone()).ok()?;
        pattern.reader().number_in(line)?.is_ok().then_some(written)
    }
}

/// Reads lines, one at a time, and stores the figures of the pattern.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    pattern: &'a Pattern,
    /// The positions of the latest match's groups; reused, since allocating it costs as much as a match.
    locations: CaptureLocations,
    /// By name; a figure that is not a table has the empty one.
    entries: Entries<PatternError>,
    /// Lines that have the figure, or announce it.
    matches: u64,
    /// More entries than a table has.
    overflowed: bool,
    /// Which of several files it reads.
    file: usize,
    blocks: Blocks,
}

impl Reader<'_> {
    /// Whether no later line changes anything; with `last`, whether no earlier one does.
    pub fn is_decided(&self) -> bool {
        let takes_one = matches!(self.pattern.take, Take::First | Take::Last);
        takes_one && self.pattern.by.is_empty() && self.matches > 0
    }

    fn ignores_more(&self) -> bool {
        self.is_decided() && self.pattern.take != Take::Last
    }

    /// Sets which of several files the next lines are of.
    #[must_use]
    pub fn of_file(mut self, file: usize) -> Self {
        self.file = file;
        self
    }

    /// Reads one line.
    pub fn feed(&mut self, line: &str) {
        self.feed_at(line, 0);
    }

    /// Reads one line that begins at this offset.
    pub fn feed_at(&mut self, line: &str, offset: u64) {
        if self.ignores_more() {
            return;
        }
        let place = Place::offset(self.file, offset);
        let pattern = self.pattern;
        let Some(heading) = &pattern.below else {
            self.read(line, place);
            return;
        };
        if heading.is_heading(line) {
            self.blocks.open(heading.identity(line), line, place);
        } else if self.blocks.is_open() {
            let before = self.matches;
            self.read(line, place);
            if self.matches > before {
                if let Some(empty) = self.blocks.close_with_figure()
                    && pattern.take != Take::Last
                {
                    self.add_empty(&empty);
                }
            } else if heading.ends_at(line) {
                self.end_block();
            }
        }
    }

    /// Ends the text.
    pub fn end_of_text(&mut self) {
        self.end_block();
    }

    /// A block that has the figure elsewhere, and ends without it, announces it in vain.
    fn end_block(&mut self) {
        if let Some(empty) = self.blocks.close_empty() {
            self.add_empty(&empty);
        }
    }

    fn add_empty(&mut self, block: &block::Block) {
        let error = PatternError::NoneInBlock {
            pattern: self.pattern.expression().to_owned(),
            heading: block.heading.clone(),
        };
        let place = block.place;
        let entry = entry(&mut self.entries, [], self.pattern.take);
        if let Some(entry) = entry {
            entry.add_unreadable(Unreadable { place, error });
        }
    }

    fn read(&mut self, line: &str, place: Place) {
        let pattern = self.pattern;
        // A group of an alternation that this line does not take captures nothing: no match.
        let captured = pattern
            .regex
            .captures_read(&mut self.locations, line)
            .and_then(|_| self.locations.get(pattern.group));
        if let Some((begin, end)) = captured {
            let locations = &self.locations;
            let names = pattern.by.iter().map(|group| {
                let (begin, end) = locations.get(*group).unwrap_or_default();
                &line[begin..end]
            });
            let names: Vec<&str> = names.collect();
            self.add(&names, self.number(line, &line[begin..end]), place);
        } else if let Some(names) = self.announced(line) {
            let error = PatternError::NoNumber {
                pattern: pattern.expression().to_owned(),
                line: shortened(line.trim()),
            };
            self.add(&names, Err(error), place);
        }
    }

    /// The names of the entry that a line announces without a number.
    fn announced<'l>(&self, line: &'l str) -> Option<Vec<&'l str>> {
        let regex = self.pattern.announcement.as_ref()?.recognises(line)?;
        if self.pattern.by.is_empty() {
            return Some(Vec::new());
        }
        let captures = regex.captures(line)?;
        let groups = self.pattern.regex.capture_names().collect::<Vec<_>>();
        let names = self.pattern.by.iter().map(|group| {
            let name = groups.get(*group).copied().flatten()?;
            Some(captures.name(name)?.as_str())
        });
        names.collect()
    }

    fn add(&mut self, names: &[&str], number: Result<Printed, PatternError>, place: Place) {
        self.matches += 1;
        let names = names.iter().copied();
        match (entry(&mut self.entries, names, self.pattern.take), number) {
            (Some(entry), Ok(printed)) => entry.add(printed, place),
            (Some(entry), Err(error)) => entry.add_unreadable(Unreadable { place, error }),
            (None, _) => self.overflowed = true,
        }
    }

    /// Reads the number of a line, if the line matches.
    fn number_in(&mut self, line: &str) -> Option<Result<Printed, PatternError>> {
        let Pattern { regex, group, .. } = self.pattern;
        regex.captures_read(&mut self.locations, line)?;
        let (begin, end) = self.locations.get(*group)?;
        Some(self.number(line, &line[begin..end]))
    }

    fn number(&self, line: &str, captured: &str) -> Result<Printed, PatternError> {
        let Pattern { group, unit, .. } = self.pattern;
        let pattern = || self.pattern.expression().to_owned();
        let range = |group: usize| self.locations.get(group).map(|(begin, end)| begin..end);
        let captured_unit = self.pattern.unit_group.and_then(range);
        let neighbours = &self.pattern.neighbours;
        if let Some(group) = range(*group)
            && let Some(part) =
                find_longer_number(line, group, captured_unit.clone(), unit, neighbours)
        {
            return Err(PatternError::PartOfNumber {
                pattern: pattern(),
                part,
                remedy: self.pattern.remedy(line),
            });
        }
        let printed =
            figure::parse_with_suffix(captured, unit).ok_or_else(|| PatternError::NotANumber {
                pattern: pattern(),
                text: shortened(captured),
            })?;
        let Some(captured) = captured_unit else {
            return Ok(printed);
        };
        let printed_unit = &line[captured.clone()];
        let factor = units::factor(printed_unit, unit).ok_or_else(|| PatternError::Unit {
            pattern: pattern(),
            captured: shortened(printed_unit),
            unit: unit.clone().into_owned(),
        })?;
        match find_longer_unit(line, captured, unit, factor) {
            Some(part) => Err(PatternError::PartOfUnit {
                pattern: pattern(),
                part,
            }),
            None => Ok(printed.scaled(factor)),
        }
    }

    /// Appends the figures that another reader took from the lines after this one's.
    pub fn join(&mut self, after: Self) {
        if self.ignores_more() {
            return;
        }
        if self.pattern.take == Take::Last && after.is_decided() {
            *self = after;
            return;
        }
        self.matches += after.matches;
        for (name, accumulator) in after.entries {
            match entry(&mut self.entries, [name.as_str()], self.pattern.take) {
                Some(before) => before.join(accumulator),
                None => self.overflowed = true,
            }
        }
        self.overflowed |= after.overflowed;
    }

    /// Returns the figures by name; one that is not a table has the empty name.
    ///
    /// # Errors
    /// Where nothing matched, or there were too many values. An entry whose announcement cannot be read
    /// says so.
    pub fn entries(self) -> Result<Entries<PatternError>, PatternError> {
        let pattern = || self.pattern.expression().to_owned();
        if self.matches == 0 {
            return Err(match &self.pattern.below {
                None => PatternError::NoMatch { pattern: pattern() },
                Some(heading) => PatternError::NoMatchBelow {
                    pattern: pattern(),
                    below: heading.expression().to_owned(),
                },
            });
        }
        if self.overflowed {
            return Err(PatternError::TooManyEntries { pattern: pattern() });
        }
        if self.entries.values().any(Accumulator::overflowed) {
            return Err(PatternError::TooMany { pattern: pattern() });
        }
        Ok(self.entries)
    }
}

/// What to do about a number of which a part was captured.
fn how_to_read_all(remedy: Option<&str>) -> String {
    match remedy {
        Some(pattern) => format!(
            "read all of it with `{pattern}`, or match in the pattern what is next to the number"
        ),
        None => "print the whole number, or match in the pattern what is next to it".to_owned(),
    }
}

fn compiled(pattern: &str) -> Result<Regex, PatternError> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(1 << 20).dfa_size_limit(1 << 20);
    builder.build().map_err(|error| PatternError::Syntax {
        pattern: pattern.to_owned(),
        reason: regex_fault(&error),
    })
}

fn group_of(regex: &Regex, name: &str) -> Option<usize> {
    regex.capture_names().position(|group| group == Some(name))
}

/// What is wrong with a regular expression, in one line.
pub(crate) fn regex_fault(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or(&text).trim();
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod number_tests;
#[cfg(test)]
mod tests;
