//! Names of runs and batches: new ones, those there are, and which one somebody means.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A run.
    Run,
    /// A batch.
    Batch,
}

impl Kind {
    /// Several of them.
    #[must_use]
    pub fn several(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Batch => "batches",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Run => "run",
            Self::Batch => "batch",
        })
    }
}

/// Makes a directory with a new id: when, what, and four digits.
pub(super) fn new_directory(kind: Kind, parent: &Path, stem: &str) -> Result<PathBuf, StoreError> {
    fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    // Containers of any user pass through to the control directory, never list the rest.
    let parent = parent
        .canonicalize()
        .map_err(StoreError::io("find", parent))?;
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let stem: String = stem.chars().take(40).collect();
    for attempt in 0..1000_u32 {
        let path = parent.join(format!("{now}-{stem}-{}", short_id(attempt)));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("create", &path)(error)),
        }
    }
    Err(StoreError::Unusable {
        path: parent,
        because: format!("no free name for a new {kind}"),
    })
}

/// Ids of the directories that have a journal, oldest first.
pub(super) fn ids(parent: &Path) -> Vec<String> {
    let mut found: Vec<(jiff::Timestamp, String)> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let began = began(&entry.path().join("journal.jsonl"))?;
            Some((began, entry.file_name().into_string().ok()?))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, id)| id).collect()
}

/// Finds a directory by id, by a part of its id that only one has, by path, or `last`.
pub(super) fn find(kind: Kind, parent: &Path, wanted: &str) -> Result<PathBuf, StoreError> {
    let as_path = Path::new(wanted);
    if wanted.contains('/') && as_path.join("journal.jsonl").exists() {
        return as_path
            .canonicalize()
            .map_err(StoreError::io("find", as_path));
    }
    let ids = ids(parent);
    let matches: Vec<&String> = if wanted == "last" {
        ids.last().into_iter().collect()
    } else if ids.iter().any(|id| id == wanted) {
        ids.iter().filter(|id| *id == wanted).collect()
    } else {
        ids.iter()
            .filter(|id| !wanted.is_empty() && id.contains(wanted))
            .collect()
    };
    if let [id] = matches[..] {
        return Ok(parent.join(id));
    }
    let shown: Vec<&str> = if matches.is_empty() {
        ids.iter().rev().take(5).map(String::as_str).collect()
    } else {
        matches.iter().map(|id| id.as_str()).collect()
    };
    let hint = match (matches.is_empty(), shown.is_empty()) {
        (_, true) => format!(": there are no {} yet", kind.several()),
        (true, _) => format!("; the latest are:\n  {}", shown.join("\n  ")),
        (false, _) => format!("; that could be:\n  {}", shown.join("\n  ")),
    };
    Err(StoreError::NoSuch {
        kind,
        wanted: wanted.to_owned(),
        among: parent.to_owned(),
        matches: matches.len(),
        hint,
    })
}

/// When it began, by its journal's first line: an id has the local time, to the second.
/// `None` where there is no journal; one without a time is the oldest of all.
fn began(journal: &Path) -> Option<jiff::Timestamp> {
    let mut line = String::new();
    let file = fs::File::open(journal).ok()?;
    // A journal is ours, but a run's directory may have come from elsewhere.
    let _ = BufReader::new(file.take(64 << 10)).read_line(&mut line);
    let first: Option<serde_json::Value> = serde_json::from_str(&line).ok();
    let time = first.and_then(|first| first.get("time")?.as_str()?.parse().ok());
    Some(time.unwrap_or(jiff::Timestamp::MIN))
}

/// Four hexadecimal digits that differ between processes that begin in the same second.
fn short_id(attempt: u32) -> String {
    use sha2::{Digest, Sha256};
    let now = jiff::Timestamp::now().as_nanosecond();
    let digest = Sha256::digest(format!("{now} {} {attempt}", std::process::id()));
    format!("{:02x}{:02x}", digest[0], digest[1])
}
