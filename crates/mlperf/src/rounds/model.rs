//! A round's rules as its file has them: types and keys in one declaration.

use std::time::Duration;

use retrial_document::{
    Field, FieldType, Key, Node, Object, OrderedMap, declare_key, formats, object, words,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::loadgen::TestScenario;
use retrial_readings::Limit;
use retrial_readings::formats::FIGURE;

const COUNT: FieldType = FieldType::Text(formats::COUNT);
const LINE: FieldType = FieldType::Text(formats::LINE);
const LINES: FieldType = FieldType::List(&LINE, 1);
const LIMITS: FieldType = FieldType::Map(FIGURE, &Limit::TYPE);
const SYSTEMS: FieldType = FieldType::List(&SystemType::TYPE, 1);

object! {
    /// One round of the suite.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Round: "the rules of a round";
    fields {
        /// The path of its file, as the user knows it.
        file: String = source_path,
    }
    keys {
        /// The version of the rules format: 1.
        schema: u32 [required] = FieldType::Integer(1, 1),
        /// The suite: mlperf-inference.
        suite: String [required] = LINE,
        /// The round, for example v6.0.
        round: String [required] = LINE,
        /// Where its rules were published.
        sources: Vec<String> = LINES,
        /// How a submission is laid out.
        layout: SubmissionLayout [required],
        /// The benchmarks that may be measured at an endpoint, without LoadGen's logs.
        endpoints: Vec<String> = LINES,
        /// The open division may have fewer samples in Offline's query.
        any_samples_in_open: bool [default = "false"],
        /// The open division need not have equal_issue.
        any_issue_in_open: bool [default = "false"],
        /// A detail log need not contain equal_issue: the round's LoadGen may not log it.
        unlogged_issue: bool [default = "false"],
        /// The oldest LoadGen, major and minor version, that is not worth a warning.
        oldest_loadgen: Option<String> = LINE,
        /// The random seeds of every run.
        seeds: Seeds [required],
        /// The least duration of a performance run.
        min_duration: Duration [required],
        /// The figure by which each scenario is published, where the benchmark says nothing else.
        metrics: PerScenario<Metric> [required],
        /// The compliance tests.
        tests: OrderedMap<ComplianceTest>,
        /// The benchmarks, by their official names.
        benchmarks: OrderedMap<RoundBenchmark> [required],
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the declaration's signature")]
fn source_path(node: &Node) -> Option<String> {
    Some(node.span.source.path.to_string())
}

words! {
    /// How a submission is laid out.
    pub enum SubmissionLayout {
        /// measurements/, compliance/ and code/ are next to results/ (v4.1 to v5.1).
        Separate = "separate",
        /// All of a result is in its own folder below results/, the code in src/ (v6.0 on).
        Together = "together",
    }
}

object! {
    /// The random seeds of a round.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Seeds: "the seeds";
    keys {
        /// qsl_rng_seed
        qsl: u64 [required] = COUNT,
        /// sample_index_rng_seed
        sample_index: u64 [required] = COUNT,
        /// schedule_rng_seed
        schedule: u64 [required] = COUNT,
    }
}

object! {
    /// The figure by which a scenario is published.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Metric: "a metric";
    keys {
        /// The figure by which it is published, for example tokens_per_second.
        figure: String [required] = FieldType::Text(FIGURE),
        /// Its unit as published, in small letters: tokens/s, samples/s, queries/s, ms, s.
        unit: String [required] = LINE,
    }
}

impl Metric {
    /// Returns the figure's name in the unit that it is published in: times are logged in ns, and
    /// published in ms or s.
    pub fn published_name(&self) -> String {
        match self.figure.strip_suffix("_ns") {
            Some(stem) => format!("{stem}_{}", self.unit),
            None => self.figure.clone(),
        }
    }
}

object! {
    /// A test of the audit.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct ComplianceTest: "a compliance test";
    keys {
        /// The seeds of its run, where they are others than the round's (TEST05).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seeds: Option<Seeds>,
        /// By how much its performance may differ from the submitted run's, a share.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<f64> = FieldType::Fraction,
        /// By how much its performance may be better, a share; worse is no harm.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<f64> = FieldType::Fraction,
        /// Limits of what the test itself measures: TEST07's accuracy, TEST09's mean output tokens.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        limits: OrderedMap<Limit> = LIMITS,
        /// How many answers its run logs (accuracy_log_sampling_target); none: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        samples_logged: Option<u64> = COUNT,
        /// Which samples its run issues; none: as the performance run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issue: Option<SampleSelection>,
    }
}

words! {
    /// Which samples a test issues.
    pub enum SampleSelection {
        /// One sample again and again (performance_issue_same).
        Same = "same",
        /// Each sample once (performance_issue_unique).
        Unique = "unique",
    }
}

object! {
    /// The rules of one benchmark.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RoundBenchmark: "a benchmark";
    keys {
        /// Other names that submitters use.
        names: Vec<String> = LINES,
        /// Parts of names that identify an open submission's benchmark.
        like: Vec<String> = LINES,
        /// The limits of its accuracy figures, the published one first.
        accuracy: OrderedMap<Limit> [required] = LIMITS,
        /// Limits of accuracy figures that only an endpoint's results may have.
        endpoint_accuracy: OrderedMap<Limit> = LIMITS,
        /// Samples of the data set.
        dataset: Option<u64> = COUNT,
        /// The least number of samples held for performance.
        performance_samples: u64 [required] = COUNT,
        /// Samples of the accuracy run, if not the whole data set.
        accuracy_samples: Option<u64> = COUNT,
        /// Token latencies must be measured.
        token_latencies: bool [default = "false"],
        /// Offline's query must consist of complete permutations (sample_concatenate_permutation).
        equal_issue: bool [default = "false"],
        /// A run may be shorter than min_duration: it processes the data set once.
        any_duration: bool [default = "false"],
        /// Of these optional scenarios a datacenter result needs one at least.
        one_of: Vec<TestScenario> = FieldType::List(&TestScenario::TYPE, 2),
        /// Its compliance tests, in the closed division.
        compliance: Vec<String> = FieldType::List(&FieldType::Text(formats::NAME), 1),
        /// How many answers a test's run logs, where that is not the test's usual number.
        samples_logged: OrderedMap<u64> = FieldType::Map(formats::NAME, &COUNT),
        /// By how much TEST01's accuracies may differ; none: 1 %, 0.1 % for a 99.9 benchmark.
        accuracy_delta: OrderedMap<f64> = FieldType::Map(FIGURE, &FieldType::Fraction),
        /// The scenarios that may be submitted.
        scenarios: PerScenario<ScenarioRules> [required],
    }
}

object! {
    /// The rules of one scenario of a benchmark.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct ScenarioRules: "a scenario";
    keys {
        /// The types of systems for which it is required.
        required: Vec<SystemType> = SYSTEMS,
        /// The types of systems for which it is optional.
        optional: Vec<SystemType> = SYSTEMS,
        /// The figure by which it is published, where that is not the round's usual one.
        figure: Option<String> = FieldType::Text(FIGURE),
        /// Its unit as published.
        unit: Option<String> = LINE,
        /// The highest 99th percentile of a query's latency, and highest target of early stopping, ms.
        query_ms: Option<f64>,
        /// The 99th percentile of the time to the first token lies below, ms.
        ttft_ms: Option<f64>,
        /// The 99th percentile of the time per output token lies below, ms.
        tpot_ms: Option<f64>,
        /// The least target percentile, where it is not the scenario's usual one.
        percentile: Option<f64> = FieldType::Fraction,
        /// The least number of queries, where early stopping does not stand for it.
        min_queries: Option<u64> = COUNT,
        /// The least number of samples in Offline's one query.
        min_samples_per_query: Option<u64> = COUNT,
        /// The limits of the accuracy figures, in place of the benchmark's.
        accuracy: Option<OrderedMap<Limit>> = LIMITS,
        /// Samples of the accuracy run, in place of the benchmark's.
        accuracy_samples: Option<u64> = COUNT,
    }
}

words! {
    /// The category that a system was submitted in: it decides which scenarios are required.
    #[derive(JsonSchema)]
    pub enum SystemType {
        /// Systems of the datacenter category.
        Datacenter = "datacenter",
        /// Systems of the edge category.
        Edge = "edge",
        /// Systems that were submitted as datacenter,edge.
        Both = "both",
    }
}

/// A word that is not a type of system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a type of system: datacenter, edge, or datacenter,edge")]
pub struct UnknownSystemType(pub String);

impl SystemType {
    /// Reads a systems file's `system_type`.
    ///
    /// # Errors
    /// If it names no type of system.
    pub fn from_description(text: &str) -> Result<Self, UnknownSystemType> {
        let lower = text.to_ascii_lowercase();
        let words: Vec<&str> = lower.split(',').map(str::trim).collect();
        match words[..] {
            ["datacenter"] => Ok(Self::Datacenter),
            ["edge"] => Ok(Self::Edge),
            ["datacenter", "edge"] | ["edge", "datacenter"] => Ok(Self::Both),
            _ => Err(UnknownSystemType(text.to_owned())),
        }
    }
}

/// Values by scenario, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct PerScenario<T>(Vec<(TestScenario, T)>);

impl<T> PerScenario<T> {
    /// Returns the scenarios with their values, in the order of the file.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(TestScenario, T)> {
        self.0.iter()
    }

    pub fn get(&self, scenario: TestScenario) -> Option<&T> {
        self.iter().find(|(other, _)| *other == scenario).map(|(_, value)| value)
    }
}

impl<T: Field> PerScenario<T> {
    const KEYS: [Key; 5] = {
        let FieldType::Words(words) = TestScenario::TYPE else { panic!("the scenarios are words") };
        let mut keys = [declare_key("", T::TYPE, ""); 5];
        let mut at = 0;
        while at < keys.len() {
            keys[at] = declare_key(words[at].name, T::TYPE, words[at].doc);
            at += 1;
        }
        keys
    };

    const OBJECT: Object = Object { label: "the scenarios", one_of: &[], groups: &[&Self::KEYS] };
}

impl<T: Field> Field for PerScenario<T> {
    const TYPE: FieldType = FieldType::Object(&Self::OBJECT);

    fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
        let named_nodes = node.present_entries();
        let all = named_nodes
            .map(|(name, value)| Some((name.parse().ok()?, T::from_node(value, &T::TYPE)?)));
        all.collect::<Option<Vec<_>>>().map(Self)
    }
}
