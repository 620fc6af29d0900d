//! The arguments of the command line. Help texts and completions derive from the doc comments here.

mod doctor;
mod run;
mod runs;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub use doctor::DoctorArguments;
pub use run::{BatchArguments, BisectArguments, RunArguments};
pub use runs::{RemoveOptions, RunsArguments, RunsCommand};

use super::resume::Process;
use crate::app::clean::containers::Extent;
use crate::app::nodes::{self, Allocation};
use crate::app::options::{
    CompareRequest, GlobalOptions, JudgeRequest, PlanRequest, RecipeRequest, ReportRequest,
    VerifyRequest,
};
use crate::app::published::ImportRequest;
use crate::app::recipes::RecipeFilter;
use crate::batch::CliOverrides;
use crate::export::ExportRequest;

const EXIT_CODES: &str = "\
Exit codes, the first that applies:
  130  interrupted
  2    the command line or a recipe is wrong, or an approval is missing
  3    the host or its services failed (engine, registry, hub, disk, GPUs)
  4    a benchmark's own command failed or timed out
  1    judged and not reproduced, or invalid
  5    inconclusive
  0    reproduced (or measured, where nothing was published)";

const BISECT_EXIT_CODES: &str = "\
Exit codes: 0 if the two neighbours were found; 1 if the first and the last value do not differ;
5 if the trials do not decide; 130, 2 and 3 as in other commands.";

const EXPORT_EXIT_CODES: &str = "\
Exit codes: 0 if the tree is complete; 5 if it was written, but something is missing for acceptance;
1 if it was written, but a result violates a rule; 2 and 3 as in other commands, and nothing was written.";

const VERIFY_EXIT_CODES: &str = "\
Exit codes: 1 if a sum, the signature, the signer or the verdict differs; else as judge exits:
0 reproduced (or measured), 1 not reproduced or invalid, 4 failed, 5 inconclusive.
2 if it is no archive of one run, and 3 as in other commands.";

/// Re-runs a vendor's benchmark submission in the vendor's own container and says whether the
/// published figure holds on this machine.
#[derive(Debug, Parser)]
#[command(name = "retrial", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub global: GlobalOptions,
}

impl Arguments {
    /// Reads the command line of this process.
    ///
    /// # Errors
    /// What clap says of it.
    pub fn read() -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches()?;
        let mut arguments = Self::from_arg_matches(&matches)?;
        arguments.global.output_was_said =
            matches.value_source("output") == Some(ValueSource::CommandLine);
        Ok(arguments)
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List recipes, or the published results of which `new` makes recipes
    List {
        /// What is listed.
        #[command(flatten)]
        filter: RecipeFilter,
        /// List the results of this submission tree of MLPerf Inference
        #[arg(long, value_name = "TREE")]
        results: Option<PathBuf>,
    },
    /// Print docs/recipes.md, the page of all recipes
    #[command(hide = true)]
    Catalogue,
    /// Show a recipe: published figures, requirements, privileges
    Show {
        /// The recipe and its settings.
        #[command(flatten)]
        recipe: RecipeRequest,
        /// Show the resolved recipe with the source of each value
        #[arg(long)]
        resolved: bool,
    },
    /// Validate recipes, templates, batches, sites and rules, and report every problem
    Check {
        /// Recipes (built-in names, files or directories), templates, batches, sites and rules
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Print the steps of a run without executing them, or the cells of a batch
    Plan {
        /// The recipe and its settings.
        #[command(flatten)]
        plan: PlanRequest,
        /// Options of a batch.
        #[command(flatten)]
        matrix: CliOverrides,
        /// Set the format of the plan
        #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
        format: PlanFormat,
        /// Plan for a node of this site (`retrial sites` lists them)
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
    },
    /// Run a recipe and judge the results
    Run {
        /// The recipe and its settings.
        #[command(flatten)]
        plan: PlanRequest,
        /// Run on these machines, too: ssh:n2,n3. This one is the head; all share the home
        #[arg(long, value_name = "ssh:NODE,…", value_parser = nodes::parse)]
        nodes: Option<Allocation>,
        /// Options of execution.
        #[command(flatten)]
        run: RunArguments,
        /// Submit it as a job of this site (`retrial sites` lists them), and follow it
        #[arg(long, value_name = "NAME")]
        site: Option<String>,
    },
    /// Run a recipe with several variants or parameters, compare the results, and judge claims
    #[command(mut_arg("recipe", |recipe| recipe
        .value_name("FILE|RECIPE")
        .help("A batch's file, or a recipe for --vary: a built-in name or a path")))]
    Batch(BatchArguments),
    /// Search the release, or another value of an axis, at which a figure changed
    #[command(after_help = BISECT_EXIT_CODES)]
    Bisect(Box<BisectArguments>),
    /// Resume a run or a batch that was interrupted, killed or detached
    Resume {
        /// A run's id, a part of it, or `last`; or a batch's id
        run: String,
        /// Run this check again, by its step's name or number, on the results that were collected; measure
        /// nothing again
        #[arg(long, value_name = "CHECK")]
        from: Option<String>,
        /// Judge performance without accuracy as inconclusive (exit code 5)
        #[arg(long)]
        require_accuracy: bool,
        /// Which process this is.
        #[command(flatten)]
        process: Process,
    },
    /// Print the output of a run's steps
    Logs {
        /// A run's id, a part of it, or `last`
        run: String,
        /// Print the output of this machine of the run, instead of the head's
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Print only this step, by name or number
        step: Option<String>,
        /// Follow the output until the run ends
        #[arg(short, long)]
        follow: bool,
        /// Print the bytes as the step wrote them, with colours and control characters
        #[arg(long)]
        raw: bool,
    },
    /// Execute on this machine what the head of a run orders over standard input
    #[command(hide = true)]
    Node {
        /// The run's directory
        run: PathBuf,
        /// The name of this machine in the run
        name: String,
    },
    /// Stop a run or a batch, remove its container, and keep its evidence
    Stop {
        /// A run's id, a part of it, or `last`; or a batch's id
        run: String,
    },
    /// Open a shell in a run's container
    Shell {
        /// A run's id, a part of it, or `last`
        run: String,
        /// Open it on this machine of the run, instead of the head
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Run this command instead of bash or sh
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Judge existing results; needs no engine
    Judge(JudgeRequest),
    /// Verify a run's archive that somebody else packed, and judge its logs again
    #[command(after_help = VERIFY_EXIT_CODES)]
    Verify(VerifyRequest),
    /// Compare runs or folders of results, and show how their environments differ
    Compare(CompareRequest),
    /// Write a report with verdicts, charts, tables, environment and logs
    Report(ReportRequest),
    /// Export runs as a submission tree in MLCommons' layout
    #[command(after_help = EXPORT_EXIT_CODES)]
    Export(ExportArguments),
    /// Check whether this host is ready, in general or for a recipe; changes nothing
    Doctor(DoctorArguments),
    /// Check this machine for the plan in a directory that several machines share
    #[command(hide = true)]
    Examine {
        /// The directory
        directory: PathBuf,
        /// The name of this machine
        name: Option<String>,
    },
    /// List runs, remove them, or move them between machines
    Runs(Box<RunsArguments>),
    /// List the sites: clusters on which `run --site` and `batch --site` start runs
    Sites,
    /// Create a recipe, from scratch, from a `docker run` command line or from published results
    New {
        /// The file to create, ending in .yaml, or a directory
        name: PathBuf,
        /// The published result.
        #[command(flatten)]
        results: ImportRequest,
        /// Convert a vendor's command line: 'docker run …', a file with it, or - for standard input
        #[arg(long, value_name = "COMMAND|FILE|-", conflicts_with = "from_results")]
        from: Option<String>,
    },
    /// Write a lock file with the image digests and model commits of a recipe
    Lock(LockArguments),
    /// Remove this user's containers of runs; never touches containers without Retrial's label
    Clean {
        /// Remove only this run's container
        run: Option<String>,
        /// Which containers.
        #[command(flatten)]
        extent: Extent,
        /// Remove this cached directory instead of containers; without KEY, list cached directories
        /// and their sizes
        #[arg(long, value_name = "KEY", num_args = 0..=1, conflicts_with = "run")]
        #[expect(clippy::option_option, reason = "the option has an optional value")]
        cached: Option<Option<String>>,
    },
    /// Print the JSON schema of recipes, or of an output of `--output json`
    Schema {
        /// The subject of the schema
        #[arg(value_enum, default_value_t = SchemaOf::Recipe)]
        of: SchemaOf,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Arguments of `lock`.
#[derive(Debug, Clone, Args)]
pub struct LockArguments {
    /// A built-in name (`retrial list`) or a path (./mine.yaml, ./directory)
    pub recipe: String,
    /// Write to this file (default: `mine.lock.yaml` next to ./mine.yaml, or a file in the home for
    /// a built-in recipe)
    #[arg(short = 'o', long = "to", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Compare with the registry and the hub instead of writing; exit with 1 if the lock is out of
    /// date
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArguments {
    /// Runs, one for each scenario or one for all: ids, parts of them, or `last`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Use the layout and the rules of this round: v6.0, v5.1, …
    #[arg(long, value_name = "ROUND")]
    pub layout: String,
    /// Write to this directory, new or empty
    #[arg(long, value_name = "DIR", default_value = "submission")]
    pub to: PathBuf,
    /// Write into a directory with files, replacing files of the same name
    #[arg(long)]
    pub replace: bool,
    /// What the tree says of the submission.
    #[command(flatten)]
    pub request: ExportRequest,
    /// Read information that is in no run (cooling, data types, …) from a YAML or JSON file with
    /// MLCommons' fields
    #[arg(long, value_name = "FILE")]
    pub system_info: Option<PathBuf>,
}

/// The subjects of `schema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Recipes and templates
    Recipe,
    /// The verdict: verdict.json, and `run` and `judge` with --output json
    Verdict,
    /// A comparison: `compare --output json`
    Comparison,
    /// A report on runs and folders of results: `report --output json`
    Report,
    /// Comparisons over the history: `compare --by AXIS --output json`
    Comparisons,
    /// Verdicts on a submission tree: `judge --output json`
    Tree,
    /// Batches
    Batch,
    /// The verdict on a batch: its verdict.json, and `batch` with --output json
    BatchVerdict,
    /// What `verify` finds: `verify --output json`
    Verification,
    /// Sites
    Site,
}

/// The format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Text for a terminal
    Text,
    /// A script of docker commands that does what `run` does
    Shell,
    /// JSON for programs
    Json,
    /// The script of the job that `run --site` or `batch --site` submits
    Sbatch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn paths_that_another_process_reads_are_absolute() {
        let line = "retrial run r --home h --cache c --root t --rules u --lock l";
        let arguments = Arguments::try_parse_from(line.split(' ')).unwrap();
        let Command::Run { plan, .. } = arguments.command else {
            panic!("{:?}", arguments.command)
        };
        let at = |name: &str| std::env::current_dir().unwrap().join(name);
        let global = arguments.global;
        assert_eq!(global.home.root(), at("h"));
        assert_eq!((global.cache, global.root), (at("c"), at("t")));
        assert_eq!(plan.files.rules, [at("u")]);
        assert_eq!(plan.files.lock, at("l").to_str().map(str::to_owned));
    }
}
