//! The index's file: opened as it is, or rebuilt in another file and renamed, so that a kill leaves
//! the old one or the new one.
//!
//! Writers take turns by a lock of their own (`index.lock`). It guards what `SQLite`'s own locks do
//! not: a file that is put in the place of one into which somebody is writing would inherit that
//! one's rollback journal.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema::{self, APPLICATION_ID, SCHEMA_VERSION};

/// How long a process waits for others that write the index: as long as building a large one takes.
const WRITER_LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// How long `SQLite` waits for a page that another process has locked.
const PAGE_LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The path of a home's index.
#[derive(Debug, Clone)]
pub struct IndexFile {
    home: PathBuf,
}

/// Why the index cannot be used from disk.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It is locked or damaged.
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    /// The disk cannot be written.
    #[error("{0}")]
    Disk(#[from] std::io::Error),
    /// Another process has been writing it for too long.
    #[error("another process is writing it")]
    Busy,
    /// A newer version made it.
    #[error("it was written by a newer version of retrial")]
    Newer,
}

impl IndexFile {
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    pub fn path(&self) -> PathBuf {
        self.home.join("index.sqlite")
    }

    /// Opens the index; none if it is missing, damaged or of an older version.
    pub fn open(&self) -> Result<Option<Connection>, IndexError> {
        match self.try_open() {
            Ok(connection) => Ok(Some(connection)),
            Err(IndexError::Database(error)) if !leaves_file_intact(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn try_open(&self) -> Result<Connection, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.path(), flags)?;
        connection.busy_timeout(PAGE_LOCK_TIMEOUT)?;
        let number =
            |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let is_ours = number("application_id")? == APPLICATION_ID;
        match number("user_version")? {
            SCHEMA_VERSION if is_ours => Ok(connection),
            version if is_ours && version > SCHEMA_VERSION => Err(IndexError::Newer),
            // An older one, an empty file, somebody's own database.
            _ => Err(rusqlite::Error::InvalidQuery.into()),
        }
    }

    /// Waits until no other process writes.
    pub fn lock(&self) -> Result<File, IndexError> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.home.join("index.lock"))?;
        let until = Instant::now() + WRITER_LOCK_TIMEOUT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() > until => {
                    return Err(IndexError::Busy);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL_INTERVAL),
            }
        }
    }

    /// Rebuilds the index by `fill`, replacing whatever is there. Only under the lock.
    pub fn replace(
        &self,
        fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<Connection, IndexError> {
        let part = self.home.join("index.sqlite.part");
        // Left by a process that was killed.
        remove_if_exists(&part)?;
        let connection = Connection::open(&part)?;
        // Until it is renamed nobody else opens it, and an incomplete one is useless.
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")?;
        schema::create_tables(&connection)?;
        fill(&connection)?;
        connection.execute_batch("COMMIT;")?;
        drop(connection);
        File::open(&part)?.sync_all()?;
        // The journal of the old one, left by a process that was killed.
        remove_if_exists(&self.home.join("index.sqlite-journal"))?;
        fs::rename(&part, self.path())?;
        self.try_open()
    }
}

fn remove_if_exists(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns whether an error is transient, or the disk's: then the file is not damaged and is not rebuilt.
pub fn leaves_file_intact(error: &rusqlite::Error) -> bool {
    let Some(error) = error.sqlite_error() else {
        return false;
    };
    // Somebody removed it while we had it open.
    error.extended_code != rusqlite::ffi::SQLITE_READONLY_DBMOVED
        && matches!(
            error.code,
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::FileLockingProtocolFailed
        )
}
