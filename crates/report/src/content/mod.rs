//! The contents of reports: verdicts, batches, comparisons and runs as documents, without a format.

mod advice;
pub mod batch;
pub mod batch_plan;
pub mod brief;
pub mod checks;
mod claims;
pub mod comparison;
mod details;
mod environment;
pub mod export;
mod figure_pivot;
mod figures;
pub mod history;
pub mod machines;
mod marks;
pub mod objections;
pub mod page;
pub mod plan;
pub mod runs;
mod search;
pub mod subject;
pub mod tree;
pub mod trials;
mod unjudged;
pub mod verdict;
pub mod verification;
pub mod website;

pub use marks::count_outcomes;

/// The amount of detail in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetailLevel {
    /// Enough for a terminal or the summary of a CI job.
    Brief,
    /// The same as brief, with every fact of the environments.
    Facts,
    /// Everything, for a page.
    Full,
}

impl DetailLevel {
    /// Returns the detail of a terminal, with `--verbose` or without.
    pub fn from_verbose(verbose: bool) -> Self {
        if verbose { Self::Facts } else { Self::Brief }
    }
}

#[cfg(test)]
mod qualified_tests;
