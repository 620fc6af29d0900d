//! The tables, and which file is an index of ours.

use rusqlite::Connection;

/// Counted up with every change of the tables, and of what is put into them.
pub const VERSION: i32 = 2;
/// `rtrl`: marks the file as ours.
const APPLICATION: i32 = 0x7274_726c;

const TABLES: &str = "
CREATE TABLE directories (
    id TEXT PRIMARY KEY,
    signature BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL,
    recipe_hash TEXT NOT NULL,
    title TEXT NOT NULL,
    suite TEXT NOT NULL,
    round TEXT,
    division TEXT,
    submitter TEXT,
    system TEXT,
    benchmark TEXT NOT NULL,
    sources TEXT NOT NULL,
    batch TEXT,
    cell TEXT,
    trial INTEGER,
    variant TEXT NOT NULL,
    params TEXT NOT NULL,
    modified TEXT NOT NULL,
    began INTEGER,
    ended INTEGER,
    host TEXT NOT NULL,
    gpus TEXT NOT NULL,
    rocm TEXT NOT NULL,
    driver TEXT NOT NULL,
    kernel TEXT NOT NULL,
    image TEXT NOT NULL,
    digest TEXT NOT NULL,
    tool TEXT NOT NULL,
    imported_from TEXT,
    over INTEGER NOT NULL,
    outcome TEXT,
    qualifiers TEXT NOT NULL,
    exit_code INTEGER,
    because TEXT,
    sentence TEXT NOT NULL,
    deciding TEXT,
    measured TEXT
) STRICT;
";

/// What an opened file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An index as this version makes it.
    Ours,
    /// An index that a newer version made: it may know more, and is left alone.
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

/// What the file is.
pub fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let ours = number("application_id")? == APPLICATION;
    Ok(match number("user_version")? {
        VERSION if ours => Kind::Ours,
        newer if ours && newer > VERSION => Kind::Newer,
        _ => Kind::Other,
    })
}
