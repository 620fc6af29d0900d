//! Reduces the numbers that were read of a figure to one, or to a list, as `take:` requires.

use std::collections::BTreeMap;
use std::fmt::Display;

use itertools::Itertools as _;

use super::figure::PrintedNumber;
use super::place::{RecordLocation, SkippedRecords, UnreadableRecord};
use super::sum::CompensatedSum;
use crate::request::MatchSelection;

pub const MAX_TABLE_ENTRIES: usize = 10_000;

/// The entries of a table, by name; a figure that is not a table has the empty name.
pub type FigureEntries<E> = BTreeMap<String, Accumulator<E>>;

/// The most values that `take: all` stores.
pub const MAX_STORED_VALUES: usize = 100_000;

/// The most values at the beginning that a sum or mean can leave out.
pub const MAX_SKIPPED_VALUES: usize = 1000;

/// The reason why an accumulator has no single number.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SingleValueError<E> {
    /// The announcement that decides cannot be read.
    #[error("{0}")]
    Unreadable(E),
    /// More numbers than `take: all` stores.
    #[error(
        "there are more than {MAX_STORED_VALUES} values; narrow it, or take one of first, last, min, max, sum, mean"
    )]
    TooMany,
    /// Nothing announced the figure.
    #[error("there is no value")]
    NoValue,
    /// An infinite sum, or a number that is none.
    #[error("the result is {0}, which is not a figure")]
    NotFinite(f64),
    /// Several numbers with `take: all` that cannot be one, printed twice.
    #[error("{count} different values: choose one with `take:`")]
    Different { count: u64 },
}

/// The numbers read so far; bounded in memory, whatever their count.
///
/// A record that announces the figure and cannot be read counts as one that can: the first or the
/// last announcement decides for `first` and `last`, and the others need every number.
#[derive(Debug, Clone)]
pub struct Accumulator<E> {
    take: MatchSelection,
    stored: Vec<PrintedNumber>,
    sum: CompensatedSum,
    count: u64,
    /// There were more values than `take: all` stores.
    overflowed: bool,
    /// The place of the number that counts; where all count, of the last.
    place: RecordLocation,
    /// The least number that counts, and where it stands.
    least: Option<(f64, RecordLocation)>,
    /// The smallest and the largest of all numbers that were read, also of those that are not used.
    extremes: Option<(PrintedNumber, PrintedNumber)>,
    /// The announcement that decides, if it cannot be read.
    unreadable: Option<UnreadableRecord<E>>,
    passed_over: SkippedRecords,
    /// The first values of a sum or mean.
    first: Vec<PrintedNumber>,
}

impl<E: Display> Accumulator<E> {
    /// Returns one that has no numbers yet.
    pub fn new(take: MatchSelection) -> Self {
        Self {
            take,
            stored: Vec::new(),
            sum: CompensatedSum::default(),
            count: 0,
            overflowed: false,
            place: RecordLocation::default(),
            least: None,
            extremes: None,
            unreadable: None,
            passed_over: SkippedRecords::default(),
            first: Vec::new(),
        }
    }

    /// Leaves the first values of a sum or mean out: those of a warm-up.
    ///
    /// # Errors
    /// The number of values, if there are no more.
    pub fn skip_first(&mut self, values: usize) -> Result<(), u64> {
        if self.count <= values as u64 || self.first.len() < values {
            return Err(self.count);
        }
        for printed in self.first.drain(..values) {
            let half_digit = -printed.half_digit;
            self.sum.add_number(PrintedNumber { value: -printed.value, half_digit });
        }
        self.count -= values as u64;
        Ok(())
    }

    /// Adds a number, after those so far.
    pub fn add_number(&mut self, printed: PrintedNumber, place: RecordLocation) {
        match self.take {
            MatchSelection::First if self.is_announced() => return,
            MatchSelection::Last => {
                if let Some(record) = self.unreadable.take() {
                    self.passed_over.add_record(&record);
                }
            }
            _ => {}
        }
        self.count += 1;
        self.store_number(printed, place);
    }

    /// Adds a record with its number, or one that announces a number and cannot be read.
    pub fn add_record(&mut self, number: Result<PrintedNumber, E>, place: RecordLocation) {
        match number {
            Ok(printed) => self.add_number(printed, place),
            Err(error) => self.add_unreadable(UnreadableRecord { place, error }),
        }
    }

    /// Adds a record that announces a number and cannot be read.
    pub fn add_unreadable(&mut self, record: UnreadableRecord<E>) {
        match self.take {
            MatchSelection::First if self.is_announced() => {}
            MatchSelection::Last => {
                if let Some(before) = self.unreadable.replace(record) {
                    self.passed_over.add_record(&before);
                }
            }
            _ => drop(self.unreadable.get_or_insert(record)),
        }
    }

    /// Appends the numbers that another one read after these.
    pub fn append(&mut self, after: Self) {
        if self.take == MatchSelection::First && self.is_announced() {
            return;
        }
        if self.take == MatchSelection::Last && after.is_announced() {
            let before = std::mem::replace(self, after);
            self.count += before.count;
            self.extend_extremes(before.extremes);
            return;
        }
        self.count += after.count;
        self.extend_extremes(after.extremes);
        self.overflowed |= after.overflowed;
        self.sum.append(after.sum);
        let missing = MAX_SKIPPED_VALUES - self.first.len();
        self.first.extend(after.first.into_iter().take(missing));
        if let Some((value, place)) = after.least {
            self.note_least(value, place);
        }
        for printed in after.stored {
            self.store_number(printed, after.place);
        }
        if after.count > 0 && !self.is_one_of_several() {
            self.place = after.place;
        }
        self.unreadable = self.unreadable.take().or(after.unreadable);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns where the announcement stands that decides; where all count, the last number, or the first
    /// that cannot be read.
    pub fn deciding_place(&self) -> RecordLocation {
        let unreadable = self.unreadable.as_ref();
        unreadable.map_or(self.place, |record| record.place)
    }

    /// Returns the least number that counts, and where it stands.
    pub fn smallest_value(&self) -> Option<(f64, RecordLocation)> {
        self.least
    }

    /// Returns the smallest and the largest number that were read, also of those that are not used; none if all are one
    /// value, printed several times.
    pub fn differing_values(&self) -> Option<(f64, f64)> {
        let (least, greatest) = self.extremes?;
        are_different(least, greatest).then_some((least.value, greatest.value))
    }

    /// Returns the smallest and the largest number that were read, also of those that are not used.
    pub fn extreme_values(&self) -> Option<(f64, f64)> {
        self.extremes.map(|(least, greatest)| (least.value, greatest.value))
    }

    /// Returns the announcement that decides, if it cannot be read.
    pub fn unreadable_announcement(&self) -> Option<&UnreadableRecord<E>> {
        self.unreadable.as_ref()
    }

    /// Returns the announcements that do not matter and cannot be read.
    pub fn superseded_announcements(&self) -> &SkippedRecords {
        &self.passed_over
    }

    /// Returns whether there were more than can be stored.
    pub fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    fn is_announced(&self) -> bool {
        self.count > 0 || self.unreadable.is_some()
    }

    fn is_one_of_several(&self) -> bool {
        matches!(self.take, MatchSelection::Min | MatchSelection::Max)
    }

    fn store_number(&mut self, printed: PrintedNumber, place: RecordLocation) {
        let mut counts = true;
        match self.take {
            MatchSelection::Sum | MatchSelection::Mean => {
                self.sum.add_number(printed);
                if self.first.len() < MAX_SKIPPED_VALUES {
                    self.first.push(printed);
                }
            }
            MatchSelection::All if self.stored.len() == MAX_STORED_VALUES => self.overflowed = true,
            MatchSelection::All => self.stored.push(printed),
            MatchSelection::First
            | MatchSelection::Last
            | MatchSelection::Min
            | MatchSelection::Max => {
                counts = self.stored.first().is_none_or(|stored| match self.take {
                    MatchSelection::Last => true,
                    MatchSelection::Min => printed.value < stored.value,
                    MatchSelection::Max => printed.value > stored.value,
                    _ => false,
                });
                if counts {
                    self.stored = vec![printed];
                }
            }
        }
        if counts {
            self.place = place;
        }
        if counts && self.take == MatchSelection::Last {
            self.least = None;
        }
        self.note_least(printed.value, place);
        self.extend_extremes(Some((printed, printed)));
    }

    fn extend_extremes(&mut self, others: Option<(PrintedNumber, PrintedNumber)>) {
        let Some((least, greatest)) = others else {
            return;
        };
        let (own_least, own_greatest) = self.extremes.get_or_insert((least, greatest));
        if least.value < own_least.value {
            *own_least = least;
        }
        if greatest.value > own_greatest.value {
            *own_greatest = greatest;
        }
    }

    fn note_least(&mut self, value: f64, place: RecordLocation) {
        if self.least.is_none_or(|(least, _)| value < least) {
            self.least = Some((value, place));
        }
    }

    /// Returns the number, or with `take: all` each in order; empty where there was none, or where the
    /// announcement that decides cannot be read.
    pub fn into_values(self) -> Vec<PrintedNumber> {
        match self.take {
            _ if self.count == 0 || self.unreadable.is_some() => Vec::new(),
            MatchSelection::Sum => vec![self.sum.total()],
            MatchSelection::Mean => vec![self.sum.mean(self.count)],
            _ => self.stored,
        }
    }

    /// Returns the only number.
    ///
    /// # Errors
    /// Where there is none, it cannot be read or is not finite, or `take: all`
    /// finds several that differ.
    pub fn into_single_value(self) -> Result<PrintedNumber, SingleValueError<E>> {
        let count = self.count;
        if let Some(record) = self.unreadable {
            return Err(SingleValueError::Unreadable(record.error));
        }
        if self.overflowed {
            return Err(SingleValueError::TooMany);
        }
        let values = self.into_values();
        let first = *values.first().ok_or(SingleValueError::NoValue)?;
        if let Some(invalid) = values.iter().find(|printed| !printed.value.is_finite()) {
            return Err(SingleValueError::NotFinite(invalid.value));
        }
        if values.iter().any(|other| are_different(*other, first)) {
            return Err(SingleValueError::Different { count });
        }
        Ok(first)
    }
}

/// Returns whether two printed numbers cannot be the same value: 1 and 2, but not 1.5 and 1.52, which rounds to 1.5.
fn are_different(one: PrintedNumber, other: PrintedNumber) -> bool {
    let apart = (other.value - one.value).abs();
    apart > 0.0 && apart >= other.half_digit + one.half_digit
}

/// Returns the name of an entry: the words of these texts, joined by one space.
pub(crate) fn entry_name<'n>(texts: impl IntoIterator<Item = &'n str>) -> String {
    texts.into_iter().flat_map(str::split_whitespace).join(" ")
}

/// Returns the entry that these texts name, their words joined by one space; none where it would be new
/// and there is no room for it.
pub(crate) fn find_or_insert_entry<'a, 'n, E: Display>(
    entries: &'a mut FigureEntries<E>,
    name: impl IntoIterator<Item = &'n str>,
    take: MatchSelection,
) -> Option<&'a mut Accumulator<E>> {
    let key = entry_name(name);
    let has_room = entries.len() < MAX_TABLE_ENTRIES || entries.contains_key(&key);
    has_room.then(|| entries.entry(key).or_insert_with(|| Accumulator::new(take)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn place(line: u64) -> RecordLocation {
        RecordLocation::at_line(0, line)
    }

    /// Numbers, and `None` for an announcement that cannot be read.
    fn read(take: MatchSelection, records: &[Option<f64>], first: u64) -> Accumulator<String> {
        let mut accumulator = Accumulator::new(take);
        for (offset, record) in (first..).zip(records) {
            match record {
                Some(value) => {
                    let printed = PrintedNumber { value: *value, half_digit: 0.0 };
                    accumulator.add_number(printed, place(offset));
                }
                None => accumulator.add_unreadable(UnreadableRecord {
                    place: place(offset),
                    error: "nan".to_owned(),
                }),
            }
        }
        accumulator
    }

    #[rstest]
    #[case(MatchSelection::First, &[Some(1.0), None], Some((1.0, 0)))]
    #[case(MatchSelection::First, &[None, Some(1.0)], None)]
    #[case(MatchSelection::Last, &[None, None, Some(1.0)], Some((1.0, 2)))]
    #[case(MatchSelection::Last, &[Some(1.0), None], None)]
    #[case(MatchSelection::Min, &[Some(1.0), Some(2.0)], Some((1.0, 0)))]
    #[case(MatchSelection::Max, &[Some(1.0), Some(2.0)], Some((2.0, 1)))]
    #[case(MatchSelection::Min, &[Some(1.0), None], None)]
    #[case(MatchSelection::Mean, &[Some(1.0), None, Some(3.0)], None)]
    #[case(MatchSelection::Sum, &[None, Some(3.0)], None)]
    #[case(MatchSelection::All, &[Some(3.0), None], None)]
    fn the_announcement_that_decides_must_have_a_number(
        #[case] take: MatchSelection,
        #[case] records: &[Option<f64>],
        #[case] expected: Option<(f64, u64)>,
    ) {
        let accumulator = read(take, records, 0);
        let at = accumulator.deciding_place();
        let actual = accumulator.into_single_value().ok().map(|printed| (printed.value, at));
        assert_eq!(actual, expected.map(|(value, line)| (value, place(line))));
    }

    #[test]
    fn an_announcement_that_a_later_one_replaces_is_passed_over() {
        let accumulator = read(MatchSelection::Last, &[None, Some(1.0), None, None, Some(2.0)], 0);
        let passed_over = accumulator.superseded_announcements();
        assert_eq!(passed_over.count, 3);
        assert_eq!(passed_over.first, Some((place(0), "nan".to_owned())));
    }

    #[test]
    fn a_mean_leaves_out_the_values_of_a_warm_up() {
        let mut mean = read(MatchSelection::Mean, &[Some(9.0), Some(8.0)], 0);
        mean.append(read(MatchSelection::Mean, &[Some(1.0), Some(3.0)], 2));
        assert_eq!(mean.clone().skip_first(4), Err(4));
        assert_eq!(mean.skip_first(2), Ok(()));
        let rest = mean.into_single_value().unwrap().value;
        assert!((rest - 2.0).abs() < 1e-12, "{rest}");
    }

    proptest! {
        #[test]
        fn two_parts_give_what_the_whole_gives(
            records in prop::collection::vec(prop::option::weighted(0.8, 0_u8..9), 0..12),
            cut in 0_usize..12,
            take in prop::sample::select(vec![MatchSelection::First, MatchSelection::Last, MatchSelection::Min, MatchSelection::Max, MatchSelection::Sum, MatchSelection::Mean, MatchSelection::All]),
        ) {
            let records: Vec<Option<f64>> = records.into_iter().map(|value| value.map(f64::from)).collect();
            let (before, after) = records.split_at(cut.min(records.len()));
            let mut joined = read(take, before, 0);
            joined.append(read(take, after, before.len() as u64));
            let whole = read(take, &records, 0);
            prop_assert_eq!(joined.deciding_place(), whole.deciding_place());
            prop_assert_eq!(joined.into_single_value(), whole.into_single_value());
        }
    }
}
