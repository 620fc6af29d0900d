//! A recipe's own figures, taken from a step's lines as they arrive.
//!
//! A pattern is matched against every line; the number is its group `value`, else its first group,
//! else the whole match. What is kept is bounded: one running value, or for `all` at most
//! [`MOST_VALUES`].

use std::borrow::Cow;

use memchr::memmem::Finder;
use regex::{CaptureLocations, Regex, RegexBuilder};

pub use crate::recipe::model::Take;

use super::figure::{self, Figure, Printed, Source};
use super::literal;
use super::sum::Sum;

/// How many values `take: all` keeps.
pub const MOST_VALUES: usize = 100_000;

/// Why a pattern gives no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// The regular expression does not compile.
    #[error(
        "the pattern `{pattern}` is no regular expression: {reason}; write it in Rust's regex syntax, with the number as a group: `([0-9.]+)`"
    )]
    Syntax {
        /// The pattern.
        pattern: String,
        /// What the compiler says.
        reason: String,
    },
    /// No line matched.
    #[error(
        "no line matches the pattern `{pattern}`; look at the step's output for how the figure is printed"
    )]
    NoMatch {
        /// The pattern.
        pattern: String,
    },
    /// A line matched, but what it captured is no number.
    #[error(
        "the pattern `{pattern}` captured `{text}`, which is no number; put only the number into the group"
    )]
    NotANumber {
        /// The pattern.
        pattern: String,
        /// What was captured.
        text: String,
    },
    /// More values than `take: all` keeps.
    #[error(
        "the pattern `{pattern}` matches more than {MOST_VALUES} lines; narrow it, or take one of first, last, min, max, sum, mean"
    )]
    TooMany {
        /// The pattern.
        pattern: String,
    },
}

/// How a figure is taken from a step: the ways that a recipe's `figures:` may name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Extractor {
    /// From the lines of the step's output.
    Pattern(Pattern),
}

/// A regular expression, which of its matches to take, and the unit of the figure.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    /// The index of the group that holds the number; 0 is the whole match.
    group: usize,
    /// What every line that matches holds, if that is known.
    literal: Option<Finder<'static>>,
    take: Take,
    unit: Cow<'static, str>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`PatternError::Syntax`] where it is no regular expression, or one too large.
    pub fn new(
        pattern: &str,
        take: Take,
        unit: impl Into<Cow<'static, str>>,
    ) -> Result<Self, PatternError> {
        let regex = RegexBuilder::new(pattern)
            .size_limit(1 << 20)
            .dfa_size_limit(1 << 20)
            .build()
            .map_err(|error| PatternError::Syntax {
                pattern: pattern.to_owned(),
                reason: one_line(&error.to_string()),
            })?;
        let named = regex.capture_names().position(|name| name == Some("value"));
        let group = named.unwrap_or(usize::from(regex.captures_len() > 1));
        Ok(Self {
            literal: literal::required(pattern),
            regex,
            group,
            take,
            unit: unit.into(),
        })
    }

    pub(super) fn literal(&self) -> Option<&Finder<'static>> {
        self.literal.as_ref()
    }

    /// Which match it takes.
    #[must_use]
    pub fn take(&self) -> Take {
        self.take
    }

    /// A reader for one step's output.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader {
            pattern: self,
            locations: self.regex.capture_locations(),
            kept: Vec::new(),
            sum: Sum::default(),
            matches: 0,
            failed: None,
        }
    }

    /// The regular expression.
    #[must_use]
    pub fn expression(&self) -> &str {
        self.regex.as_str()
    }
}

/// Reads lines, one at a time, and keeps what the pattern takes.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    pattern: &'a Pattern,
    /// Where the groups of the latest match lie; kept, for making it anew costs as much as a match.
    locations: CaptureLocations,
    kept: Vec<Printed>,
    sum: Sum,
    matches: u64,
    failed: Option<PatternError>,
}

/// The figures that a pattern took, and from how many matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// One figure, or with `take: all` one per match, in order.
    pub figures: Vec<Figure>,
    /// How many of the lines that were looked at matched: with `first` and `last`, not all are.
    pub matches: u64,
}

impl Reader<'_> {
    /// Whether no later line changes anything; with `last`, whether no earlier one does.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let takes_one = matches!(self.pattern.take, Take::First | Take::Last);
        self.failed.is_some() || (takes_one && self.matches > 0)
    }

    fn ignores_more(&self) -> bool {
        self.is_decided() && self.pattern.take != Take::Last
    }

    /// Reads one line.
    pub fn feed(&mut self, line: &str) {
        if self.ignores_more() {
            return;
        }
        let regex = &self.pattern.regex;
        if regex.captures_read(&mut self.locations, line).is_none() {
            return;
        }
        // A group of an alternation that this line does not take captures nothing: no match.
        let Some((begin, end)) = self.locations.get(self.pattern.group) else {
            return;
        };
        let captured = &line[begin..end];
        let Some(printed) = figure::parse_number(captured) else {
            self.failed = Some(PatternError::NotANumber {
                pattern: self.pattern.expression().to_owned(),
                text: shortened(captured),
            });
            return;
        };
        self.matches += 1;
        self.failed = None;
        self.keep(printed);
    }

    /// How many lines have matched.
    #[must_use]
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// Goes on with what another reader took from the lines after this one's.
    pub fn join(&mut self, after: Self) {
        if self.ignores_more() {
            return;
        }
        if self.pattern.take == Take::Last && after.is_decided() {
            *self = after;
            return;
        }
        self.matches += after.matches;
        self.sum.join(after.sum);
        for printed in after.kept {
            self.keep(printed);
        }
        self.failed = self.failed.take().or(after.failed);
    }

    fn keep(&mut self, printed: Printed) {
        match self.pattern.take {
            Take::Sum | Take::Mean => self.sum.add(printed),
            Take::All if self.kept.len() == MOST_VALUES => {
                self.failed = Some(PatternError::TooMany {
                    pattern: self.pattern.expression().to_owned(),
                });
            }
            Take::All => self.kept.push(printed),
            Take::First | Take::Last | Take::Min | Take::Max => {
                let replaces = self
                    .kept
                    .first()
                    .is_none_or(|kept| match self.pattern.take {
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

    /// The figure, after the last line.
    ///
    /// # Errors
    /// Where nothing matched, a capture was no number, or there were too many values.
    pub fn finish(self) -> Result<Taken, PatternError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.matches == 0 {
            return Err(PatternError::NoMatch {
                pattern: self.pattern.expression().to_owned(),
            });
        }
        let printed = match self.pattern.take {
            Take::Sum => vec![self.sum.total()],
            Take::Mean => vec![self.sum.mean(self.matches)],
            _ => self.kept,
        };
        if let Some(lost) = printed.iter().find(|printed| !printed.value.is_finite()) {
            return Err(PatternError::NotANumber {
                pattern: self.pattern.expression().to_owned(),
                text: lost.value.to_string(),
            });
        }
        let figures = printed.into_iter().map(|printed| Figure {
            value: printed.value,
            unit: self.pattern.unit.clone(),
            half_digit: printed.half_digit,
            source: Source::Recipe,
        });
        Ok(Taken {
            figures: figures.collect(),
            matches: self.matches,
        })
    }
}

fn one_line(text: &str) -> String {
    let last = text.lines().last().unwrap_or(text).trim();
    last.trim_start_matches("error: ").to_owned()
}

fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(60).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
