//! Many printed numbers made one: which of them count.

use std::collections::BTreeMap;

use super::figure::Printed;
use super::sum::Sum;
use crate::request::Take;

/// How many entries a table may have.
pub const MOST_ENTRIES: usize = 10_000;

/// What is taken of a table, by name; a figure that is not a table has the empty one.
pub type Entries = BTreeMap<String, Taking>;

/// How many values `take: all` keeps.
pub const MOST_VALUES: usize = 100_000;

/// What is taken of the numbers so far; bounded, whatever their count.
#[derive(Debug, Clone)]
pub struct Taking {
    take: Take,
    kept: Vec<Printed>,
    sum: Sum,
    count: u64,
    /// More values than `take: all` keeps.
    overflowed: bool,
}

impl Taking {
    /// Of none yet.
    pub fn new(take: Take) -> Self {
        Self {
            take,
            kept: Vec::new(),
            sum: Sum::default(),
            count: 0,
            overflowed: false,
        }
    }

    /// Another number, after those so far.
    pub fn add(&mut self, printed: Printed) {
        self.count += 1;
        self.keep(printed);
    }

    /// Goes on with what was taken of the numbers after these.
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
        for printed in after.kept {
            self.keep(printed);
        }
    }

    /// How many numbers there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there were more than can be kept.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn keep(&mut self, printed: Printed) {
        match self.take {
            Take::Sum | Take::Mean => self.sum.add(printed),
            Take::All if self.kept.len() == MOST_VALUES => self.overflowed = true,
            Take::All => self.kept.push(printed),
            Take::First | Take::Last | Take::Min | Take::Max => {
                let replaces = self.kept.first().is_none_or(|kept| match self.take {
                    Take::Last => true,
                    Take::Min => printed.value < kept.value,
                    Take::Max => printed.value > kept.value,
                    _ => false,
                });
                if replaces {
                    self.kept = vec![printed];
                }
            }
        }
    }

    /// The number, or with `take: all` each in order; empty where there was none.
    pub fn values(self) -> Vec<Printed> {
        match self.take {
            _ if self.count == 0 => Vec::new(),
            Take::Sum => vec![self.sum.total()],
            Take::Mean => vec![self.sum.mean(self.count)],
            _ => self.kept,
        }
    }

    /// The one number that is meant.
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
        if let Some(lost) = values.iter().find(|printed| !printed.value.is_finite()) {
            return Err(format!(
                "the result is {}, which is not a figure",
                lost.value
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
) -> Option<&'a mut Taking> {
    let mut key = String::new();
    for word in name.into_iter().flat_map(str::split_whitespace) {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(word);
    }
    let has_room = entries.len() < MOST_ENTRIES || entries.contains_key(&key);
    has_room.then(|| entries.entry(key).or_insert_with(|| Taking::new(take)))
}
