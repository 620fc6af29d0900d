//! The subject of a page, with all that its directory tells.

use crate::ReportedVerdict;
use crate::document::{Line, StyledText};
use retrial_batch::verdict::CellRun;
use retrial_results::verdict::comparison::Fact;
use retrial_store::journal::StepEnd;
use retrial_telemetry as telemetry;

/// A run, a folder of results or a benchmark of a submission tree.
#[derive(Debug, Clone)]
pub struct ReportSubject<'a> {
    /// A run's id, or a path.
    pub name: String,
    /// Its verdict, with the path of its evidence.
    pub entry: ReportedVerdict<'a>,
    /// Facts for the conclusion: what was run, where and when.
    pub run_facts: Vec<(Line, StyledText)>,
    /// Samples of GPUs and container.
    pub telemetry: Vec<telemetry::TelemetryRow>,
    /// The facts of its environment; empty for a folder of results.
    pub environment: Vec<Fact>,
    /// The plan as a script.
    pub commands: Option<String>,
    /// The steps of the run, in their order.
    pub steps: Vec<StepReport>,
    /// The runs of a batch's cell, each with the path from the page to its directory.
    pub runs: Vec<(CellRun, Option<String>)>,
}

impl<'a> ReportSubject<'a> {
    /// A verdict without details.
    pub fn new(name: impl Into<String>, entry: ReportedVerdict<'a>) -> Self {
        Self {
            name: name.into(),
            entry,
            run_facts: Vec::new(),
            telemetry: Vec::new(),
            environment: Vec::new(),
            commands: None,
            steps: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// A step of a run, and its log.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReport {
    /// The step's number in the plan, from 1.
    pub number: u32,
    /// The step's name: `offline-performance`.
    pub name: String,
    /// How it ended, and after how many seconds; none if it was not started.
    pub end: Option<(StepEnd, f64)>,
    /// Its log, relative to the page.
    pub log: Option<String>,
}
