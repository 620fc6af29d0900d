//! Retrial's data directory: runs, batches and remembered approvals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::{RecordKind, StoreError};
use super::files::create_private;
use super::lookup;
use super::record::RecordDirectory;
use super::run_directory::RunDirectory;
use retrial_recipe::quote::shell_quote;

/// The privileges that were approved, by recipe.
const APPROVALS: &str = "approvals.json";

/// The user's home directory.
pub fn home_directory() -> PathBuf {
    std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// A directory of the XDG specification: that of its variable, else `standard` in the user's home directory.
pub fn user_directory(variable: &str, standard: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from);
    set.filter(|path| path.is_absolute())
        .unwrap_or_else(|| home_directory().join(standard))
}

/// `--home`, else `RETRIAL_HOME`, else the XDG data directory.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home at a directory, which need not exist yet.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The default home: `$XDG_DATA_HOME/retrial`, else `~/.local/share/retrial`.
    pub fn standard() -> Self {
        Self::at(user_directory("XDG_DATA_HOME", ".local/share").join("retrial"))
    }

    /// The start of a command line for its records: with `--home`, unless it is the default.
    pub fn program(&self) -> String {
        let own = std::env::var_os("RETRIAL_HOME").filter(|home| !home.is_empty());
        let usual = own.map_or_else(Self::standard, |own| Self::at(own.into()));
        if usual.root == self.root {
            "retrial".to_owned()
        } else {
            format!(
                "retrial --home {}",
                shell_quote(&self.root.display().to_string())
            )
        }
    }

    /// Returns the path of the home.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates it, for its owner only.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(&self) -> Result<(), StoreError> {
        create_private(&self.root)
    }

    /// Returns the directory of runs, `runs`.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Returns the directory of batches, `batches`.
    pub fn batches(&self) -> PathBuf {
        self.root.join("batches")
    }

    /// Creates the directory of a new run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new_run(&self, stem: &str) -> Result<RunDirectory, StoreError> {
        RunDirectory::create(lookup::new_directory(RecordKind::Run, &self.runs(), stem)?)
    }

    /// Creates the directory of a new batch.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new_batch(&self, stem: &str) -> Result<RecordDirectory, StoreError> {
        let path = lookup::new_directory(RecordKind::Batch, &self.batches(), stem)?;
        Ok(RecordDirectory::at(path))
    }

    /// Ids of the batches, oldest first.
    pub fn batch_ids(&self) -> Vec<String> {
        lookup::ids(&self.batches())
    }

    /// Finds a run by id, by a unique part of its id, by path, or `last`.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(&self, query: &str) -> Result<RunDirectory, StoreError> {
        lookup::find(RecordKind::Run, &self.runs(), query).map(RunDirectory::at)
    }

    /// Finds a batch as [`Self::find`] does a run.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find_batch(&self, query: &str) -> Result<RecordDirectory, StoreError> {
        lookup::find(RecordKind::Batch, &self.batches(), query).map(RecordDirectory::at)
    }

    /// Privileges that were approved for a recipe with this hash.
    pub fn approved(&self, recipe_hash: &str) -> Vec<String> {
        self.approvals().remove(recipe_hash).unwrap_or_default()
    }

    /// Remembers that these privileges are approved for a recipe with this hash.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn remember_approval(
        &self,
        recipe_hash: &str,
        privileges: &[String],
    ) -> Result<(), StoreError> {
        let mut approvals = self.approvals();
        let entry = approvals.entry(recipe_hash.to_owned()).or_default();
        for privilege in privileges {
            if !entry.contains(privilege) {
                entry.push(privilege.clone());
            }
        }
        self.create()?;
        RecordDirectory::at(self.root.clone()).write_json(APPROVALS, &approvals)
    }

    fn approvals(&self) -> BTreeMap<String, Vec<String>> {
        let approvals = RecordDirectory::at(self.root.clone()).read_json(APPROVALS);
        approvals.unwrap_or_default()
    }
}

impl From<Home> for std::ffi::OsString {
    fn from(home: Home) -> Self {
        home.root().into()
    }
}
