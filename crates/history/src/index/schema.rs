//! The tables, and what marks a file as an index.

use rusqlite::Connection;

/// Incremented with every change of the tables, and of the fields of a run's summary.
pub const SCHEMA_VERSION: i32 = 8;
/// `rtrl`: marks the file as ours.
pub const APPLICATION_ID: i32 = 0x7274_726c;

pub(super) const TABLES: &str = "
CREATE TABLE directories (
    id TEXT PRIMARY KEY,
    signature BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT NOT NULL UNIQUE,
    batch TEXT,
    started INTEGER,
    summary TEXT NOT NULL,
    measured TEXT
) STRICT;
";

/// Creates the tables, and marks the file as an index of this version.
pub fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)
}
