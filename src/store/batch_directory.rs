//! One batch's directory: `<home>/batches/<id>` with `batch.yaml` (the batch as resolved),
//! `batch.json` (what was planned), `journal.jsonl` (what happened, synced) and `verdict.json`.
//! Its runs are ordinary runs, below `<home>/runs`.

use std::ops::Deref;
use std::path::PathBuf;

use super::record::Record;

/// The directory of one batch: `<home>/batches/<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchDirectory {
    record: Record,
}

impl Deref for BatchDirectory {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

impl BatchDirectory {
    /// A batch that is there already.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self {
            record: Record::at(path),
        }
    }

    /// `batch.yaml`
    #[must_use]
    pub fn yaml(&self) -> PathBuf {
        self.join("batch.yaml")
    }
}
