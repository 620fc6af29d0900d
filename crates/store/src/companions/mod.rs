//! The files that a recipe brings: read once through the handle of the recipe's directory, and copied into the run's
//! directory, which nobody else can write. Containers, builds and commands get the copy. Nothing here decides what
//! needs approval.
//!
//! ```text
//! <run>/companions/<path>        as approved; mounted read-only
//! <run>/writable/<path, %2F>     what containers may write: a copy of its own for each path
//! ```

mod copy;
mod digest;
mod leftovers;
mod tree;

use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files::create_private_directory;
use super::run_directory::RunDirectory;
use super::staging_directory::{StagingDirectory, remove_leftover_stages};
use retrial_beneath::HeldDirectory;

pub use digest::{digest_mounts, digest_tree};
pub use leftovers::{PrivilegedFile, remove_privileged_files, revoke_privileged_files};
pub use tree::{CompanionError, CompanionFact, CompanionFacts, examine_companions};

/// The directory of the copy, within a run's.
pub const COMPANIONS_FOLDER: &str = "companions";

/// The directory of the copies that containers may write, within a run's.
pub const WRITABLE_FOLDER: &str = "writable";

/// A copy that belongs to no run yet. It is removed when it is dropped.
#[derive(Debug)]
pub struct StagedCompanions {
    stage: StagingDirectory,
}

impl StagedCompanions {
    /// Creates an empty one in a directory of such, and removes those of killed processes.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn new(stages: &Path) -> Result<Self, StoreError> {
        remove_leftover_stages(stages);
        Ok(Self { stage: StagingDirectory::new(stages)? })
    }

    /// Returns a directory in it for files that are not on this disk yet.
    pub fn source_directory(&self) -> PathBuf {
        self.stage.path().join("source")
    }

    /// Returns the directory of the copy.
    pub fn root(&self) -> PathBuf {
        self.stage.path().join(COMPANIONS_FOLDER)
    }

    /// Copies some files and directories next to a recipe. Returns the digest of the copy.
    ///
    /// # Errors
    /// If one cannot be read or copied, leads out, or they are too large.
    pub fn copy(
        &self,
        directory: &HeldDirectory,
        names: &[PathBuf],
        recipe_owner: u32,
    ) -> Result<(String, CompanionFacts), CompanionError> {
        let root = self.root();
        create_private_directory(&root)?;
        let facts = copy::copy_companions(directory, names, recipe_owner, &root)?;
        Ok((digest_tree(&root).map_err(StoreError::io("read", &root))?, facts))
    }
}

/// The copied files of one run, on the disk that its engine reads.
#[derive(Debug, Clone)]
pub struct Companions {
    run: RunDirectory,
}

impl Companions {
    /// Returns those of a run's directory.
    pub fn of_run(run: &RunDirectory) -> Self {
        Self { run: run.clone() }
    }

    /// Returns the directory of the copy, in which each file has its path relative to the recipe's directory.
    pub fn root(&self) -> PathBuf {
        self.run.join(COMPANIONS_FOLDER)
    }

    /// Copies an approved copy here, unless an earlier process did, and verifies its digest.
    ///
    /// # Errors
    /// If the disk is full, or the files are not those of the digest.
    pub fn provide(&self, from: &Path, digest: &str) -> Result<(), StoreError> {
        let root = self.root();
        if !root.exists() {
            copy::copy_tree(from, &root)?;
        }
        self.verify(digest)
    }

    /// Checks that the copy is what was approved.
    ///
    /// # Errors
    /// If a file was changed, added or removed, or cannot be read.
    pub fn verify(&self, digest: &str) -> Result<(), StoreError> {
        let root = self.root();
        let actual = digest_tree(&root).map_err(StoreError::io("read", &root))?;
        if actual == digest {
            return Ok(());
        }
        let reason = "its files are not those that were approved: start a new run";
        Err(StoreError::unusable(&root, reason))
    }

    /// Returns the directory with the copies that containers may write.
    pub fn writable_root(&self) -> PathBuf {
        self.run.join(WRITABLE_FOLDER)
    }

    /// Returns the copy of one file or directory that containers may write, and makes it first if it is missing.
    ///
    /// # Errors
    /// If the disk is full, or there is no such file.
    pub fn writable_copy(&self, relative: &Path) -> Result<PathBuf, StoreError> {
        let root = self.writable_root();
        create_private_directory(&root)?;
        // In one directory, which no container has: no copy is within another.
        let name = relative.display().to_string().replace('%', "%25").replace('/', "%2F");
        let copy = root.join(name);
        if !copy.exists() {
            copy::copy_tree(&self.root().join(relative), &copy)?;
        }
        Ok(copy)
    }
}

#[cfg(test)]
mod tests;
