//! Published points of serving curves, as InferenceX publishes them: rows of JSON as a recipe, and checks of a row's numbers
//! against each other.
//!
//! ```text
//! rows ──▶ those of one configuration ──recipe──▶ YAML
//!                    ▲
//! configuration ─────┘   (srt-slurm, schema 2)
//! ```
//!
//! Pure. A row is one trial, and states neither its failures nor its host: whether it can be repeated is not decided here.

mod checks;
mod configuration;
mod launch;
pub mod recipe;
mod row;
mod selection;

pub use configuration::{Configuration, ConfigurationError};
pub use row::{PublishedRow, RowsError, read_rows};
pub use selection::{Curve, CurveError, RowFilter};
