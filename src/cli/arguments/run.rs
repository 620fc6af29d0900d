//! Arguments of `run` and `plan`: a recipe, the options of its plan, and the options of its execution.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::{mode, name_and_value};
use crate::app::options::{PlanRequest, RecipeRequest, RunRequest};
use crate::plan::PlanOptions;
use crate::plan::options::{Keep, PullPolicy};
use crate::telemetry::rate::Interval;
use retrial_recipe::model::Mode;

/// A recipe and its settings.
#[derive(Debug, Clone, Args)]
pub struct RecipeArguments {
    /// A built-in name (`retrial list`) or a path (./mine.yaml, ./directory)
    pub recipe: String,
    /// Select a variant or set a parameter
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub settings: Vec<(String, String)>,
}

/// Options that `plan` and `run` share.
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    /// The recipe.
    #[command(flatten)]
    pub recipe: RecipeArguments,
    /// Run only these scenarios
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    pub scenario: Vec<String>,
    /// Run only these modes
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = mode)]
    pub mode: Vec<Mode>,
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
    #[arg(long, value_enum, default_value_t = Keep::Never)]
    pub keep: Keep,
    /// Pull the image before the run
    #[arg(long, value_enum, default_value_t = PullPolicy::Missing)]
    pub pull: PullPolicy,
    /// Use this lock file instead of the recipe's own, or none (`none`)
    #[arg(long, value_name = "FILE")]
    pub lock: Option<String>,
    /// Add the rules of a round from this file, replacing a built-in round of that name
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Pass this environment variable to the recipe as a secret (`HF_TOKEN` is always allowed)
    #[arg(long = "secret", value_name = "NAME")]
    pub secrets: Vec<String>,
}

impl RecipeArguments {
    /// The recipe that is asked for.
    pub fn request(&self) -> RecipeRequest {
        RecipeRequest {
            recipe: self.recipe.clone(),
            settings: self.settings.clone(),
        }
    }
}

impl PlanArguments {
    /// The plan that is asked for.
    pub fn request(&self) -> PlanRequest {
        PlanRequest {
            recipe: self.recipe.request(),
            choices: PlanOptions {
                scenarios: self.scenario.clone(),
                modes: self.mode.clone(),
                trials: self.trials,
                gpus: self.gpus.clone(),
                least_privilege: self.least_privilege,
                skip: self.skip.clone(),
                from: self.from.clone(),
                keep: self.keep,
                pull: self.pull,
                secrets: self.secrets.clone(),
            },
            lock: self.lock.clone(),
            rules: self.rules.clone(),
        }
    }
}

/// Options of execution.
#[derive(Debug, Clone, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct RunArguments {
    /// Print the plan and exit, as `retrial plan` does
    #[arg(long)]
    pub dry_run: bool,
    /// Run in the background and print the run's id
    #[arg(long)]
    pub detach: bool,
    /// Approve a root-equivalent privilege that the recipe needs (`retrial show` lists them)
    #[arg(long, value_name = "PRIVILEGE", value_delimiter = ',', action = ArgAction::Append)]
    pub allow: Vec<String>,
    /// Sample GPUs and container at this interval during measurements: 500ms, 1s, off
    #[arg(long, value_name = "INTERVAL", default_value = "1s", value_parser = Interval::read)]
    pub telemetry: Interval,
    /// Run even if the host does not meet the recipe's requirements
    #[arg(long)]
    pub force: bool,
    /// Exit with 3 instead of waiting for GPUs that another run uses
    #[arg(long)]
    pub no_wait: bool,
    /// Judge performance without accuracy as inconclusive (exit code 5)
    #[arg(long)]
    pub require_accuracy: bool,
    /// Verify every byte of cached directories before use
    #[arg(long)]
    pub verify_cache: bool,
}

impl RunArguments {
    /// The execution that is asked for.
    pub fn request(&self) -> RunRequest {
        RunRequest {
            allow: self.allow.clone(),
            telemetry: self.telemetry,
            force: self.force,
            no_wait: self.no_wait,
            require_accuracy: self.require_accuracy,
            verify_cache: self.verify_cache,
        }
    }
}
