//! Lists run directories and detects changes by the metadata of a few files, without opening any.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use rustix::fs::{AtFlags, Mode, OFlags, open, statat};

/// The files that a summary depends on. A directory with the first is a run's.
const SIGNATURE_FILES: [&str; 3] = ["journal.jsonl", "verdict.json", "plan.json"];
/// A file that was written so recently may be written again with the same time: file systems keep
/// times in ticks, some in seconds.
const RECENT_WRITE_WINDOW: Duration = Duration::from_secs(2);

/// A run's directory, with the state of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    /// Its name: the run's id.
    pub id: String,
    /// Sizes, times and inodes of its files. None where one of them was written just now: equal
    /// metadata would prove nothing later.
    pub signature: Option<Vec<u8>>,
}

/// Lists the runs below a directory, in no order; none if the directory does not exist.
pub fn list_runs(runs: &Path) -> Vec<ListedRun> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(directory) = open(runs, flags, Mode::empty()) else {
        return Vec::new();
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let recent_since = now.unwrap_or_default().saturating_sub(RECENT_WRITE_WINDOW).as_secs();
    let racy = i64::try_from(recent_since).unwrap_or(i64::MAX);
    let names: Vec<String> = run_names(runs).collect();
    names
        .into_par_iter()
        .with_min_len(64)
        .filter_map(|id| probe_run(directory.as_fd(), id, racy))
        .collect()
}

/// Lists directories that may be runs. A name that begins with a dot is of a run that is being made or removed.
pub fn run_names(runs: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
}

fn probe_run(runs: BorrowedFd<'_>, id: String, racy: i64) -> Option<ListedRun> {
    let mut bytes = Vec::with_capacity(SIGNATURE_FILES.len() * 32);
    let mut settled = true;
    for (position, name) in SIGNATURE_FILES.iter().enumerate() {
        let status = statat(runs, format!("{id}/{name}"), AtFlags::empty());
        let Ok(status) = status else {
            if position == 0 {
                return None;
            }
            bytes.push(0);
            continue;
        };
        settled &= status.st_mtime < racy;
        bytes.extend(status.st_size.to_le_bytes());
        bytes.extend(status.st_mtime.to_le_bytes());
        bytes.extend(status.st_mtime_nsec.to_le_bytes());
        bytes.extend(status.st_ino.to_le_bytes());
    }
    let signature = settled.then_some(bytes);
    Some(ListedRun { id, signature })
}
