//! Submissions: exported from runs, imported as recipes, and the same verdict by every path.

mod curves;
mod export;
mod import;
mod same_verdict;

#[path = "../support/mod.rs"]
mod support;
