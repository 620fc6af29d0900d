//! What reports say: verdicts, batches, comparisons and runs as documents. No format is known here.

mod advice;
pub mod batch;
pub mod batch_plan;
pub mod checks;
pub mod comparison;
mod details;
mod environment;
pub mod export;
mod figures;
pub mod history;
mod marks;
pub mod page;
pub mod runs;
pub mod suites;
pub mod tree;
pub mod trials;
pub mod verdict;

/// How much of its subject a document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a terminal or the summary of a CI job has room for.
    Brief,
    /// The same with every fact of the environments.
    Facts,
    /// Everything, for a page.
    Full,
}
