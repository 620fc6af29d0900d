//! Reads the figures of a pattern from lines, one at a time.

use std::collections::BTreeMap;
use std::ops::Range;

use super::block::{HeadedBlock, HeadedBlocks};
use super::records::{RecordSearch, Records};
use super::{Pattern, PatternError};
use crate::accumulator::{
    Accumulator, FigureEntries, MAX_TABLE_ENTRIES, entry_name, find_or_insert_entry,
};
use crate::bounded::{BoundedRegex, BoundedSearch, MAX_STEPS};
use crate::figure::PrintedNumber;
use crate::heading::{Heading, HeadingSearch};
use crate::lexer;
use crate::nearest::truncate_for_message;
use crate::place::{RecordLocation, UnreadableRecord};
use crate::request::MatchSelection;

/// Reads lines, one at a time, and stores the figures of the pattern.
#[derive(Debug, Clone)]
pub struct PatternReader<'a> {
    pattern: &'a Pattern,
    /// The search of the pattern, with the groups of its latest match.
    search: BoundedSearch<'a>,
    /// The search for lines that have the figure's name.
    records: Option<RecordSearch<'a>>,
    /// The searches for the lines of other figures.
    others: Vec<BoundedSearch<'a>>,
    /// The search for the heading, if the figure stands below one.
    heading: Option<HeadingSearch<'a>>,
    /// The steps of the readers that were joined to this one.
    joined_steps: u64,
    /// The entries by name; a figure that is not a table has the empty name.
    entries: FigureEntries<PatternError>,
    /// Records without a number of entries that have none so far.
    waiting: BTreeMap<String, UnreadableRecord<PatternError>>,
    /// Records: lines that have the figure, or its name.
    matches: u64,
    /// The first line with the figure, and the first of another name, each with that name.
    names: Vec<(String, String)>,
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
            records: pattern.records.as_ref().map(Records::start_search),
            others: pattern.others.iter().map(BoundedRegex::start_search).collect(),
            heading: pattern.heading.as_ref().map(Heading::start_search),
            joined_steps: 0,
            entries: FigureEntries::new(),
            waiting: BTreeMap::new(),
            matches: 0,
            names: Vec::new(),
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

    /// Returns whether a line has the figure, or its name.
    pub fn has_match(&self) -> bool {
        self.matches > 0
    }

    /// Returns the steps that its searches took, and those of the readers that were joined.
    fn step_count(&self) -> u64 {
        let headings = self.heading.iter().flat_map(HeadingSearch::expression_searches);
        let records = self.records.iter().flat_map(RecordSearch::searches);
        let own = std::iter::once(&self.search).chain(&self.others);
        let searches = own.chain(records).chain(headings);
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
        let (mut from, mut begin) = (0, line.len());
        let mut numbers = Vec::new();
        while self.search.find_groups_from(line, from) {
            // A group of an alternation that this line does not take captures nothing: no match.
            let Some(captured) = self.search.group_range(pattern.group) else {
                break;
            };
            let captured_names = pattern.entry_groups.iter().map(|group| {
                let name = self.search.group_range(*group).unwrap_or_default();
                &line[name]
            });
            let names: Vec<&str> = captured_names.collect();
            let whole = self.search.group_range(0).unwrap_or_else(|| captured.clone());
            begin = begin.min(whole.start);
            let mut number = self.read_number(line, captured.clone());
            if numbers.is_empty()
                && number.is_ok()
                && let Some(skipped) = self.find_foreign_gap(line)
            {
                number = Err(skipped);
            }
            numbers.push((names, number, lexer::trim_capture(line, captured.clone())));
            // An empty match would be found again.
            from = whole.end.max(captured.end).max(from + 1);
        }
        if numbers.is_empty() {
            self.read_name(line, place);
            return;
        }
        let is_named_again = self
            .records
            .as_mut()
            .is_some_and(|records| records.is_named_again(line, &(begin..from)));
        if is_named_again && let Some((_, number, _)) = numbers.last_mut() {
            let (pattern, line) = (pattern.expression().to_owned(), shorten(line));
            *number = Err(PatternError::NoNumber { pattern, line, remedy: None });
        }
        if pattern.reads_every_match {
            self.note_name(line);
            let first = numbers[0].1.as_ref().ok().map(|number| number.value);
            let is_other = |number: &Result<PrintedNumber, PatternError>| {
                number.as_ref().ok().is_some_and(|number| Some(number.value) != first)
            };
            let is_one_entry = numbers.iter().all(|(names, ..)| *names == numbers[0].0);
            if is_one_entry
                && first.is_some()
                && numbers.iter().any(|(_, number, _)| is_other(number))
            {
                let count = numbers.len();
                let (source, line) = (pattern.expression().to_owned(), shorten(line));
                numbers.truncate(1);
                numbers[0].1 = Err(PatternError::SeveralInLine { pattern: source, count, line });
            }
            if is_one_entry {
                numbers.truncate(1);
            }
        }
        for (names, number, range) in numbers {
            self.add_entry_number(&names, number, place.with_columns(line, &range));
        }
    }

    /// Adds a line that the pattern does not match, if it has the figure's name.
    fn read_name(&mut self, line: &str, place: RecordLocation) {
        let pattern = self.pattern;
        let Some(records) = &mut self.records else {
            return;
        };
        if !records.is_record(line, &pattern.unit) {
            return;
        }
        let name = records.name_range().unwrap_or_default();
        let mut others = self.others.iter_mut().filter_map(|other| other.find(line));
        if others.any(|found| found.start <= name.start && name.end < found.end) {
            return;
        }
        let groups: Vec<Option<&str>> = pattern.regex.group_names().collect();
        let names = pattern.entry_groups.iter().map(|group| {
            let name = groups.get(*group).copied().flatten()?;
            records.group(line, name)
        });
        let Some(names) = names.collect::<Option<Vec<&str>>>() else {
            return;
        };
        // The remedy is searched for like the pattern.
        self.search.charge_steps(line.len());
        let error = PatternError::NoNumber {
            pattern: pattern.expression().to_owned(),
            line: truncate_for_message(line.trim()),
            remedy: pattern.find_loosened(line),
        };
        if pattern.records.as_ref().is_some_and(Records::is_by_entry) {
            self.announce_entry(entry_name(names), UnreadableRecord { place, error });
        } else {
            self.add_entry_number(&names, Err(error), place);
        }
    }

    /// Returns the error of a line in which a wildcard skips more than what may part a name and its number.
    fn find_foreign_gap(&mut self, line: &str) -> Option<PatternError> {
        let gap = self.records.as_mut()?.find_foreign_gap(line)?;
        Some(PatternError::Skipped {
            pattern: self.pattern.expression().to_owned(),
            gap: truncate_for_message(gap),
            line: shorten(line),
        })
    }

    /// Notes the name that the figure has in a line, if it is the first, or another than the first.
    fn note_name(&mut self, line: &str) {
        if self.names.len() > 1 || !self.pattern.entry_groups.is_empty() {
            return;
        }
        let words = self.records.as_mut().and_then(|records| records.name_words(line));
        if let Some(words) = words
            && self.names.first().is_none_or(|(first, _)| !first.eq_ignore_ascii_case(&words))
        {
            self.names.push((words, shorten(line)));
        }
    }

    /// Adds a record without a number of an entry, as soon as the entry has a number.
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
        let number = lexer::trim_capture(line, group);
        let unit = self.pattern.unit_group.and_then(|group| self.search.group_range(group));
        let matched = self.search.group_range(0).map_or(0, |whole| whole.end);
        let read = self.pattern.read_plain_number(line, number.clone(), unit, matched);
        read.map_err(|reason| {
            // The remedy is searched for like the pattern.
            self.search.charge_steps(line.len());
            PatternError::NotPlain {
                pattern: self.pattern.expression().to_owned(),
                captured: truncate_for_message(&line[number]),
                line: shorten(line),
                reason: Box::new(reason),
                remedy: self.pattern.find_remedy(line),
            }
        })
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
        for (words, line) in after.names {
            let is_other = |(first, _): &(String, String)| !first.eq_ignore_ascii_case(&words);
            if self.names.len() < 2 && self.names.first().is_none_or(is_other) {
                self.names.push((words, line));
            }
        }
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
        let differs = |entry: &Accumulator<PatternError>| entry.differing_values().is_some();
        if let [(_, first), (_, other)] = &self.names[..]
            && self.entries.values().any(differs)
        {
            let (first, other) = (first.clone(), other.clone());
            return Err(PatternError::SeveralNames { pattern: pattern(), first, other });
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

fn shorten(line: &str) -> String {
    truncate_for_message(line.trim())
}
