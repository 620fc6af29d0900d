//! The rules of `MLPerf` Training for a log and for a result, by round. Pure: the rules are data
//! (`rules/mlperf-training/v5.1.yaml`), read here and checked against logs.
//!
//! ```text
//! text ──parse──▶ TrainingRound ──rules(benchmark, division)──▶ TrainingRules
//! lines ──LogReader──▶ TrainingLog, one run each ──check──▶ violated and passed rules, the score's factor
//! ```
//!
//! A round's file has the rules of `mlcommons/logging` for that round, with the sources. Rules of all
//! rounds are code: the order of a run's phases (`phases`), of its times and evaluations, and that the
//! logs of a result are different runs of one implementation (`result`).

pub mod convergence;
mod dependent;
mod log;
mod phases;
mod quality;
mod reader;
pub mod result;
mod round;
mod rule;
mod schedule;

pub use convergence::{Convergence, ConvergenceError, ReferencePoints};
pub use log::{LogEnding, LoggedSetting, Seed, TrainingLog};
pub use reader::LogReader;
pub use result::{NamedLog, ResultCheck, check_result};
pub use round::{TrainingRound, TrainingRules, built_in_training_rounds, find_training_round};

#[cfg(test)]
mod tests;
