//! What the command line asks for, as values: options of every command, and requests for a plan
//! and for its execution.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::plan::PlanOptions;
use crate::store::Home;
use crate::telemetry::rate::Interval;

/// Options of every command.
#[derive(Debug, Clone)]
pub struct GlobalOptions {
    /// The engine's address; none means the standard one.
    pub engine: Option<String>,
    /// The directory of runs and batches.
    pub home: Home,
    /// The directory of cached datasets, absolute.
    pub cache: PathBuf,
    /// The format of the result.
    pub output: Output,
    /// Whether the format was given on the command line.
    pub output_was_said: bool,
    /// Print only the result, warnings and errors.
    pub quiet: bool,
    /// Print the steps' output.
    pub verbose: bool,
    /// The directory that stands for `/` when the host is probed.
    pub root: PathBuf,
}

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// XML test suites for CI (verdicts and comparisons)
    Junit,
    /// Markdown for a CI job's summary (verdicts and comparisons)
    Markdown,
    /// A self-contained HTML page (reports)
    Html,
    /// CSV with a row for each figure of each trial (reports)
    Csv,
}

/// A recipe and its settings.
#[derive(Debug, Clone)]
pub struct RecipeRequest {
    /// A built-in name or a path.
    pub recipe: String,
    /// Variants and parameters, by name.
    pub settings: Vec<(String, String)>,
}

/// A plan of a recipe.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// The recipe.
    pub recipe: RecipeRequest,
    /// Options that change the plan.
    pub choices: PlanOptions,
    /// The lock file; `none` ignores the recipe's own.
    pub lock: Option<String>,
    /// Files with rules of further rounds.
    pub rules: Vec<PathBuf>,
}

impl PlanRequest {
    /// A whole recipe, unchanged.
    #[must_use]
    pub fn everything(recipe: RecipeRequest, secrets: Vec<String>) -> Self {
        Self {
            recipe,
            choices: PlanOptions {
                secrets,
                ..PlanOptions::default()
            },
            lock: None,
            rules: Vec::new(),
        }
    }
}

/// How a plan is executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct RunRequest {
    /// Approved privileges.
    pub allow: Vec<String>,
    /// The sampling interval.
    pub telemetry: Interval,
    /// Run despite unmet requirements.
    pub force: bool,
    /// Fail instead of waiting for GPUs.
    pub no_wait: bool,
    /// Judge performance without accuracy as inconclusive.
    pub require_accuracy: bool,
    /// Verify every byte of cached directories.
    pub verify_cache: bool,
}
