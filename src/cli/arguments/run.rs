//! Arguments of `run` and `plan`: a recipe, the choices that change its plan, and how to go about it.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::{mode, name_and_value};
use crate::plan::choices::{Keep, PullPolicy};
use crate::recipe::model::Mode;
use crate::telemetry::rate::Interval;

/// A recipe and the choices that change it.
#[derive(Debug, Clone, Args)]
pub struct RecipeArguments {
    /// A built-in name (`retrial list`) or a path (./mine.yaml, ./directory)
    pub recipe: String,
    /// Choose a variant or set a parameter
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub settings: Vec<(String, String)>,
}

/// The choices that `plan` and `run` share.
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    /// The recipe.
    #[command(flatten)]
    pub recipe: RecipeArguments,
    /// Only these scenarios
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    pub scenario: Vec<String>,
    /// Only these modes
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = mode)]
    pub mode: Vec<Mode>,
    /// Repetitions of each performance measurement
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub trials: Option<u32>,
    /// Only these GPUs: index (0,2 or 0-3), GPU-… or PCI address
    #[arg(long, value_name = "GPU", value_delimiter = ',')]
    pub gpus: Vec<String>,
    /// Take away what is as good as root on the host (privileged, `SYS_ADMIN`, /dev/mem) and no GPU needs
    #[arg(long)]
    pub least_privilege: bool,
    /// Leave a step out, by name or number
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Begin with this step
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,
    /// Whether the container is kept at the end
    #[arg(long, value_enum, default_value_t = Keep::Never)]
    pub keep: Keep,
    /// When the image is pulled
    #[arg(long, value_enum, default_value_t = PullPolicy::Missing)]
    pub pull: PullPolicy,
    /// Follow this lock in place of the recipe's own; `none`: follow none
    #[arg(long, value_name = "FILE")]
    pub lock: Option<String>,
    /// The rules of a further round, or other ones in place of a built-in round's
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Let the recipe have this environment variable as a secret (`HF_TOKEN` needs no asking)
    #[arg(long = "secret", value_name = "NAME")]
    pub secrets: Vec<String>,
}

impl PlanArguments {
    /// Everything that a recipe has, as it stands.
    pub fn everything(recipe: RecipeArguments, secrets: Vec<String>) -> Self {
        Self {
            recipe,
            scenario: Vec::new(),
            mode: Vec::new(),
            trials: None,
            gpus: Vec::new(),
            least_privilege: false,
            skip: Vec::new(),
            from: None,
            keep: Keep::default(),
            pull: PullPolicy::default(),
            lock: None,
            rules: Vec::new(),
            secrets,
        }
    }
}

/// How `run` goes about it.
#[derive(Debug, Clone, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct RunArguments {
    /// The same as `retrial plan`
    #[arg(long)]
    pub dry_run: bool,
    /// Go on in the background
    #[arg(long)]
    pub detach: bool,
    /// Allow a root-equivalent power that the recipe asks for (`retrial show` lists them)
    #[arg(long, value_name = "POWER", value_delimiter = ',', action = ArgAction::Append)]
    pub allow: Vec<String>,
    /// How often to look at GPUs and container while something is measured, for telemetry.csv: 500ms, 1s, off
    #[arg(long, value_name = "PAUSE", default_value = "1s", value_parser = Interval::read)]
    pub telemetry: Interval,
    /// Run although the host is not what the recipe asks for
    #[arg(long)]
    pub force: bool,
    /// Do not wait for GPUs that another run uses: exit code 3
    #[arg(long)]
    pub no_wait: bool,
    /// Performance without accuracy is inconclusive (exit code 5)
    #[arg(long)]
    pub require_accuracy: bool,
    /// Look through kept directories byte by byte before they are used
    #[arg(long)]
    pub verify_kept: bool,
}
