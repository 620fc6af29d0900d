//! What can be typed. The words of docs and completions come from here.

mod batch;
mod results;
mod run;
mod runs;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub use batch::{BatchArguments, MatrixArguments};
pub use results::{CompareArguments, ExportArguments, JudgeArguments, ReportArguments};
pub use run::{PlanArguments, RecipeArguments, RunArguments};
pub use runs::{RunFilter, RunsArguments, RunsCommand};

use crate::recipe::model::Mode;

const EXIT_CODES: &str = "\
Exit codes, the first that applies:
  130  interrupted
  2    the command line or a recipe is wrong, or trust was not given
  3    the host or its services failed (engine, registry, hub, disk, GPUs)
  4    a benchmark's own command failed or timed out
  1    judged and not reproduced, or invalid
  5    inconclusive
  0    reproduced (or measured, where nothing was published)";

const EXPORT_EXIT_CODES: &str = "\
Exit codes: 0 the tree is complete; 5 it is written, and something is missing for acceptance;
1 it is written, and a result in it breaks a rule; 2 and 3 as always, and nothing is written.";

/// Re-runs a vendor's benchmark submission in the vendor's own container and says whether the
/// published figure holds on this machine.
#[derive(Debug, Parser)]
#[command(name = "retrial", version, after_help = EXIT_CODES, max_term_width = 100, disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// For every command.
    #[command(flatten)]
    pub global: Global,
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

/// Choices of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The engine, `unix:///path` or `tcp://host:port` (else `DOCKER_HOST`, the current Docker context,
    /// the default socket)
    #[arg(long, global = true, value_name = "URL")]
    pub engine: Option<String>,
    /// Where runs are kept (else `$XDG_DATA_HOME/retrial`)
    #[arg(long, global = true, value_name = "DIR", env = "RETRIAL_HOME")]
    pub home: Option<PathBuf>,
    /// Where datasets and other directories that recipes keep lie (else `$XDG_CACHE_HOME/retrial`)
    #[arg(long, global = true, value_name = "DIR", env = "RETRIAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// The form of the result on standard output
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    pub output: Output,
    /// Whether that was said: a report is a page where it was not
    #[arg(skip)]
    pub output_was_said: bool,
    /// Only the result and what went wrong
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Every line of the steps' output
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Read the host's GPUs and settings behind this directory, in place of /
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "/",
        hide_default_value = true
    )]
    pub root: PathBuf,
}

/// Which recipes: each may be given several times, in any case; what is unknown is told with what there is.
#[derive(Debug, Clone, Default, Args)]
pub struct ListFilter {
    /// Of this suite
    #[arg(long, value_name = "SUITE")]
    pub suite: Vec<String>,
    /// Of this round
    #[arg(long, value_name = "ROUND")]
    pub round: Vec<String>,
    /// For this GPU, with the variant for it
    #[arg(long, value_name = "MODEL")]
    pub gpu: Vec<String>,
    /// Of this submitter
    #[arg(long, value_name = "NAME")]
    pub submitter: Vec<String>,
    /// Of this benchmark
    #[arg(long, value_name = "NAME")]
    pub benchmark: Vec<String>,
}

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For CI: a test suite for each scenario and mode (verdicts and comparisons).
    Junit,
    /// For a CI job's summary (verdicts and comparisons).
    Markdown,
    /// For a browser: one page that needs nothing else (reports).
    Html,
    /// For a table: a row for each figure of each trial (reports).
    Csv,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The recipes there are
    List {
        /// Only names and titles with this in them
        #[arg(value_name = "PART")]
        part: Option<String>,
        /// Which of them
        #[command(flatten)]
        filter: ListFilter,
    },
    /// The page of all recipes, docs/recipes.md
    #[command(hide = true)]
    Catalogue,
    /// What a recipe is, what was published, what it asks of the host and of your trust
    Show {
        /// The recipe, and choices
        #[command(flatten)]
        recipe: RecipeArguments,
        /// The resolved recipe, and where each value came from
        #[arg(long)]
        resolved: bool,
    },
    /// Validate recipes, templates and batches: every problem at once
    Check {
        /// Recipes (built-in names, files or directories), templates and batches
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// The exact steps, changing nothing; of a batch's file, or with --vary, its cells
    Plan {
        /// The recipe, and choices
        #[command(flatten)]
        plan: PlanArguments,
        /// Of a batch: what is varied, and how
        #[command(flatten)]
        matrix: MatrixArguments,
        /// The form: `shell` is a script of docker commands that does what `run` does
        #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
        format: PlanFormat,
    },
    /// Do it; ends in a verdict
    Run {
        /// The recipe, and choices
        #[command(flatten)]
        plan: PlanArguments,
        /// How to run
        #[command(flatten)]
        run: RunArguments,
    },
    /// Many runs over what is varied: a batch's file, or a recipe with --vary; ends in a verdict on
    /// cells and claims
    #[command(mut_arg("recipe", |recipe| recipe
        .value_name("FILE|RECIPE")
        .help("A batch's file, or a recipe to go with --vary: a built-in name or a path")))]
    Batch(BatchArguments),
    /// Go on with a run or a batch that was interrupted, killed or detached
    Resume {
        /// The run: its id, a part of it, or `last`; or a batch's id
        run: String,
        /// Performance without accuracy is inconclusive (exit code 5)
        #[arg(long)]
        require_accuracy: bool,
        /// A process of its own, away from any terminal: what `run --detach` starts
        #[arg(long, hide = true)]
        in_background: bool,
    },
    /// The output of a run's steps
    Logs {
        /// The run: its id, a part of it, or `last`
        run: String,
        /// Only this step, by name or number
        step: Option<String>,
        /// Follow the output until the run ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Stop a run or a batch: the benchmark is ended, its container removed, its evidence kept
    Stop {
        /// The run: its id, a part of it, or `last`; or a batch's id
        run: String,
    },
    /// A shell in a run's container
    Shell {
        /// The run: its id, a part of it, or `last`
        run: String,
        /// The command, in place of bash or sh
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// A verdict on results that are already there; needs no engine
    Judge {
        /// What, and by which rules
        #[command(flatten)]
        judge: JudgeArguments,
    },
    /// Runs and folders of results side by side: ratios with intervals, and what differs between
    /// the places
    Compare {
        /// What, and how
        #[command(flatten)]
        compare: CompareArguments,
    },
    /// One page with verdicts, charts, tables, environment and logs, or the same in other forms
    Report {
        /// Of what, and where to
        #[command(flatten)]
        report: ReportArguments,
    },
    /// A submission tree in MLCommons' layout, made of runs
    #[command(after_help = EXPORT_EXIT_CODES)]
    Export(ExportArguments),
    /// Is this host ready, and what would be wrong? Changes nothing
    Doctor {
        /// The recipe that is to be run on it
        recipe: Option<String>,
        /// Choose a variant of the recipe, or set a parameter
        #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value, requires = "recipe")]
        settings: Vec<(String, String)>,
        /// The GPUs that it is to run on: index (0,2 or 0-3), GPU-… or PCI address
        #[arg(long, value_name = "GPU", value_delimiter = ',', requires = "recipe")]
        gpus: Vec<String>,
    },
    /// The runs there are, newest last; remove some, take some to another machine
    Runs {
        /// Which, or what to do with them
        #[command(flatten)]
        runs: Box<RunsArguments>,
    },
    /// A recipe to start from
    New {
        /// A file's name, ending in .yaml, or a directory
        name: PathBuf,
        /// A vendor's command line: 'docker run …', a file of it, or - for standard input
        #[arg(long, value_name = "COMMAND|FILE|-")]
        from: Option<String>,
    },
    /// Pin image digests and model commits beside the recipe
    Lock {
        /// What, and where
        #[command(flatten)]
        lock: LockArguments,
    },
    /// Remove containers that runs left behind (only what carries our label)
    Clean {
        /// Only this run's
        run: Option<String>,
        /// Also those whose benchmark is still running, or whose results were not fetched
        #[arg(long)]
        all: bool,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
        /// A directory that recipes keep, in place of containers; without KEY: what is kept, and
        /// how large it is
        #[arg(long, value_name = "KEY", num_args = 0..=1, conflicts_with = "run")]
        #[expect(
            clippy::option_option,
            reason = "the option may stand alone, or with a key"
        )]
        kept: Option<Option<String>>,
    },
    /// A JSON schema: of recipes, for editors, or of what --output json prints
    Schema {
        /// Of what
        #[arg(value_enum, default_value_t = SchemaOf::Recipe)]
        of: SchemaOf,
    },
    /// Completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The manual page
    Man,
}

/// What `lock` locks.
#[derive(Debug, Clone, Args)]
pub struct LockArguments {
    /// A built-in name (`retrial list`) or a path (./mine.yaml, ./directory)
    pub recipe: String,
    /// The lock's file (else `mine.lock.yaml` beside ./mine.yaml, and below the home for a built-in one)
    #[arg(short = 'o', long = "to", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only say what differs from the lock; exit code 1 if something does
    #[arg(long)]
    pub check: bool,
}

/// What `schema` describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Recipes and templates.
    Recipe,
    /// A verdict: verdict.json, `run` and `judge` with --output json.
    Verdict,
    /// A comparison: `compare --output json`.
    Comparison,
    /// The comparisons of a history: `compare --by AXIS --output json`.
    Comparisons,
    /// Verdicts on a submission tree: `judge --output json`.
    Tree,
    /// Batches.
    Batch,
    /// The verdict on a batch: its verdict.json, `batch` with --output json.
    BatchVerdict,
}

/// The form of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    Text,
    /// A script of docker commands.
    Shell,
    /// For programs.
    Json,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "performance" => Ok(Mode::Performance),
        "accuracy" => Ok(Mode::Accuracy),
        "compliance" => Ok(Mode::Compliance),
        _ => Err("expected performance, accuracy or compliance".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
