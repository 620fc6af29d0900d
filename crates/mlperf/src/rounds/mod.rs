//! The rules of `MLPerf Inference` for a result, by round. Pure: the rules are data
//! (`rules/mlperf-inference/v6.0.yaml`), read here and checked against logs.
//!
//! ```text
//! text ──parse──▶ Round ──rules(benchmark, scenario)──▶ Rules ──check──▶ measured and required values
//! ```
//!
//! A round's file has the rules of that round's official submission checker, with the sources.
//! Adding a round is adding a file; nothing here knows a round or a benchmark by name.

mod builtin;
mod check;
mod flatten;
mod list;
mod model;
mod parse;

pub(crate) use builtin::built_in_texts;
pub use builtin::{built_in_rounds, built_in_sources};
pub use check::{FigureLookup, check_audit, check_no_audit_settings};
pub use flatten::{InferenceRules, LatencyLimits};
pub use list::Rounds;
pub use model::{
    ComplianceTest, Metric, PerScenario, Round, RoundBenchmark, SampleSelection, ScenarioRules,
    Seeds, SubmissionLayout, SystemType, UnknownSystemType,
};
pub use parse::{check_rules_file, is_rules_file};

#[cfg(test)]
mod tests;
