//! `report --output json` of runs and folders of results.

use schemars::JsonSchema;
use serde::Serialize;

use retrial_results::verdict::comparison::{Comparison, Fact};
use retrial_results::verdict::{RuleCheck, Verdict};

const REPORT_SCHEMA_VERSION: u32 = 1;

/// The output of `report --output json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JsonReport<'a> {
    /// The version of this document's format.
    schema: u32,
    /// The reported runs, folders and benchmarks.
    results: Vec<ReportedResult<'a>>,
    /// Runs with figures in common, compared with the first of them.
    comparison: Option<&'a Comparison>,
}

// A `ReportedVerdict` is drawn, and has command lines; this is the printed format.
/// A run, a folder of results, or a benchmark of a submission tree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportedResult<'a> {
    /// The run's id, or the folder's path.
    pub name: &'a str,
    /// The path of its evidence.
    pub evidence: &'a str,
    /// Rules of a benchmark as a whole, besides those of its results.
    pub rules: &'a [RuleCheck],
    /// The environment; empty for a folder.
    pub environment: &'a [Fact],
    /// The verdict on it.
    pub verdict: &'a Verdict,
}

impl<'a> JsonReport<'a> {
    pub fn new(results: Vec<ReportedResult<'a>>, comparison: Option<&'a Comparison>) -> Self {
        Self { schema: REPORT_SCHEMA_VERSION, results, comparison }
    }
}
