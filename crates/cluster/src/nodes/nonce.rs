//! The nonce in the directory of a run, by which a machine shows that it sees the directory.

use std::path::Path;

use jiff::Timestamp;

use retrial_store::files::write_atomically;
use retrial_store::open::read_text_beneath;
use retrial_store::{RunDirectory, StoreError};

/// The file by which a machine shows that it has the directory.
const NONCE_FILE: &str = "nodes/nonce";
/// The largest nonce that is read, bytes.
const MAX_NONCE_BYTES: u64 = 1000;

/// Writes the nonce; its directory exists.
///
/// # Errors
/// If it cannot be written.
pub fn write_nonce(run: &RunDirectory) -> Result<String, StoreError> {
    let nonce = format!("{} {}", run.id(), Timestamp::now().as_nanosecond());
    write_atomically(&run.join(NONCE_FILE), nonce.as_bytes())?;
    Ok(nonce)
}

/// The nonce, if this machine has the directory.
pub fn read_nonce(run: &RunDirectory) -> Option<String> {
    read_text_beneath(run.path(), Path::new(NONCE_FILE), MAX_NONCE_BYTES).ok()
}
