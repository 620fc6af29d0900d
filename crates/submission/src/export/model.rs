//! The input of an export, and its outcome.

use std::collections::BTreeMap;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::SystemInfo;
use retrial_host::model::HostView;
use retrial_mlperf::Division;
use retrial_mlperf::loadgen::{Parameters, TestScenario};
use retrial_plan::step::Plan;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{FigureValue, Verdict};

/// A run, with the properties that a submission needs.
#[derive(Debug, Clone)]
pub struct SourceRun {
    /// The id of the run that is exported.
    pub id: String,
    /// The plan that it executed.
    pub plan: Plan,
    /// The machine that it ran on.
    pub host: HostView,
    /// The engine that ran it, `Docker 28.5.1`.
    pub engine: Option<String>,
    /// The digests of the image that ran.
    pub digests: Vec<String>,
    /// The models' commits, by their keys in the recipe.
    pub models: BTreeMap<String, String>,
    /// The verdict on its results.
    pub verdict: Verdict,
    /// Its results, by measurement and trial.
    pub results: Vec<ExportedTrial>,
}

/// The results of one trial of one measurement.
#[derive(Debug, Clone, Default)]
pub struct ExportedTrial {
    /// The measurement's position in the plan.
    pub measurement: usize,
    /// The trial, from 1.
    pub trial: u32,
    /// The folder of its files, relative to the run's directory. `LoadGen`'s summary is in it, if there is one.
    pub folder: String,
    /// The regular files in and below it, with their sizes in bytes.
    pub files: BTreeMap<String, u64>,
    /// Folders of compliance tests in it, by the test's name: `TEST06`.
    pub tests: BTreeMap<String, String>,
    /// The settings that `LoadGen` ran with.
    pub parameters: Parameters,
    /// The content of `accuracy.txt`, if the benchmark wrote one.
    pub accuracy: Option<String>,
    /// The output of the measurement's check, if it has one.
    pub printed: Option<CheckOutput>,
}

/// The output of a check.
#[derive(Debug, Clone)]
pub struct CheckOutput {
    /// The name of the step that ran the check.
    pub step: String,
    /// The text that the check printed.
    pub text: String,
}

/// The statements of the command line on a submission.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportRequest {
    /// Set the division (default: the recipe's, or open if a rule is violated)
    #[arg(long, value_parser = division_parser())]
    pub division: Option<Division>,
    /// Set the submitter
    #[arg(long, value_name = "NAME")]
    pub submitter: Option<String>,
    /// Set the system's name (default: derived from GPUs and processor)
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
    /// Set MLCommons' name of the benchmark, if the recipe's differs
    #[arg(long, value_name = "NAME")]
    pub benchmark: Option<String>,
    /// The file of `--system-info`.
    #[arg(skip)]
    pub info: SystemInfo,
}

impl ExportRequest {
    /// The submitter, as the command line or the file of the system names it.
    pub fn submitter(&self) -> Option<String> {
        let in_file = || self.info.system.get("submitter").cloned();
        self.submitter.clone().or_else(in_file)
    }
}

/// Reads a division of `--division`: no tree is made for queries over a network.
fn division_parser() -> impl TypedValueParser<Value = Division> {
    let divisions = [
        PossibleValue::new("closed").help("The reference's model, and all rules passed"),
        PossibleValue::new("open").help("Any model, declared"),
    ];
    PossibleValuesParser::new(divisions).try_map(|name| name.parse::<Division>())
}

/// A submission, made of runs.
#[derive(Debug, Clone, Serialize)]
pub struct Export {
    /// The round whose rules and layout it follows.
    #[serde(rename = "layout")]
    pub round: String,
    /// The division that the tree is submitted to.
    pub division: Division,
    /// It is open although its recipe is closed, since a rule is violated; the first note states that.
    #[serde(skip)]
    pub fell_open: bool,
    /// The submitter, as a folder's name.
    pub submitter: String,
    /// The system, as a folder's name.
    pub system: String,
    /// The results in the tree.
    pub results: Vec<ExportedResult>,
    /// Rules that its results violate.
    pub violations: Vec<Violation>,
    /// Items that acceptance requires and that are missing.
    pub missing: Vec<MissingItem>,
    /// Decisions that the submitter should know of.
    pub notes: Vec<String>,
    /// Its files, by path.
    pub files: Vec<TreeFile>,
    /// `MLCommons`' notice on unverified figures.
    pub notice: Option<String>,
}

impl Export {
    /// Returns whether nothing is missing and no rule is violated.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.violations.is_empty()
    }
}

/// A file of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TreeFile {
    /// Relative to the tree's root.
    pub path: String,
    /// How the file's content is made.
    #[serde(skip)]
    pub content: TreeFileContent,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeFileContent {
    /// A text that Retrial writes.
    Text(String),
    /// A run's file, byte for byte.
    Copy(SourceFile),
    /// A run's accuracy log: only its two ends if it is larger than a submission may have it.
    Truncated(SourceFile),
    /// The output of an accuracy script, and the hash of the whole accuracy log.
    Hashed {
        /// The output of the accuracy script.
        text: String,
        /// The accuracy log whose hash is appended.
        log: SourceFile,
    },
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The run's position among those of the export.
    pub run: usize,
    /// Relative to the run's directory.
    pub path: String,
}

/// A result of the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExportedResult {
    /// The name of the benchmark's folder in the tree.
    pub benchmark: String,
    /// The scenario of its folder.
    pub scenario: TestScenario,
    /// The mode: performance, accuracy or compliance.
    pub mode: Mode,
    /// The compliance test, `TEST06`; none for other modes.
    pub test: Option<String>,
    /// Its path in the tree.
    pub path: String,
    /// The run that it is from.
    pub run: String,
    /// The trial that represents it.
    pub trial: u32,
    /// The number of trials among which it was chosen.
    pub trials: usize,
    /// Why this trial represents the result: `the median of 3 trials`.
    pub reason: String,
    /// The figure by which it is published, of this trial.
    pub figures: BTreeMap<String, FigureValue>,
}

impl ExportedResult {
    /// Returns its name: `llama2-70b-99 Offline performance`.
    pub fn label(&self) -> String {
        let mode = self.test.clone().unwrap_or_else(|| self.mode.to_string());
        format!("{} {} {mode}", self.benchmark, self.scenario)
    }
}

/// An item that acceptance requires and that is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MissingItem {
    /// Its path in the tree.
    pub path: String,
    /// The file, field or run.
    pub item: String,
    /// How to supply it.
    pub fix: String,
}

/// A rule that a result of the tree violates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// The result's path in the tree.
    pub path: String,
    /// The rule, with the measured and the required value.
    pub rule: String,
}

/// An error of an export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum ExportError {
    /// Two runs have the same result.
    #[error("{what} is in {}", runs.join(" and in "))]
    #[diagnostic(help("export one of them: a submission has one run of each result"))]
    Conflict {
        /// The benchmark, scenario and mode of the result.
        what: String,
        /// The ids of the runs that have it.
        runs: Vec<String>,
    },
    /// They ran on different machines.
    #[error("{first} and {second} ran on different systems ({differs})")]
    #[diagnostic(help("export each system by itself"))]
    Systems {
        /// The id of the first run.
        first: String,
        /// The id of a run on another system.
        second: String,
        /// The differing property, with both values.
        differs: String,
    },
    /// A run has no result of `LoadGen`.
    #[error("{run} has no result of LoadGen: {reason}")]
    #[diagnostic(help("the layout of MLPerf Inference holds no other results"))]
    NoResult {
        /// The id of the run that cannot be exported.
        run: String,
        /// The verdict on it.
        reason: String,
    },
    /// One `--benchmark` was given for several benchmarks.
    #[error("--benchmark {name}: the runs are of {}", benchmarks.join(" and of "))]
    #[diagnostic(help("export each benchmark by itself, or omit --benchmark"))]
    SeveralBenchmarks {
        /// The name that `--benchmark` sets.
        name: String,
        /// The benchmarks of the runs.
        benchmarks: Vec<String>,
    },
    /// The round has no such benchmark.
    #[error("`{name}` is not a benchmark of {round}")]
    UnknownBenchmark {
        /// The name that is not a benchmark.
        name: String,
        /// The round's name: `v6.0`.
        round: String,
        /// A suggestion, or the benchmarks of the round.
        #[help]
        help: Option<String>,
    },
    /// The closed division was requested, and a rule is violated.
    #[error("the closed division accepts no result that violates a rule:\n{}", violations.join("\n"))]
    #[diagnostic(help("export to the open division: --division open"))]
    NotClosed {
        /// The violated rules, each with its result.
        violations: Vec<String>,
    },
}
