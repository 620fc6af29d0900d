//! Runs and batches that a command may continue, stop or enter.
//!
//! Their plans are executed, and were approved where they were started: they are directly in this home, no archive
//! brought them, and nobody else can have written them. Commands that only read take any run.

use std::ops::Deref;
use std::path::Path;

use super::failure::Failure;
use super::file_owners;
use super::open::{RunOrBatch, find_run_or_batch};
use retrial_readings::sanitize;
use retrial_store::import::ImportOrigin;
use retrial_store::{Home, RecordDirectory, RunDirectory};

/// The directory of a run or a batch of this home that nobody else can have written.
pub struct Own<D>(D);

/// As [`RunOrBatch`], of this home.
pub enum OwnRunOrBatch {
    Run(Own<RunDirectory>),
    Batch(Own<RecordDirectory>),
}

impl OwnRunOrBatch {
    /// Finds it by what the command line names.
    ///
    /// # Errors
    /// If there is none or it is not this home's own.
    pub fn find(home: &Home, name: &str) -> Result<Self, Failure> {
        Ok(match find_run_or_batch(home, name)? {
            RunOrBatch::Run(run) => Self::Run(Own::require_run(home, run)?),
            RunOrBatch::Batch(batch) => Self::Batch(Own::require_batch(home, batch)?),
        })
    }
}

impl Own<RunDirectory> {
    /// # Errors
    /// If the run is not directly in this home or was imported, or another user owns or can write it or a directory above.
    pub fn require_run(home: &Home, run: RunDirectory) -> Result<Self, Failure> {
        require(home, run.record(), &home.runs_directory(), "run")?;
        if let Some(origin) = ImportOrigin::read(&run) {
            let (id, host) = (run.id(), sanitize(&origin.host));
            let message = format!("{id} was imported from {host}: its plan was not approved here");
            return Err(Failure::usage(message).with_help(format!(
                "read its evidence: retrial judge {id}    retrial report {id}"
            )));
        }
        Ok(Self(run))
    }
}

impl Own<RecordDirectory> {
    /// # Errors
    /// If the batch is not directly in this home, or another user owns or can write it or a directory above.
    pub fn require_batch(home: &Home, batch: RecordDirectory) -> Result<Self, Failure> {
        require(home, &batch, &home.batches_directory(), "batch")?;
        Ok(Self(batch))
    }
}

impl<D> Own<D> {
    pub fn into_directory(self) -> D {
        self.0
    }
}

impl<D> Deref for Own<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

fn require(
    home: &Home,
    record: &RecordDirectory,
    parent: &Path,
    kind: &str,
) -> Result<(), Failure> {
    let canonical_parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    // Not what a run or an archive brought below another one.
    let path = record.path().canonicalize().ok();
    let Some(path) = path.filter(|path| path.parent() == Some(canonical_parent.as_path())) else {
        let (path, home) = (record.path().display(), home.root().display());
        return Err(Failure::usage(format!("{path} is not a {kind} of {home}"))
            .with_help("if it started on this machine, name its home: --home DIR"));
    };
    file_owners::require_trusted_owners(&path, &[], "what its plan says would run as you")
}
