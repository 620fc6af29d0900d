//! What `MLPerf Inference` asks of a result, round by round. Pure: the rules are data
//! (`rules/mlperf-inference/v6.0.yaml`), read here and held against what logs say.
//!
//! ```text
//! text ──parse──▶ Round ──rules(benchmark, scenario)──▶ Rules ──check──▶ what was found and asked
//! ```
//!
//! A round's file has what the official submission checker of that round asks, with the sources.
//! Adding a round is adding a file; nothing here knows a round or a benchmark by name.

mod builtin;
mod check;
mod flatten;
mod list;
mod model;
mod parse;

pub(crate) use builtin::texts;
pub use builtin::{rounds, sources};
pub use check::{Lookup, check_audit, check_submitted};
pub use flatten::{Latency, Rules};
pub use list::Rounds;
pub use model::{
    Benchmark, ComplianceTest, Issue, Layout, Metric, Round, ScenarioRules, Scenarios, Seeds,
    SystemType, UnknownSystemType,
};
pub use parse::{check, is_rules};

#[cfg(test)]
mod tests;
