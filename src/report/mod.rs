//! Finished models to text: nothing is judged here, and nothing is written.

pub mod batch_plan;
pub mod catalogue;
pub mod charts;
pub mod checks;
pub mod csv;
pub mod export;
pub mod junit;
pub mod markdown;
mod markup;
pub mod page;
pub mod progress;
mod rows;
pub mod runs;
pub mod schema;
pub mod terminal;
pub mod tree;
mod words;

use crate::verdict::{RuleCheck, Verdict};

/// A verdict that is reported among others.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Where its evidence lies; empty where that is not to be told.
    pub evidence: String,
    /// The verdict.
    pub verdict: &'a Verdict,
    /// Rules of the whole, besides those of its results.
    pub rules: &'a [RuleCheck],
}

impl<'a> Entry<'a> {
    /// A verdict with the place of its evidence.
    #[must_use]
    pub fn new(evidence: impl Into<String>, verdict: &'a Verdict) -> Self {
        Self {
            evidence: evidence.into(),
            verdict,
            rules: &[],
        }
    }
}
