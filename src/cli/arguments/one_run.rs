//! Arguments of the commands on one run: `resume`, `logs`, `shell` and `clean`.

use clap::Args;

use crate::app::clean::containers::CleanScope;

/// Which run or batch is resumed, and how.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct ResumeArguments {
    /// The id of a run or a batch, a part of it, `last` or `last~1`
    pub run: String,
    /// Run this check again, by its step's name or number, on the results that were collected; measure
    /// nothing again
    #[arg(long, value_name = "CHECK")]
    pub from: Option<String>,
    /// Judge performance without accuracy as inconclusive (exit code 5)
    #[arg(long)]
    pub require_accuracy: bool,
    /// Execute this shell command at the end, with the verdict as JSON on its standard input
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Continue in the background and print the id
    #[arg(long, conflicts_with_all = ["require_accuracy", "notify"])]
    pub detach: bool,
    /// Run as the background process that `run --detach` starts.
    #[arg(long, hide = true)]
    pub in_background: bool,
    /// Run in the job that `run --site` submits, on the first of its nodes.
    #[arg(long, hide = true)]
    pub in_job: bool,
    /// The array of the batch that the job is a task of.
    #[arg(long, hide = true, requires = "in_job")]
    pub array: Option<usize>,
}

/// Which output is printed.
#[derive(Debug, Clone, Args)]
pub struct LogsArguments {
    /// A run's id, a part of it, `last` or `last~1`
    pub run: String,
    /// Print the output of this machine of the run, instead of the head's
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Print only this step, by name or number
    pub step: Option<String>,
    /// Follow the output until the run ends
    #[arg(short, long)]
    pub follow: bool,
    /// Print the bytes as the step wrote them, with colours and control characters
    #[arg(long)]
    pub raw: bool,
}

/// Which container is entered, and the command that is run in it.
#[derive(Debug, Clone, Args)]
pub struct ShellArguments {
    /// A run's id, a part of it, `last` or `last~1`
    pub run: String,
    /// Open it on this machine of the run, instead of the head
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Run this command instead of bash or sh
    #[arg(last = true)]
    pub command: Vec<String>,
}

/// Which containers, or which cached directory, are removed.
#[derive(Debug, Clone, Args)]
pub struct CleanArguments {
    /// Remove only this run's container
    pub run: Option<String>,
    /// Which containers are removed.
    #[command(flatten)]
    pub extent: CleanScope,
    /// Remove this cached directory instead of containers; without KEY, list cached directories
    /// and their sizes
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = "", conflicts_with = "run")]
    pub cached: Option<String>,
}
