//! Arguments of commands that work on results that are already there: judge, compare, export.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{RunFilter, name_and_value};
use crate::export::Division;
use crate::verdict::comparison::FailIf;

/// What `judge` judges, and by what.
#[derive(Debug, Clone, Default, Args)]
pub struct JudgeArguments {
    /// A run's directory or id, a directory with LoadGen's logs, or a submission tree of MLPerf
    /// Inference or any folder of one
    pub directory: String,
    /// The recipe whose published figures a result folder is compared with
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<String>,
    /// Choose a variant of that recipe, or set a parameter
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value, requires = "recipe")]
    pub settings: Vec<(String, String)>,
    /// The scenario, where neither the folder's name nor the log tells
    #[arg(long)]
    pub scenario: Option<String>,
    /// The round by whose rules it is judged (else the one whose seeds the logs have)
    #[arg(long, value_name = "ROUND", conflicts_with = "recipe")]
    pub round: Option<String>,
    /// The benchmark, where no folder's name tells
    #[arg(long, value_name = "NAME", conflicts_with = "recipe")]
    pub benchmark: Option<String>,
    /// The division, where no folder's name tells: closed, open or network
    #[arg(long, value_name = "DIVISION", value_parser = ["closed", "open", "network"], conflicts_with = "recipe")]
    pub division: Option<String>,
    /// The rules of a further round, or other ones in place of a built-in round's
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Published figures to compare with: a table of results, another tree,
    /// or a run of ours
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "recipe")]
    pub reference: Option<PathBuf>,
    /// The row of that table that is meant, by its id
    #[arg(long, value_name = "ID", requires = "reference")]
    pub reference_id: Option<String>,
    /// The system of that table that is meant, by its name
    #[arg(
        long,
        value_name = "SYSTEM",
        requires = "reference",
        conflicts_with = "reference_id"
    )]
    pub reference_system: Option<String>,
    /// Performance without accuracy is inconclusive (exit code 5)
    #[arg(long)]
    pub require_accuracy: bool,
}

/// What `compare` compares.
#[derive(Debug, Clone, Args)]
pub struct CompareArguments {
    /// The first is the baseline. Runs (directory, id, a part of it, or `last`), several of them
    /// pooled (RUN+RUN), cells of batches (BATCH:CELL), and directories with LoadGen's logs
    #[arg(required_unless_present = "by", conflicts_with = "by", num_args = 2.., value_name = "RUN|DIR")]
    pub subjects: Vec<String>,
    /// Compare the runs of the history along this axis, everything else being equal: a variant, a
    /// parameter, or host, gpus, driver, kernel, image, digest, retrial
    #[arg(long, value_name = "AXIS")]
    pub by: Option<String>,
    /// What the others are compared with, in place of the first: one of what is named, or a value
    /// of the axis
    #[arg(long, value_name = "NAME|VALUE")]
    pub baseline: Option<String>,
    /// Exit 1 if one is slower than the baseline by more than this, 5 if that is not decided:
    /// slower:2%
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Option<FailIf>,
    /// The trials were taken in turns: compare the first of one with the first of the other
    #[arg(long)]
    pub paired: bool,
    /// Which runs of the history; without --by, --recipe and --set say how folders of results are
    /// read
    #[command(flatten)]
    pub filter: RunFilter,
}

/// What `report` reports, and where to.
#[derive(Debug, Clone, Args)]
pub struct ReportArguments {
    /// Runs and batches (directory, id, a part of it, or `last`), directories with LoadGen's logs,
    /// submission trees
    #[arg(required_unless_present = "all", value_name = "RUN|BATCH|DIR")]
    pub subjects: Vec<String>,
    /// The file, `-` for standard output (else, for a page, report.html in the directory of the run
    /// or batch, or in the working directory; for other forms, standard output)
    #[arg(long, value_name = "FILE|-")]
    pub to: Option<PathBuf>,
    /// Also write each chart as an SVG file into this directory
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// All runs there are, or those that fit
    #[arg(long, conflicts_with = "subjects")]
    pub all: bool,
    /// Which of them; without --all, --recipe and --set say how folders of results are read
    #[command(flatten)]
    pub filter: RunFilter,
    /// The round by whose rules folders are judged (else the one whose seeds the logs have)
    #[arg(long, value_name = "ROUND", conflicts_with = "recipe")]
    pub round: Option<String>,
    /// Published figures to compare folders with: a table of results, another tree, or a run of ours
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "recipe")]
    pub reference: Option<PathBuf>,
}

/// What `export` makes of runs.
#[derive(Debug, Clone, Args)]
pub struct ExportArguments {
    /// The runs, one for each scenario or all in one: ids, parts of them, or `last`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// The round whose layout and rules it follows: v6.0, v5.1, …
    #[arg(long, value_name = "ROUND")]
    pub layout: String,
    /// The tree's directory: a new or an empty one
    #[arg(long, value_name = "DIR", default_value = "submission")]
    pub to: PathBuf,
    /// Write into a directory that has files: those of the same names are replaced
    #[arg(long)]
    pub replace: bool,
    /// The division (else the recipe's; open where a rule is broken)
    #[arg(long, value_enum)]
    pub division: Option<DivisionArgument>,
    /// Who submits
    #[arg(long, value_name = "NAME")]
    pub submitter: Option<String>,
    /// The system's name (else made of its GPUs and processor)
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
    /// The benchmark as MLCommons names it, where the recipe's is another one
    #[arg(long, value_name = "NAME")]
    pub benchmark: Option<String>,
    /// What no run knows (cooling, data types, …), in MLCommons' own fields, YAML or JSON
    #[arg(long, value_name = "FILE")]
    pub system_info: Option<PathBuf>,
}

/// A division, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DivisionArgument {
    /// The reference's model, and every rule kept
    Closed,
    /// Anything that is said
    Open,
}

impl From<DivisionArgument> for Division {
    fn from(argument: DivisionArgument) -> Self {
        match argument {
            DivisionArgument::Closed => Self::Closed,
            DivisionArgument::Open => Self::Open,
        }
    }
}
