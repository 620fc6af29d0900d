//! The rules of an endpoint's results: those of `LoadGen`'s that its files can tell, and what
//! takes the place of `LoadGen`'s own word.

use super::performance::{min_duration, seeds, token_latencies};
use super::{count, time, within};
use crate::check::{NOT_STATED, RuleCheck};
use crate::endpoints::{AccuracyResults, Performance};
use crate::loadgen::Scenario;
use crate::rounds::Rules;

impl Rules {
    /// Everything that is asked of an endpoint's performance run.
    pub fn check_endpoint(&self, run: &Performance) -> Vec<RuleCheck> {
        let said = run.run_settings();
        let figure = |name: &str| {
            let found = run.figures.get(name)?;
            Some((found.value, found.unit.to_string()))
        };
        let mut checks = vec![self.endpoint_scenario(run)];
        checks.extend(came_to_its_end(run));
        // There is no sample library whose seed it could be.
        let [_, sample_index, schedule] = seeds(self, &said);
        checks.extend([sample_index, schedule]);
        checks.extend(run.differing.iter().map(|(name, asked, told)| {
            let asked = format!("{asked}, as config.yaml has it");
            RuleCheck::new(format!("{name} of the run"), told.clone(), asked, false)
        }));
        checks.extend(self.endpoint_latency(run));
        checks.extend(token_latencies(self, &said, &figure));
        checks.extend(min_duration(self, &said));
        checks
    }

    /// Everything that is asked of an endpoint's accuracy run.
    pub fn check_endpoint_accuracy(&self, results: &AccuracyResults) -> Vec<RuleCheck> {
        let figures = self.endpoint_accuracy(results);
        let unit = String::new();
        let mut checks: Vec<RuleCheck> = self
            .accuracy
            .iter()
            .map(|(name, limit)| {
                let found = figures
                    .iter()
                    .find(|(known, _)| known.eq_ignore_ascii_case(name));
                let value = found.map(|(_, value)| (*value, unit.clone()));
                within(name, value.as_ref(), limit)
            })
            .collect();
        if let Some(asked) = self.accuracy_samples {
            let found = results.samples();
            let shown = found.map_or_else(|| NOT_STATED.to_owned(), count);
            let kept = found == Some(asked);
            checks.push(RuleCheck::new(
                "accuracy sample count",
                shown,
                count(asked),
                kept,
            ));
        }
        let open: Vec<&str> = results
            .scores
            .iter()
            .filter(|score| !score.complete)
            .map(|score| score.dataset.as_str())
            .collect();
        if !open.is_empty() {
            let found = format!("{} did not finish", open.join(", "));
            checks.push(RuleCheck::new("accuracy run", found, "complete", false));
        }
        checks
    }

    /// The accuracy figures, by the names and in the unit that the round has for them.
    pub fn endpoint_accuracy(
        &self,
        results: &AccuracyResults,
    ) -> std::collections::BTreeMap<String, f64> {
        let Some((name, limit)) = self.accuracy.first() else {
            return results.figures("accuracy", false);
        };
        let in_percent = limit.min.or(limit.max).is_some_and(|bound| bound > 1.5);
        results.figures(name, in_percent)
    }

    /// `online` may be any scenario but Offline.
    fn endpoint_scenario(&self, run: &Performance) -> RuleCheck {
        let shown = run.scenario.map_or(NOT_STATED, Scenario::as_str);
        let is_offline = self.scenario == Scenario::Offline;
        let kept = run.scenario.is_some_and(|found| {
            found == self.scenario || (found == Scenario::Server && !is_offline)
        });
        RuleCheck::new("scenario", shown, self.scenario.as_str(), kept)
    }

    /// The 99th percentile of a query, where token latencies do not stand for it.
    fn endpoint_latency(&self, run: &Performance) -> Vec<RuleCheck> {
        let mut checks = Vec::new();
        let asks_for_latency = self
            .latency
            .ttft_ns
            .or(self.latency.tpot_ns)
            .or(self.latency.query_ns);
        if asks_for_latency.is_some() && self.scenario != Scenario::Offline {
            let shown = if run.has_early_stopping {
                "estimated"
            } else {
                "not estimated"
            };
            let asked = "estimated: percentiles are compared with limits";
            checks.push(RuleCheck::new(
                "early stopping",
                shown,
                asked,
                run.has_early_stopping,
            ));
        }
        let limit = self.latency.query_ns.filter(|_| !self.token_latencies);
        if let Some(limit) = limit {
            #[expect(clippy::cast_precision_loss, reason = "limits of minutes are exact")]
            let limit = limit as f64;
            let found = run.figures.get("latency_p99_ns").map(|found| found.value);
            let shown = found.map_or_else(|| NOT_STATED.to_owned(), time);
            let asked = format!("at most {}", time(limit));
            let kept = found.is_some_and(|found| found <= limit);
            checks.push(RuleCheck::new(
                "latency, 99th percentile",
                shown,
                asked,
                kept,
            ));
        }
        checks
    }
}

/// What `LoadGen` says by VALID: the run came to its end, and every sample was answered.
fn came_to_its_end(run: &Performance) -> [RuleCheck; 2] {
    let shown = match run.complete {
        Some(true) => "complete",
        Some(false) => "not complete",
        None => NOT_STATED,
    };
    let counts = [run.issued, run.completed, run.failed];
    let [issued, completed, failed] =
        counts.map(|found| found.map_or_else(|| NOT_STATED.to_owned(), count));
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
