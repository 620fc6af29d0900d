//! The number at a place of a line: it is plain, and of the figure's unit, wherever that is stated.

use std::ops::Range;

use super::Pattern;
use crate::figure::PrintedNumber;
use crate::lexer::{self, NotPlain, Spelled};
use crate::nearest::truncate_for_message;
use crate::units;

impl Pattern {
    /// Reads the number at a place of a line, whose unit the pattern captured, or not, in a match that ends at a byte.
    pub(super) fn read_plain_number(
        &self,
        line: &str,
        number: Range<usize>,
        unit: Option<Range<usize>>,
        matched: usize,
    ) -> Result<PrintedNumber, NotPlain> {
        let captured = &line[number.clone()];
        // A captured unit parts the number from the text behind it, if it was captured whole.
        let unit_behind = unit.clone().filter(|unit| {
            unit.start >= number.end
                && !unit.is_empty()
                && !line[unit.end..].starts_with(char::is_alphanumeric)
        });
        let spelled = match unit_behind {
            Some(unit) => &Spelled { behind: line[unit].to_owned(), ..self.spelled.clone() },
            None => &self.spelled,
        };
        lexer::check_surroundings(line, &number, &self.unit, spelled)?;
        let printed = lexer::parse_with_suffix(captured, &self.unit).ok_or(NotPlain::NoNumber)?;
        let rest = &line[number.end..];
        let behind = units::unit_behind(rest);
        let other_unit = |text: &str| NotPlain::Unit {
            printed: truncate_for_message(text),
            unit: self.unit.clone().into_owned(),
        };
        if let Some(unit) = unit {
            // The whole unit of which the group may have captured a part.
            // What the pattern itself has behind its group, `/op`, is none of it.
            let behind = behind.filter(|behind| {
                unit.start >= number.end
                    && unit.start < number.end + behind.length
                    && !line[unit.end..matched.max(unit.end)].starts_with('/')
            });
            let text = behind.map_or_else(|| line[unit].to_owned(), |behind| behind.text);
            let factor = units::conversion_factor(&text, &self.unit);
            return factor.map(|factor| printed.scale_by(factor)).ok_or_else(|| other_unit(&text));
        }
        if self.unit.trim().is_empty() {
            return Ok(printed);
        }
        if let Some(behind) = behind {
            let is_label = is_label(&line[..number.start], &rest[behind.length..]);
            let is_own = is_label || units::is_same(&behind.text, &self.unit);
            return if is_own { Ok(printed) } else { Err(other_unit(&behind.text)) };
        }
        let head = &line[..number.start];
        let name = own_name(head);
        let stated = units::find_contradiction(name, &self.unit)
            .or_else(|| units::find_line_unit(head, name, &self.unit));
        match stated.or_else(|| units::find_sibling(line, &self.unit)) {
            Some(stated) => Err(other_unit(&stated)),
            None => Ok(printed),
        }
    }
}

/// Returns whether a word behind a number is no unit, but the label of the next value: `tokens: 500`, or `tokens 500` where
/// labels have no marks.
fn is_label(head: &str, behind: &str) -> bool {
    let behind = behind.trim_start();
    let labels_have_marks = head.trim_end().ends_with([':', '=']);
    behind.starts_with([':', '='])
        || !labels_have_marks && behind.starts_with(|next: char| next.is_ascii_digit())
}

/// Returns what stands before a number without the value before it, and that value's unit.
fn own_name(head: &str) -> &str {
    let mut name = head;
    for (at, word) in
        head.match_indices(|letter: char| !letter.is_whitespace()).filter_map(|(at, _)| {
            let begins = head[..at]
                .chars()
                .next_back()
                .is_none_or(|last| last.is_whitespace() || "([=:".contains(last));
            let end =
                head[at..].find(|letter: char| letter.is_whitespace() || ",;)]".contains(letter));
            begins.then(|| (at, &head[at..end.map_or(head.len(), |end| at + end)]))
        })
    {
        if lexer::parse_number(word).is_some() {
            let rest = &head[at + word.len()..];
            name = &rest[units::unit_behind(rest).map_or(0, |unit| unit.length)..];
        }
    }
    name
}
