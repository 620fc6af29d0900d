//! Figures from a program's output: pure functions from text to figures.
//!
//! Nothing here opens a file. Whoever holds the bytes pushes them in; every reader is bounded in
//! memory whatever the length of its input, and none panics whatever its content.
//!
//! - [`lines`]: bytes in any chunking to lines; [`sanitize()`]: lines made harmless for a terminal.
//! - [`lexer`]: what a number is; [`pattern`]: regular expressions;
//!   [`scan`]: a pattern over a whole output, quickly.
//! - [`claim`]: what is claimed of a figure;
//!   [`json`], [`rows`]: figures of JSON documents and of CSV files; [`units`]: unit conversion;
//!   [`nearest`]: the printed text nearest to a missing figure.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod accumulator;
pub mod bounded;
pub mod claim;
pub mod decode;
pub mod figure;
pub mod formats;
pub mod heading;
pub mod json;
pub mod json_path;
pub mod lexer;
pub mod lines;
mod literal;
mod message;
pub mod natural;
pub mod nearest;
pub mod number;
pub mod pattern;
pub mod place;
mod request;
pub mod rows;
mod sanitize;
pub mod scan;
mod sum;
pub mod units;

pub use figure::{Figure, Figures};
pub use message::{sanitize_message, sanitize_message_line};
pub use request::{CsvCell, Limit, MatchSelection};
pub use retrial_document::{OrderedMap, is_harmful};
pub use sanitize::{sanitize, strip_escapes};
