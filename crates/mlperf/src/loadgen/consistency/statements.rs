//! What a run states of itself in several places: how it was loaded, scheduled and stopped. `LoadGen` writes each from
//! the same values, so that they agree in all 2,641 detail logs of v4.1.

use super::{LoadgenRun, MAX_TARGET_DEVIATION, ROUNDING_TOLERANCE, TestScenario};
use crate::check::{Rule, RuleCheck, StatingLines};
use crate::loadgen::{
    EARLY_STOPPING_KEYS, EarlyStopping, EarlyStoppingBlock, MULTI_STREAM_SAMPLES,
};
use retrial_readings::number::{format_figure, format_grouped, to_f64};

impl LoadgenRun {
    /// Checks what a performance run states of its samples and its end.
    pub(super) fn statement_relations(&self) -> Vec<Option<RuleCheck>> {
        vec![
            self.check_loaded_samples(),
            self.check_samples_per_query(),
            self.check_late_queries(),
            self.check_early_stopping_text(),
        ]
    }

    /// Checks that the samples in memory are those that the setting names, or the whole library where that is smaller.
    fn check_loaded_samples(&self) -> Option<RuleCheck> {
        let detail = self.detail.as_ref()?;
        let required = detail.parameters.performance_sample_count?.min(detail.library_samples?);
        let loaded = detail.loaded_samples?;
        Some(RuleCheck::new(
            loaded_samples_rule(),
            format_grouped(to_f64(loaded)),
            format!("at least {}, by performance_sample_count", format_grouped(to_f64(required))),
            loaded >= required,
        ))
    }

    /// Checks the samples of a query: as its setting names them, and as many as MultiStream always has. Offline's query
    /// is filled up to whole permutations.
    fn check_samples_per_query(&self) -> Option<RuleCheck> {
        let set = self.parameters().samples_per_query?;
        let required = match self.scenario()? {
            TestScenario::Offline => return None,
            TestScenario::MultiStream => MULTI_STREAM_SAMPLES,
            _ => set,
        };
        let logged = self.detail.as_ref().and_then(|detail| detail.generated_samples_per_query);
        let other = [Some(set), logged].into_iter().flatten().find(|count| *count != required);
        let measured = other.unwrap_or(required).to_string();
        let rule = Rule::of_entries(
            "samples per query",
            ["effective_samples_per_query", "generated_samples_per_query"],
        );
        Some(RuleCheck::new(rule, measured, required.to_string(), other.is_none()))
    }

    /// Checks the time that the generated queries take against their number and target rate. Server draws the times
    /// between them; in the others they are equal, and whole nanoseconds.
    pub(super) fn check_scheduled_duration(&self) -> Option<RuleCheck> {
        let detail = self.detail.as_ref()?;
        let target = self.parameters().target_qps.filter(|target| *target > 0.0)?;
        let queries = to_f64(detail.generated_query_count.filter(|count| *count > 0)?);
        let scheduled = to_f64(detail.generated_duration_ns?);
        let expected = queries / target * 1e9;
        let share = match self.scenario()? {
            TestScenario::Server | TestScenario::Interactive => {
                MAX_TARGET_DEVIATION.max(super::MAX_POISSON_DEVIATIONS / queries.sqrt())
            }
            _ => ROUNDING_TOLERANCE + target * 1e-9,
        };
        Some(RuleCheck::new(
            Rule::of_entries(
                "generated_query_duration",
                ["generated_query_count", "generated_query_duration", "effective_target_qps"],
            ),
            format_figure(scheduled, "ns"),
            format!("{}, by target_qps", format_figure(expected, "ns")),
            (scheduled / expected - 1.0).abs() <= share,
        ))
    }

    /// Checks the number of queries above Server's latency limit where LoadGen states that the limit was kept. Of token
    /// latencies it counts them by a limit that it does not use.
    fn check_late_queries(&self) -> Option<RuleCheck> {
        let (detail, settings) = (self.detail.as_ref()?, self.parameters());
        let is_met = self.constraints().performance == Some(true);
        (is_met && settings.use_token_latencies != Some(true)).then_some(())?;
        let (late, count) = (detail.overlatency_query_count?, detail.query_count?);
        let allowed = 1.0 - settings.target_latency_percentile?;
        let most = to_f64(count) * (allowed + ROUNDING_TOLERANCE);
        Some(RuleCheck::new(
            Rule::of_entries(
                "queries above the latency limit",
                [
                    "result_query_count",
                    "result_overlatency_query_count",
                    "effective_target_latency_percentile",
                ],
            ),
            format!("{late} of {count}"),
            format!(
                "at most {}, as LoadGen states that it is met",
                format_figure(allowed * 100.0, "%")
            ),
            to_f64(late) <= most,
        ))
    }

    /// Checks that early stopping's sentences are no failure where LoadGen states that it is satisfied.
    fn check_early_stopping_text(&self) -> Option<RuleCheck> {
        (self.constraints().early_stopping == Some(true)).then_some(())?;
        let of_summary = self.summary.iter().map(|summary| &summary.early_stopping);
        let all = of_summary.chain(self.detail.iter().map(|detail| &detail.early_stopping));
        let mut blocks = all.flat_map(EarlyStopping::nonempty_blocks);
        // Server's say whether the run was successful, the others' have an estimate.
        let is_passed =
            |block: &EarlyStoppingBlock| block.successful.unwrap_or(!block.estimates.is_empty());
        let failed = blocks.find(|(_, block)| !is_passed(block));
        let measured = failed.map_or_else(
            || "a success".to_owned(),
            |(name, block)| format!("{name}: {}", block.text),
        );
        let required = "a success, as LoadGen states that it is met";
        let rule = Rule::stated_in("early stopping's text", early_stopping_entries());
        Some(RuleCheck::new(rule, measured, required, failed.is_none()))
    }
}

/// A rule about the samples that were loaded.
pub(super) fn loaded_samples_rule() -> Rule {
    let keys = ["loaded_qsl_set", "effective_performance_sample_count", "qsl_reported_total_count"];
    Rule::of_entries("samples of loaded_qsl_set", keys)
}

/// What a log states of early stopping.
pub(super) fn early_stopping_entries() -> StatingLines {
    StatingLines::Entries(EARLY_STOPPING_KEYS.map(Into::into).into())
}
