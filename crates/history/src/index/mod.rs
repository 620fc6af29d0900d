//! The index of a home's runs: their summaries, in `<home>/index.sqlite`.
//!
//! The run directories are the truth. Opening the index updates it from them first: a listing and the
//! state of a few files of each directory show what is new, changed, moved or gone, and only that is
//! read. An index that is missing, damaged, or of an older version is rebuilt. Where the home cannot
//! be written, or another process locks the index, the summaries are read into memory; no command
//! fails because of the index.

mod file;
mod listing;
mod rows;
mod schema;
mod sync;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use rusqlite::Connection;

use self::file::IndexFile;
use self::sync::RunDirectories;
use crate::cell_outcome::apply_cell_verdicts;
use crate::{RunFilter, RunState, RunSummary};
use retrial_store::lock::FileLock;
use retrial_store::{Home, RunDirectory};

pub use listing::run_names;

/// Reads a run's files. It never fails: what cannot be read is empty.
pub type ReadSummary = fn(&RunDirectory) -> RunSummary;

/// The index, updated when it was opened.
#[derive(Debug)]
pub struct RunIndex {
    storage: Storage,
    index_file: IndexFile,
    directories: RunDirectories,
    batches: PathBuf,
    storage_problem: Option<String>,
}

#[derive(Debug)]
enum Storage {
    Disk(Connection),
    /// Summaries that were read from the run directories, the newest last.
    Memory(Vec<RunSummary>),
}

impl RunIndex {
    /// Opens the index of a home, and updates it.
    pub fn open(home: &Home, read: ReadSummary) -> Self {
        let mut index = Self {
            storage: Storage::Memory(Vec::new()),
            index_file: IndexFile::new(home.root()),
            directories: RunDirectories { runs: home.runs_directory(), read_summary: read },
            batches: home.batches_directory(),
            storage_problem: None,
        };
        let directories = &index.directories;
        if let Err(error) = fs::read_dir(&directories.runs)
            && error.kind() != ErrorKind::NotFound
        {
            let runs = directories.runs.display();
            index.storage_problem = Some(format!("the runs in {runs} cannot be read: {error}"));
            return index;
        }
        let listed = directories.list();
        // Opening the index does not create a home.
        if listed.is_empty() && !index.index_file.path().exists() {
            return index;
        }
        match sync::update_index(&index.index_file, directories, &listed) {
            Ok(connection) => index.storage = Storage::Disk(connection),
            Err(error) => {
                let path = index.index_file.path();
                index.storage_problem = Some(format!(
                    "the index of runs cannot be stored ({}: {error}): the run directories were read instead",
                    path.display()
                ));
                index.storage = Storage::Memory(sync::read_into_memory(
                    &index.index_file,
                    directories,
                    &listed,
                ));
            }
        }
        index
    }

    /// Returns why the index is not stored on disk, or why runs cannot be read; none if all is well.
    pub fn storage_problem(&self) -> Option<&str> {
        self.storage_problem.as_deref()
    }

    /// The runs that match, the newest last.
    pub fn runs(&mut self, filter: &RunFilter) -> Vec<RunSummary> {
        let selected_rows = match &self.storage {
            Storage::Disk(connection) => {
                rows::read_matching(connection, &self.directories.runs, filter)
            }
            Storage::Memory(rows) => Ok(rows.clone()),
        };
        let mut rows = selected_rows.unwrap_or_else(|_| self.rebuild_and_read());
        apply_cell_verdicts(&self.batches, &mut rows);
        let with_state = rows.into_iter().map(|mut row| {
            if row.run_state != RunState::Ended
                && let Some(holder) = FileLock::find_holder(&row.path.join("lock"))
            {
                row.run_state = RunState::Running(holder.process.unwrap_or_default());
            }
            row
        });
        with_state.filter(|row| filter.matches(row)).collect()
    }

    /// Rebuilds an index that proves to be damaged.
    fn rebuild_and_read(&mut self) -> Vec<RunSummary> {
        let directories = &self.directories;
        let rebuilt_index = sync::rebuild_index(&self.index_file, directories).ok();
        let rebuilt = rebuilt_index.and_then(|connection| {
            let indexed_rows = rows::read_all(&connection, &directories.runs).ok()?;
            Some((Storage::Disk(connection), indexed_rows))
        });
        let (storage, rows) = rebuilt.unwrap_or_else(|| {
            let rows = directories.read_all();
            (Storage::Memory(rows.clone()), rows)
        });
        self.storage = storage;
        rows
    }
}
