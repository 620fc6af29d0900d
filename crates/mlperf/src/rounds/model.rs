//! A round's rules as its file has them.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::loadgen::Scenario;
use retrial_document::Ordered;
use retrial_readings::Limit;

/// One round of the suite.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct Round {
    /// The suite, `mlperf-inference`.
    pub suite: String,
    /// The round, `v6.0`.
    pub round: String,
    /// The file that says so, as the user knows it.
    pub file: String,
    /// Where the rules were published.
    pub sources: Vec<String>,
    /// How a submission is laid out.
    pub layout: Layout,
    /// Whether results without `LoadGen`'s logs (Endpoints) are allowed.
    pub endpoints: bool,
    /// The random seeds of every run.
    pub seeds: Seeds,
    /// The open division may have fewer samples in Offline's query than the closed one.
    pub any_samples_in_open: bool,
    /// The open division need not have `equal_issue`.
    pub any_issue_in_open: bool,
    /// A detail log need not tell of `equal_issue`: the round's `LoadGen` may not log it.
    pub unlogged_issue: bool,
    /// Least duration of a performance run, ms.
    pub min_duration_ms: u64,
    /// The figure and unit by which a scenario is published, where the benchmark says nothing else.
    pub metrics: Vec<(Scenario, Metric)>,
    /// The compliance tests.
    pub tests: Ordered<ComplianceTest>,
    /// The benchmarks, by their official names.
    pub benchmarks: Ordered<Benchmark>,
}

/// How a submission is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// `measurements/`, `compliance/` and `code/` stand beside `results/` (v4.1 to v5.1).
    Beside,
    /// All of a result lies in its own folder below `results/`, the code in `src/` (v6.0 on).
    Together,
}

/// The random seeds of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// `qsl_rng_seed`
    pub qsl: u64,
    /// `sample_index_rng_seed`
    pub sample_index: u64,
    /// `schedule_rng_seed`
    pub schedule: u64,
}

/// By which figure a scenario is published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name, as the log parsers have it: `completed_tokens_per_second`. Times are in `unit`.
    pub figure: String,
    /// Its unit as published, in small letters: `tokens/s`, `samples/s`, `queries/s`, `ms`, `s`.
    pub unit: String,
}

impl Metric {
    /// The figure's name in the unit that it is published in: times are logged in ns, and
    /// published in ms or s.
    #[must_use]
    pub fn name(&self) -> String {
        match self.figure.strip_suffix("_ns") {
            Some(stem) => format!("{stem}_{}", self.unit),
            None => self.figure.clone(),
        }
    }
}

/// A test of the audit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComplianceTest {
    /// The seeds of its run, where they are others than the round's (TEST05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Seeds>,
    /// Its performance may be lower or higher than the submitted run's by this share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Its performance may be better than the submitted run's by this share; worse is no harm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Limits of what it measures itself: TEST07's accuracy, TEST09's mean output tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Ordered<Limit>,
}

/// The rules of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Other names under which submitters have it.
    pub names: Vec<String>,
    /// Parts of names by which the official checker guesses what an open submission is.
    pub like: Vec<String>,
    /// Limits of its accuracy figures, the first the one that is published first.
    pub accuracy: Ordered<Limit>,
    /// Samples of the data set.
    pub dataset: Option<u64>,
    /// Least number of samples held for performance.
    pub performance_samples: u64,
    /// Samples of the accuracy run, where they are not the data set's.
    pub accuracy_samples: Option<u64>,
    /// Token latencies must be measured (LLMs).
    pub token_latencies: bool,
    /// An Offline query must be put together from whole permutations of the samples.
    pub equal_issue: bool,
    /// A run may be shorter than the round's least duration.
    pub any_duration: bool,
    /// Of these optional scenarios a datacenter result needs one at least.
    pub one_of: Vec<Scenario>,
    /// Its compliance tests, for the closed division.
    pub compliance: Vec<String>,
    /// By how much TEST01's two accuracies may differ, a share, by figure where it is not the
    /// benchmark's usual one.
    pub accuracy_delta: Ordered<f64>,
    /// The scenarios that may be submitted.
    pub scenarios: Vec<(Scenario, ScenarioRules)>,
}

/// The rules of one scenario of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScenarioRules {
    /// For which types of systems it is required.
    pub required: Vec<SystemType>,
    /// For which it is optional.
    pub optional: Vec<SystemType>,
    /// By what it is published, where that is not the round's usual figure.
    pub metric: Option<Metric>,
    /// Latency limits.
    pub latency: Latency,
    /// Least number of queries, where early stopping does not stand for it.
    pub min_queries: Option<u64>,
    /// Least number of samples in Offline's query.
    pub min_samples_per_query: Option<u64>,
    /// In place of the benchmark's.
    pub accuracy: Option<Ordered<Limit>>,
    /// In place of the benchmark's.
    pub accuracy_samples: Option<u64>,
}

/// Latency limits of a scenario, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Highest 99th percentile of a query, and highest target of early stopping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_ns: Option<u64>,
    /// The 99th percentile of the time to the first token must lie below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_ns: Option<u64>,
    /// The 99th percentile of the time per output token must lie below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpot_ns: Option<u64>,
}

/// What a system was submitted as: it decides which scenarios are required.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum SystemType {
    /// `datacenter`
    Datacenter,
    /// `edge`
    Edge,
    /// `datacenter,edge`
    Both,
}

/// A word that is no type of system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no type of system: datacenter, edge, or datacenter,edge")]
pub struct UnknownSystemType(pub String);

impl FromStr for SystemType {
    type Err = UnknownSystemType;

    /// Reads a systems file's `system_type`.
    fn from_str(text: &str) -> Result<Self, UnknownSystemType> {
        let words: Vec<String> = text
            .split(',')
            .map(|word| word.trim().to_ascii_lowercase())
            .collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["datacenter"] => Ok(Self::Datacenter),
            ["edge"] => Ok(Self::Edge),
            ["datacenter", "edge"] | ["edge", "datacenter"] => Ok(Self::Both),
            _ => Err(UnknownSystemType(text.to_owned())),
        }
    }
}
