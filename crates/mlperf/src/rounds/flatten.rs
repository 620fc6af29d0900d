//! One benchmark in one scenario: all rules for its results, in one value that a
//! plan can keep.

use serde::{Deserialize, Serialize};

use super::model::{
    ComplianceTest, Metric, Round, RoundBenchmark, ScenarioRules, Seeds, SystemType,
};
use crate::Division;
use crate::loadgen::TestScenario;
use retrial_document::OrderedMap;
use retrial_readings::Limit;

/// A round's rules for one benchmark in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct InferenceRules {
    /// The round whose rules these are: `v6.0`.
    pub round: String,
    pub file: String,
    /// The benchmark's official name.
    pub benchmark: String,
    pub scenario: TestScenario,
    /// The figure by which it is published.
    pub metric: Metric,
    /// Limits of the accuracy figures, under the names by which `MLCommons` publishes them, the
    /// first the published one.
    pub accuracy: OrderedMap<Limit>,
    /// Limits of accuracy figures that only an endpoint's results may have.
    #[serde(default)]
    pub endpoint_accuracy: OrderedMap<Limit>,
    pub latency: LatencyLimits,
    /// The random seeds that each run must use.
    pub seeds: Seeds,
    /// The oldest `LoadGen`, major and minor version, that is not worth a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_loadgen: Option<String>,
    /// The least target percentile of a latency, a share; none: the scenario's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
    /// Least duration, ms; none where a run goes once through the data set.
    pub min_duration_ms: Option<u64>,
    /// Least number of queries; where `early_stopping`, that replaces it.
    pub min_queries: Option<u64>,
    /// `LoadGen`'s early stopping decides how many queries are enough (all but Offline).
    pub early_stopping: bool,
    /// Least number of samples in Offline's query.
    pub min_samples_per_query: Option<u64>,
    /// The open division may have fewer samples in Offline's query.
    pub any_samples_in_open: bool,
    /// Least number of samples held for performance.
    pub performance_samples: u64,
    /// Samples of the accuracy run, exactly.
    pub accuracy_samples: Option<u64>,
    /// Samples of the data set.
    pub dataset: Option<u64>,
    /// Token latencies must be measured.
    pub token_latencies: bool,
    /// Offline's query must be assembled from whole permutations of the samples.
    pub equal_issue: bool,
    /// The open division need not have that.
    #[serde(default)]
    pub any_issue_in_open: bool,
    /// A detail log need not state it.
    #[serde(default)]
    pub unlogged_issue: bool,
    /// The compliance tests, in the closed division.
    pub compliance: OrderedMap<ComplianceTest>,
    /// By how much TEST01's two accuracies may differ, a share, for each figure of `accuracy`.
    pub accuracy_delta: OrderedMap<f64>,
    /// The types of systems for which the scenario is required.
    pub required: Vec<SystemType>,
    pub optional: Vec<SystemType>,
}

/// Latency limits of a scenario, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyLimits {
    /// Highest 99th percentile of a query, and highest target of early stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_ns: Option<u64>,
    /// The 99th percentile of the time to the first token must be below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_ns: Option<u64>,
    /// The 99th percentile of the time per output token must be below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpot_ns: Option<u64>,
}

impl LatencyLimits {
    fn from_scenario_rules(rules: &ScenarioRules) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a limit of zero or less can never be met"
        )]
        let nanoseconds = |milliseconds: f64| (milliseconds * 1e6).round() as u64;
        Self {
            query_ns: rules.query_ms.map(nanoseconds),
            ttft_ns: rules.ttft_ms.map(nanoseconds),
            tpot_ns: rules.tpot_ms.map(nanoseconds),
        }
    }
}

impl Round {
    /// Returns the rules of a benchmark, by any of its names, in a scenario; `None` where the round
    /// has no such benchmark or does not take it in that scenario.
    pub fn benchmark_rules(
        &self,
        benchmark: &str,
        scenario: TestScenario,
    ) -> Option<InferenceRules> {
        let (name, benchmark) = self.find_benchmark(benchmark)?;
        let own = benchmark.scenarios.get(scenario)?;
        let metric = match (&own.figure, &own.unit) {
            (Some(figure), Some(unit)) => Metric { figure: figure.clone(), unit: unit.clone() },
            _ => self.metrics.get(scenario)?.clone(),
        };
        let accuracy = own.accuracy.as_ref().unwrap_or(&benchmark.accuracy);
        let min_duration_ms = u64::try_from(self.min_duration.as_millis()).ok()?;
        let usual_delta = if name.ends_with("99.9") { 0.001 } else { 0.01 };
        let delta = |figure: &String| {
            let mut deltas = benchmark.accuracy_delta.iter();
            deltas.find(|(name, _)| name == figure).map_or(usual_delta, |(_, delta)| *delta)
        };
        Some(InferenceRules {
            round: self.round.clone(),
            file: self.file.clone(),
            benchmark: name.to_owned(),
            scenario,
            metric,
            accuracy: accuracy.clone(),
            endpoint_accuracy: benchmark.endpoint_accuracy.clone(),
            latency: LatencyLimits::from_scenario_rules(own),
            seeds: self.seeds,
            oldest_loadgen: self.oldest_loadgen.clone(),
            percentile: own.percentile,
            min_duration_ms: (!benchmark.any_duration).then_some(min_duration_ms),
            min_queries: own.min_queries,
            early_stopping: scenario != TestScenario::Offline,
            min_samples_per_query: own.min_samples_per_query,
            any_samples_in_open: self.any_samples_in_open,
            performance_samples: benchmark.performance_samples,
            accuracy_samples: own
                .accuracy_samples
                .or(benchmark.accuracy_samples)
                .or(benchmark.dataset),
            dataset: benchmark.dataset,
            token_latencies: benchmark.token_latencies,
            equal_issue: benchmark.equal_issue,
            any_issue_in_open: self.any_issue_in_open,
            unlogged_issue: self.unlogged_issue,
            compliance: self.compliance_tests(benchmark),
            accuracy_delta: accuracy
                .iter()
                .map(|(figure, _)| (figure.clone(), delta(figure)))
                .collect(),
            required: own.required.clone(),
            optional: own.optional.clone(),
        })
    }

    /// Returns whether a benchmark, by any of its names, may be measured at an endpoint.
    pub fn allows_endpoint(&self, benchmark: &str) -> bool {
        let official = self.find_benchmark(benchmark).map(|(official, _)| official);
        official.is_some_and(|official| self.endpoints.iter().any(|name| name == official))
    }

    /// Returns the tests of a benchmark, each with the number of answers that it logs.
    fn compliance_tests(&self, benchmark: &RoundBenchmark) -> OrderedMap<ComplianceTest> {
        let required = |test: &String| benchmark.compliance.contains(test);
        let tests = self.tests.iter().filter(|(test, _)| required(test)).cloned();
        tests
            .map(|(name, mut test)| {
                let mut overrides = benchmark.samples_logged.iter();
                let own = overrides.find(|(test, _)| *test == name);
                test.samples_logged = own.map(|(_, count)| *count).or(test.samples_logged);
                (name, test)
            })
            .collect()
    }

    /// Returns the scenarios that a result of this benchmark lacks on a system of this type.
    pub fn missing_scenarios(
        &self,
        benchmark: &str,
        system: SystemType,
        submitted: &[TestScenario],
    ) -> Vec<String> {
        let Some((_, benchmark)) = self.find_benchmark(benchmark) else {
            return Vec::new();
        };
        let required = benchmark.scenarios.iter().filter(|(scenario, rules)| {
            rules.required.contains(&system) && !submitted.contains(scenario)
        });
        let mut missing: Vec<String> = required.map(|(scenario, _)| scenario.to_string()).collect();
        let offered = |scenario: &TestScenario| {
            let rules = benchmark.scenarios.get(*scenario);
            rules.is_some_and(|rules| rules.optional.contains(&system))
        };
        let one_of = &benchmark.one_of;
        if !one_of.is_empty()
            && one_of.iter().all(offered)
            && !one_of.iter().any(|scenario| submitted.contains(scenario))
        {
            let names: Vec<&str> = one_of.iter().map(|scenario| scenario.word()).collect();
            missing.push(names.join(" or "));
        }
        missing
    }
}

impl InferenceRules {
    /// Returns the rules for a result of a division. The open division is free to choose its model, and with it the
    /// accuracy, which is published next to the speed; it has no compliance tests, and the round states its other
    /// exceptions. Its accuracy run needs the whole data set, by the rules and by `MLCommons`' checker.
    #[must_use]
    pub fn in_division(mut self, division: Division) -> Self {
        if division == Division::Open {
            self.accuracy.clear();
            self.endpoint_accuracy.clear();
            self.accuracy_delta.clear();
            self.compliance.clear();
            if self.any_samples_in_open {
                self.min_samples_per_query = None;
            }
            self.equal_issue &= !self.any_issue_in_open;
        }
        self
    }
}
