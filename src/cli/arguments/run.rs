//! Arguments of `run`, `batch` and `bisect`.

use clap::Args;

use crate::app::batch::bisect::SearchRequest;
use crate::app::failure::Failure;
use crate::app::options::{PlanRequest, RunRequest};
use retrial_batch::CliOverrides;
use retrial_cluster::nodes::allocation::{NodeAllocation, parse_nodes_option};

/// How `run` and `batch` execute a plan.
#[derive(Debug, Clone, Args)]
pub struct ExecutionArguments {
    /// Print the plan and exit, as `retrial plan` does
    #[arg(long)]
    pub dry_run: bool,
    /// Run in the background and print the run's id
    #[arg(long)]
    pub detach: bool,
    /// Execute this shell command at the end, with the verdict as JSON on its standard input
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// How the plan is executed.
    #[command(flatten)]
    pub request: RunRequest,
}

impl ExecutionArguments {
    /// Refuses `--notify` where no process waits for the end: that of a job which is only submitted.
    pub fn require_follower_to_notify(&self, on_site: bool) -> Result<(), Failure> {
        if !on_site || !self.detach || self.notify.is_none() {
            return Ok(());
        }
        let problem = "--notify with --site and --detach: no process waits for the job";
        Err(Failure::usage(problem).with_help("leave out --detach, or add `options: [--mail-type=END]` to the site, so that Slurm sends mail"))
    }
}

/// Arguments of `batch`. Its recipe may be a batch's file.
#[derive(Debug, Clone, Args)]
pub struct BatchArguments {
    /// A batch's file or a recipe, and options of its plan.
    #[command(flatten)]
    pub plan: PlanRequest,
    /// The cells and how to run them.
    #[command(flatten)]
    pub matrix: CliOverrides,
    /// How the plan is executed.
    #[command(flatten)]
    pub run: ExecutionArguments,
    /// Submit it to this site as arrays of jobs (`retrial sites` lists them), and follow it
    #[arg(long, value_name = "NAME")]
    pub site: Option<String>,
    /// Start a new batch, even if the same one is unfinished
    #[arg(long)]
    pub new: bool,
}

/// Which recipe is searched, for which change, and how its runs are executed.
#[derive(Debug, Clone, Args)]
pub struct BisectArguments {
    /// A recipe, and options of its plan.
    #[command(flatten)]
    pub plan: PlanRequest,
    /// The axis, its values, and the criterion of the search.
    #[command(flatten)]
    pub search: SearchRequest,
    /// How the plan is executed.
    #[command(flatten)]
    pub run: ExecutionArguments,
    /// Start a new search, even if the same one is unfinished
    #[arg(long)]
    pub new: bool,
}

/// Which recipe is run, where, and how it is executed.
#[derive(Debug, Clone, Args)]
pub struct RunArguments {
    /// The recipe and its settings.
    #[command(flatten)]
    pub plan: PlanRequest,
    /// Run on these machines, too: ssh:n2,n3. This one is the head; all share the home
    #[arg(long, value_name = "ssh:NODE,…", value_parser = parse_nodes_option)]
    pub nodes: Option<NodeAllocation>,
    /// How the plan is executed.
    #[command(flatten)]
    pub run: ExecutionArguments,
    /// Submit it as a job of this site (`retrial sites` lists them), and follow it
    #[arg(long, value_name = "NAME")]
    pub site: Option<String>,
    /// Ask for the privileges of a built-in recipe, too, if --set or --image change more than its variant: for programs
    /// that pass on the settings of others
    #[arg(long)]
    pub untrusted_settings: bool,
}
