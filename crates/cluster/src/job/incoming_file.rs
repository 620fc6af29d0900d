//! New lines of a journal or a table that another process or machine writes. The file is reopened for each poll, since
//! a network file system shows another host's writes when a file is opened.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde::de::DeserializeOwned;

/// Bytes that are read in one poll.
pub const MAX_POLL_BYTES: u64 = 4 << 20;

/// A file to which lines are appended.
pub struct IncomingFile {
    path: PathBuf,
    /// How much was read.
    position: u64,
    /// The beginning of an incomplete line.
    incomplete_line: Vec<u8>,
}

impl IncomingFile {
    /// Reads the file at a path from a position in bytes.
    pub fn open_at(path: PathBuf, position: u64) -> Self {
        Self { path, position, incomplete_line: Vec::new() }
    }

    /// Returns the events since the last call: a line each. Those that cannot be parsed are skipped.
    pub fn poll<T: DeserializeOwned>(&mut self) -> Vec<T> {
        let lines = self.poll_lines();
        let lines = lines.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Returns the whole lines since the last call.
    pub fn poll_lines(&mut self) -> Vec<u8> {
        let Ok(mut file) = File::open(&self.path) else {
            return Vec::new();
        };
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(self.position)).is_err() {
            return Vec::new();
        }
        let count = file.take(MAX_POLL_BYTES).read_to_end(&mut bytes).unwrap_or(0);
        self.position += count as u64;
        self.incomplete_line.extend(bytes);
        let end = self.incomplete_line.iter().rposition(|byte| *byte == b'\n');
        end.map_or_else(Vec::new, |end| self.incomplete_line.drain(..=end).collect())
    }
}
