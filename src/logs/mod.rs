//! Reading what a benchmark printed: pure functions from text to figures.
//!
//! Nothing here opens a file. Whoever holds the bytes (the runner while it follows a step, the
//! judge on a finished directory) pushes them in; every reader is bounded in memory whatever the
//! length of its input, and none panics whatever its content.
//!
//! - [`lines`]: bytes in any chunking to lines; [`sanitize()`]: lines made harmless for a terminal.
//! - [`pattern`]: a recipe's own figures; [`scan`]: a pattern over a whole output, quickly.
//! - [`loadgen`]: MLPerf Inference's `mlperf_log_summary.txt` and `mlperf_log_detail.txt`.

pub mod figure;
pub mod lines;
mod literal;
pub mod loadgen;
pub mod pattern;
mod sanitize;
pub mod scan;
mod sum;

pub use figure::{Figure, Figures, Source};
pub(crate) use sanitize::is_harmful;
pub use sanitize::sanitize;
