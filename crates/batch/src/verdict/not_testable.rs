//! The reasons why a part of a claim cannot be tested. Pure.

use crate::journal::CellFailure;
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::Mode;
use retrial_results::verdict::claim::DecisionMethod;
use retrial_results::verdict::{Outcome, UNKNOWN_DIRECTION};
use thiserror::Error;

/// The reason why a part of a claim cannot be tested: nothing is compared, or a side of it is missing or unusable.
#[derive(Debug, Clone, PartialEq, Error)]
pub(super) enum NotTestable {
    #[error("there is no {words} to compare")]
    NothingNamed { words: String },
    #[error("its accuracy was not measured")]
    NoAccuracy,
    #[error("they do not both have an accuracy")]
    NoCommonAccuracy,
    #[error("they have no figure in common")]
    NoCommonFigure,
    #[error("{UNKNOWN_DIRECTION}")]
    UnknownDirection,
    #[error("they have no round in common")]
    NoCommonRound,
    #[error("it is not above zero in every trial")]
    NotPositive,
    #[error("one trial has no scatter")]
    NoScatter,
    #[error("{} gives it in {} and {} in {}", .0[0].0, .0[0].1, .0[1].0, .0[1].1)]
    Units([(String, String); 2]),
    #[error("{subject} has no result")]
    NoResult { subject: String },
    /// It failed by itself.
    #[error("{subject} has no result: {failure}")]
    CellFailed { subject: String, failure: CellFailure },
    #[error("{subject} has no result (trial {trial}: {reason})")]
    LostResult { subject: String, trial: u32, reason: String },
    #[error("trial {trial} of {subject} has no result: {reason}")]
    LostTrial { subject: String, trial: u32, reason: String },
    #[error("{subject} has no {scenario}")]
    NoScenario { subject: String, scenario: ScenarioName },
    #[error("{subject} has no {scenario} {mode}")]
    NoMeasurement { subject: String, scenario: ScenarioName, mode: Mode },
    #[error("{subject} failed: {reason}")]
    Failed { subject: String, reason: String },
    #[error("{subject} is {outcome}: {reason}")]
    Invalid { subject: String, outcome: Outcome, reason: String },
    #[error("{subject} has no {figure}")]
    NoFigure { subject: String, figure: String },
    #[error("{subject} has no {figure} in {scenario}")]
    NoFigureInScenario {
        subject: String,
        /// The figure, or `figure` where neither plan nor result names one.
        figure: String,
        scenario: ScenarioName,
    },
    #[error("a trial of {subject} has no {figure} in {scenario}")]
    TrialWithoutFigure { subject: String, figure: String, scenario: ScenarioName },
    /// Each side has a reason of its own.
    #[error("{0}; {1}")]
    Both(Box<Self>, Box<Self>),
    /// The benchmark's own limits of accuracy do not decide.
    #[error("{0}")]
    UnknownLimits(String),
}

impl From<NotTestable> for DecisionMethod {
    fn from(reason: NotTestable) -> Self {
        Self::NotTestable(reason.to_string())
    }
}
