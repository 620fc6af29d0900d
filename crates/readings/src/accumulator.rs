//! Reduces the numbers that were read of a figure to one, or to a list, as `take:` requires.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::figure::Printed;
use super::sum::Sum;
use crate::request::Take;

/// How many entries a table may have.
pub const MOST_ENTRIES: usize = 10_000;

/// The entries of a table, by name; a figure that is not a table has the empty name.
pub type Entries = BTreeMap<String, Accumulator>;

/// The most values that `take: all` stores.
pub const MOST_VALUES: usize = 100_000;

/// The numbers read so far; bounded in memory, whatever their count.
#[derive(Debug, Clone, Default)]
pub struct Accumulator {
    take: Take,
    stored: Vec<Printed>,
    sum: Sum,
    count: u64,
    /// There were more values than `take: all` stores.
    overflowed: bool,
}

impl Accumulator {
    /// Returns one that has no numbers yet.
    pub fn new(take: Take) -> Self {
        Self {
            take,
            ..Self::default()
        }
    }

    /// Adds a number, after those so far.
    pub fn add(&mut self, printed: Printed) {
        self.count += 1;
        self.store(printed);
    }

    /// Appends the numbers that another one read after these.
    pub fn join(&mut self, after: Self) {
        if self.take == Take::First && self.count > 0 {
            return;
        }
        if self.take == Take::Last && after.count > 0 {
            *self = after;
            return;
        }
        self.count += after.count;
        self.overflowed |= after.overflowed;
        self.sum.join(after.sum);
        for printed in after.stored {
            self.store(printed);
        }
    }

    /// Returns the count of numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether there were more than can be stored.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn store(&mut self, printed: Printed) {
        match self.take {
            Take::Sum | Take::Mean => self.sum.add(printed),
            Take::All if self.stored.len() == MOST_VALUES => self.overflowed = true,
            Take::All => self.stored.push(printed),
            Take::First | Take::Last | Take::Min | Take::Max => {
                let replaces = self.stored.first().is_none_or(|stored| match self.take {
                    Take::Last => true,
                    Take::Min => printed.value < stored.value,
                    Take::Max => printed.value > stored.value,
                    _ => false,
                });
                if replaces {
                    self.stored = vec![printed];
                }
            }
        }
    }

    /// Returns the number, or with `take: all` each in order; empty where there was none.
    pub fn values(self) -> Vec<Printed> {
        match self.take {
            _ if self.count == 0 => Vec::new(),
            Take::Sum => vec![self.sum.total()],
            Take::Mean => vec![self.sum.mean(self.count)],
            _ => self.stored,
        }
    }

    /// Returns the only number.
    ///
    /// # Errors
    /// A lower-case fragment: where there is none, it is not finite, or `take: all` finds several
    /// that differ.
    pub fn one(self) -> Result<Printed, String> {
        let count = self.count;
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

/// Returns the entry that these texts name, their words joined by one space; none where it would be new
/// and there is no room for it.
pub(crate) fn entry<'a, 'n>(
    entries: &'a mut Entries,
    name: impl IntoIterator<Item = &'n str>,
    take: Take,
) -> Option<&'a mut Accumulator> {
    let key = name.into_iter().flat_map(str::split_whitespace).join(" ");
    let has_room = entries.len() < MOST_ENTRIES || entries.contains_key(&key);
    has_room.then(|| entries.entry(key).or_insert_with(|| Accumulator::new(take)))
}
