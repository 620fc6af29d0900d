//! The tables, and the recognition of an index file.

use rusqlite::Connection;

/// Incremented with every change of the tables, and of the fields of a run's summary.
pub const VERSION: i32 = 4;
/// `rtrl`: marks the file as ours.
const APPLICATION: i32 = 0x7274_726c;

const TABLES: &str = "
CREATE TABLE directories (
    id TEXT PRIMARY KEY,
    signature BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT NOT NULL UNIQUE,
    batch TEXT,
    began INTEGER,
    summary TEXT NOT NULL,
    measured TEXT
) STRICT;
";

/// The kind of a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An index as this version makes it.
    Ours,
    /// An index that a newer version made: it is not touched.
    Newer,
    /// Anything else: an older one, an empty file, somebody's own database.
    Other,
}

/// Makes the tables.
pub fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Returns the kind of a database file.
pub fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let ours = number("application_id")? == APPLICATION;
    Ok(match number("user_version")? {
        VERSION if ours => Kind::Ours,
        newer if ours && newer > VERSION => Kind::Newer,
        _ => Kind::Other,
    })
}
