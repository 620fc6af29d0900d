//! The directory that holds everything of ours: runs, batches and remembered trust.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::batch_directory::BatchDirectory;
use super::error::StoreError;
use super::lookup::{self, Kind};
use super::run_directory::{RunDirectory, write_atomically};

/// `--home`, else `RETRIAL_HOME`, else the XDG data directory.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home at a directory, which need not be there yet.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The home where none is named: `$XDG_DATA_HOME/retrial`, else `~/.local/share/retrial`.
    #[must_use]
    pub fn standard() -> Self {
        let data = std::env::var_os("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let data = data.unwrap_or_else(|| {
            let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
            home.join(".local/share")
        });
        Self::at(data.join("retrial"))
    }

    /// Its path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where runs lie.
    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Where batches lie.
    #[must_use]
    pub fn batches(&self) -> PathBuf {
        self.root.join("batches")
    }

    /// Makes the directory of a new run.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn new_run(&self, stem: &str) -> Result<RunDirectory, StoreError> {
        RunDirectory::create(lookup::new_directory(Kind::Run, &self.runs(), stem)?)
    }

    /// Makes the directory of a new batch.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn new_batch(&self, stem: &str) -> Result<BatchDirectory, StoreError> {
        let path = lookup::new_directory(Kind::Batch, &self.batches(), stem)?;
        Ok(BatchDirectory::at(path))
    }

    /// Ids of the batches, oldest first.
    #[must_use]
    pub fn batch_ids(&self) -> Vec<String> {
        lookup::ids(&self.batches())
    }

    /// Finds a run by id, by a part of its id that only one has, by path, or `last`.
    ///
    /// # Errors
    /// Where there is none, or more than one.
    pub fn find(&self, wanted: &str) -> Result<RunDirectory, StoreError> {
        lookup::find(Kind::Run, &self.runs(), wanted).map(RunDirectory::at)
    }

    /// Finds a batch as [`Self::find`] does a run.
    ///
    /// # Errors
    /// Where there is none, or more than one.
    pub fn find_batch(&self, wanted: &str) -> Result<BatchDirectory, StoreError> {
        lookup::find(Kind::Batch, &self.batches(), wanted).map(BatchDirectory::at)
    }

    /// Powers that were allowed before to a recipe with this hash.
    #[must_use]
    pub fn trusted(&self, recipe_hash: &str) -> Vec<String> {
        self.trust_file().remove(recipe_hash).unwrap_or_default()
    }

    /// Remembers that these powers are allowed to a recipe with this hash.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn remember_trust(&self, recipe_hash: &str, powers: &[String]) -> Result<(), StoreError> {
        let mut known = self.trust_file();
        let entry = known.entry(recipe_hash.to_owned()).or_default();
        for power in powers {
            if !entry.contains(power) {
                entry.push(power.clone());
            }
        }
        fs::create_dir_all(&self.root).map_err(StoreError::io("create", &self.root))?;
        let path = self.root.join("trust.json");
        let text = serde_json::to_string_pretty(&known).map_err(|error| StoreError::Unusable {
            path: path.clone(),
            because: error.to_string(),
        })?;
        write_atomically(&path, text.as_bytes())
    }

    fn trust_file(&self) -> BTreeMap<String, Vec<String>> {
        fs::read_to_string(self.root.join("trust.json"))
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }
}
