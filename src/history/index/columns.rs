//! A row's way into the table and out of it: lists and maps are JSON, times nanoseconds since 1970.

use std::path::Path;
use std::sync::LazyLock;

use jiff::Timestamp;
use rusqlite::{Connection, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::listing::Listed;
use crate::history::{Filter, RunState, RunSummary};
use crate::plan::OfBatch;
use crate::results::verdict::Outcome;
use retrial_recipe::model::Submission;

/// The columns, in the order in which [`get`] reads them and [`put`] writes them.
const COLUMNS: [&str; 36] = [
    "id",
    "recipe",
    "recipe_hash",
    "title",
    "suite",
    "round",
    "division",
    "submitter",
    "system",
    "benchmark",
    "sources",
    "batch",
    "cell",
    "trial",
    "variant",
    "params",
    "modified",
    "began",
    "ended",
    "host",
    "gpus",
    "rocm",
    "driver",
    "kernel",
    "image",
    "digest",
    "tool",
    "imported_from",
    "over",
    "outcome",
    "qualifiers",
    "exit_code",
    "because",
    "sentence",
    "deciding",
    "measured",
];

/// As many marks as there are columns.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let marks = ["?"; COLUMNS.len()].join(", ");
    format!("INSERT OR REPLACE INTO runs VALUES ({marks})")
});

/// Every run, the newest last.
pub fn all(connection: &Connection, runs: &Path) -> rusqlite::Result<Vec<RunSummary>> {
    some(connection, runs, &Filter::default())
}

/// At least the runs that a filter means, the newest last: the filter itself has the last word,
/// this spares reading most of the others.
pub fn some(
    connection: &Connection,
    runs: &Path,
    filter: &Filter,
) -> rusqlite::Result<Vec<RunSummary>> {
    let (condition, values) = match filter.batch.as_slice() {
        [batch] => (
            "WHERE instr(lower(batch), lower(?1))".to_owned(),
            vec![batch],
        ),
        _ if filter.ids.is_empty() => (String::new(), Vec::new()),
        _ => {
            let marks = vec!["?"; filter.ids.len()].join(", ");
            (
                format!("WHERE id IN ({marks})"),
                filter.ids.iter().collect(),
            )
        }
    };
    let columns = COLUMNS.join(", ");
    let sql = format!("SELECT {columns} FROM runs {condition} ORDER BY began, id");
    let mut statement = connection.prepare(&sql)?;
    let found = statement.query_map(rusqlite::params_from_iter(values), |row| get(row, runs))?;
    found.collect()
}

/// Writes a run, in place of what was known of it.
pub fn put(connection: &Connection, listed: &Listed, row: &RunSummary) -> rusqlite::Result<()> {
    // Nothing looks like a directory that was written just now: it is read again next time.
    let signature = listed.signature.as_deref().unwrap_or_default();
    connection
        .prepare_cached("INSERT OR REPLACE INTO directories VALUES (?1, ?2)")?
        .execute((&listed.id, signature))?;
    let submission = &row.submission;
    let batch = row.batch.as_ref();
    let values: [&dyn ToSql; COLUMNS.len()] = [
        &row.id,
        &row.recipe,
        &row.recipe_hash,
        &row.title,
        &submission.suite,
        &submission.round,
        &submission.division,
        &submission.submitter,
        &submission.system,
        &submission.benchmark,
        &json(&submission.sources),
        &batch.map(|batch| &batch.id),
        &batch.map(|batch| &batch.cell),
        &batch.map(|batch| batch.trial),
        &json(&row.variant),
        &json(&row.params),
        &json(&row.modified),
        &row.began.and_then(nanoseconds),
        &row.ended.and_then(nanoseconds),
        &row.host,
        &row.gpus,
        &row.rocm,
        &row.driver,
        &row.kernel,
        &row.image,
        &row.digest,
        &row.tool,
        &row.imported_from,
        &(row.state == RunState::Ended),
        &row.outcome.map(Outcome::word),
        &json(&row.qualifiers),
        &row.exit_code,
        &row.because,
        &row.sentence,
        &row.deciding.as_ref().map(json),
        &row.measured,
    ];
    connection.prepare_cached(&INSERT)?.execute(&values[..])?;
    Ok(())
}

/// Forgets a run.
pub fn forget(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    for table in ["directories", "runs"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE id = ?1"))?
            .execute([id])?;
    }
    Ok(())
}

fn get(found: &rusqlite::Row<'_>, runs: &Path) -> rusqlite::Result<RunSummary> {
    let mut columns = Columns { found, next: 0 };
    let id: String = columns.take()?;
    Ok(RunSummary {
        path: runs.join(&id),
        id,
        recipe: columns.take()?,
        recipe_hash: columns.take()?,
        title: columns.take()?,
        submission: Submission {
            suite: columns.take()?,
            round: columns.take()?,
            division: columns.take()?,
            submitter: columns.take()?,
            system: columns.take()?,
            benchmark: columns.take()?,
            sources: columns.json()?,
        },
        batch: batch(&mut columns)?,
        variant: columns.json()?,
        params: columns.json()?,
        modified: columns.json()?,
        began: columns.time()?,
        ended: columns.time()?,
        host: columns.take()?,
        gpus: columns.take()?,
        rocm: columns.take()?,
        driver: columns.take()?,
        kernel: columns.take()?,
        image: columns.take()?,
        digest: columns.take()?,
        tool: columns.take()?,
        imported_from: columns.take()?,
        state: if columns.take()? {
            RunState::Ended
        } else {
            RunState::Interrupted
        },
        outcome: outcome(columns.take::<Option<String>>()?.as_deref()),
        qualifiers: columns.json()?,
        exit_code: columns.take()?,
        because: columns.take()?,
        sentence: columns.take()?,
        deciding: columns.json()?,
        measured: columns.take()?,
    })
}

struct Columns<'a> {
    found: &'a rusqlite::Row<'a>,
    next: usize,
}

impl Columns<'_> {
    fn take<T: rusqlite::types::FromSql>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        self.found.get(self.next - 1)
    }

    /// A list or a map; what is no such JSON is empty.
    fn json<T: DeserializeOwned + Default>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        let text = self.found.get_ref(self.next - 1)?.as_str_or_null()?;
        Ok(text
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default())
    }

    fn time(&mut self) -> rusqlite::Result<Option<Timestamp>> {
        let since: Option<i64> = self.take()?;
        Ok(since.and_then(|since| Timestamp::from_nanosecond(i128::from(since)).ok()))
    }
}

fn batch(columns: &mut Columns<'_>) -> rusqlite::Result<Option<OfBatch>> {
    let (id, cell, trial): (Option<String>, Option<String>, Option<u32>) =
        (columns.take()?, columns.take()?, columns.take()?);
    Ok(id.map(|id| OfBatch {
        id,
        cell: cell.unwrap_or_default(),
        trial: trial.unwrap_or_default(),
    }))
}

fn outcome(word: Option<&str>) -> Option<Outcome> {
    Outcome::from_word(word?)
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn nanoseconds(time: Timestamp) -> Option<i64> {
    i64::try_from(time.as_nanosecond()).ok()
}
