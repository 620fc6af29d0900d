//! What a directory holds, submission trees or other folders of results, and the verdicts on it.
//!
//! ```text
//! directory ──find──▶ trees ───────────────┐
//!                     folders + recipe ────┴──basis──▶ evidence with its context ──▶ verdicts
//! ```
//!
//! `basis` has what judging them takes: rounds, published figures, and what the user states of the results. `origin`
//! compares the system of results with that of a recipe's figures, `selection` is what the user selects in a tree.

mod basis;
mod error;
mod folders;
mod origin;
mod selection;
mod trees;

use std::path::PathBuf;

pub use basis::JudgeBasis;
pub use error::JudgeError;
pub use folders::gather_folders;
pub use selection::TreeSelection;
pub use trees::SuiteTrees;

use crate::evidence::tree::published::PublishedResult;
use crate::verdict::{Evidence, RunContext, Verdict};
use retrial_recipe::model::Mode;

/// Results that are judged together.
pub struct ResultSet {
    /// The folder that contains them.
    pub path: PathBuf,
    /// The submission, qualifiers and warnings that all of them have.
    pub context: RunContext,
    pub evidence: Vec<Evidence>,
}

/// Returns whether any result was compared with a published figure.
pub fn is_compared(verdict: &Verdict) -> bool {
    let mut results = verdict.results.iter();
    results.any(|result| !result.references.is_empty() || !result.judgements.is_empty())
}

/// The valid performance results of a verdict, as figures that others are compared with; `official` is the round's
/// name of the benchmark. Nothing is compared with an invalid result.
pub fn valid_results(verdict: &Verdict, official: Option<&str>) -> Vec<PublishedResult> {
    let results = verdict.results.iter();
    results
        .filter(|result| result.mode == Mode::Performance && !result.violates_rule())
        .filter_map(|result| {
            let (_, figure) = result.deciding_figure()?;
            Some(PublishedResult {
                division: result.division.map(|division| division.to_string()),
                submitter: result.submitter.clone(),
                platform: result.system.clone(),
                benchmark: result.benchmark.clone(),
                official: Some(official.unwrap_or(&result.benchmark).to_owned()),
                scenario: result.scenario.clone(),
                value: figure.value,
                unit: figure.unit.clone(),
                location: Some(result.path.clone()),
                ..PublishedResult::default()
            })
        })
        .collect()
}
