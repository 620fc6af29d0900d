//! The asynchronous runtime of commands that talk to an engine.

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
