//! Requests of the commands that work on existing results: judge, verify, compare, report, export.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use super::{RecipeSettings, division_parser, existing_path};
use retrial_history::{RunFilter, parse_outcome};
use retrial_mlperf::{Division, ScenarioName};
use retrial_results::verdict::comparison::FailIf;
use retrial_submission::export::ExportRequest;

/// Results, and what they are judged by.
#[derive(Debug, Clone, Default, Args)]
pub struct JudgeRequest {
    /// A run's directory or id, a directory with LoadGen's logs, or (a folder of) a submission tree
    /// of MLPerf Inference or MLPerf Training
    pub directory: String,
    /// Compare with the published figures of this recipe; a finished run: read its figures again by this corrected
    /// recipe, without another measurement
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<String>,
    /// Variants, params and images of that recipe.
    #[command(flatten)]
    pub settings: RecipeSettings,
    /// Judge this scenario of the recipe or the submission tree; of other results, set the scenario, if neither
    /// the folder's name nor the log has it
    #[arg(long)]
    pub scenario: Option<ScenarioName>,
    /// Judge by the rules of this round (default: the round whose seeds the logs have; for training results,
    /// the one that path, benchmarks and dates indicate)
    #[arg(long, value_name = "ROUND", conflicts_with = "recipe")]
    pub round: Option<String>,
    /// Judge this benchmark of the submission tree; of other results, set the benchmark
    #[arg(long, value_name = "NAME", conflicts_with = "recipe")]
    pub benchmark: Option<String>,
    /// Judge this division of the submission tree; of other results, set the division
    #[arg(long, value_name = "DIVISION", value_parser = division_parser(), conflicts_with = "recipe")]
    pub division: Option<Division>,
    /// Add the rules of a round from this file, replacing a built-in round of that name
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(existing_path))]
    pub rules: Vec<PathBuf>,
    /// Compare with published figures: a table of results, another tree, or a run
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "recipe")]
    pub reference: Option<PathBuf>,
    /// Compare with the row with this id
    #[arg(long, value_name = "ID", requires = "reference")]
    pub reference_id: Option<String>,
    /// Compare with the rows of this system
    #[arg(long, value_name = "SYSTEM", requires = "reference", conflicts_with = "reference_id")]
    pub reference_system: Option<String>,
    /// Compare results of another system, size or benchmark than the recipe's, as `modified`
    #[arg(long, requires = "recipe")]
    pub force: bool,
    /// Print only results with this outcome, and benchmarks that violate a rule with `invalid`; the exit code and the
    /// counts are of all
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = parse_outcome)]
    pub outcome: Vec<String>,
    /// Judge performance without accuracy as inconclusive (exit code 5)
    #[arg(long)]
    pub require_accuracy: bool,
}

/// A bundle, and who may have signed it.
#[derive(Debug, Clone, Args)]
pub struct VerifyRequest {
    /// An archive of `runs pack RUN --to FILE.tar.zst`
    #[arg(value_name = "FILE")]
    pub bundle: PathBuf,
    /// Require a signature by a key in this file: OpenSSH's `allowed_signers` (ssh-keygen(1))
    #[arg(long, value_name = "FILE")]
    pub signers: Option<PathBuf>,
    /// Require a key with this name in that file
    #[arg(long, value_name = "NAME", requires = "signers")]
    pub identity: Option<String>,
}

/// Subjects of a comparison.
#[derive(Debug, Clone, Args)]
pub struct CompareRequest {
    /// Runs (directory, id, a part of it, or `last`), pooled runs (RUN+RUN), cells of batches
    /// (BATCH:CELL), or directories with LoadGen's logs; the first is the baseline
    #[arg(required_unless_present = "by", conflicts_with = "by", value_name = "RUN|DIR")]
    pub subjects: Vec<String>,
    /// Compare the runs of the history along this axis, all else being equal: a variant, a
    /// parameter, or host, gpus, driver, kernel, image, digest, retrial
    #[arg(long, value_name = "AXIS")]
    pub by: Option<String>,
    /// Compare with this subject, or this value of the axis, instead of the first
    #[arg(long, value_name = "NAME|VALUE")]
    pub baseline: Option<String>,
    /// Exit with 1 if a result is slower than the baseline by more than this limit, with 5 if
    /// undecided: slower:2%
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Option<FailIf>,
    /// Compare trials pairwise, for interleaved trials
    #[arg(long)]
    pub paired: bool,
    /// Filters of the history; without --by, --recipe and --set determine how folders of results
    /// are read.
    #[command(flatten)]
    pub filter: RunFilter,
}

/// Subjects of a report, and where it is written.
#[derive(Debug, Clone, Args)]
pub struct ReportRequest {
    /// Runs and batches (directory, id, a part of it, or `last`), archives that `verify` accepts,
    /// directories with LoadGen's logs, or submission trees
    #[arg(required_unless_present = "all", value_name = "RUN|BATCH|DIR")]
    pub subjects: Vec<String>,
    /// Write to this file, in the format of its extension (.html, .md, .csv, .json, .xml, .txt), or
    /// to standard output (`-`) (default: for a page, report.html in the directory of the run or batch,
    /// else in the working directory; for other formats, standard output); with --all, a directory
    /// gets a website of the runs
    #[arg(long, value_name = "FILE|DIR|-")]
    pub to: Option<PathBuf>,
    /// Write absolute links into the feed of a website that will be served at this address
    #[arg(long, value_name = "URL", requires = "all", value_parser = parse_base_url)]
    pub url: Option<String>,
    /// Write this of the subjects; the objections of an auditor to submission trees are Markdown, unless a format is
    /// chosen
    #[arg(long = "as", value_enum, default_value_t, conflicts_with = "all")]
    pub content: ReportContent,
    /// Also write each chart as an SVG file into this directory
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    /// Report on all runs, or on those that match the filters
    #[arg(long, conflicts_with = "subjects")]
    pub all: bool,
    /// Filters of runs; without --all, --recipe and --set determine how folders of results are
    /// read.
    #[command(flatten)]
    pub filter: RunFilter,
    /// Judge folders by the rules of this round (default: the round whose seeds are in the logs)
    #[arg(long, value_name = "ROUND", conflicts_with = "recipe")]
    pub round: Option<String>,
    /// Report on this division of submission trees
    #[arg(long, value_name = "DIVISION", value_parser = division_parser(), conflicts_with_all = ["recipe", "all"])]
    pub division: Option<Division>,
    /// Report on this scenario of submission trees
    #[arg(long, conflicts_with_all = ["recipe", "all"])]
    pub scenario: Option<ScenarioName>,
    /// Compare folders with published figures: a table of results, another tree, or a run
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "recipe")]
    pub reference: Option<PathBuf>,
}

/// What a report is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportContent {
    /// Verdicts, with figures, charts and environment
    #[default]
    Verdicts,
    /// What is invalid or suspicious in a submission tree, with the rules and the lines of evidence
    Objections,
}

/// Runs, and the submission tree that is made from them.
#[derive(Debug, Clone, Args)]
pub struct TreeRequest {
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
    /// The statements of the tree about the submission.
    #[command(flatten)]
    pub tree: ExportRequest,
    /// Read information that no run records (cooling, data types, …) from a YAML or JSON file with
    /// MLCommons' fields
    #[arg(long, value_name = "FILE")]
    pub system_info: Option<PathBuf>,
}

/// An argument that is not the address of a directory on the web.
#[derive(Debug, thiserror::Error)]
#[error("expected an address such as https://example.org/benchmarks/")]
struct InvalidAddress;

/// The address of a directory, with `/` at its end.
fn parse_base_url(text: &str) -> Result<String, InvalidAddress> {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_web || !is_plain || text.contains(['?', '#', '"', '<', '>']) {
        return Err(InvalidAddress);
    }
    Ok(format!("{}/", text.trim_end_matches('/')))
}
