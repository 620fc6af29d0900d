//! MLPerf Training's logs: `:::MLLOG {json}` lines, and the runs that they tell of.
//!
//! The lines stand among anything else that a program prints: behind prefixes (`0: `, timestamps),
//! from several ranks at once, two on one line, cut at the end. One log may hold several runs.

mod line;
mod run;

pub use line::{Event, entries, events};
pub use run::{Evaluation, Runs, SAMPLES_TO_CONVERGE, TIME_TO_TRAIN, TrainingRun};
