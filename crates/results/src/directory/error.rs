//! Why results in a directory cannot be judged.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

use crate::evidence::folders::FoldersError;

/// The reason why results cannot be judged as the user requests.
#[derive(Debug, Error, Diagnostic)]
pub enum JudgeError {
    /// The round of `--round` is in no file of rules.
    #[error(
        "no rules of a round {name:?}; there are {inference} of MLPerf Inference (--rules FILE adds others), {training} \
         of MLPerf Training"
    )]
    UnknownRound {
        /// The name that the user gave.
        name: String,
        /// The known rounds of inference, separated by commas.
        inference: String,
        /// The known rounds of training, separated by commas.
        training: String,
    },
    /// The round of `--round` is none of training.
    #[error("no rules of MLPerf Training {name}; known: {known}")]
    UnknownTrainingRound {
        /// The name that the user gave.
        name: String,
        /// The known rounds, separated by commas.
        known: String,
    },
    /// Nothing tells which round training results are of.
    #[error("neither the path nor the benchmarks and dates of the logs identify the round")]
    #[diagnostic(help("choose one: --round ROUND ({known})"))]
    NoTrainingRound {
        /// The known rounds, separated by commas.
        known: String,
    },
    /// The results are of another system than the recipe's figures.
    #[error("{} differs from the system of the recipe's figures: {differences}", folder.display())]
    #[diagnostic(help("compare anyway, as `modified`: --force"))]
    OtherSystem {
        /// The folder of the results.
        folder: PathBuf,
        /// What differs, separated by commas.
        differences: String,
    },
    /// No folder of a submission tree has the name that the user selects.
    #[error("no results of the {property} {name:?} in this submission tree, whose folders name it")]
    #[diagnostic(help("{choices}"))]
    NotInTree {
        /// What is named: benchmark, division or scenario.
        property: &'static str,
        /// The name that the user gave.
        name: String,
        /// The names that there are, as a list.
        choices: String,
    },
    /// The folders have no results, or cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Folders(#[from] FoldersError),
}
