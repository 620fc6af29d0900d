//! Evidence for verdicts, read from files: of a run's own directory, and of one result folder.
//! Every file is opened by the store, which trusts nothing in it.

pub mod accuracy;
pub mod compliance;
pub mod context;
mod cut_run;
pub mod endpoints;
pub mod environment;
mod execution;
mod failed_line;
pub mod figures;
pub mod folder;
pub mod folders;
pub mod identity;
mod known_issues;
pub mod loadgen;
pub mod markers;
pub mod measured;
mod measured_window;
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
