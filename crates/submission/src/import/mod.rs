//! Recipes from published results: lists the results of a submission tree, and converts one to a recipe.
//!
//! ```text
//! tree ──index──▶ results with their figures ──read──▶ submission ──recipe──▶ YAML
//!      (names, table)                        (files)             (pure)
//! ```
//!
//! Nothing here decides whether a result is valid: `judge` does.

mod index;
mod model;
mod read;
mod readme;
pub mod recipe;
mod user_conf;

pub use index::{ImportError, ImportableFigure, ImportableResult, ResultsIndex, SystemDescription};
pub use model::{PublishedFigure, PublishedScenario, PublishedSubmission};
pub use read::read_submission;
