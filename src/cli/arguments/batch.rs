//! What `batch` adds to what `run` can be told.

use clap::Args;

use super::{PlanArguments, RunArguments, name_and_value};
use crate::batch::{OnFailure, Order, PullAhead};

/// What is varied, and how a batch is gone about. What is given here stands over the batch's file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct MatrixArguments {
    /// An axis of the recipe's variants, or a param, and its values
    #[arg(long = "vary", value_name = "NAME=VALUE,…", value_parser = name_and_values)]
    pub vary: Vec<(String, Vec<String>)>,
    /// A combination that is left out: rocm=7.1.1,backend=rocm
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub exclude: Vec<String>,
    /// The values of the cells that others are compared with (else each axis's first)
    #[arg(long = "baseline", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub baseline: Vec<(String, String)>,
    /// A claim in words: 'rocm 7.1.1 is faster than 6.4.1'
    #[arg(long = "claim", value_name = "TEXT")]
    pub claims: Vec<String>,
    /// In which order trials are taken
    #[arg(long, value_enum)]
    pub order: Option<Order>,
    /// What a failed run means for the others
    #[arg(long, value_enum)]
    pub on_failure: Option<OnFailure>,
    /// How often a run is tried again after the host or its services failed
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub retries: Option<u32>,
    /// How many runs at once, each on GPUs of its own
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub parallel: Option<u32>,
    /// When images of later runs are pulled
    #[arg(long, value_enum)]
    pub pull_ahead: Option<PullAhead>,
}

/// What `batch` is told. Its recipe may be a batch's file.
#[derive(Debug, Clone, Args)]
pub struct BatchArguments {
    /// A batch's file or a recipe, and choices
    #[command(flatten)]
    pub plan: PlanArguments,
    /// What is varied, and how
    #[command(flatten)]
    pub matrix: MatrixArguments,
    /// How to run
    #[command(flatten)]
    pub run: RunArguments,
    /// Begin anew, even where the same batch was begun before and not ended
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
