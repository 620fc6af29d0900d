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
pub mod engine;
pub mod evidence;
pub mod export;
pub mod format;
pub mod history;
pub mod host;
pub mod journal;
pub mod logs;
pub mod plan;
pub mod recipe;
pub mod report;
pub mod rounds;
pub mod runner;
pub mod store;
pub mod telemetry;
pub mod tls;
pub mod verdict;

pub use retrial_hub as fetch;
