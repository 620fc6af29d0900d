//! The journal: append-only, one JSON object a line, synced. A last line without an end was truncated by a crash, and does
//! not count; any other line that cannot be read is reported.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::unreadable_line::UnreadableLine;
use crate::error::StoreError;

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Its length behind the last entry, bytes.
    length: u64,
}

/// The entries of a journal, and what is damaged of it.
#[derive(Debug)]
pub struct JournalEntries<T> {
    pub entries: Vec<T>,
    pub unreadable: Vec<UnreadableLine>,
}

impl Journal {
    /// Opens or creates a journal. Removes a truncated last line, and ends a whole one.
    ///
    /// # Errors
    /// If it cannot be opened, read or written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let last = &bytes[end..];
        if serde_json::from_slice::<IgnoredAny>(last).is_ok() {
            file.write_all(b"\n").map_err(StoreError::io("write", path))?;
        } else if !last.is_empty() {
            file.set_len(end as u64).map_err(StoreError::io("write", path))?;
        }
        tracing::debug!(path = %path.display(), torn = last.len(), "journal opened");
        let length = file.metadata().map_err(StoreError::io("read", path))?.len();
        Ok(Self { file, path: path.to_owned(), length })
    }

    /// Appends one entry to a journal that several processes write, each of which waits for the others.
    ///
    /// # Errors
    /// If it cannot be opened, locked or written.
    pub fn append<T: Serialize>(path: &Path, entry: &T) -> Result<(), StoreError> {
        let held = OpenOptions::new().create(true).append(true).open(path);
        let held = held.map_err(StoreError::io("open", path))?;
        held.lock().map_err(StoreError::io("lock", path))?;
        Self::open(path)?.write(entry)
    }

    /// Writes an entry and syncs it.
    ///
    /// # Errors
    /// If the disk is full, or another program has changed the journal.
    pub fn write<T: Serialize>(&mut self, entry: &T) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(entry).map_err(StoreError::json(&self.path))?;
        tracing::debug!(entry = %String::from_utf8_lossy(&line), "journal");
        line.push(b'\n');
        let length = self.file.metadata().map_err(StoreError::io("write", &self.path))?.len();
        if length != self.length {
            let reason = format!(
                "another program has changed it: it has {length} bytes, and had {}",
                self.length
            );
            return Err(StoreError::unusable(&self.path, reason));
        }
        if let Err(error) = self.file.write_all(&line) {
            // A full disk may truncate a line: the next one must not be appended to it.
            let _ = self.file.set_len(length);
            return Err(StoreError::io("write", &self.path)(error));
        }
        self.length += line.len() as u64;
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))
    }

    /// Reads the entries of a journal.
    ///
    /// # Errors
    /// If it cannot be opened, or has a line that is no entry.
    pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, StoreError> {
        let JournalEntries { entries, unreadable } = Self::read_damaged(path)?;
        match unreadable.into_iter().next() {
            None => Ok(entries),
            Some(line) => Err(StoreError::Damaged { path: path.to_owned(), line }),
        }
    }

    /// Reads the entries of a journal that may be damaged.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn read_damaged<T: DeserializeOwned>(path: &Path) -> Result<JournalEntries<T>, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let mut reader = BufReader::new(file);
        let mut read = JournalEntries { entries: Vec::new(), unreadable: Vec::new() };
        for number in 1.. {
            let mut line = Vec::new();
            if reader.read_until(b'\n', &mut line).map_err(StoreError::io("read", path))? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(entry) => read.entries.push(entry),
                Err(_) if line.last() != Some(&b'\n') => {}
                Err(error) => {
                    let reason = if error.is_data() {
                        "an entry that this version of Retrial does not know".to_owned()
                    } else {
                        format!("no JSON: {error}")
                    };
                    read.unreadable.push(UnreadableLine { line: number, reason });
                }
            }
        }
        Ok(read)
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

    fn journal_of(text: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.jsonl");
        std::fs::write(&path, text).unwrap();
        (directory, path)
    }

    #[rstest::rstest]
    #[case::torn("1\n2\n{\"tor", &[1, 2, 3])]
    #[case::without_end("1\n2", &[1, 2, 3])]
    #[case::zeros("1\n\0\0", &[1, 3])]
    #[case::empty("", &[3])]
    fn the_next_entry_has_its_own_line(#[case] text: &str, #[case] entries: &[u32]) {
        let (_directory, path) = journal_of(text);
        Journal::open(&path).unwrap().write(&3).unwrap();
        assert_eq!(Journal::read::<u32>(&path).unwrap(), entries);
    }

    #[rstest::rstest]
    #[case::no_json("1\n2x\n3\n", "line 2: no JSON")]
    #[case::of_a_later_version("1\n\"two\"\n3\n", "line 2: an entry that this version")]
    #[case::empty_line("1\n\n3\n", "line 2: no JSON")]
    fn a_damaged_line_is_named(#[case] text: &str, #[case] message: &str) {
        let (_directory, path) = journal_of(text);
        let error = Journal::read::<u32>(&path).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        let read = Journal::read_damaged::<u32>(&path).unwrap();
        assert_eq!((read.entries, read.unreadable.len()), (vec![1, 3], 1));
    }

    #[test]
    fn a_journal_that_another_program_cuts_takes_no_more_entries() {
        let (_directory, path) = journal_of("1\n");
        let mut journal = Journal::open(&path).unwrap();
        journal.write(&2).unwrap();
        std::fs::write(&path, "1\n").unwrap();
        let error = journal.write(&3).unwrap_err().to_string();
        assert!(error.contains("another program has changed it"), "{error}");
    }
}
