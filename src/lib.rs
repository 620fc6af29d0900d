//! Retrial re-runs a vendor's benchmark submission in the vendor's own container
//! and says whether the published figure holds.
//!
//! ```text
//! recipe ──check──▶ plan ──▶ runner ──▶ run directory ──▶ verdict ──▶ report
//!  (text)  (pure)  (data)    (I/O)       (evidence)       (pure)      (pure)
//! ```
//!
//! Direction of imports: `cli → runner → {engine, evidence, fetch, host, store, catalog} → {recipe,
//! batch, plan, doctor, logs, journal, verdict, history}`; `report` takes a finished model and returns text. The pure
//! modules (`recipe`, `batch`, `plan`, `doctor`, `logs`, `journal`, `telemetry`, `verdict`, `history`, `report`) never touch a
//! file, a socket or a clock; `tests/architecture.rs` holds them to it.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod batch;
pub mod catalog;
pub mod cli;
pub mod doctor;
pub mod evidence;
pub mod export;
pub mod format;
pub mod history;
pub mod host;
pub mod journal;
pub mod packages;
pub mod plan;
pub mod report;
pub mod runner;
pub mod store;
pub mod telemetry;
pub mod verdict;

pub use retrial_hub as fetch;
// Old paths, until the callers name the crates.
pub use retrial_engine as engine;
pub use retrial_mlperf::rounds;
pub use retrial_recipe as recipe;
pub mod logs {
    //! The readers of logs.
    pub use crate::packages;
    pub use retrial_mlperf::{
        accuracy, check, compliance, endpoints, loadgen, mllog, power, submission,
    };
    pub use retrial_readings::*;
}
