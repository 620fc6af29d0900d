//! The journal: append-only, one JSON object a line, synced. A last line that was truncated by a crash does not
//! count.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens or creates a journal. Terminates a truncated last line, so that the next entry gets its own.
    ///
    /// # Errors
    /// If it cannot be opened or written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let torn =
            std::fs::read(path).is_ok_and(|bytes| bytes.last().is_some_and(|byte| *byte != b'\n'));
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        if torn {
            file.write_all(b"\n").map_err(StoreError::io("write", path))?;
        }
        tracing::debug!(path = %path.display(), torn, "journal opened");
        Ok(Self { file, path: path.to_owned() })
    }

    /// Writes an entry and syncs it.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn write<T: Serialize>(&mut self, entry: &T) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(entry).map_err(StoreError::json(&self.path))?;
        tracing::debug!(entry = %String::from_utf8_lossy(&line), "journal");
        line.push(b'\n');
        let length = self.file.metadata().map_err(StoreError::io("write", &self.path))?.len();
        if let Err(error) = self.file.write_all(&line) {
            // A full disk may truncate a line: the next one must not be appended to it.
            let _ = self.file.set_len(length);
            return Err(StoreError::io("write", &self.path)(error));
        }
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))
    }

    /// Reads the entries of a journal; invalid lines (truncated by a crash) are skipped.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let mut entries = Vec::new();
        for read_line in BufReader::new(file).split(b'\n') {
            let line = read_line.map_err(StoreError::io("read", path))?;
            if let Ok(entry) = serde_json::from_slice(&line) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        tracing::debug!(path = %self.path.display(), "journal closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_skipped_and_the_next_is_intact() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.jsonl");
        std::fs::write(&path, "1\n2\n{\"tor").unwrap();
        Journal::open(&path).unwrap().write(&3).unwrap();
        assert_eq!(Journal::read::<u32>(&path).unwrap(), [1, 2, 3]);
    }
}
