//! One result folder: `LoadGen`'s summary and detail log.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::logs::loadgen::{Run, detail, summary};
use crate::store::{StoreError, open};

/// The largest summary that is read: a real one has 4 kB.
const SUMMARY_CAP: u64 = 4 << 20;
/// How deep below a result folder a summary is looked for.
const DEPTH: usize = 4;

/// The name of `LoadGen`'s summary.
pub const SUMMARY: &str = "mlperf_log_summary.txt";
/// The name of `LoadGen`'s detail log.
pub const DETAIL: &str = "mlperf_log_detail.txt";

/// Why a folder gives no result.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is no summary.
    #[error("no {SUMMARY} in it")]
    NoSummary,
    /// There are several.
    #[error("several {SUMMARY} in it: {0}")]
    Several(String),
    /// It cannot be read as one.
    #[error("{path}: {because}")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        because: String,
    },
    /// It cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the one `LoadGen` result in or below a folder.
///
/// # Errors
/// Where there is none, there are several, or it cannot be read.
pub fn read(folder: &Path) -> Result<Run, FolderError> {
    let mut found = Vec::new();
    find(folder, Path::new(""), DEPTH, &mut found);
    found.sort();
    let relative = match &found[..] {
        [] => return Err(FolderError::NoSummary),
        [one] => one.clone(),
        several if several.iter().any(|path| path.as_os_str().is_empty()) => PathBuf::new(),
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            return Err(FolderError::Several(names.join(", ")));
        }
    };
    let text = open::read_text_beneath(folder, &relative.join(SUMMARY), SUMMARY_CAP)?;
    let summary = summary::parse(&text).map_err(|error| FolderError::Unreadable {
        path: relative.join(SUMMARY).display().to_string(),
        because: error.to_string(),
    })?;
    let detail = match open::open_beneath(folder, &relative.join(DETAIL)) {
        Ok(file) => Some(stream(file).map_err(StoreError::io("read", &folder.join(DETAIL)))?),
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Run {
        summary: Some(summary),
        detail,
    })
}

/// Every folder in or below a directory that holds a summary, sorted; links are not followed.
#[must_use]
pub fn find_all(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    find(directory, Path::new(""), 16, &mut found);
    found.sort();
    found
}

/// Reads a detail log of any length in bounded memory.
fn stream(mut file: impl Read) -> std::io::Result<detail::Detail> {
    let mut parser = detail::Parser::new();
    let mut block = vec![0; 256 << 10];
    loop {
        let count = file.read(&mut block)?;
        if count == 0 {
            return Ok(parser.finish());
        }
        parser.push(&block[..count]);
    }
}

fn find(folder: &Path, relative: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder.join(relative)) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth > 0 {
            find(folder, &relative.join(entry.file_name()), depth - 1, found);
        } else if entry.file_name() == SUMMARY {
            found.push(relative.to_owned());
        }
    }
}
