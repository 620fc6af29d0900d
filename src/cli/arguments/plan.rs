//! Arguments of `plan`.

use clap::{Args, ValueEnum};

use crate::app::options::PlanRequest;
use retrial_batch::CliOverrides;

/// Which run or batch is planned, for which host, and in which format.
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    /// The recipe and its settings.
    #[command(flatten)]
    pub plan: PlanRequest,
    /// Options of a batch.
    #[command(flatten)]
    pub matrix: CliOverrides,
    /// Set the format of the plan
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub format: PlanFormat,
    /// Plan for a node of this site (`retrial sites` lists them)
    #[arg(long, value_name = "NAME")]
    pub site: Option<String>,
}

/// The format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Text for a terminal
    Text,
    /// A script of docker commands that does what `run` does
    Shell,
    /// The guide, as it will run here: requirements, deviations, each step's commands, published figures
    Markdown,
    /// JSON for programs
    Json,
    /// The script of the job that `run --site` or `batch --site` submits
    Sbatch,
}
