//! The rules of an endpoint's results: those of `LoadGen`'s that its files can answer, and the
//! replacements of `LoadGen`'s own validity.

use super::performance::{check_min_duration, check_seeds, check_token_latencies};
use super::{check_within_limit, format_count, format_nanoseconds};
use crate::check::{NOT_STATED, RuleCheck};
use crate::endpoints::{EndpointAccuracy, EndpointPerformance};
use crate::loadgen::TestScenario;
use crate::rounds::{InferenceRules, LatencyLimits};
use retrial_readings::number::to_f64;

/// The greatest value of a score in percent.
const ALL_PERCENT: f64 = 100.0;

impl InferenceRules {
    /// Checks everything required of an endpoint's performance run.
    pub fn check_endpoint(&self, run: &EndpointPerformance) -> Vec<RuleCheck> {
        let settings = run.run_settings();
        let figure = |name: &str| {
            let figure = run.figures.get(name)?;
            Some((figure.value, figure.unit.to_string()))
        };
        let mut checks = vec![self.check_endpoint_scenario(run)];
        checks.extend(check_completion(run));
        // An endpoint has no sample library, and so no seed of one.
        let [_, sample_index, schedule] = check_seeds(self, &settings);
        checks.extend([sample_index, schedule]);
        checks.extend(run.contradictions.iter().cloned());
        checks.extend(self.warn_of_model(run));
        checks.extend(self.check_endpoint_latency(run));
        // Without limits on them, token latencies may be unknown: the checker does not ask whether the
        // answers were streamed.
        if self.latency.ttft_ns.or(self.latency.tpot_ns).is_some() {
            checks.extend(check_token_latencies(self, &settings, &figure));
        }
        checks.extend(check_min_duration(self, &settings));
        checks
    }

    /// Checks everything required of an endpoint's accuracy run.
    pub fn check_endpoint_accuracy(&self, results: &EndpointAccuracy) -> Vec<RuleCheck> {
        let figures = self.endpoint_accuracy_figures(results);
        let mut checks: Vec<RuleCheck> = self
            .accuracy
            .iter()
            .map(|(name, limit)| {
                let found = figures.iter().find(|(figure, _)| figure.eq_ignore_ascii_case(name));
                let value = found.map(|(_, value)| (*value, String::new()));
                check_within_limit(name, value.as_ref(), limit)
            })
            .collect();
        // A score with a lower limit in percent cannot be above all of it.
        checks.extend(self.accuracy.iter().filter_map(|(name, limit)| {
            let value = figures.get(name).filter(|value| **value > ALL_PERCENT)?;
            let is_percent = limit.min.is_some_and(|least| least <= ALL_PERCENT);
            is_percent.then(|| RuleCheck::new(name, value.to_string(), "at most 100 %", false))
        }));
        // The client breaks down the score of some data sets, and of others it does not.
        checks.extend(self.endpoint_accuracy.iter().filter_map(|(name, limit)| {
            let value = (*figures.get(name)?, String::new());
            Some(check_within_limit(name, Some(&value), limit))
        }));
        if let Some(required) = self.accuracy_samples {
            let samples = results.sample_count();
            let shown = samples.map_or_else(|| NOT_STATED.to_owned(), format_count);
            let passed = samples == Some(required);
            checks.push(RuleCheck::new(
                "accuracy sample count",
                shown,
                format_count(required),
                passed,
            ));
        }
        let unfinished: Vec<&str> = results
            .scores
            .iter()
            .filter(|score| !score.complete)
            .map(|score| score.dataset.as_str())
            .collect();
        if !unfinished.is_empty() {
            let measured = format!("{} did not finish", unfinished.join(", "));
            checks.push(RuleCheck::new("accuracy run", measured, "complete", false));
        }
        checks
    }

    /// Returns the accuracy figures, by the names and in the unit that the round has for them.
    pub fn endpoint_accuracy_figures(
        &self,
        results: &EndpointAccuracy,
    ) -> std::collections::BTreeMap<String, f64> {
        let Some((name, limit)) = self.accuracy.first() else {
            return results.published_figures("accuracy", false);
        };
        let in_percent = limit.min.or(limit.max).is_some_and(|bound| bound > 1.5);
        results.published_figures(name, in_percent)
    }

    /// `online` may be any scenario but Offline.
    fn check_endpoint_scenario(&self, run: &EndpointPerformance) -> RuleCheck {
        let shown = run.scenario.map_or(NOT_STATED, TestScenario::word);
        let is_offline = self.scenario == TestScenario::Offline;
        let passed = run.scenario.is_some_and(|logged| {
            logged == self.scenario || (logged == TestScenario::Server && !is_offline)
        });
        RuleCheck::new("scenario", shown, self.scenario.word(), passed)
    }

    /// Warns of a model whose name has nothing of the benchmark's.
    fn warn_of_model(&self, run: &EndpointPerformance) -> Option<RuleCheck> {
        let model = run.model.as_ref()?;
        let [served, benchmark] = [model, &self.benchmark].map(|name| {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect::<String>()
        });
        let is_named = served.contains(&benchmark) || benchmark.contains(&served);
        (!is_named)
            .then(|| RuleCheck::warning("model of config.yaml", model.clone(), &self.benchmark))
    }

    /// Checks the 99th percentile of a query, where token latencies do not replace it.
    fn check_endpoint_latency(&self, run: &EndpointPerformance) -> Vec<RuleCheck> {
        let mut checks = Vec::new();
        if self.latency != LatencyLimits::default() && self.scenario != TestScenario::Offline {
            let shown = if run.has_early_stopping { "estimated" } else { "not estimated" };
            let required = "estimated: percentiles are compared with limits";
            checks.push(RuleCheck::new("early stopping", shown, required, run.has_early_stopping));
        }
        let limit = self.latency.query_ns.filter(|_| !self.token_latencies);
        if let Some(limit) = limit {
            let limit = to_f64(limit);
            let p99 = run.figures.get("latency_p99_ns").map(|p99| p99.value);
            let shown = p99.map_or_else(|| NOT_STATED.to_owned(), format_nanoseconds);
            let required = format!("at most {}", format_nanoseconds(limit));
            let passed = p99.is_some_and(|p99| p99 <= limit);
            checks.push(RuleCheck::new("latency, 99th percentile", shown, required, passed));
        }
        checks
    }
}

/// Checks what VALID means to `LoadGen`: the run is complete, and every sample was answered.
fn check_completion(run: &EndpointPerformance) -> [RuleCheck; 2] {
    let shown = match run.complete {
        Some(true) => "complete",
        Some(false) => "not complete",
        None => NOT_STATED,
    };
    let counts = [run.issued, run.completed, run.failed];
    let [issued, completed, failed] =
        counts.map(|value| value.map_or_else(|| NOT_STATED.to_owned(), format_count));
    let all = run.issued.is_some_and(|issued| issued > 0)
        && run.completed == run.issued
        && run.failed == Some(0);
    [
        RuleCheck::new("run", shown, "complete", run.complete == Some(true)),
        RuleCheck::new(
            "samples answered",
            format!("{completed} of {issued}, {failed} failed"),
            "all, none failed",
            all,
        ),
    ]
}
