//! The outcome of a whole benchmark of a submission, next to the verdicts on its results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RuleCheck;
use retrial_mlperf::Division;
use retrial_mlperf::rounds::SystemType;

/// One benchmark on one system of a submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkVerdict {
    /// Its path below the tree's root.
    pub path: String,
    /// The round, if known.
    pub round: Option<String>,
    /// The division, if known.
    pub division: Option<Division>,
    /// The submitter, by the name of its folder.
    pub submitter: Option<String>,
    /// The system, by the name of its folder.
    pub system: String,
    /// The category of the system.
    pub system_type: Option<SystemType>,
    /// The benchmark, by the submitter's name.
    pub benchmark: String,
    /// The benchmark, by the suite's name, if the round has it.
    pub official: Option<String>,
    /// Whether its rules passed and its results are valid.
    pub valid: bool,
    /// Rules of the benchmark as a whole: the system's description, the required scenarios.
    pub rules: Vec<RuleCheck>,
}
