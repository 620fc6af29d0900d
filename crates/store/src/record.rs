//! A directory with a record of its own: an id, a journal, a lock, and atomically written JSON files. Runs and
//! batches are records.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::files::{to_json_text, write_atomically};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordDirectory {
    path: PathBuf,
    id: String,
}

impl RecordDirectory {
    /// Opens an existing one: its name is its id.
    pub fn from_path(path: PathBuf) -> Self {
        let id =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { path, id }
    }

    /// Returns whether a name is a valid id: no characters special to a shell or a terminal.
    pub fn is_valid_id(name: &str) -> bool {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        name.len() <= 128
            && name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.chars().all(plain)
    }

    /// A subdirectory with its id, and its own journal and files.
    #[must_use]
    pub fn subrecord(&self, relative: &str) -> Self {
        Self { path: self.path.join(relative), id: self.id.clone() }
    }

    /// Returns the id, which is also the directory's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn join(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// Returns the path of its journal, `journal.jsonl`.
    pub fn journal_path(&self) -> PathBuf {
        self.join("journal.jsonl")
    }

    /// Returns the path of the lock file of the process that executes it.
    pub fn lock_path(&self) -> PathBuf {
        self.join("lock")
    }

    /// Writes a JSON file of it atomically.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let path = self.join(name);
        write_atomically(&path, to_json_text(&path, value)?.as_bytes())
    }

    /// Reads a JSON file of it.
    ///
    /// # Errors
    /// If it is missing or invalid.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        let path = self.join(name);
        let text = super::open::read_text_beneath(&self.path, Path::new(name), 64 << 20)?;
        serde_json::from_str(&text).map_err(StoreError::json(&path))
    }
}
