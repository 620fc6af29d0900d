//! What can go wrong with an engine, and what to do about it.

use thiserror::Error;

/// An engine's fault, one variant an operation, naming what the user named.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Nothing answers.
    #[error(
        "no container engine answers at {endpoint} ({chosen_by}): {because}\n  is it running? (`systemctl status docker`) may you use its socket? (`ls -l`, group `docker`)\n  another one: --engine URL, DOCKER_HOST, or `docker context use`"
    )]
    Unreachable {
        /// Where.
        endpoint: String,
        /// How that was chosen.
        chosen_by: String,
        /// The cause.
        because: String,
    },
}
