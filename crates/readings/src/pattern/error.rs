//! Errors of patterns that give no figure.

use super::readers::ReaderError;
use crate::accumulator::{MAX_STORED_VALUES, MAX_TABLE_ENTRIES};
use crate::bounded::{MAX_STEPS, RegexError};
use crate::lexer::NotPlain;

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
    /// A line has the figure's name, and no number.
    #[error(
        "`{line}` has the figure's name, but no number that the pattern `{pattern}` reads{}",
        describe_loosened(.remedy.as_deref())
    )]
    NoNumber {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The line, shortened.
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
    /// A line matched, but the captured text is no plain number of the figure's unit.
    #[error(
        "the pattern `{pattern}` captured `{captured}` in `{line}`: {reason}{}",
        describe_remedy(reason, .remedy.as_deref())
    )]
    NotPlain {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The captured text, shortened.
        captured: String,
        /// The line, shortened.
        line: String,
        reason: Box<NotPlain>,
        /// The pattern that reads the number of this line, if there is one.
        remedy: Option<String>,
    },
    /// A line matched, but between the figure's name and the number stands something else.
    #[error(
        "the pattern `{pattern}` skips `{gap}` in `{line}`, which may be another figure, or stand in the number's place; write in the pattern what precedes the number"
    )]
    Skipped {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The text between the name and the number, shortened.
        gap: String,
        /// The line, shortened.
        line: String,
    },
    /// A line has several figures, and the recipe does not choose.
    #[error(
        "the pattern `{pattern}` reads {count} different numbers in `{line}`; narrow it, or choose with `take:`"
    )]
    SeveralInLine {
        /// The pattern, as the recipe writes it.
        pattern: String,
        count: usize,
        /// The line, shortened.
        line: String,
    },
    /// Several figures have a name that matches, and the recipe does not choose.
    #[error(
        "the pattern `{pattern}` reads different values of different names: `{first}` and `{other}`; begin it with all of the name, or choose with `take:`"
    )]
    SeveralNames {
        /// The pattern, as the recipe writes it.
        pattern: String,
        /// The first line, shortened.
        first: String,
        /// The first line with another name, shortened.
        other: String,
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

/// Describes how to read the number that was captured.
fn describe_remedy(reason: &NotPlain, pattern: Option<&str>) -> String {
    match (pattern, reason) {
        (Some(pattern), _) => format!("; read it with `{pattern}`"),
        (None, NotPlain::Unit { printed, .. }) => {
            format!("; write `unit: {printed}`, or correct the pattern")
        }
        (None, _) => {
            "; print the number alone, or write in the pattern what is next to it".to_owned()
        }
    }
}
