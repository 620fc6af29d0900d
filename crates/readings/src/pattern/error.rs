//! Errors of patterns that give no figure.

use super::readers::ReaderError;
use super::whole::{PartialNumber, PartialUnit};
use crate::accumulator::{MAX_STORED_VALUES, MAX_TABLE_ENTRIES};
use crate::bounded::{MAX_STEPS, RegexError};

/// Reasons why a pattern gives no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// The regular expression does not compile, or it is too large.
    #[error(
        "the pattern `{pattern}` is not a usable regular expression: {reason}; write it in Rust's regex syntax, with the number as `${{number}}`"
    )]
    Expression {
        /// The recipe's pattern, cut to the length of a message.
        pattern: String,
        /// The problem of the expression.
        reason: RegexError,
    },
    /// Searching for it takes too long.
    #[error(
        "the pattern `{pattern}` takes more than {MAX_STEPS} steps in this text; begin it with a word of the figure's line, and use fewer alternatives and repetitions"
    )]
    TooManySteps {
        /// The recipe's pattern, cut to the length of a message.
        pattern: String,
    },
    /// A named reader cannot be replaced.
    #[error("the pattern `{pattern}`: {reason}")]
    Reader {
        /// The pattern, as the recipe writes it.
        pattern: String,
        reason: ReaderError,
    },
    #[error(
        "no line matches the pattern `{pattern}`; check in the step's output how the figure is printed"
    )]
    NoMatch {
        /// The pattern, as the recipe writes it.
        pattern: String,
    },
    /// No line below a heading matched.
    #[error(
        "no line matches the pattern `{pattern}` below one that matches `{below}`{}; check in the step's output how the figure is printed",
        describe_block_end(.ended_by.as_deref())
    )]
    NoMatchBelow {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The heading's expression (`below:`).
        below: String,
        /// The line that ended the block, if one did.
        ended_by: Option<String>,
    },
    /// A line matched, but the captured text is not a number.
    #[error(
        "the pattern `{pattern}` captured `{text}`, which is not a number; put only the number into the group, or read it with `${{number}}`"
    )]
    NotANumber {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The captured text, shortened.
        text: String,
    },
    /// A line announces the figure, and has no number.
    #[error(
        "`{line}` announces the figure, but has no number that the pattern `{pattern}` reads{}",
        describe_loosened(.remedy.as_deref())
    )]
    NoNumber {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The line that announces the figure, shortened.
        line: String,
        /// The pattern that reads its number with other white space or in another case, if there is one.
        remedy: Option<String>,
    },
    /// A block that had the figure before is repeated without it.
    #[error(
        "no line matches the pattern `{pattern}` below `{heading}`, which has the figure in another place"
    )]
    NoneInBlock {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The heading's line, shortened.
        heading: String,
    },
    /// A line matched, but the captured text is a part of a longer number.
    #[error(
        "the pattern `{pattern}` captured `{}`, which is only a part of `{}` in the line `{}`; {}",
        .part.captured,
        .part.whole,
        .part.line,
        describe_remedy(.remedy.as_deref())
    )]
    PartOfNumber {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The captured part, and the number that it belongs to.
        part: PartialNumber,
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
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The captured part, and the unit that it belongs to.
        part: PartialUnit,
    },
    /// A line matched, and its unit is of another kind than the figure's.
    #[error(
        "the pattern `{pattern}` reads a number in `{printed}`, which cannot be converted to `{unit}`; correct the figure's `unit`, or the pattern"
    )]
    Unit {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The unit behind the number, shortened.
        printed: String,
        /// The figure's unit, as the recipe states it.
        unit: String,
    },
    /// The groups that name entries are not the pattern's.
    #[error("the pattern `{pattern}` has no group `{group}`: write it as `(?<{group}>\\S+)`")]
    NoGroup {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The name of the missing group.
        group: String,
    },
    /// A table without end.
    #[error(
        "the pattern `{pattern}` names more than {MAX_TABLE_ENTRIES} figures; make the groups of `by` narrower"
    )]
    TooManyEntries {
        /// The pattern, as the recipe writes it.
        pattern: String,
    },
    /// More values than `take: all` stores.
    #[error(
        "the pattern `{pattern}` matches more than {MAX_STORED_VALUES} lines; narrow it, or take one of first, last, min, max, sum, mean"
    )]
    TooMany {
        /// The pattern, as the recipe writes it.
        pattern: String,
    },
}

fn describe_block_end(line: Option<&str>) -> String {
    line.map_or(String::new(), |line| {
        format!(", whose block ended at the line `{line}` (`until:` states another end)")
    })
}

/// Describes the pattern that reads a number.
pub fn describe_loosened(pattern: Option<&str>) -> String {
    pattern.map_or_else(String::new, |pattern| format!("; `{pattern}` reads one"))
}

/// Describes how to read a number of which a part was captured.
fn describe_remedy(remedy: Option<&str>) -> String {
    match remedy {
        Some(pattern) => format!(
            "read all of it with `{pattern}`, or match in the pattern what is next to the number"
        ),
        None => "print the whole number, or match in the pattern what is next to it".to_owned(),
    }
}
