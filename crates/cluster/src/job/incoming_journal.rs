//! New lines of a journal that another machine writes. The file is reopened for each poll, since a network
//! file system shows another host's writes when a file is opened.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde::de::DeserializeOwned;

/// Bytes that are read in one poll.
pub const MAX_POLL_BYTES: u64 = 4 << 20;

/// A journal that grows.
pub struct IncomingJournal {
    path: PathBuf,
    /// How much was read.
    position: u64,
    /// The beginning of an incomplete line.
    incomplete_line: Vec<u8>,
}

impl IncomingJournal {
    /// Reads the journal at a path from a position in bytes.
    pub fn open_at(path: PathBuf, position: u64) -> Self {
        Self {
            path,
            position,
            incomplete_line: Vec::new(),
        }
    }

    /// Returns the whole lines since the last call; those that cannot be parsed are skipped.
    pub fn poll<T: DeserializeOwned>(&mut self) -> Vec<T> {
        let Ok(mut file) = File::open(&self.path) else {
            return Vec::new();
        };
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(self.position)).is_err() {
            return Vec::new();
        }
        let count = file
            .take(MAX_POLL_BYTES)
            .read_to_end(&mut bytes)
            .unwrap_or(0);
        self.position += count as u64;
        self.incomplete_line.extend(bytes);
        let Some(end) = self.incomplete_line.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let whole: Vec<u8> = self.incomplete_line.drain(..=end).collect();
        let lines = whole.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}
