//! One run's directory: its paths, and writing that a crash cannot leave half done.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;

/// The directory of one run: `<home>/runs/<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
    id: String,
}

impl RunDirectory {
    pub(super) fn create(path: PathBuf, id: String) -> Result<Self, StoreError> {
        let run = Self { path, id };
        for directory in [
            run.steps(),
            run.results(),
            run.control(),
            run.control().join("steps"),
        ] {
            fs::create_dir(&directory).map_err(StoreError::io("create", &directory))?;
        }
        Ok(run)
    }

    /// A run that is there already.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        let id = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        Self { path, id }
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file or directory of the run.
    #[must_use]
    pub fn join(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// `journal.jsonl`
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.join("journal.jsonl")
    }

    /// Output of the steps.
    #[must_use]
    pub fn steps(&self) -> PathBuf {
        self.join("steps")
    }

    /// What the scenarios wrote.
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.join("results")
    }

    /// What the container sees as `/.retrial`.
    #[must_use]
    pub fn control(&self) -> PathBuf {
        self.join("control")
    }

    /// The lock of the process that follows the run.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.join("lock")
    }

    /// Writes a JSON file of the run, whole or not at all.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let path = self.join(name);
        let mut text =
            serde_json::to_string_pretty(value).map_err(|error| StoreError::Unusable {
                path: path.clone(),
                because: error.to_string(),
            })?;
        text.push('\n');
        write_atomically(&path, text.as_bytes())
    }

    /// Reads a JSON file of the run.
    ///
    /// # Errors
    /// Where it is missing or not what it should be.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        let path = self.join(name);
        let text = super::open::read_text_beneath(&self.path, Path::new(name), 64 << 20)?;
        serde_json::from_str(&text).map_err(|error| StoreError::Unusable {
            path,
            because: error.to_string(),
        })
    }
}

/// Writes a file beside its place, syncs it and renames it.
///
/// # Errors
/// Where the disk takes no more.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut file = File::create(&part).map_err(StoreError::io("create", &part))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("write", &part))?;
    fs::rename(&part, path).map_err(StoreError::io("rename", path))
}

/// Gives a directory its name once everything in it is on the disk: after a crash of the host,
/// too, what has the name is whole.
///
/// # Errors
/// Where the disk takes no more.
pub fn rename_synced(part: &Path, target: &Path) -> Result<(), StoreError> {
    let sync = |path: &Path, all: bool| {
        let directory = File::open(path).map_err(StoreError::io("open", path))?;
        let synced = if all {
            rustix::fs::syncfs(&directory).map_err(std::io::Error::from)
        } else {
            directory.sync_all()
        };
        synced.map_err(StoreError::io("sync", path))
    };
    sync(part, true)?;
    fs::rename(part, target).map_err(StoreError::io("rename", part))?;
    target.parent().map_or(Ok(()), |parent| sync(parent, false))
}

/// Gives a file or directory rights, whatever the process's umask is.
///
/// # Errors
/// Where it is not ours.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), StoreError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(StoreError::io("change the rights of", path))
}
