//! What a batch file says, before any recipe was looked at.

use serde::{Deserialize, Serialize};

use super::Values;
use retrial_recipe::Span;
use retrial_recipe::model::Mode;

/// A batch as it was written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// One line.
    pub title: String,
    /// More about it.
    pub description: Option<String>,
    /// What is run, in order; at least one.
    pub recipes: Vec<BatchRecipe>,
    /// Axes and their values, in order.
    pub vary: Vec<Axis>,
    /// Combinations that are left out.
    pub exclude: Vec<Combination>,
    /// Combinations besides the product of the axes.
    pub include: Vec<Combination>,
    /// What holds in all cells.
    pub set: Vec<Spanned<(String, String)>>,
    /// Only these scenarios; all if empty.
    pub scenarios: Vec<Spanned<String>>,
    /// Only these modes; all if empty.
    pub modes: Vec<Mode>,
    /// The values of the cells that others are compared with.
    pub baseline: Option<Combination>,
    /// How it is gone about.
    pub execution: ExecutionOptions,
    /// What is claimed.
    pub claims: Vec<WrittenClaim>,
    /// Runs of other hosts that take part in claims.
    pub external_results: Vec<WrittenExternalResult>,
}

/// A value and where it stands, for diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// What.
    pub value: T,
    /// Where.
    pub span: Span,
}

/// An axis of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// An axis of the recipes' variants, or a param.
    pub name: Spanned<String>,
    /// Its values in order.
    pub values: Vec<Spanned<String>>,
}

/// Values of some axes; `recipe` names one of the recipes.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Axis and value.
    pub values: Vec<(Spanned<String>, Spanned<String>)>,
    /// Why, where it is said.
    pub reason: Option<String>,
    /// Where it stands.
    pub span: Span,
}

impl Combination {
    /// Without the places.
    #[must_use]
    pub fn plain(&self) -> Values {
        let pairs = self.values.iter();
        pairs
            .map(|(name, value)| (name.value.clone(), value.value.clone()))
            .collect()
    }
}

/// A recipe of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchRecipe {
    /// What it is called in cells and claims.
    pub name: String,
    /// A built-in name or a path, as `retrial run` takes it (relative paths made so that they mean
    /// the same from here).
    pub recipe: Spanned<String>,
}

/// A claim as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenClaim {
    /// `rocm 7.1.1 + migraphx is faster than 6.4.1 + migraphx`
    pub text: Spanned<String>,
    /// Where it was published.
    pub source: Option<String>,
}

/// Runs that were made elsewhere, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenExternalResult {
    /// What claims call it.
    pub name: String,
    /// As [`ExternalResult::runs`].
    pub runs: Vec<Spanned<String>>,
}

/// Runs that were made elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalResult {
    /// What claims call it: `rtx4090`.
    pub name: String,
    /// Ids of runs, run directories, or folders of results; paths as from the working directory.
    pub runs: Vec<String>,
}

/// How a batch is gone about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionOptions {
    /// How many trials each cell gets: each is a run of its own.
    pub trials: u32,
    /// In which order.
    pub order: Order,
    /// What happens after a failed run.
    pub on_failure: OnFailure,
    /// How often a trial run is tried again after the host or its services failed (exit code 3); a
    /// benchmark's own failure is a result.
    pub retries: u32,
    /// How many runs at once, on GPUs of their own.
    pub parallel: u32,
    /// When images of later runs are pulled.
    pub pull_ahead: PullAhead,
    /// Only these GPUs of the host; all if empty.
    pub gpus: Vec<String>,
    /// Confidence of comparisons and claims.
    pub confidence: f64,
}

impl Default for ExecutionOptions {
    fn default() -> Self {
        Self {
            trials: 1,
            order: Order::default(),
            on_failure: OnFailure::default(),
            retries: 1,
            parallel: 1,
            pull_ahead: PullAhead::default(),
            gpus: Vec::new(),
            confidence: 0.95,
        }
    }
}

/// In which order trials are taken.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Round by round, with one trial of every cell in each
    #[default]
    Interleaved,
    /// All trials of a cell, then the next cell
    Grouped,
}

/// What happens after a failed run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Continue with all cells, including the failed one
    #[default]
    KeepGoing,
    /// Start no further run
    FailFast,
}

/// When images of later runs are pulled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PullAhead {
    /// Between measurements, during setup or collection
    #[default]
    Between,
    /// Also during measurements
    During,
    /// Not ahead: each run pulls its own image
    Never,
}
