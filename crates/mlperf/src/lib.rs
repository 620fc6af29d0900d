//! MLPerf results, read and checked: LoadGen's and MLLOG's logs, accuracy, compliance and power
//! output, and the rules of each round of inference and training.
//!
//! Pure: whoever holds the bytes pushes them in; nothing here opens a file, and no reader panics
//! whatever its input. Only built-in data that cannot be read ends the program.
//!
//! - [`loadgen`]: `mlperf_log_summary.txt` and `mlperf_log_detail.txt`; [`accuracy`]: `accuracy.txt`.
//! - [`mllog`]: MLPerf Training's `:::MLLOG` lines; [`training`]: the rules of its rounds.
//! - [`figures`]: names, units and directions of all figures.
//! - [`compliance`]: the audit tests; [`power`]: meters' logs; [`endpoints`]: results without LoadGen.
//! - [`other_suite`]: results of other suites, which are recognized and not judged.
//! - [`noise`]: how much trials of a benchmark scatter, from published pairs of runs.
//! - [`rounds`]: each round's rules for a result, checked against the logs; [`check`]: a checked rule, and the
//!   lines of the logs that state what it is about.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod accuracy;
mod built_in;
pub mod check;
pub mod compliance;
mod division;
pub mod endpoints;
pub mod figures;
pub mod loadgen;
pub mod mllog;
pub mod noise;
pub mod other_suite;
pub mod power;
pub mod rounds;
mod rule_lines;
mod scenario_name;
pub mod submission;
pub mod submission_layout;
pub mod training;

pub use division::Division;
pub use scenario_name::ScenarioName;
