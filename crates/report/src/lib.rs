//! Reports: contents become documents, and formats draw any document. This crate judges nothing and
//! writes no files.
//!
//! A new content is a module of `content` that returns a [`document::Document`]; a new format is a
//! module next to `markdown` that draws one.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod catalogue;
pub mod charts;
pub mod content;
pub mod csv;
pub mod document;
pub mod feed;
mod figure_title;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod progress;
pub mod schema;
pub mod svg;
pub mod terminal;

use retrial_plan::Plan;
use retrial_results::verdict::{RuleCheck, Verdict};
use retrial_store::Home;

/// The state of a run that can be continued: its verdict is that of its evidence so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenRun {
    /// It was stopped, or the process that followed it is gone.
    Interrupted,
    /// A process follows it.
    InProgress,
    /// The host or one of its services failed.
    HostFailed,
}

/// A verdict that is reported among others.
#[derive(Debug, Clone)]
pub struct ReportedVerdict<'a> {
    /// The path of its evidence; empty if it is not shown.
    pub evidence: String,
    /// The command line that repeats the run; none for results that no run measured.
    pub command: Option<String>,
    /// The beginning of a command line for the run: `retrial`, with `--home` if that is needed.
    pub program: String,
    /// The state of its run, if that can be continued.
    pub open_run: Option<OpenRun>,
    pub verdict: &'a Verdict,
    /// Rules of the whole submission, besides those of its results.
    pub rules: &'a [RuleCheck],
}

impl<'a> ReportedVerdict<'a> {
    /// Creates an entry of a verdict, with the path of its evidence.
    pub fn new(evidence: impl Into<String>, verdict: &'a Verdict) -> Self {
        Self {
            evidence: evidence.into(),
            command: None,
            program: "retrial".to_owned(),
            open_run: None,
            verdict,
            rules: &[],
        }
    }

    /// Adds the command lines for the run that measured it.
    #[must_use]
    pub fn with_run(self, home: &Home, plan: &Plan) -> Self {
        let program = home.command_prefix();
        Self { command: Some(plan.run_command(&program)), program, ..self }
    }

    /// Adds the state of its run.
    #[must_use]
    pub fn with_open_run(self, open_run: Option<OpenRun>) -> Self {
        Self { open_run, ..self }
    }
}
