//! Retrial re-runs a vendor's benchmark submission in the vendor's own container
//! and says whether the published figure holds.
//!
//! ```text
//! recipe ──check──▶ plan ──▶ runner ──▶ run directory ──▶ verdict ──▶ report
//!  (text)  (pure)  (data)    (I/O)       (evidence)       (pure)      (pure)
//! ```
//!
//! The pure parts are crates of their own (`crates/`); docs/architecture.md is the map, and
//! `tests/architecture.rs` holds which folder may import which.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[macro_use]
mod words;

pub mod app;
pub mod batch;
pub mod bundle;
pub mod cli;
pub mod export;
pub mod format;
pub mod history;
pub mod host;
pub mod import;
pub mod plan;
pub mod report;
pub mod results;
pub mod run;
pub mod site;
pub mod slurm;
pub mod store;
pub mod telemetry;
