//! The arguments of the command line. Help texts and completions derive from the doc comments here.

mod doctor;
mod file_output;
mod one_run;
mod plan;
mod run;
mod runs;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, Parser, Subcommand};

pub use doctor::DoctorArguments;
pub use file_output::{LockArguments, NewArguments, SchemaSubject};
pub use one_run::{CleanArguments, LogsArguments, ResumeArguments, ShellArguments};
pub use plan::{PlanArguments, PlanFormat};
pub use run::{BatchArguments, BisectArguments, ExecutionArguments, RunArguments};
pub use runs::{RemoveOptions, RunsArguments, RunsCommand};

use retrial_document::ErrorText;

use crate::app::options::{
    CompareRequest, GlobalOptions, JudgeRequest, RecipeRequest, ReportRequest, TreeRequest,
    VerifyRequest,
};
use crate::app::recipes::RecipeFilter;

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
Exit codes: 1 if a checksum, the signature, the signer or the verdict differs; else as judge exits:
0 reproduced (or measured), 1 not reproduced or invalid, 4 failed, 5 inconclusive.
Without --signers, the same of an unsigned archive: its integrity only was checked.
2 if it is not an archive of one run, and 3 as in other commands.";

/// Re-runs a vendor's benchmark submission in the vendor's own container and says whether the
/// published figure holds on this machine.
#[derive(Debug, Parser)]
#[command(name = "retrial", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Arguments {
    /// The subcommand, with its arguments.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub global: GlobalOptions,
}

impl Arguments {
    /// Reads the command line of this process; `command` is that of these arguments, with its texts.
    ///
    /// # Errors
    /// If clap refuses it.
    pub fn from_command_line(command: clap::Command) -> Result<(Self, ArgMatches), clap::Error> {
        let matches = command.try_get_matches()?;
        let mut arguments = Self::from_arg_matches(&matches)?;
        // A report is printed by its own format; others that have no such format refuse it.
        arguments.global.output = arguments.global.report_format.to_output().unwrap_or_default();
        arguments.global.is_output_given =
            matches.value_source("output") == Some(ValueSource::CommandLine);
        Ok((arguments, matches))
    }
}

/// Returns whether a command line that clap refuses asks for JSON.
pub fn asks_for_json() -> bool {
    let words: Vec<String> = std::env::args().collect();
    let is_pair = |pair: &[String]| pair[0] == "--output" && pair[1] == "json";
    words.iter().any(|word| word == "--output=json") || words.windows(2).any(is_pair)
}

/// Returns clap's refusal as an error: its first line, and its tips.
pub fn describe_refusal(error: &clap::Error) -> ErrorText {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let message = ErrorText::new(first.trim_start_matches("error: "));
    lines.fold(message, ErrorText::with_help)
}

/// The subcommands of `retrial`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List recipes, first those that this host can run, or results
    List {
        /// Which recipes or results are listed.
        #[command(flatten)]
        filter: RecipeFilter,
        /// List the results of this submission tree of MLPerf Inference
        #[arg(long, value_name = "TREE")]
        results: Option<PathBuf>,
        /// List figures that were published, without a filter those of this host's GPUs
        #[arg(long, conflicts_with = "results")]
        published: bool,
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
    /// Report every problem of recipes, batches, sites and rules
    Check {
        /// Recipes (built-in names, files or directories), templates, batches, sites and rules
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Print the steps of a run or the cells of a batch; change nothing
    Plan(Box<PlanArguments>),
    /// Run a recipe and judge the results
    Run(Box<RunArguments>),
    /// Run variants of a recipe, compare them, and judge claims
    #[command(mut_arg("recipe", |recipe| recipe
        .value_name("FILE|RECIPE")
        .help("A batch's file, or a recipe for --vary: a built-in name or a path")))]
    Batch(Box<BatchArguments>),
    /// Search the release, or another value, at which a figure changed
    #[command(after_help = BISECT_EXIT_CODES)]
    Bisect(Box<BisectArguments>),
    /// Resume a run or a batch that was interrupted, killed or detached
    Resume(ResumeArguments),
    /// Show a run or a batch that another process executes
    Attach {
        /// The id of a run or a batch, a part of it, `last` or `last~1`
        #[arg(default_value = "last", hide_default_value = true)]
        run: String,
    },
    /// Print the output of a run's steps
    Logs(LogsArguments),
    /// Execute commands that the head of a run sends over standard input
    #[command(hide = true)]
    Node {
        /// The run's directory
        run: PathBuf,
        /// The name of this machine in the run
        name: String,
    },
    /// Stop a run or a batch, and keep its evidence
    Stop {
        /// The id of a run or a batch, a part of it, `last` or `last~1`
        run: String,
    },
    /// Open a shell in a run's container
    Shell(ShellArguments),
    /// Judge existing results, or a run again by a corrected recipe
    Judge(JudgeRequest),
    /// Verify an archive of a run, and judge its logs again
    #[command(after_help = VERIFY_EXIT_CODES)]
    Verify(VerifyRequest),
    /// Compare runs or folders of results, and their environments
    Compare(CompareRequest),
    /// Write a report: verdicts, charts, tables, environment, logs
    Report(ReportRequest),
    /// Export runs as a submission tree in MLCommons' layout
    #[command(after_help = EXPORT_EXIT_CODES)]
    Export(Box<TreeRequest>),
    /// Check whether this host is ready, in general or for a recipe
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
    /// Print the configuration, and what follows from it
    Config,
    /// List the sites: clusters for `run --site` and `batch --site`
    Sites,
    /// Serve the Model Context Protocol on standard input and output
    #[cfg(feature = "mcp")]
    Mcp,
    /// Create a recipe: empty, from `docker run` or published results
    New(NewArguments),
    /// Lock the image digests and model commits of a recipe
    Lock(LockArguments),
    /// Remove this user's containers of runs, or cached directories
    Clean(CleanArguments),
    /// Print the JSON schema of recipes, or of an output
    Schema {
        /// The subject of the schema
        #[arg(value_enum, default_value_t = SchemaSubject::Recipe)]
        of: SchemaSubject,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of retrial or of a command
    Man {
        /// The command
        command: Option<String>,
        /// Write the pages of all commands into this directory
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        to: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn paths_that_another_process_reads_are_absolute() {
        let line = "retrial run r --home h --cache c --root t --rules Cargo.toml --lock l";
        let arguments = Arguments::try_parse_from(line.split(' ')).unwrap();
        let Command::Run(run) = arguments.command else { panic!("{:?}", arguments.command) };
        let at = |name: &str| std::env::current_dir().unwrap().join(name);
        let global = arguments.global;
        assert_eq!(global.home.root(), at("h"));
        assert_eq!((global.cache, global.root), (at("c"), at("t")));
        assert_eq!(run.plan.files.rules, [at("Cargo.toml")]);
        assert_eq!(run.plan.files.lock, at("l").to_str().map(str::to_owned));
    }

    /// The table of docs/run-options.md decides for every option whether it changes a figure: a new one is decided there.
    #[test]
    fn the_docs_say_of_every_option_whether_it_changes_a_figure() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/run-options.md");
        let text = std::fs::read_to_string(page).unwrap();
        let (_, section) = text.split_once("\n## What changes a figure\n").unwrap();
        let (section, _) = section.split_once("\n## ").unwrap();
        let command = Arguments::command();
        let commands = ["run", "resume", "batch", "bisect", "judge"];
        let commands = commands.map(|name| command.find_subcommand(name).unwrap());
        let of_commands = commands.into_iter().flat_map(clap::Command::get_arguments);
        let arguments = of_commands.chain(command.get_arguments());
        let named = arguments.filter(|argument| !argument.is_hide_set());
        let mut count = 0;
        for name in named.filter_map(clap::Arg::get_long) {
            let is_named = section.match_indices(&format!("--{name}")).any(|(at, option)| {
                let next = section[at + option.len()..].chars().next();
                !next.is_some_and(|next| next.is_alphanumeric() || next == '-')
            });
            assert!(is_named, "docs/run-options.md, `What changes a figure`: --{name}");
            count += 1;
        }
        assert!(count > 60, "{count}");
    }
}
