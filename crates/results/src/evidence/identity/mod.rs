//! Trials are measurements of their own, of this run: one mechanism for all logs and all paths.
//!
//! ```text
//! files ──text, loadgen, training──▶ TrialLog of each trial ──copies──▶ no trial twice
//!                                                           ──addends─▶ nothing twice in a sum
//!                                                           ──window──▶ no trial of before the step
//!                                                           ──shared──▶ runs that two results of a tree have
//! ```
//!
//! [`crate::verdict::TrialLog`] says which logs are of one run.

pub(super) mod addends;
pub mod copies;
mod shared;
mod stamps;
mod text;
pub(crate) mod window;

pub use shared::{ResultRun, SharedRuns};
pub(super) use stamps::split_stamps;
pub(crate) use text::{FigureOfFile, text_log};

use std::path::Path;

use super::texts::TextFile;
use crate::verdict::{LogIdentity, TrialLog};
use retrial_mlperf::loadgen;
use retrial_mlperf::mllog;

/// Returns the identity of `LoadGen`'s logs in a directory.
pub(crate) fn loadgen_log(run: &loadgen::LoadgenRun, directory: &Path) -> TrialLog {
    let file = if run.detail.is_some() { super::folder::DETAIL } else { super::folder::SUMMARY };
    TrialLog {
        directory: directory.display().to_string(),
        file: file.to_owned(),
        identity: LogIdentity::LoadGen(run.identity()),
    }
}

/// Returns the identity of a run of a training log.
pub(crate) fn training_log(text: &TextFile, run: &mllog::TrainingRun) -> TrialLog {
    TrialLog {
        directory: text.directory.display().to_string(),
        file: text.file.display().to_string(),
        identity: LogIdentity::Training(run.identity()),
    }
}
