//! What goes into an export, and what comes out.

use std::collections::BTreeMap;
use std::fmt;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Info;
use crate::host::model::HostView;
use crate::plan::step::Plan;
use crate::results::verdict::Verdict;
use retrial_mlperf::loadgen::Parameters;
use retrial_recipe::model::Mode;

/// A run, as far as a submission needs it.
#[derive(Debug, Clone)]
pub struct RunRead {
    /// Its id.
    pub id: String,
    /// What was planned.
    pub plan: Plan,
    /// The machine that it ran on.
    pub host: HostView,
    /// The engine that ran it, `Docker 28.5.1`.
    pub engine: Option<String>,
    /// The image's digests.
    pub digests: Vec<String>,
    /// The models' commits, by their keys in the recipe.
    pub models: BTreeMap<String, String>,
    /// What it says of the published figures.
    pub verdict: Verdict,
    /// What its steps left, measurement by measurement and trial by trial.
    pub found: Vec<FoundResult>,
}

/// What one trial of one measurement left.
#[derive(Debug, Clone, Default)]
pub struct FoundResult {
    /// Which measurement of the plan.
    pub measurement: usize,
    /// Which trial, from 1.
    pub trial: u32,
    /// Where its files lie, below the run's directory: `LoadGen`'s summary is in it, if there is one.
    pub folder: String,
    /// The regular files in and below it, with their sizes.
    pub files: BTreeMap<String, u64>,
    /// Folders of compliance tests in it, below it: `TEST06`.
    pub tests: BTreeMap<String, String>,
    /// The settings that `LoadGen` ran with.
    pub parameters: Parameters,
    /// Its accuracy.txt.
    pub accuracy: Option<String>,
    /// What its check printed.
    pub printed: Option<Printed>,
}

/// What a check printed.
#[derive(Debug, Clone)]
pub struct Printed {
    /// The step.
    pub step: String,
    /// Its output.
    pub text: String,
}

/// What the command line says of a submission.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportRequest {
    /// Set the division (default: the recipe's, or open if a rule is violated)
    #[arg(long, value_enum)]
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
    pub info: Info,
}

/// `MLCommons`' divisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Division {
    /// The reference's model, and all rules passed
    Closed,
    /// Any model, declared
    Open,
}

impl fmt::Display for Division {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Closed => "closed",
            Self::Open => "open",
        })
    }
}

/// A submission, made of runs.
#[derive(Debug, Clone)]
pub struct Export {
    /// The round whose rules and layout it follows.
    pub round: String,
    /// The division.
    pub division: Division,
    /// It is open where its recipe is closed, since a rule is broken; the first note says so.
    pub fell_open: bool,
    /// Who submits, as a folder's name.
    pub submitter: String,
    /// The system, as a folder's name.
    pub system: String,
    /// Its files, by path.
    pub files: Vec<File>,
    /// The results in it.
    pub results: Vec<Exported>,
    /// What acceptance asks and it has not.
    pub missing: Vec<Missing>,
    /// Rules that a result in it breaks.
    pub broken: Vec<Broken>,
    /// What was decided and should be known.
    pub notes: Vec<String>,
    /// `MLCommons`' notice on unverified figures.
    pub notice: Option<String>,
}

impl Export {
    /// Nothing is missing and nothing is broken.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.broken.is_empty()
    }
}

/// A file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Below the tree's root.
    pub path: String,
    /// What is in it.
    pub content: Content,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// This text.
    Text(String),
    /// A run's file, byte for byte.
    Copy(Origin),
    /// A run's accuracy log: its two ends, where it is larger than a submission may have it.
    Shortened(Origin),
    /// What an accuracy script printed, and the hash of the whole accuracy log.
    Hashed {
        /// What was printed.
        text: String,
        /// The accuracy log.
        log: Origin,
    },
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Which of the runs.
    pub run: usize,
    /// Below the run's directory.
    pub path: String,
}

/// A result of the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exported {
    /// The benchmark's folder.
    pub benchmark: String,
    /// The scenario.
    pub scenario: String,
    /// The mode.
    pub mode: Mode,
    /// The compliance test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Where it lies in the tree.
    pub path: String,
    /// The run that it is of.
    pub run: String,
    /// The trial that stands for it.
    pub trial: u32,
    /// How many trials there were.
    pub trials: usize,
    /// Why this one.
    pub because: String,
    /// The figure by which it is published, of this trial: name, value, unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<(String, f64, String)>,
}

/// Something that acceptance asks and the tree has not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    /// Where it would stand, in the tree.
    pub place: String,
    /// What.
    pub what: String,
    /// What to do.
    pub advice: String,
}

/// A rule that a result of the tree breaks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Broken {
    /// The result, in the tree.
    pub place: String,
    /// The rule, with what was found and what was asked.
    pub rule: String,
}

/// Why there is no tree at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Two runs have the same result.
    #[error("{what} is in {}\n  export one of them: a submission has one run of each result", runs.join(" and in "))]
    Conflict {
        /// Which result.
        what: String,
        /// The runs.
        runs: Vec<String>,
    },
    /// They ran on different machines.
    #[error(
        "{first} and {second} ran on different systems ({differs})\n  export each system by itself"
    )]
    Systems {
        /// One run.
        first: String,
        /// Another.
        second: String,
        /// In what they differ.
        differs: String,
    },
    /// There is nothing of `LoadGen`'s.
    #[error(
        "{run} has no result of LoadGen's: {because}\n  MLCommons' layout for inference has no place for other results"
    )]
    Nothing {
        /// The run.
        run: String,
        /// What it has.
        because: String,
    },
    /// One name for several benchmarks.
    #[error(
        "--benchmark {asked}: the runs are of {}\n  export each benchmark by itself, or leave --benchmark out", benchmarks.join(" and of ")
    )]
    SeveralBenchmarks {
        /// The name.
        asked: String,
        /// The benchmarks.
        benchmarks: Vec<String>,
    },
    /// No benchmark of the round.
    #[error("`{asked}` is no benchmark of {round}; {help}")]
    UnknownBenchmark {
        /// The name.
        asked: String,
        /// The round.
        round: String,
        /// What there is.
        help: String,
    },
    /// Closed was asked for, and a rule is broken.
    #[error(
        "the closed division takes no result that breaks a rule:\n{}\n  export it as what it is: --division open", broken.join("\n")
    )]
    NotClosed {
        /// Which.
        broken: Vec<String>,
    },
}
