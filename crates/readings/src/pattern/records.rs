//! Which lines are records of a figure: every line that has its name, with its number at the place, or with none.

use std::ops::Range;

use itertools::join;
use memchr::memmem::Finder;
use regex_syntax::hir::Hir;

use super::parts::PatternParts;
use crate::bounded::{BoundedRegex, BoundedSearch};
use crate::lexer::{self, Spelled, parse_number};
use crate::literal;
use crate::units;

/// A number, as any program prints one.
const NUMBER: &str = r"[-+−]?(?:[0-9][0-9.,'_]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+)(?:[kKMGT]\b)?";
/// The group of a number in the figure's place.
const NUMBER_GROUP: &str = "record_number";
/// The group of a number and its unit.
const UNIT: &str = "record_unit";
/// The group of what lies between a name and its number.
const GAP: &str = "record_gap";

/// Recognises the records of a pattern among the lines that it does not match, and looks at those that it does.
#[derive(Debug, Clone)]
pub struct Records {
    name: Option<BoundedRegex>,
    /// Whether only the entry of a table names the figure.
    is_by_entry: bool,
    /// Whether the name stands before the number.
    is_named_before: bool,
    /// Any number in the place of the figure's, if words behind it are a part of what names it.
    place: Option<BoundedRegex>,
    /// Any number with any unit, if only the unit behind it is the name.
    unit: Option<BoundedRegex>,
    /// What the pattern spells out behind the number.
    behind: String,
    /// Whether that is a unit and nothing else.
    is_named_by_unit: bool,
    gap: Option<BoundedRegex>,
    /// An expression that every record contains.
    required: Hir,
}

/// The searches of one text.
#[derive(Debug, Clone)]
pub struct RecordSearch<'a> {
    records: &'a Records,
    name: Option<BoundedSearch<'a>>,
    place: Option<BoundedSearch<'a>>,
    unit: Option<BoundedSearch<'a>>,
    gap: Option<BoundedSearch<'a>>,
}

impl Records {
    /// Returns what recognises the records of a pattern with these parts, of a table or of one figure.
    pub fn from_parts(parts: &PatternParts, is_table: bool) -> Option<Self> {
        let (name, required, is_by_entry) = parts.name_expression(is_table)?;
        let behind = parts.spelled().behind;
        let compile = |expression: &str| BoundedRegex::new(expression).ok();
        let is_named_before = parts.is_named_before() || is_by_entry;
        let has_word_behind = parts.has_word_behind();
        let place = (is_named_before && has_word_behind)
            .then(|| parts.place_expression(&format!("(?<{NUMBER_GROUP}>{NUMBER})")));
        let spelled_unit = units::unit_behind(&behind);
        let has_unit = !is_named_before && spelled_unit.is_some();
        let is_named_by_unit = !parts.has_later_word()
            && spelled_unit.is_some_and(|unit| behind[unit.length..].trim().is_empty());
        let unit = format!(r"{NUMBER}\s*(?<{UNIT}>[\p{{L}}%/][\p{{L}}\d%/·^_]*)");
        Some(Self {
            required: if has_unit { Hir::empty() } else { required },
            name: compile(&name),
            is_by_entry,
            is_named_before,
            place: place.and_then(|place| compile(&place)),
            unit: has_unit.then(|| compile(&unit)).flatten(),
            gap: parts.gap_expression(GAP).and_then(|gap| compile(&gap)),
            behind,
            is_named_by_unit,
        })
    }

    /// Returns a finder of a literal that every record contains.
    pub fn required_literal(&self) -> Option<Finder<'static>> {
        literal::find_literal_in(&self.required)
    }

    pub fn is_by_entry(&self) -> bool {
        self.is_by_entry
    }

    pub fn start_search(&self) -> RecordSearch<'_> {
        RecordSearch {
            records: self,
            name: self.name.as_ref().map(BoundedRegex::start_search),
            place: self.place.as_ref().map(BoundedRegex::start_search),
            unit: self.unit.as_ref().map(BoundedRegex::start_search),
            gap: self.gap.as_ref().map(BoundedRegex::start_search),
        }
    }
}

impl<'a> RecordSearch<'a> {
    pub fn searches(&self) -> impl Iterator<Item = &BoundedSearch<'a>> {
        [&self.name, &self.place, &self.unit, &self.gap].into_iter().flatten()
    }

    /// Returns whether a line that the pattern does not match is a record of its figure, which is in `unit`.
    pub fn is_record(&mut self, line: &str, unit: &str) -> bool {
        if !self.name.as_mut().is_some_and(|name| name.find_groups(line)) {
            return self.is_in_other_multiple(line, unit);
        }
        let Some(place) =
            self.place.as_mut().and_then(|place| place.find_groups(line).then_some(place))
        else {
            return true;
        };
        let number = place.named_group_range(NUMBER_GROUP).unwrap_or_default();
        if lexer::check_surroundings(line, &number, unit, &Spelled::default()).is_err() {
            return true;
        }
        // A plain number with other words behind it is another figure, unless it was cut, or only its unit is other.
        let (rest, behind) = (line[number.end..].trim(), self.records.behind.trim());
        if rest.is_empty() || behind.starts_with(rest) {
            return true;
        }
        let has_unit = units::unit_behind(&line[number.end..]).is_some();
        self.records.is_named_by_unit && (rest.contains(behind) || has_unit)
    }

    /// Returns whether a line has a number in the inverse of the unit, or another multiple: `1.44s/it` for `it/s`.
    fn is_in_other_multiple(&mut self, line: &str, unit: &str) -> bool {
        let Some(search) = &mut self.unit else {
            return false;
        };
        let mut from = 0;
        while search.find_groups_from(line, from) {
            let Some(printed) = search.named_group_range(UNIT) else {
                return false;
            };
            let text = line[printed.clone()].trim_end_matches('/');
            if is_same_quantity(text, unit) {
                return true;
            }
            from = printed.end;
        }
        false
    }

    /// Returns whether a line has the figure's name once more, before its numbers or behind them.
    pub fn is_named_again(&mut self, line: &str, numbers: &Range<usize>) -> bool {
        let is_named_before = self.records.is_named_before && !self.records.is_by_entry;
        let Some(name) = self.name.as_mut().filter(|_| is_named_before) else {
            return false;
        };
        let is_before = name.find(line).is_some_and(|found| found.end <= numbers.start);
        let behind = name.find_from(line, numbers.end);
        is_before || behind.is_some_and(|found| found.start >= numbers.end)
    }

    /// Returns where the latest name that was found begins and ends.
    pub fn name_range(&self) -> Option<Range<usize>> {
        self.name.as_ref()?.group_range(0)
    }

    /// Returns a group of the latest name that was found.
    pub fn group<'l>(&self, line: &'l str, group: &str) -> Option<&'l str> {
        Some(&line[self.name.as_ref()?.named_group_range(group)?])
    }

    /// Returns what a wildcard skips between the name and its number, if that is more than what may part them.
    pub fn find_foreign_gap<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        let gap = self.gap.as_mut()?;
        if !gap.find_groups(line) {
            return None;
        }
        let gap = &line[gap.named_group_range(GAP)?];
        (!is_plain_gap(gap)).then_some(gap)
    }

    /// Returns the words that name the figure in a line: the name, and what stands before it up to a mark or a number.
    pub fn name_words(&mut self, line: &str) -> Option<String> {
        if !self.records.is_named_before || self.records.is_by_entry {
            return None;
        }
        let found = self.name.as_mut()?.find(line)?;
        let is_name =
            |letter: char| letter.is_alphabetic() || matches!(letter, ' ' | '_' | '-' | ':');
        let begin = line[..found.start].trim_end_matches(is_name).len();
        let words = &line[begin..found.end];
        let words = words.trim_matches(|letter: char| !letter.is_alphanumeric());
        let skipped = self.gap.as_mut().and_then(|gap| {
            let is_found = gap.find_groups(line);
            gap.named_group_range(GAP).filter(|_| is_found)
        });
        let skipped = skipped.unwrap_or_default();
        Some(join([words, line[skipped].trim()], " "))
    }
}

/// Returns whether a printed unit is another multiple of a unit, or its inverse.
fn is_same_quantity(printed: &str, unit: &str) -> bool {
    units::conversion_factor(printed, unit).is_some() || units::is_inverse(printed, unit)
}

/// Returns whether a text may stand between a name and its number: what qualifies the name (`p99`, `(ms)`), one mark that
/// parts them, and what opens the number (`(`, `"`, `np.float64(`). A word behind the mark stands in the number's place.
fn is_plain_gap(gap: &str) -> bool {
    let marks = [':', '=', '|', '│', '→'];
    let (qualifier, value) = match gap.find(marks).or_else(|| gap.find("->")) {
        Some(at) => {
            let mark = gap[at..].chars().next().unwrap_or_default();
            let behind = gap[at..].trim_start_matches(mark);
            let behind = behind.trim_start_matches(['>', ' ', '"', '\'']);
            (&gap[..at], behind)
        }
        None => ("", gap),
    };
    let is_opening = |letter: char| letter.is_whitespace() || "([{<\"'`$€*".contains(letter);
    let call = value.trim_start_matches(is_opening);
    let is_call = call.ends_with('(')
        && call[..call.len() - 1].parse::<f64>().is_err()
        && call[..call.len() - 1]
            .chars()
            .all(|letter| letter.is_alphanumeric() || "._".contains(letter));
    // What qualifies the name may be in brackets, with commas: `(p99, ms)`.
    let brackets = |letter: char| "([{".contains(letter);
    let mut outside = qualifier.to_owned();
    while let Some((begin, length)) = outside.rfind(brackets).and_then(|begin| {
        let length = outside[begin..].find([')', ']', '}'])?;
        Some((begin, length))
    }) {
        outside.replace_range(begin..=begin + length, " ");
    }
    let has_number = qualifier
        .split(|letter: char| letter.is_whitespace() || "()[]{}".contains(letter))
        .any(|word| parse_number(word).is_some());
    let is_one = !outside.contains([',', ';', '(', ')', '[', ']', '{', '}']);
    (call.is_empty() || is_call) && is_one && !has_number && !has_other_word(&outside)
}

/// Returns whether a text between a name and its mark has a word that is no unit: it is a part of another name.
fn has_other_word(qualifier: &str) -> bool {
    let words = qualifier.split(|letter: char| !letter.is_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let is_percentile = word.contains(|letter: char| letter.is_ascii_digit());
        if word.eq_ignore_ascii_case("per") {
            // What a rate is for each of is compared with the figure's unit.
            words.next();
        } else if !is_percentile && !units::is_unit(word) && !units::is_time(word) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::space(" ", true)]
    #[case::mark(": ", true)]
    #[case::qualifier(" p99 = ", true)]
    #[case::unit(" (ms): ", true)]
    #[case::suffix("_ms=", true)]
    #[case::call(" = np.float64(", true)]
    #[case::quoted("\": \"", true)]
    #[case::nothing(": n/a (limit ", false)]
    #[case::words(" nan target ", false)]
    #[case::other_words(" budget: ", false)]
    #[case::rate(" per GPU (tokens/s): ", true)]
    #[case::remark(" (p99, ms): ", true)]
    #[case::second_name(" (items/s) n/a, P99: ", false)]
    #[case::other_name(": nan, target: ", false)]
    #[case::open_bracket(" n/a (limit: ", false)]
    #[case::number(" 8 GPUs: ", false)]
    #[case::empty_cell(" | | ", false)]
    #[case::no_number(": NaN(", false)]
    #[case::null("\": null, \"total_throughput\": ", false)]
    fn gaps(#[case] gap: &str, #[case] expected: bool) {
        assert_eq!(is_plain_gap(gap), expected);
    }
}
