//! Evidence for verdicts, read from files. Every file is opened by the store, which trusts nothing in it.
//!
//! ```text
//! run ─────┐                       ┌─ figures (readings), LoadGen's logs, endpoints, accuracy
//! folders ─┼─▶ TrialFiles ─read_into─▶ Evidence ──trials, identity──▶ verdict
//! tree ────┘                                 ▲ tree: checks of a group of trials
//! ```
//!
//! A source finds trials, and reads none of their files itself. Trees of `MLPerf` Training have rules of a whole result,
//! and a reader of their own (`training`).

pub mod accuracy;
pub mod compliance;
pub mod context;
mod cut_run;
pub mod endpoints;
pub mod environment;
mod evidence_lines;
mod execution;
mod failed_line;
pub mod figures;
pub mod folder;
pub mod folders;
pub mod identity;
mod known_issues;
pub mod loadgen;
mod loads;
pub mod markers;
pub mod measured;
mod measured_window;
pub mod other_recipe;
pub mod other_suite;
pub mod plan_source;
pub mod readings;
pub mod result_path;
pub mod run;
mod scan;
mod script;
pub mod telemetry;
pub mod texts;
pub mod training;
pub mod tree;
mod trial_files;
mod trials;
pub mod unknown_rules;
