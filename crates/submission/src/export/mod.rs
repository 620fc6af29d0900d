//! Runs as a submission in `MLCommons`' layout: its files, their contents, and what is
//! missing for acceptance. [`read`] reads the runs, [`build_export`] is pure, [`mod@write`] writes the tree.
//!
//! ```text
//! runs + request + a round's rules ──build──▶ files, missing, violations
//! ```
//!
//! Nothing is invented. Properties that no run records (cooling, data types of the weights) come from
//! the submitter's own file, or are reported as missing. The median trial represents a result, not the best.

mod build;
mod builder;
mod choose;
mod collect;
mod files;
mod info;
mod missing;
mod model;
mod names;
pub mod read;
mod readme;
mod system;
mod user_conf;
pub mod write;

pub use build::build_export;
pub use info::SystemInfo;
pub use model::{
    CheckOutput, Export, ExportError, ExportRequest, ExportedResult, ExportedTrial, MissingItem,
    SourceFile, SourceRun, TreeFile, TreeFileContent, Violation,
};
