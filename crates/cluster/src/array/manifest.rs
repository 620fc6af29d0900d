//! The arrays of a batch: `arrays/1`, `arrays/2`, …, each with the tasks that it has, and with the journal of
//! its submission.

use std::fs;

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use crate::job::record::{self, JobSubmission};
use crate::site::script::JobWork;
use crate::slurm::Slurm;
use retrial_batch::run::read_journal;
use retrial_store::files::list_directory;
use retrial_store::{RecordDirectory, StoreError};

const ARRAYS_DIRECTORY: &str = "arrays";
const MANIFEST_FILE: &str = "array.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayManifest {
    /// The attempt at the batch that it belongs to, from 1: a batch that has ended can be resumed.
    pub session: usize,
    /// Its tasks: the one at index 0 first.
    pub tasks: Vec<TaskEntry>,
    /// The node on which these tasks have failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEntry {
    /// Which of the batch's tasks, from 1.
    pub task: usize,
    /// The length of its journal, bytes: what follows was written by this array.
    pub journal: u64,
}

#[derive(Debug, Clone)]
pub struct Array {
    /// Its directory; its id is the batch's.
    pub directory: RecordDirectory,
    /// Which of the batch's arrays, from 1.
    pub number: usize,
    /// The tasks, session and excluded node of its `array.json`.
    pub manifest: ArrayManifest,
}

impl Array {
    /// Creates the directory of another array of a batch.
    ///
    /// # Errors
    /// If its files cannot be written.
    pub fn create(batch: &RecordDirectory, manifest: ArrayManifest) -> Result<Self, StoreError> {
        let number = array_numbers(batch)?.last().map_or(1, |last| last + 1);
        let directory = array_directory(batch, number);
        let path = directory.path();
        fs::create_dir_all(path).map_err(StoreError::io("create", path))?;
        directory.write_json(MANIFEST_FILE, &manifest)?;
        Ok(Self { directory, number, manifest })
    }

    /// Opens an array of a batch by its number.
    ///
    /// # Errors
    /// If its manifest cannot be read.
    pub fn open(batch: &RecordDirectory, number: usize) -> Result<Self, StoreError> {
        let directory = array_directory(batch, number);
        Ok(Self { manifest: directory.read_json(MANIFEST_FILE)?, directory, number })
    }

    /// Reads the arrays of a batch, in their order.
    ///
    /// # Errors
    /// If a manifest cannot be read.
    pub fn all(batch: &RecordDirectory) -> Result<Vec<Self>, StoreError> {
        let numbers = array_numbers(batch)?.into_iter();
        // One whose making was interrupted has no manifest, and no job.
        let whole =
            numbers.filter(|number| array_directory(batch, *number).join(MANIFEST_FILE).exists());
        whole.map(|number| Self::open(batch, number)).collect()
    }

    /// Reads the arrays of the latest session of a batch, in their order.
    ///
    /// # Errors
    /// If the journal of the batch or a manifest cannot be read.
    pub fn of_latest_session(batch: &RecordDirectory) -> Result<Vec<Self>, StoreError> {
        let session = read_journal(batch)?.sessions;
        let mut arrays = Self::all(batch)?;
        arrays.retain(|array| array.manifest.session == session);
        Ok(arrays)
    }

    /// Returns the work that its job does.
    pub fn work(&self) -> JobWork<'_> {
        JobWork::Array {
            batch: self.directory.id(),
            number: self.number,
            tasks: self.manifest.tasks.len(),
            exclude: self.manifest.exclude.as_deref(),
        }
    }

    /// Returns Slurm restricted to the jobs of this array.
    pub fn slurm(&self) -> Slurm {
        Slurm::with_job_name(self.work().job_name())
    }

    /// Returns its latest submission; none if it was not submitted.
    ///
    /// # Errors
    /// If its journal of submissions cannot be read.
    pub fn submission(&self) -> Result<Option<JobSubmission>, StoreError> {
        record::latest_submission(&self.directory)
    }
}

fn array_directory(batch: &RecordDirectory, number: usize) -> RecordDirectory {
    batch.subrecord(&format!("{ARRAYS_DIRECTORY}/{number}"))
}

fn array_numbers(batch: &RecordDirectory) -> Result<Vec<usize>, StoreError> {
    let names = list_directory(&batch.join(ARRAYS_DIRECTORY))?.into_iter();
    let numbers = names.filter_map(|name| name.to_str()?.parse().ok());
    Ok(numbers.sorted().collect())
}
