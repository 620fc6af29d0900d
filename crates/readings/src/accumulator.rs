//! Reduces the numbers that were read of a figure to one, or to a list, as `take:` requires.

use std::collections::BTreeMap;
use std::fmt::Display;

use itertools::Itertools as _;

use super::figure::Printed;
use super::place::{PassedOver, Place, Unreadable};
use super::sum::Sum;
use crate::request::Take;

/// The most entries of a table.
pub const MOST_ENTRIES: usize = 10_000;

/// The entries of a table, by name; a figure that is not a table has the empty name.
pub type Entries<E> = BTreeMap<String, Accumulator<E>>;

/// The most values that `take: all` stores.
pub const MOST_VALUES: usize = 100_000;

/// The numbers read so far; bounded in memory, whatever their count.
///
/// A record that announces the figure and cannot be read counts as one that can: the first or the
/// last announcement decides for `first` and `last`, and the others need every number.
#[derive(Debug, Clone)]
pub struct Accumulator<E> {
    take: Take,
    stored: Vec<Printed>,
    sum: Sum,
    count: u64,
    /// There were more values than `take: all` stores.
    overflowed: bool,
    /// The place of the number that counts; where all count, of the last.
    place: Place,
    /// The least number that counts, and where it stands.
    least: Option<(f64, Place)>,
    /// The announcement that decides, if it cannot be read.
    unreadable: Option<Unreadable<E>>,
    passed_over: PassedOver,
}

impl<E: Display> Accumulator<E> {
    /// Returns one that has no numbers yet.
    pub fn new(take: Take) -> Self {
        Self {
            take,
            stored: Vec::new(),
            sum: Sum::default(),
            count: 0,
            overflowed: false,
            place: Place::default(),
            least: None,
            unreadable: None,
            passed_over: PassedOver::default(),
        }
    }

    /// Adds a number, after those so far.
    pub fn add(&mut self, printed: Printed, place: Place) {
        match self.take {
            Take::First if self.is_announced() => return,
            Take::Last => {
                if let Some(record) = self.unreadable.take() {
                    self.passed_over.note(&record);
                }
            }
            _ => {}
        }
        self.count += 1;
        self.store(printed, place);
    }

    /// Adds a record that announces a number and cannot be read.
    pub fn add_unreadable(&mut self, record: Unreadable<E>) {
        match self.take {
            Take::First if self.is_announced() => {}
            Take::Last => {
                if let Some(before) = self.unreadable.replace(record) {
                    self.passed_over.note(&before);
                }
            }
            _ => drop(self.unreadable.get_or_insert(record)),
        }
    }

    /// Appends the numbers that another one read after these.
    pub fn join(&mut self, after: Self) {
        if self.take == Take::First && self.is_announced() {
            return;
        }
        if self.take == Take::Last && after.is_announced() {
            *self = after;
            return;
        }
        self.count += after.count;
        self.overflowed |= after.overflowed;
        self.sum.join(after.sum);
        if let Some((value, place)) = after.least {
            self.note_least(value, place);
        }
        for printed in after.stored {
            self.store(printed, after.place);
        }
        if after.count > 0 && !self.is_one_of_several() {
            self.place = after.place;
        }
        self.unreadable = self.unreadable.take().or(after.unreadable);
    }

    /// Returns the count of numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns where the announcement stands that decides; where all count, the last number, or the first
    /// that cannot be read.
    pub fn place(&self) -> Place {
        let unreadable = self.unreadable.as_ref();
        unreadable.map_or(self.place, |record| record.place)
    }

    /// Returns the least number that counts, and where it stands.
    pub fn least(&self) -> Option<(f64, Place)> {
        self.least
    }

    /// Returns the announcement that decides, if it cannot be read.
    pub fn unreadable(&self) -> Option<&Unreadable<E>> {
        self.unreadable.as_ref()
    }

    /// Returns the announcements that do not matter and cannot be read.
    pub fn passed_over(&self) -> &PassedOver {
        &self.passed_over
    }

    /// Returns whether there were more than can be stored.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn is_announced(&self) -> bool {
        self.count > 0 || self.unreadable.is_some()
    }

    fn is_one_of_several(&self) -> bool {
        matches!(self.take, Take::Min | Take::Max)
    }

    fn store(&mut self, printed: Printed, place: Place) {
        let mut counts = true;
        match self.take {
            Take::Sum | Take::Mean => self.sum.add(printed),
            Take::All if self.stored.len() == MOST_VALUES => self.overflowed = true,
            Take::All => self.stored.push(printed),
            Take::First | Take::Last | Take::Min | Take::Max => {
                counts = self.stored.first().is_none_or(|stored| match self.take {
                    Take::Last => true,
                    Take::Min => printed.value < stored.value,
                    Take::Max => printed.value > stored.value,
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
        if counts && self.take == Take::Last {
            self.least = None;
        }
        self.note_least(printed.value, place);
    }

    fn note_least(&mut self, value: f64, place: Place) {
        if self.least.is_none_or(|(least, _)| value < least) {
            self.least = Some((value, place));
        }
    }

    /// Returns the number, or with `take: all` each in order; empty where there was none, or where the
    /// announcement that decides cannot be read.
    pub fn values(self) -> Vec<Printed> {
        match self.take {
            _ if self.count == 0 || self.unreadable.is_some() => Vec::new(),
            Take::Sum => vec![self.sum.total()],
            Take::Mean => vec![self.sum.mean(self.count)],
            _ => self.stored,
        }
    }

    /// Returns the only number.
    ///
    /// # Errors
    /// A lower-case fragment: where there is none, it cannot be read or is not finite, or `take: all`
    /// finds several that differ.
    pub fn one(self) -> Result<Printed, String> {
        let count = self.count;
        if let Some(record) = &self.unreadable {
            return Err(record.error.to_string());
        }
        if self.overflowed {
            return Err(format!(
                "there are more than {MOST_VALUES} values; narrow it, or take one of first, last, min, max, sum, mean"
            ));
        }
        let values = self.values();
        let first = *values.first().ok_or("there is no value")?;
        if let Some(invalid) = values.iter().find(|printed| !printed.value.is_finite()) {
            return Err(format!(
                "the result is {}, which is not a figure",
                invalid.value
            ));
        }
        let differs = |other: &Printed| {
            let apart = (other.value - first.value).abs();
            // 1 and 2 cannot be one value, printed twice.
            apart > 0.0 && apart >= other.half_digit + first.half_digit
        };
        if values.iter().any(differs) {
            return Err(format!("{count} different values: choose one with `take:`"));
        }
        Ok(first)
    }
}

/// Returns the name of an entry: the words of these texts, joined by one space.
pub(crate) fn entry_name<'n>(texts: impl IntoIterator<Item = &'n str>) -> String {
    texts.into_iter().flat_map(str::split_whitespace).join(" ")
}

/// Returns the entry that these texts name, their words joined by one space; none where it would be new
/// and there is no room for it.
pub(crate) fn entry<'a, 'n, E: Display>(
    entries: &'a mut Entries<E>,
    name: impl IntoIterator<Item = &'n str>,
    take: Take,
) -> Option<&'a mut Accumulator<E>> {
    let key = entry_name(name);
    let has_room = entries.len() < MOST_ENTRIES || entries.contains_key(&key);
    has_room.then(|| entries.entry(key).or_insert_with(|| Accumulator::new(take)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn place(line: u64) -> Place {
        Place::line(0, line)
    }

    /// Numbers, and `None` for an announcement that cannot be read.
    fn read(take: Take, records: &[Option<f64>], first: u64) -> Accumulator<String> {
        let mut accumulator = Accumulator::new(take);
        for (offset, record) in (first..).zip(records) {
            match record {
                Some(value) => {
                    let printed = Printed {
                        value: *value,
                        half_digit: 0.0,
                    };
                    accumulator.add(printed, place(offset));
                }
                None => accumulator.add_unreadable(Unreadable {
                    place: place(offset),
                    error: "nan".to_owned(),
                }),
            }
        }
        accumulator
    }

    #[rstest]
    #[case(Take::First, &[Some(1.0), None], Some((1.0, 0)))]
    #[case(Take::First, &[None, Some(1.0)], None)]
    #[case(Take::Last, &[None, None, Some(1.0)], Some((1.0, 2)))]
    #[case(Take::Last, &[Some(1.0), None], None)]
    #[case(Take::Min, &[Some(1.0), Some(2.0)], Some((1.0, 0)))]
    #[case(Take::Max, &[Some(1.0), Some(2.0)], Some((2.0, 1)))]
    #[case(Take::Min, &[Some(1.0), None], None)]
    #[case(Take::Mean, &[Some(1.0), None, Some(3.0)], None)]
    #[case(Take::Sum, &[None, Some(3.0)], None)]
    #[case(Take::All, &[Some(3.0), None], None)]
    fn the_announcement_that_decides_must_have_a_number(
        #[case] take: Take,
        #[case] records: &[Option<f64>],
        #[case] expected: Option<(f64, u64)>,
    ) {
        let accumulator = read(take, records, 0);
        let at = accumulator.place();
        let actual = accumulator.one().ok().map(|printed| (printed.value, at));
        assert_eq!(actual, expected.map(|(value, line)| (value, place(line))));
    }

    #[test]
    fn an_announcement_that_a_later_one_replaces_is_passed_over() {
        let accumulator = read(Take::Last, &[None, Some(1.0), None, None, Some(2.0)], 0);
        let passed_over = accumulator.passed_over();
        assert_eq!(passed_over.count, 3);
        assert_eq!(passed_over.first, Some((place(0), "nan".to_owned())));
    }

    proptest! {
        #[test]
        fn two_parts_give_what_the_whole_gives(
            records in prop::collection::vec(prop::option::weighted(0.8, 0_u8..9), 0..12),
            cut in 0_usize..12,
            take in prop::sample::select(vec![Take::First, Take::Last, Take::Min, Take::Max, Take::Sum, Take::Mean, Take::All]),
        ) {
            let records: Vec<Option<f64>> = records.into_iter().map(|value| value.map(f64::from)).collect();
            let (before, after) = records.split_at(cut.min(records.len()));
            let mut joined = read(take, before, 0);
            joined.join(read(take, after, before.len() as u64));
            let whole = read(take, &records, 0);
            prop_assert_eq!(joined.place(), whole.place());
            prop_assert_eq!(joined.one(), whole.one());
        }
    }
}
