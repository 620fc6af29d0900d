//! Arguments of `batch`, in addition to those of `run`.

use clap::Args;

use super::{PlanArguments, RunArguments, name_and_value};
use crate::batch::{CliOverrides, OnFailure, Order, PullAhead};

/// The cells of a batch and how to run them. These options override the batch's file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct MatrixArguments {
    /// Vary an axis of the recipe's variants, or a param, over these values
    #[arg(long = "vary", value_name = "NAME=VALUE,…", value_parser = name_and_values)]
    pub vary: Vec<(String, Vec<String>)>,
    /// Skip a combination of values: rocm=7.1.1,backend=rocm
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub exclude: Vec<String>,
    /// Compare with the cells that have this value (default: the first value of each axis)
    #[arg(long = "baseline", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub baseline: Vec<(String, String)>,
    /// Judge a claim: 'rocm 7.1.1 is faster than 6.4.1'
    #[arg(long = "claim", value_name = "TEXT")]
    pub claims: Vec<String>,
    /// Run trials in this order (default: interleaved)
    #[arg(long, value_enum)]
    pub order: Option<Order>,
    /// Continue or stop after a failed run (default: keep-going)
    #[arg(long, value_enum)]
    pub on_failure: Option<OnFailure>,
    /// Retry a run up to COUNT times after failures of the host or its services (default: 1)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub retries: Option<u32>,
    /// Execute COUNT runs at a time, each on its own GPUs (default: 1)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub parallel: Option<u32>,
    /// Pull images of later runs ahead (default: between)
    #[arg(long, value_enum)]
    pub pull_ahead: Option<PullAhead>,
}

impl MatrixArguments {
    /// The options of a batch that the command line overrides.
    pub fn overrides(&self, plan: &PlanArguments) -> CliOverrides {
        let pairs = |all: &[(String, String)]| -> Option<String> {
            let all: Vec<String> = all
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            (!all.is_empty()).then(|| all.join(","))
        };
        CliOverrides {
            vary: self
                .vary
                .iter()
                .map(|(name, values)| format!("{name}={}", values.join(",")))
                .collect(),
            exclude: self.exclude.clone(),
            set: plan.recipe.settings.clone(),
            scenarios: plan.scenario.clone(),
            modes: plan.mode.clone(),
            baseline: pairs(&self.baseline),
            claims: self.claims.clone(),
            trials: plan.trials,
            order: self.order,
            on_failure: self.on_failure,
            retries: self.retries,
            parallel: self.parallel,
            pull_ahead: self.pull_ahead,
            gpus: plan.gpus.clone(),
        }
    }
}

/// Arguments of `batch`. Its recipe may be a batch's file.
#[derive(Debug, Clone, Args)]
pub struct BatchArguments {
    /// A batch's file or a recipe, and options of its plan.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// The cells and how to run them.
    #[command(flatten)]
    pub matrix: MatrixArguments,
    /// Options of execution.
    #[command(flatten)]
    pub run: RunArguments,
    /// Start a new batch, even if the same one is unfinished
    #[arg(long)]
    pub new: bool,
}

fn name_and_values(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = name_and_value(text).map_err(|_| "expected NAME=VALUE,VALUE,…")?;
    let values = values.split(',').map(|value| value.trim().to_owned());
    let values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
    if values.is_empty() {
        return Err("expected NAME=VALUE,VALUE,…".to_owned());
    }
    Ok((name, values))
}
