//! One run's directory: its paths, and writing that a crash cannot leave half done.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::record::Record;

/// The directory of one run: `<home>/runs/<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    record: Record,
}

/// The directory of a run's other machines.
const MACHINES: &str = "nodes";

/// The directory of one of them, within the run's.
#[must_use]
pub fn directory_of_machine(name: &str) -> String {
    format!("{MACHINES}/{name}")
}

impl Deref for RunDirectory {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

impl RunDirectory {
    pub(super) fn create(path: PathBuf) -> Result<Self, StoreError> {
        let run = Self::at(path);
        run.lay_out()?;
        Ok(run)
    }

    /// Makes the directories that a run has, where they are not there.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn lay_out(&self) -> Result<(), StoreError> {
        for directory in [
            self.steps(),
            self.results(),
            self.control(),
            self.control().join("steps"),
        ] {
            fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
        }
        Ok(())
    }

    /// A run that is there already.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self {
            record: Record::at(path),
        }
    }

    /// The names of its other machines, as far as they have begun.
    #[must_use]
    pub fn other_machines(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(MACHINES))
            .into_iter()
            .flatten();
        let began = entries
            .flatten()
            .filter(|entry| entry.path().join("host.json").exists());
        let mut names: Vec<String> = began
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        // n2 comes before n10.
        names.sort_by_key(|name| (name.len(), name.clone()));
        names
    }

    /// The part of a run that another of its machines writes, laid out as a run is.
    #[must_use]
    pub fn machine(&self, name: &str) -> Self {
        Self {
            record: self.record.part(&directory_of_machine(name)),
        }
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

/// The mode of directories that only their owner can enter.
pub const PRIVATE: u32 = 0o700;

/// Creates a directory that only its owner can enter, and such parents, where they do not exist.
///
/// # Errors
/// If it cannot be created.
pub fn create_private(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE)
        .create(path)
        .map_err(StoreError::io("create", path))
}

/// Gives a file or directory rights, whatever the process's umask is.
///
/// # Errors
/// Where it is not ours.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), StoreError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(StoreError::io("change the rights of", path))
}
