//! What a batch's verdict is made of.

use retrial_results::verdict::{Context, Evidence, ExitCode};

/// The runs of a cell, or those of another host.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectEvidence {
    /// The cell's name, or what claims call the other host's runs.
    pub name: String,
    /// Its runs.
    pub runs: Vec<RunEvidence>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvidence {
    /// Its id.
    pub run: String,
    /// Which trial of its cell, from 1; another host's are counted.
    pub trial: u32,
    /// What it gave.
    pub found: Result<(Context, Vec<Evidence>), LostRun>,
}

/// A run without evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRun {
    /// Why.
    pub reason: String,
    /// What it would have ended the program with.
    pub exit: ExitCode,
}
