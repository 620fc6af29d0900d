//! Updates the index from the run directories: new and changed runs are read, removed ones are
//! forgotten, and nothing else is touched.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;
use rusqlite::Connection;

use super::ReadSummary;
use super::file::{IndexError, IndexFile, passes};
use super::listing::{self, ListedRun};
use super::rows;
use crate::{RunSummary, SortKey, order};
use retrial_store::RunDirectory;

/// How many runs are read before they are written, to limit memory.
const CHUNK: usize = 4096;

/// The directory of runs, and the function that reads a run's summary.
#[derive(Debug)]
pub struct RunDirectories {
    pub runs: PathBuf,
    pub read: ReadSummary,
}

/// The changes that an update makes.
#[derive(Debug, Default)]
struct IndexChanges {
    read: Vec<ListedRun>,
    removed: Vec<String>,
}

/// Opens the index on disk, and updates it.
pub fn update(
    place: &IndexFile,
    directories: &RunDirectories,
    listed: &[ListedRun],
) -> Result<Connection, IndexError> {
    if let Some(connection) = place.open()?
        && let Ok(changes) = changes(&connection, listed)
        && changes.read.is_empty()
        && changes.removed.is_empty()
    {
        return Ok(connection);
    }
    let _lock = place.lock()?;
    // Listed again: a run that another process has written meanwhile would be taken for removed.
    let listed = &directories.list();
    // Opened again: while we waited, another process may have put a new one in its place.
    if let Some(connection) = place.open()? {
        let written = changes(&connection, listed)
            .and_then(|changes| directories.write(&connection, &changes));
        match written {
            Ok(()) => return Ok(connection),
            Err(error) if passes(&error) => return Err(error.into()),
            Err(_) => {}
        }
    }
    place.replace(|connection| directories.fill(connection, listed))
}

/// Rebuilds the index on disk.
pub fn rebuild(place: &IndexFile, directories: &RunDirectories) -> Result<Connection, IndexError> {
    let _lock = place.lock()?;
    place.replace(|connection| directories.fill(connection, &directories.list()))
}

/// Every run, from the index on disk as far as it can be read; nothing is written.
pub fn in_memory(
    place: &IndexFile,
    directories: &RunDirectories,
    listed: &[ListedRun],
) -> Vec<RunSummary> {
    let indexed = place.open().ok().flatten().and_then(|connection| {
        let changes = changes(&connection, listed).ok()?;
        let stale: HashSet<&str> = changes.read.iter().map(|run| run.id.as_str()).collect();
        let mut rows = rows::all(&connection, &directories.runs).ok()?;
        rows.retain(|row| !stale.contains(row.id.as_str()) && !changes.removed.contains(&row.id));
        rows.extend(directories.rows(&changes.read));
        Some(rows)
    });
    sorted(indexed.unwrap_or_else(|| directories.rows(listed)))
}

fn sorted(mut rows: Vec<RunSummary>) -> Vec<RunSummary> {
    order(&mut rows, SortKey::Started);
    rows
}

/// Compares the index with the directories.
fn changes(connection: &Connection, listed: &[ListedRun]) -> rusqlite::Result<IndexChanges> {
    let mut statement = connection.prepare("SELECT id, signature FROM directories")?;
    let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let indexed: HashMap<String, Vec<u8>> = pairs.collect::<rusqlite::Result<_>>()?;
    let there: HashSet<&str> = listed.iter().map(|run| run.id.as_str()).collect();
    let is_new = |run: &&ListedRun| {
        let signature = run.signature.as_ref();
        signature.is_none() || indexed.get(&run.id) != signature
    };
    Ok(IndexChanges {
        read: listed.iter().filter(is_new).cloned().collect(),
        removed: indexed
            .keys()
            .filter(|id| !there.contains(id.as_str()))
            .cloned()
            .collect(),
    })
}

impl RunDirectories {
    /// The runs as their directories are now.
    pub fn list(&self) -> Vec<ListedRun> {
        listing::list(&self.runs)
    }

    /// Every run, read from its directory, the newest last.
    pub fn all(&self) -> Vec<RunSummary> {
        sorted(self.rows(&self.list()))
    }

    /// Writes what changed, all of it or nothing.
    fn write(&self, connection: &Connection, changes: &IndexChanges) -> rusqlite::Result<()> {
        let transaction = connection.unchecked_transaction()?;
        for id in &changes.removed {
            rows::forget(&transaction, id)?;
        }
        self.fill(&transaction, &changes.read)?;
        transaction.commit()
    }

    /// Reads runs and writes their rows.
    fn fill(&self, connection: &Connection, listed: &[ListedRun]) -> rusqlite::Result<()> {
        for chunk in listed.chunks(CHUNK) {
            for (run, row) in chunk.iter().zip(&self.rows(chunk)) {
                rows::put(connection, run, row)?;
            }
        }
        Ok(())
    }

    fn rows(&self, listed: &[ListedRun]) -> Vec<RunSummary> {
        let rows = listed.par_iter();
        rows.map(|run| (self.read)(&RunDirectory::from_path(self.runs.join(&run.id))))
            .collect()
    }
}
