//! The word on a benchmark of a submission as a whole, beside the verdicts on its results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RuleCheck;
use retrial_mlperf::rounds::SystemType;

/// One benchmark on one system of a submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkVerdict {
    /// Where it lies below the tree's root.
    pub path: String,
    /// The round, where it is known.
    pub round: Option<String>,
    /// The division.
    pub division: Option<String>,
    /// Who submitted it.
    pub submitter: Option<String>,
    /// The system.
    pub system: String,
    /// What the system was submitted as.
    pub system_type: Option<SystemType>,
    /// The benchmark, by the submitter's name.
    pub benchmark: String,
    /// The benchmark, by the suite's name, where the round knows it.
    pub official: Option<String>,
    /// Its rules passed, and its results are valid.
    pub valid: bool,
    /// Rules of the whole: the system's description, the scenarios that are required.
    pub rules: Vec<RuleCheck>,
}
