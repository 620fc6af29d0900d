//! Rows of the table: each run as JSON, with the columns by which runs are selected and sorted.

use std::path::Path;

use rayon::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Type;

use super::listing::ListedRun;
use crate::{RunFilter, RunSummary};

/// Reads every run, the newest last.
pub fn read_all(connection: &Connection, runs: &Path) -> rusqlite::Result<Vec<RunSummary>> {
    read_matching(connection, runs, &RunFilter::default())
}

/// Reads at least the runs that match a filter, the newest last. The caller applies the filter; this spares
/// reading most of the others.
pub fn read_matching(
    connection: &Connection,
    runs: &Path,
    filter: &RunFilter,
) -> rusqlite::Result<Vec<RunSummary>> {
    let (condition, values) = match filter.batch.as_slice() {
        [batch] => ("WHERE instr(lower(batch), lower(?1))".to_owned(), vec![batch]),
        _ if filter.ids.is_empty() => (String::new(), Vec::new()),
        _ => {
            let marks = vec!["?"; filter.ids.len()].join(", ");
            (format!("WHERE id IN ({marks})"), filter.ids.iter().collect())
        }
    };
    let sql = format!("SELECT id, summary, measured FROM runs {condition} ORDER BY started, id");
    let mut statement = connection.prepare(&sql)?;
    let query = statement.query_map(rusqlite::params_from_iter(values), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let columns: Vec<(String, String, Option<String>)> = query.collect::<Result<_, _>>()?;
    let rows = columns.into_par_iter().map(|(id, summary, measured)| {
        let summary: RunSummary = serde_json::from_str(&summary).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(1, Type::Text, error.into())
        })?;
        Ok(RunSummary { path: runs.join(id), measured, ..summary })
    });
    rows.collect()
}

/// Writes a run's row in place of its earlier one.
pub fn upsert_run(
    connection: &Connection,
    listed: &ListedRun,
    row: &RunSummary,
) -> rusqlite::Result<()> {
    // An empty signature matches no directory: one that was written just now is read again next time.
    let signature = listed.signature.as_deref().unwrap_or_default();
    connection
        .prepare_cached("INSERT OR REPLACE INTO directories VALUES (?1, ?2)")?
        .execute((&listed.id, signature))?;
    let batch = row.batch.as_ref().map(|batch| &batch.id);
    let started_nanos = row.started.map(jiff::Timestamp::as_nanosecond);
    let started = started_nanos.and_then(|started| i64::try_from(started).ok());
    let summary = serde_json::to_string(row)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((&row.id, batch, started, summary, &row.measured))?;
    Ok(())
}

/// Removes a run from both tables.
pub fn delete_run(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    for table in ["directories", "runs"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE id = ?1"))?.execute([id])?;
    }
    Ok(())
}
