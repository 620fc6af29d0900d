//! The index of a home's runs: what is known of each at a glance, in `<home>/index.sqlite`.
//!
//! The run directories are the truth. Whoever opens the index brings it up to date with them first:
//! one listing and a few looks at each directory say what is new, changed, moved or gone, and only
//! that is read. An index that is missing, damaged, or an older version's is made anew. Where the
//! home cannot be written, or another process does not let go of the index, what it would hold is
//! read into memory; so no command fails for want of it.

mod columns;
mod file;
mod listing;
mod schema;
mod sync;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use rusqlite::Connection;

use self::file::IndexFile;
use self::sync::Directories;
use crate::history::{Filter, RunState, RunSummary};
use crate::store::lock::FileLock;
use crate::store::{Home, RunDirectory};

pub use listing::names;

/// Reads a run's files. It never fails: what cannot be read is empty.
pub type Read = fn(&RunDirectory) -> RunSummary;

/// The index, up to date when it was opened.
#[derive(Debug)]
pub struct Index {
    kept: Kept,
    place: IndexFile,
    runs: PathBuf,
    read: Read,
    note: Option<String>,
}

#[derive(Debug)]
enum Kept {
    Disk(Connection),
    /// The newest last.
    Memory(Vec<RunSummary>),
}

impl Index {
    /// Opens the index of a home, and brings it up to date.
    #[must_use]
    pub fn open(home: &Home, read: Read) -> Self {
        let mut index = Self {
            kept: Kept::Memory(Vec::new()),
            place: IndexFile::of(home.root()),
            runs: home.runs(),
            read,
            note: None,
        };
        let listed = listing::list(&index.runs);
        // A home without runs need not come into being because somebody asked.
        if listed.is_empty() && !index.place.path().exists() {
            return index;
        }
        let directories = Directories {
            runs: &index.runs,
            listed: &listed,
            read,
        };
        match sync::up_to_date(&index.place, &directories) {
            Ok(connection) => index.kept = Kept::Disk(connection),
            Err(error) => {
                let path = index.place.path();
                index.note = Some(format!(
                    "the index of runs is not kept ({}: {error}): the run directories were read \
                     in its place",
                    path.display()
                ));
                index.kept = Kept::Memory(sync::in_memory(&index.place, &directories));
            }
        }
        index
    }

    /// Why it is not kept on the disk, if it is not.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The runs that are meant, the newest last.
    pub fn runs(&mut self, filter: &Filter) -> Vec<RunSummary> {
        let rows = match &self.kept {
            Kept::Disk(connection) => columns::some(connection, &self.runs, filter),
            Kept::Memory(rows) => Ok(rows.clone()),
        };
        let rows = rows.unwrap_or_else(|_| self.read_again());
        let with_stand = rows.into_iter().map(|mut row| {
            if row.state != RunState::Ended
                && let Some(pid) = FileLock::holder(&row.path.join("lock"))
            {
                row.state = RunState::Running { pid };
            }
            row
        });
        with_stand.filter(|row| filter.fits(row)).collect()
    }

    /// Damaged where nobody had looked yet: it is made anew.
    fn read_again(&mut self) -> Vec<RunSummary> {
        let listed = listing::list(&self.runs);
        let directories = Directories {
            runs: &self.runs,
            listed: &listed,
            read: self.read,
        };
        let made = sync::made_anew(&self.place, &directories);
        let rows = made
            .as_ref()
            .ok()
            .and_then(|connection| columns::all(connection, &self.runs).ok());
        if let (Ok(connection), Some(rows)) = (made, rows) {
            self.kept = Kept::Disk(connection);
            return rows;
        }
        let rows = directories.all();
        self.kept = Kept::Memory(rows.clone());
        rows
    }
}
