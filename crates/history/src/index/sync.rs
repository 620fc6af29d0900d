//! Updates the index from the run directories: new and changed runs are read, removed ones are
//! forgotten, and nothing else is touched.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;
use rusqlite::Connection;

use super::ReadSummary;
use super::file::{IndexError, IndexFile, leaves_file_intact};
use super::listing::{self, ListedRun};
use super::rows;
use crate::{RunSummary, SortKey, sort_runs};
use retrial_store::RunDirectory;

/// How many runs are read before they are written, to limit memory.
const RUNS_PER_CHUNK: usize = 4096;

/// The directory of runs, and the function that reads a run's summary.
#[derive(Debug)]
pub struct RunDirectories {
    pub runs: PathBuf,
    pub read_summary: ReadSummary,
}

/// The changes that an update makes.
#[derive(Debug, Default)]
struct IndexChanges {
    changed_runs: Vec<ListedRun>,
    removed_ids: Vec<String>,
}

/// Opens the index on disk, and updates it.
pub fn update_index(
    place: &IndexFile,
    directories: &RunDirectories,
    listed: &[ListedRun],
) -> Result<Connection, IndexError> {
    if let Some(connection) = place.open()?
        && let Ok(changes) = find_changes(&connection, listed)
        && changes.changed_runs.is_empty()
        && changes.removed_ids.is_empty()
    {
        return Ok(connection);
    }
    let _lock = place.lock()?;
    // Listed again: a run that another process has written meanwhile would be taken for removed.
    let listed = &directories.list();
    // Opened again: while we waited, another process may have put a new one in its place.
    if let Some(connection) = place.open()? {
        let written = find_changes(&connection, listed)
            .and_then(|changes| directories.apply_changes(&connection, &changes));
        match written {
            Ok(()) => return Ok(connection),
            Err(error) if leaves_file_intact(&error) => return Err(error.into()),
            Err(_) => {}
        }
    }
    place.replace(|connection| directories.insert_runs(connection, listed))
}

pub fn rebuild_index(
    place: &IndexFile,
    directories: &RunDirectories,
) -> Result<Connection, IndexError> {
    let _lock = place.lock()?;
    place.replace(|connection| directories.insert_runs(connection, &directories.list()))
}

/// Every run, from the index on disk as far as it can be read; nothing is written.
pub fn read_into_memory(
    place: &IndexFile,
    directories: &RunDirectories,
    listed: &[ListedRun],
) -> Vec<RunSummary> {
    let indexed = place.open().ok().flatten().and_then(|connection| {
        let changes = find_changes(&connection, listed).ok()?;
        let stale: HashSet<&str> = changes.changed_runs.iter().map(|run| run.id.as_str()).collect();
        let mut indexed_rows = rows::read_all(&connection, &directories.runs).ok()?;
        indexed_rows.retain(|row| {
            !stale.contains(row.id.as_str()) && !changes.removed_ids.contains(&row.id)
        });
        indexed_rows.extend(directories.read_summaries(&changes.changed_runs));
        Some(indexed_rows)
    });
    sort_by_start(indexed.unwrap_or_else(|| directories.read_summaries(listed)))
}

fn sort_by_start(mut rows: Vec<RunSummary>) -> Vec<RunSummary> {
    sort_runs(&mut rows, SortKey::Started);
    rows
}

/// Compares the index with the directories.
fn find_changes(connection: &Connection, listed: &[ListedRun]) -> rusqlite::Result<IndexChanges> {
    let mut statement = connection.prepare("SELECT id, signature FROM directories")?;
    let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let indexed: HashMap<String, Vec<u8>> = pairs.collect::<rusqlite::Result<_>>()?;
    let there: HashSet<&str> = listed.iter().map(|run| run.id.as_str()).collect();
    let is_new = |run: &&ListedRun| {
        let signature = run.signature.as_ref();
        signature.is_none() || indexed.get(&run.id) != signature
    };
    Ok(IndexChanges {
        changed_runs: listed.iter().filter(is_new).cloned().collect(),
        removed_ids: indexed.keys().filter(|id| !there.contains(id.as_str())).cloned().collect(),
    })
}

impl RunDirectories {
    /// The runs as their directories are now.
    pub fn list(&self) -> Vec<ListedRun> {
        listing::list_runs(&self.runs)
    }

    /// Every run, read from its directory, the newest last.
    pub fn read_all(&self) -> Vec<RunSummary> {
        sort_by_start(self.read_summaries(&self.list()))
    }

    /// Writes what changed, all of it or nothing.
    fn apply_changes(
        &self,
        connection: &Connection,
        changes: &IndexChanges,
    ) -> rusqlite::Result<()> {
        let transaction = connection.unchecked_transaction()?;
        for id in &changes.removed_ids {
            rows::delete_run(&transaction, id)?;
        }
        self.insert_runs(&transaction, &changes.changed_runs)?;
        transaction.commit()
    }

    /// Reads runs and writes their rows.
    fn insert_runs(&self, connection: &Connection, listed: &[ListedRun]) -> rusqlite::Result<()> {
        for chunk in listed.chunks(RUNS_PER_CHUNK) {
            for (run, row) in chunk.iter().zip(&self.read_summaries(chunk)) {
                rows::upsert_run(connection, run, row)?;
            }
        }
        Ok(())
    }

    fn read_summaries(&self, listed: &[ListedRun]) -> Vec<RunSummary> {
        let rows = listed.par_iter();
        rows.map(|run| (self.read_summary)(&RunDirectory::from_path(self.runs.join(&run.id))))
            .collect()
    }
}
