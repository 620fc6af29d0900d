//! The holder of a lock, as the lock's file names it: the only reader and writer of lock files.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, Write};

use serde::{Deserialize, Serialize};

use super::process::ProcessIdentity;

/// The maximum size of a lock file, bytes.
const MAX_LOCK_FILE_BYTES: u64 = 2000;

/// The holder of a lock, as the lock's file names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// The process; none if it has not written itself yet.
    pub process: Option<ProcessIdentity>,
    /// The work for which it holds the lock, if that is not clear: `run 2026…`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub work: String,
}

/// `process 4711`, `run 2026… (process 4711 on n2)`
impl fmt::Display for LockHolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, work } = self;
        match process {
            Some(process) if work.is_empty() => process.fmt(formatter),
            Some(process) => write!(formatter, "{work} ({process})"),
            None => formatter.write_str("an unknown process"),
        }
    }
}

impl LockHolder {
    /// Reads a lock's file; none if it names no process.
    pub(super) fn read(mut file: &File) -> Option<Self> {
        let mut text = Vec::new();
        file.rewind().ok()?;
        file.take(MAX_LOCK_FILE_BYTES).read_to_end(&mut text).ok()?;
        let mut holder: Self = serde_json::from_slice(&text).ok()?;
        holder.work.retain(|letter| !letter.is_control());
        let host = &mut holder.process.as_mut()?.host;
        host.retain(|letter| letter.is_ascii_graphic());
        Some(holder)
    }

    /// Replaces the content of a lock's file.
    pub(super) fn write(&self, mut file: &File) -> std::io::Result<()> {
        let text = serde_json::to_vec(self)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&text)
    }
}
