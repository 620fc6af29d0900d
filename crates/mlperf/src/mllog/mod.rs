//! MLPerf Training's logs: `:::MLLOG {json}` lines, and their runs.
//!
//! The lines are mixed with a program's other output: behind prefixes (`0: `, timestamps),
//! from several ranks at once, two on one line, cut at the end. One log may hold several runs.

mod error;
mod identity;
mod line;
mod run;

pub use error::{EventError, TrainingLogError, TrainingRunError};
pub use identity::TrainingRunIdentity;
pub use line::{MllogEvent, parse_entries, parse_events};
pub use run::{LastEvaluation, SAMPLES_TO_CONVERGE, TIME_TO_TRAIN, TrainingRun, TrainingRunReader};
