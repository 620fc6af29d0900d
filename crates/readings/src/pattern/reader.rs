//! Reads the figures of a pattern from lines, one at a time.

use std::collections::BTreeMap;
use std::ops::Range;

use super::block::{HeadedBlock, HeadedBlocks};
use super::whole::{find_longer_number, find_longer_unit, trim_to_number};
use super::{Pattern, PatternError};
use crate::accumulator::{
    Accumulator, FigureEntries, MAX_TABLE_ENTRIES, entry_name, find_or_insert_entry,
};
use crate::announcement::Announcement;
use crate::bounded::{BoundedSearch, MAX_STEPS};
use crate::extent;
use crate::figure::{self, PrintedNumber};
use crate::heading::{Heading, HeadingSearch};
use crate::nearest::truncate_for_message;
use crate::place::{RecordLocation, UnreadableRecord};
use crate::request::MatchSelection;
use crate::units;

/// Reads lines, one at a time, and stores the figures of the pattern.
#[derive(Debug, Clone)]
pub struct PatternReader<'a> {
    pattern: &'a Pattern,
    /// The search of the pattern, with the groups of its latest match.
    search: BoundedSearch<'a>,
    /// The searches for lines that announce the figure.
    announcements: Vec<BoundedSearch<'a>>,
    /// The search for the heading, if the figure stands below one.
    heading: Option<HeadingSearch<'a>>,
    /// The steps of the readers that were joined to this one.
    joined_steps: u64,
    /// The entries by name; a figure that is not a table has the empty name.
    entries: FigureEntries<PatternError>,
    /// Announcements without a number of entries that have none so far.
    waiting: BTreeMap<String, UnreadableRecord<PatternError>>,
    /// Lines that have the figure, or announce it.
    matches: u64,
    /// More entries than a table has.
    overflowed: bool,
    /// The number of the file that is read, among several.
    file: usize,
    blocks: HeadedBlocks,
    /// The marks of the block's heading that end it.
    marks: Option<char>,
    /// The line that ended the first block without the figure.
    ended_by: Option<String>,
}

impl<'a> PatternReader<'a> {
    pub(super) fn new(pattern: &'a Pattern) -> Self {
        Self {
            pattern,
            search: pattern.regex.start_search(),
            announcements: pattern
                .announcement
                .as_ref()
                .map_or_else(Vec::new, Announcement::start_searches),
            heading: pattern.heading.as_ref().map(Heading::start_search),
            joined_steps: 0,
            entries: FigureEntries::new(),
            waiting: BTreeMap::new(),
            matches: 0,
            overflowed: false,
            file: 0,
            blocks: HeadedBlocks::default(),
            marks: None,
            ended_by: None,
        }
    }

    /// Returns whether no later line changes anything; with `last`, whether no earlier one does.
    pub fn is_decided(&self) -> bool {
        let takes_one = match self.pattern.take {
            MatchSelection::First => true,
            MatchSelection::Last => !self.pattern.reads_every_match,
            _ => false,
        };
        takes_one && self.pattern.entry_groups.is_empty() && self.matches > 0
    }

    /// Returns whether a line has the figure, or announces it.
    pub fn has_match(&self) -> bool {
        self.matches > 0
    }

    /// Returns the steps that its searches took, and those of the readers that were joined.
    fn step_count(&self) -> u64 {
        let headings = self.heading.iter().flat_map(HeadingSearch::expression_searches);
        let searches = std::iter::once(&self.search).chain(&self.announcements).chain(headings);
        let steps = searches.map(BoundedSearch::step_count);
        steps.fold(self.joined_steps, u64::saturating_add)
    }

    /// Returns whether the pattern takes more steps in this text than an expression may.
    pub fn is_exhausted(&self) -> bool {
        self.step_count() > MAX_STEPS
    }

    fn ignores_further_lines(&self) -> bool {
        self.is_decided() && self.pattern.take != MatchSelection::Last
    }

    /// Sets which of several files the next lines are of.
    #[must_use]
    pub fn with_file(mut self, file: usize) -> Self {
        self.file = file;
        self
    }

    /// Reads one line of a text whose offsets do not matter.
    pub fn feed_line(&mut self, line: &str) {
        self.feed_line_at(line, 0);
    }

    /// Reads one line that begins at this offset.
    pub fn feed_line_at(&mut self, line: &str, offset: u64) {
        if self.ignores_further_lines() {
            return;
        }
        let place = RecordLocation::at_offset(self.file, offset);
        let pattern = self.pattern;
        let Some(heading) = &mut self.heading else {
            self.read_line(line, place);
            return;
        };
        if let Some(identity) = heading.identify_heading(line) {
            if !self.blocks.is_open() {
                self.marks = heading.closing_marks(line);
            }
            self.blocks.open(identity, line, place);
        } else if self.blocks.is_open() {
            let before = self.matches;
            self.read_line(line, place);
            if self.matches > before {
                if let Some(empty) = self.blocks.close_with_figure()
                    && pattern.take != MatchSelection::Last
                {
                    self.add_empty_block(&empty);
                }
            } else if let marks = self.marks
                && let Some(heading) = &mut self.heading
                && heading.is_block_end(line, marks)
            {
                self.ended_by.get_or_insert_with(|| truncate_for_message(line.trim()));
                self.end_block();
            }
        }
    }

    /// Finishes the text: a block that is still open ends here.
    pub fn finish_text(&mut self) {
        self.end_block();
    }

    /// Ends a block; if other blocks have the figure, one without it announces a figure that is missing.
    fn end_block(&mut self) {
        if let Some(empty) = self.blocks.close_empty() {
            self.add_empty_block(&empty);
        }
    }

    fn add_empty_block(&mut self, block: &HeadedBlock) {
        let error = PatternError::NoneInBlock {
            pattern: self.pattern.expression().to_owned(),
            heading: block.heading.clone(),
        };
        let place = block.place;
        let entry = find_or_insert_entry(&mut self.entries, [], self.pattern.take);
        if let Some(entry) = entry {
            entry.add_unreadable(UnreadableRecord { place, error });
        }
    }

    fn read_line(&mut self, line: &str, place: RecordLocation) {
        let pattern = self.pattern;
        // A group of an alternation that this line does not take captures nothing: no match.
        let captured =
            self.search.find_groups(line).then(|| self.search.group_range(pattern.group));
        if let Some(captured) = captured.flatten() {
            let captured_names = pattern.entry_groups.iter().map(|group| {
                let name = self.search.group_range(*group).unwrap_or_default();
                &line[name]
            });
            let names: Vec<&str> = captured_names.collect();
            let number = self.read_number(line, captured);
            self.add_entry_number(&names, number, place);
        } else if let Some((names, is_by_entry)) = self.find_announcement(line) {
            // The remedy is searched for like the pattern.
            self.search.charge_steps(line.len());
            let error = PatternError::NoNumber {
                pattern: pattern.expression().to_owned(),
                line: truncate_for_message(line.trim()),
                remedy: pattern.find_loosened(line),
            };
            if is_by_entry {
                self.announce_entry(entry_name(names), UnreadableRecord { place, error });
            } else {
                self.add_entry_number(&names, Err(error), place);
            }
        }
    }

    /// Returns the names of the entry that a line announces without a number, and whether the line counts only for
    /// a known one.
    fn find_announcement<'l>(&mut self, line: &'l str) -> Option<(Vec<&'l str>, bool)> {
        let pattern = self.pattern;
        let announcement = pattern.announcement.as_ref()?;
        let mut searches = self.announcements.iter_mut();
        let search = searches.find_map(|search| {
            let announces = search.find_groups(line) && announcement.matches_line(line, search);
            announces.then_some(search)
        })?;
        let groups: Vec<Option<&str>> = pattern.regex.group_names().collect();
        let names = pattern.entry_groups.iter().map(|group| {
            let name = groups.get(*group).copied().flatten()?;
            Some(&line[search.named_group_range(name)?])
        });
        Some((names.collect::<Option<_>>()?, announcement.is_by_entry()))
    }

    /// Adds the announcement of an entry, as soon as it has a number.
    fn announce_entry(&mut self, name: String, record: UnreadableRecord<PatternError>) {
        match self.entries.get_mut(&name) {
            Some(entry) => entry.add_unreadable(record),
            None if self.waiting.len() < MAX_TABLE_ENTRIES => {
                self.waiting.entry(name).or_insert(record);
            }
            None => {}
        }
    }

    fn add_entry_number(
        &mut self,
        names: &[&str],
        number: Result<PrintedNumber, PatternError>,
        place: RecordLocation,
    ) {
        self.matches += 1;
        let entry_names = names.iter().copied();
        let waiting = self.waiting.remove(&entry_name(entry_names.clone()));
        if let Some(record) = waiting
            && let Some(entry) =
                find_or_insert_entry(&mut self.entries, entry_names.clone(), self.pattern.take)
        {
            entry.add_unreadable(record);
        }
        match find_or_insert_entry(&mut self.entries, entry_names, self.pattern.take) {
            Some(entry) => entry.add_record(number, place),
            None => self.overflowed = true,
        }
    }

    /// Reads the number of a line, if the line matches.
    pub(super) fn read_number_in_line(
        &mut self,
        line: &str,
    ) -> Option<Result<PrintedNumber, PatternError>> {
        if !self.search.find_groups(line) {
            return None;
        }
        let captured = self.search.group_range(self.pattern.group)?;
        Some(self.read_number(line, captured))
    }

    fn read_number(
        &mut self,
        line: &str,
        group: Range<usize>,
    ) -> Result<PrintedNumber, PatternError> {
        let unit = &self.pattern.unit;
        let number = trim_to_number(line, group.clone());
        let captured = &line[number.clone()];
        let pattern = || self.pattern.expression().to_owned();
        let captured_unit =
            self.pattern.unit_group.and_then(|group| self.search.group_range(group));
        let neighbours = &self.pattern.neighbours;
        if let Some(part) = find_longer_number(line, group, captured_unit.clone(), unit, neighbours)
        {
            // The remedy is searched for like the pattern.
            self.search.charge_steps(line.len());
            return Err(PatternError::PartOfNumber {
                pattern: pattern(),
                part,
                remedy: self.pattern.find_remedy(line),
            });
        }
        let printed = figure::parse_with_suffix(captured, unit).ok_or_else(|| {
            PatternError::NotANumber { pattern: pattern(), text: truncate_for_message(captured) }
        })?;
        let Some(captured) = captured_unit else {
            return match extent::find_unit_of_other_kind(line, &number, unit) {
                Some(other) => Err(PatternError::Unit {
                    pattern: pattern(),
                    printed: other,
                    unit: unit.clone().into_owned(),
                }),
                None => Ok(printed),
            };
        };
        let printed_unit = &line[captured.clone()];
        let factor =
            units::conversion_factor(printed_unit, unit).ok_or_else(|| PatternError::Unit {
                pattern: pattern(),
                printed: truncate_for_message(printed_unit),
                unit: unit.clone().into_owned(),
            })?;
        match find_longer_unit(line, captured, unit, factor) {
            Some(part) => Err(PatternError::PartOfUnit { pattern: pattern(), part }),
            None => Ok(printed.scale_by(factor)),
        }
    }

    /// Appends the figures that another reader took from the lines after this one's.
    pub fn append(&mut self, after: Self) {
        if self.ignores_further_lines() {
            return;
        }
        if self.pattern.take == MatchSelection::Last && after.is_decided() {
            *self = after;
            return;
        }
        self.joined_steps = self.joined_steps.saturating_add(after.step_count());
        self.matches += after.matches;
        self.ended_by = self.ended_by.take().or(after.ended_by);
        for (name, record) in after.waiting {
            self.announce_entry(name, record);
        }
        for (name, accumulator) in after.entries {
            let waiting = self.waiting.remove(&name);
            if let Some(record) = waiting
                && let Some(entry) =
                    find_or_insert_entry(&mut self.entries, [name.as_str()], self.pattern.take)
            {
                entry.add_unreadable(record);
            }
            match find_or_insert_entry(&mut self.entries, [name.as_str()], self.pattern.take) {
                Some(before) => before.append(accumulator),
                None => self.overflowed = true,
            }
        }
        self.overflowed |= after.overflowed;
    }

    /// Returns the figures by name; one that is not a table has the empty name.
    ///
    /// # Errors
    /// If nothing matched, or there were too many values. An entry whose announcement cannot be read
    /// says so.
    pub fn into_entries(self) -> Result<FigureEntries<PatternError>, PatternError> {
        let pattern = || self.pattern.expression().to_owned();
        if self.is_exhausted() {
            return Err(PatternError::TooManySteps {
                pattern: truncate_for_message(self.pattern.expression()),
            });
        }
        if self.matches == 0 {
            return Err(match &self.pattern.heading {
                None => PatternError::NoMatch { pattern: pattern() },
                Some(heading) => PatternError::NoMatchBelow {
                    pattern: pattern(),
                    below: heading.expression().to_owned(),
                    ended_by: self.ended_by,
                },
            });
        }
        if self.overflowed {
            return Err(PatternError::TooManyEntries { pattern: pattern() });
        }
        if self.entries.values().any(Accumulator::has_overflowed) {
            return Err(PatternError::TooMany { pattern: pattern() });
        }
        Ok(self.entries)
    }
}
