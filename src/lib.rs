//! Retrial re-runs a vendor's benchmark submission in the vendor's own container
//! and says whether the published figure holds.
//!
//! ```text
//! recipe ──check──▶ plan ──▶ runner ──▶ run directory ──▶ verdict ──▶ report
//!  (text)  (pure)  (data)    (I/O)       (evidence)       (pure)      (pure)
//! ```
//!
//! Each part is a crate (`crates/`); docs/architecture.md is the map. Here is the program: [`cli`] has a file for each
//! command, [`app`] what they share.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod app;
pub mod cli;
