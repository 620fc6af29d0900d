//! This process: its asynchronous runtime, for commands that talk to an engine, and its program's file.

use std::path::PathBuf;

use super::failure::Failure;

/// Starts a runtime on this thread.
///
/// # Errors
/// If the operating system refuses its resources.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::host(format!("cannot start: {error}")))
}

/// The file of this program, for processes of it elsewhere.
///
/// # Errors
/// If the operating system does not know it.
pub fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::host(format!("cannot find this program's file: {error}")))
}
