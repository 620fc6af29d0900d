//! Why a run cannot go on at all. What goes wrong inside one step is that step's end.

use thiserror::Error;

use crate::store::StoreError;
use retrial_engine::error::EngineError;

/// A fault of the run as a whole.
#[derive(Debug, Error)]
pub enum RunError {
    /// The run's directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The run is over already.
    #[error(
        "run {run} is over: {how}\n  see it: retrial judge {path}    begin anew: retrial run {recipe}"
    )]
    Over {
        /// The run.
        run: String,
        /// How it ended.
        how: String,
        /// Its directory.
        path: String,
        /// Its recipe.
        recipe: String,
    },
}
