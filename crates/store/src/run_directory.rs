//! One run's directory: its paths.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::journal::JournalState;
use super::lock::FileLock;
use super::process::ProcessIdentity;
use super::record::RecordDirectory;
use retrial_host::model::HostView;
use retrial_host::record::HostRecord;

/// The directory of one run: `<home>/runs/<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    record: RecordDirectory,
}

/// The file that describes its machine.
pub const HOST_FILE: &str = "host.json";

/// The directory of a run's other machines.
const MACHINES_FOLDER: &str = "nodes";

/// The directory of one of them, within the run's.
pub fn machine_subdirectory(name: &str) -> String {
    format!("{MACHINES_FOLDER}/{name}")
}

impl RunDirectory {
    pub(super) fn create(path: PathBuf) -> Result<Self, StoreError> {
        let run = Self::from_path(path);
        run.create_layout()?;
        Ok(run)
    }

    /// Creates the directories of a run, if missing.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn create_layout(&self) -> Result<(), StoreError> {
        for directory in [
            self.steps_directory(),
            self.results_directory(),
            self.control_directory(),
            self.control_directory().join("steps"),
        ] {
            fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
        }
        Ok(())
    }

    /// Opens an existing run.
    pub fn from_path(path: PathBuf) -> Self {
        Self { record: RecordDirectory::from_path(path) }
    }

    /// Returns the directory as a record, of which a batch's is another.
    pub fn record(&self) -> &RecordDirectory {
        &self.record
    }

    pub fn id(&self) -> &str {
        self.record.id()
    }

    pub fn path(&self) -> &Path {
        self.record.path()
    }

    pub fn join(&self, relative: &str) -> PathBuf {
        self.record.join(relative)
    }

    /// Returns the path of its journal, `journal.jsonl`.
    pub fn journal_path(&self) -> PathBuf {
        self.record.journal_path()
    }

    /// Returns the path of the lock file of the process that executes it.
    pub fn lock_path(&self) -> PathBuf {
        self.record.lock_path()
    }

    /// Writes a JSON file of it atomically.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        self.record.write_json(name, value)
    }

    /// Reads a JSON file of it.
    ///
    /// # Errors
    /// If it is missing or invalid.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        self.record.read_json(name)
    }

    /// Reads its state from its journal.
    ///
    /// # Errors
    /// If there is no journal that can be read.
    pub fn read_state(&self) -> Result<JournalState, StoreError> {
        JournalState::read(&self.journal_path())
    }

    /// Returns whether another process than this one holds its lock.
    pub fn is_followed_by_another_process(&self) -> bool {
        let holder = FileLock::find_holder(&self.lock_path());
        holder.is_some_and(|holder| holder.process != Some(ProcessIdentity::current().clone()))
    }

    /// Reads its `host.json`.
    ///
    /// # Errors
    /// If it is missing or invalid.
    pub fn read_host_record(&self) -> Result<HostRecord, StoreError> {
        self.read_json(HOST_FILE)
    }

    /// Writes its `host.json`.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn write_host_record(&self, record: &HostRecord) -> Result<(), StoreError> {
        self.write_json(HOST_FILE, record)
    }

    /// Reads the machine of its `host.json`.
    ///
    /// # Errors
    /// If the file is missing or invalid, or describes no machine: the run's job has not started.
    pub fn read_host(&self) -> Result<HostView, StoreError> {
        let host = self.read_host_record()?.host;
        host.ok_or_else(|| StoreError::unusable(&self.join(HOST_FILE), "it describes no host"))
    }

    /// Lists the names of its other machines that have started.
    pub fn list_other_machines(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(MACHINES_FOLDER)).into_iter().flatten();
        let started = entries.flatten().filter(|entry| entry.path().join(HOST_FILE).exists());
        let mut names: Vec<String> =
            started.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        // n2 comes before n10.
        names.sort_by_key(|name| (name.len(), name.clone()));
        names
    }

    /// The part of a run that another of its machines writes, with the layout of a run.
    #[must_use]
    pub fn machine_directory(&self, name: &str) -> Self {
        Self { record: self.record.subrecord(&machine_subdirectory(name)) }
    }

    /// Returns the directory of the steps' output.
    pub fn steps_directory(&self) -> PathBuf {
        self.join("steps")
    }

    /// Returns the directory of the scenarios' results.
    pub fn results_directory(&self) -> PathBuf {
        self.join("results")
    }

    /// Returns the directory that the container mounts as `/.retrial`.
    pub fn control_directory(&self) -> PathBuf {
        self.join("control")
    }
}
