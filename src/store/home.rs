//! The directory that holds everything of ours: runs and remembered trust.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::error::StoreError;
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

    /// Makes the directory of a new run.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn new_run(&self, stem: &str) -> Result<RunDirectory, StoreError> {
        let runs = self.runs();
        fs::create_dir_all(&runs).map_err(StoreError::io("create", &runs))?;
        // Containers of any user pass through to the control directory, never list the rest.
        let runs = runs.canonicalize().map_err(StoreError::io("find", &runs))?;
        let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        let stem: String = stem.chars().take(40).collect();
        for attempt in 0..1000_u32 {
            let id = format!("{now}-{stem}-{}", short_id(attempt));
            let path = runs.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => return RunDirectory::create(path, id),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io("create", &path)(error)),
            }
        }
        Err(StoreError::Unusable {
            path: runs,
            because: "no free name for a new run".to_owned(),
        })
    }

    /// Ids of the runs, oldest first.
    #[must_use]
    pub fn run_ids(&self) -> Vec<String> {
        let mut runs: Vec<(jiff::Timestamp, String)> = fs::read_dir(self.runs())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let began = began(&entry.path().join("journal.jsonl"))?;
                Some((began, entry.file_name().into_string().ok()?))
            })
            .collect();
        runs.sort();
        runs.into_iter().map(|(_, id)| id).collect()
    }

    /// Finds a run by id, by a part of its id that only one has, by path, or `last`.
    ///
    /// # Errors
    /// Where there is none, or more than one.
    pub fn find(&self, wanted: &str) -> Result<RunDirectory, StoreError> {
        let as_path = Path::new(wanted);
        if wanted.contains('/') && as_path.join("journal.jsonl").exists() {
            let path = as_path
                .canonicalize()
                .map_err(StoreError::io("find", as_path))?;
            return Ok(RunDirectory::at(path));
        }
        let ids = self.run_ids();
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
            return Ok(RunDirectory::at(self.runs().join(id)));
        }
        let shown: Vec<&str> = if matches.is_empty() {
            ids.iter().rev().take(5).map(String::as_str).collect()
        } else {
            matches.iter().map(|id| id.as_str()).collect()
        };
        let hint = match (matches.is_empty(), shown.is_empty()) {
            (_, true) => ": there are no runs yet".to_owned(),
            (true, _) => format!("; the latest are:\n  {}", shown.join("\n  ")),
            (false, _) => format!("; that could be:\n  {}", shown.join("\n  ")),
        };
        Err(StoreError::NoSuchRun {
            wanted: wanted.to_owned(),
            runs: self.runs(),
            hint,
        })
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

/// When a run began, by its journal's first line: an id has the local time, to the second.
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
