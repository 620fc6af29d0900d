//! The options of the command line that change a plan.

use clap::Args;
use serde::{Deserialize, Serialize};

use retrial_recipe::model::Mode;

/// Options that `plan`, `run` and `batch` share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args, Serialize, Deserialize)]
pub struct PlanOptions {
    /// Run only these scenarios
    #[arg(long = "scenario", value_name = "SCENARIO", value_delimiter = ',')]
    pub scenarios: Vec<String>,
    /// Run only these modes
    #[arg(long = "mode", value_name = "MODE", value_delimiter = ',', value_parser = mode)]
    pub modes: Vec<Mode>,
    /// Repeat each performance measurement COUNT times
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub trials: Option<u32>,
    /// Use only these GPUs: index (0,2 or 0-3), GPU-… or PCI address
    #[arg(long, value_name = "GPU", value_delimiter = ',')]
    pub gpus: Vec<String>,
    /// Remove root-equivalent privileges that no GPU needs (privileged, `SYS_ADMIN`, /dev/mem)
    #[arg(long)]
    pub least_privilege: bool,
    /// Skip a step, by name or number
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Start with this step
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,
    /// Keep the container after the run
    #[arg(long, value_enum, default_value_t)]
    pub keep: Keep,
    /// Pull the image before the run
    #[arg(long, value_enum, default_value_t)]
    pub pull: PullPolicy,
    /// Pass this environment variable to the recipe as a secret (`HF_TOKEN` is always allowed)
    #[arg(long = "secret", value_name = "NAME")]
    pub secrets: Vec<String>,
}

/// When to keep the container at the end of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Remove it
    #[default]
    Never,
    /// Keep it if a step failed
    OnFailure,
    /// Keep it
    Always,
}

/// When to pull an image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PullPolicy {
    /// Even if the engine has it
    Always,
    /// Unless the engine has it, by digest if the recipe has one, else by name
    #[default]
    Missing,
    /// Never; a missing image is an error
    Never,
}

/// Parses `NAME=VALUE`, as `--set` takes it.
///
/// # Errors
/// Where there is no name or no `=`.
pub fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn mode(text: &str) -> Result<Mode, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "expected performance, accuracy or compliance".to_owned())
}
