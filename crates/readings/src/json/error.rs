//! Errors of JSON documents that give no figure.

use crate::accumulator::MAX_TABLE_ENTRIES;
use crate::json_path::JsonPathError;
use crate::lexer::NotPlain;

/// Reasons why a document gives no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JsonError {
    /// The path is none.
    #[error("`{path}` is not a JSONPath: {source}; write it as RFC 9535 does: `$.metrics.rouge1`")]
    Path {
        /// The text that is not a `JSONPath`.
        path: String,
        /// The reason why it is refused.
        source: JsonPathError,
    },
    /// The document is none.
    #[error("it is not JSON: {reason}")]
    Syntax {
        /// Its parser's message, with line and column.
        reason: String,
    },
    /// There is no document to look in.
    #[error(
        "it contains no JSON; if the benchmark writes JSON to a file, `results` and `file` name it"
    )]
    Empty,
    /// Only a document that cannot be read.
    #[error("it contains no readable JSON: `{text}` was cut, or is not JSON")]
    OnlyBroken {
        /// The beginning of the document that cannot be read.
        text: String,
    },
    /// A record that announces the figure was cut, or is no JSON.
    #[error("`{text}` announces `{path}`, but was cut, or is not JSON")]
    Broken {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        /// The record's text, shortened.
        text: String,
    },
    /// A record that announces the figure lacks it.
    #[error("`{text}` has no value at `{path}`, but another record like it has one")]
    MissingMember {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        /// The record's text, shortened.
        text: String,
    },
    /// The path leads nowhere.
    #[error("no value at `{path}`{near}")]
    NoMatch {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        /// The number whose path is nearest, as the end of the sentence, or empty.
        near: String,
    },
    /// It leads to several values, of which nothing says which counts.
    #[error("`{path}` selects {count} values of one document; name one, or choose with `take:`")]
    SeveralInDocument {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        count: usize,
    },
    /// It leads to something that is no plain number.
    #[error("the value at `{path}` is `{text}`: {reason}")]
    NotPlain {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        /// The selected value, as text.
        text: String,
        reason: NotPlain,
    },
    /// A member's name, or the member `unit` next to it, has another unit than the figure.
    #[error(
        "the value at `{path}` is in `{stated}`, and the figure in `{unit}`; write `unit: {stated}`"
    )]
    Unit {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        /// The unit that the document states.
        stated: String,
        /// The figure's unit.
        unit: String,
    },
    /// A match of a table lacks a member that names it.
    #[error("a match of `{path}` has no `{member}`; it has {has}")]
    NoMember {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
        /// The member that names an entry, and is missing.
        member: String,
        /// The members that it has.
        has: String,
    },
    /// A table without end.
    #[error("`{path}` names more than {MAX_TABLE_ENTRIES} figures; make `by` narrower")]
    TooManyEntries {
        /// The figure's `JSONPath`, as the recipe writes it.
        path: String,
    },
}
