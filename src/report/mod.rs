//! Reports: contents become documents, formats draw any document. Nothing is judged here, and nothing
//! is written.
//!
//! A new content is a module of `content` that returns a [`document::Document`]; a new format is a
//! module beside `markdown` that draws one.

pub mod catalogue;
pub mod charts;
pub mod content;
pub mod csv;
pub mod document;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod progress;
pub mod schema;
pub mod svg;
pub mod terminal;

use crate::results::verdict::{RuleCheck, Verdict};

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
