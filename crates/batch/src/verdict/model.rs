//! A batch's verdict, as stored in verdict.json and shown in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::{CellFailure, RunStart};
use crate::search::SearchVerdict;
use crate::{ExcludedCell, NamedValues, RunOrder};
use retrial_results::verdict::claim::ClaimVerdict;
use retrial_results::verdict::comparison::{ComparedFigure, EnvironmentGroup};
use retrial_results::verdict::{ExitCode, Outcome, Verdict};

/// The verdict on a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BatchVerdict {
    /// The version of this document's format.
    pub schema: u32,
    /// The batch's id, if it has one.
    pub batch: Option<String>,
    /// The batch's title.
    pub title: String,
    /// The worst outcome of its cells, of which one without a result is inconclusive; none if nothing was run.
    pub outcome: Option<Outcome>,
    /// A summary of cells and claims in one or two sentences.
    pub sentence: String,
    /// The exit code of the process.
    pub exit_code: ExitCode,
    /// Confidence of each one-sided bound of a claim, and of each two-sided interval.
    pub confidence: f64,
    /// The order of the trials.
    pub order: RunOrder,
    /// The number of concurrent runs.
    pub parallel: u32,
    /// Notes on how it was measured.
    pub notes: Vec<String>,
    /// The axes, in their order.
    pub axes: Vec<BatchAxis>,
    /// The results of the cells, in the order of the plan.
    pub cells: Vec<CellVerdict>,
    /// The excluded combinations, with reasons.
    pub excluded: Vec<ExcludedCell>,
    /// The results of other hosts that are no cells: one for each of their benchmarks.
    pub external_results: Vec<CellVerdict>,
    /// The verdicts on the claims.
    pub claims: Vec<ClaimVerdict>,
    /// `MLCommons`' trademark notice, where figures are `MLPerf`'s.
    pub notice: Option<String>,
    /// The environments of the cells side by side; none for a search, or with fewer than two measured cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<CellEnvironments>,
    /// The result of a search along its cells; none for a batch that runs all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchVerdict>,
}

impl BatchVerdict {
    /// Returns the cells, then the results of other hosts.
    pub fn all_results(&self) -> impl Iterator<Item = &CellVerdict> {
        self.cells.iter().chain(&self.external_results)
    }
}

/// The environments of measured cells side by side, each that of its first run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellEnvironments {
    /// The names of the cells, in the order of the values.
    pub cells: Vec<String>,
    pub groups: Vec<EnvironmentGroup>,
}

/// An axis and the values that cells have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchAxis {
    /// `rocm`; `recipe` if there are several recipes.
    pub name: String,
    /// The values, in order.
    pub values: Vec<String>,
}

/// The result of a cell, or of another host in one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellVerdict {
    /// The cell's name: `rocm=7.1.1,backend=migraphx`; of another host `bert,rtx4090`.
    pub name: String,
    /// The short name of the recipe in the batch, or of the batch's recipe with the same benchmark.
    pub recipe: String,
    /// The name of the other host's runs; none if this host measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
    /// The values of its axes.
    pub axes: NamedValues,
    /// Whether other cells are compared with it.
    pub is_baseline: bool,
    /// The cell that it is compared with.
    pub against: Option<String>,
    /// The number of planned trials; of another host's runs, their number.
    pub trials: u32,
    /// Its runs, by trial, including those without evidence.
    pub runs: Vec<CellRun>,
    /// The outcome of all trials together; none if no run has evidence.
    pub outcome: Option<Outcome>,
    /// Why it failed, if the reason is its own: its image or its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CellFailure>,
    /// The result in one sentence.
    pub sentence: String,
    /// Figures, bounds, rules and trials, all runs pooled.
    pub verdict: Option<Verdict>,
    /// Each figure compared with the baseline's.
    pub differences: Vec<ComparedFigure>,
}

/// One run of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellRun {
    /// The run's id.
    pub run: String,
    /// The number of the trial, from 1.
    pub trial: u32,
    /// Its start in the batch; none of a run that it did not start, or of a task of an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<RunStart>,
    /// Why it has no evidence, if it has none.
    pub lost: Option<String>,
}
