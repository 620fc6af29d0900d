//! Reading what a benchmark printed: pure functions from text to figures.
//!
//! Nothing here opens a file. Whoever holds the bytes (the runner while it follows a step, the
//! judge on a finished directory) pushes them in; every reader is bounded in memory whatever the
//! length of its input, and none panics whatever its content.
//!
//! - [`lines`]: bytes in any chunking to lines; [`sanitize()`]: lines made harmless for a terminal.
//! - [`pattern`]: a recipe's own figures; [`scan`]: a pattern over a whole output, quickly.
//! - [`json`], [`rows`]: figures of JSON documents and of CSV files; [`units`]: one unit in another;
//!   [`nearest`]: what a figure that is missing may have been printed as.
//! - [`mllog`]: MLPerf Training's `:::MLLOG` lines.
//! - [`loadgen`]: MLPerf Inference's `mlperf_log_summary.txt` and `mlperf_log_detail.txt`;
//!   [`accuracy`]: its `accuracy.txt`.
//! - [`packages`]: what is installed in a container.
//! - [`check`]: a rule that was checked in such files.

pub mod accuracy;
pub mod check;
pub mod compliance;
pub mod endpoints;
pub mod figure;
pub mod json;
pub mod json_path;
pub mod lines;
mod literal;
pub mod loadgen;
pub mod mllog;
pub mod natural;
pub mod nearest;
pub mod number;
pub mod packages;
pub mod pattern;
pub mod power;
pub mod rows;
mod sanitize;
pub mod scan;
pub mod submission;
mod sum;
pub mod take;
pub mod units;

pub use figure::{Figure, Figures, Source};
pub(crate) use sanitize::is_harmful;
pub use sanitize::sanitize;
