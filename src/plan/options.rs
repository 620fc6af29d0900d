//! What a person chose on the command line, as far as it changes the plan.

use serde::{Deserialize, Serialize};

use retrial_recipe::model::Mode;

/// The choices that `plan`, `run` and `batch` share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOptions {
    /// Only these scenarios; all if empty.
    pub scenarios: Vec<String>,
    /// Only these modes; all if empty.
    pub modes: Vec<Mode>,
    /// Trials of each performance measurement, in place of the recipe's.
    pub trials: Option<u32>,
    /// GPUs by index, id or PCI address.
    pub gpus: Vec<String>,
    /// Take away what is as good as root on the host.
    pub least_privilege: bool,
    /// Steps to leave out, by name.
    pub skip: Vec<String>,
    /// The first step to do, by name; those before it are left out.
    pub from: Option<String>,
    /// Whether the container is kept at the end.
    pub keep: Keep,
    /// When to pull an image.
    pub pull: PullPolicy,
    /// Secrets that steps may name besides `HF_TOKEN`.
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
