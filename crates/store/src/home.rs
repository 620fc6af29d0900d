//! Retrial's data directory: runs and batches.

use std::path::{Path, PathBuf};

use super::error::{RecordKind, StoreError};
use super::files::create_private_directory;
use super::lookup::{self, NewestFirst};
use super::record::RecordDirectory;
use super::run_directory::RunDirectory;
use retrial_recipe::quote::shell_quote;

/// The user's home directory.
pub fn home_directory() -> PathBuf {
    std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// A directory of the XDG specification: that of its variable, else `standard` in the user's home directory.
pub fn user_directory(variable: &str, standard: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from);
    set.filter(|path| path.is_absolute()).unwrap_or_else(|| home_directory().join(standard))
}

/// `--home`, else `RETRIAL_HOME`, else the XDG data directory.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home at a directory, which need not exist yet.
    pub fn from_root(root: PathBuf) -> Self {
        Self { root }
    }

    /// The default home: `$XDG_DATA_HOME/retrial`, else `~/.local/share/retrial`.
    pub fn default_home() -> Self {
        Self::from_root(user_directory("XDG_DATA_HOME", ".local/share").join("retrial"))
    }

    /// The home of a command line without `--home`: `RETRIAL_HOME`, else the default.
    pub fn usual() -> Self {
        let own = std::env::var_os("RETRIAL_HOME").filter(|home| !home.is_empty());
        own.map_or_else(Self::default_home, |own| Self::from_root(own.into()))
    }

    /// The start of a command line for its records: with `--home`, unless it is the default.
    pub fn command_prefix(&self) -> String {
        if Self::usual().root == self.root {
            "retrial".to_owned()
        } else {
            format!("retrial --home {}", shell_quote(&self.root.display().to_string()))
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates it, for its owner only.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(&self) -> Result<(), StoreError> {
        create_private_directory(&self.root)
    }

    /// Returns the directory of runs, `runs`.
    pub fn runs_directory(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Returns the directory of files that belong to no run yet, `staging`.
    pub fn staging_directory(&self) -> PathBuf {
        self.root.join("staging")
    }

    /// Returns the directory of batches, `batches`.
    pub fn batches_directory(&self) -> PathBuf {
        self.root.join("batches")
    }

    /// Creates the directory of a new run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create_run_directory(&self, stem: &str) -> Result<RunDirectory, StoreError> {
        RunDirectory::create(lookup::create_record_directory(
            RecordKind::Run,
            &self.runs_directory(),
            stem,
        )?)
    }

    /// Creates the directory of a new batch.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create_batch_record(&self, stem: &str) -> Result<RecordDirectory, StoreError> {
        let path =
            lookup::create_record_directory(RecordKind::Batch, &self.batches_directory(), stem)?;
        Ok(RecordDirectory::from_path(path))
    }

    /// Ids of the batches, oldest first.
    pub fn batch_ids(&self) -> Vec<String> {
        lookup::list_record_ids(&self.batches_directory())
    }

    /// Finds a run by id, by a unique part of its id, by path, or `last`.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find_run(&self, query: &str) -> Result<RunDirectory, StoreError> {
        lookup::find_record(RecordKind::Run, &self.runs_directory(), query)
            .map(RunDirectory::from_path)
    }

    /// Returns the starts and ids of all runs or batches, the newest first.
    pub fn newest_first(&self, kind: RecordKind) -> NewestFirst {
        NewestFirst::new(match kind {
            RecordKind::Run => self.runs_directory(),
            RecordKind::Batch => self.batches_directory(),
        })
    }

    /// Finds a batch as [`Self::find_run`] does a run.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find_batch(&self, query: &str) -> Result<RecordDirectory, StoreError> {
        lookup::find_record(RecordKind::Batch, &self.batches_directory(), query)
            .map(RecordDirectory::from_path)
    }
}

impl From<Home> for std::ffi::OsString {
    fn from(home: Home) -> Self {
        home.root().into()
    }
}
