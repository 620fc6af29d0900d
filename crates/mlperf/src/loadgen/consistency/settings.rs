//! The amounts of a performance run against the settings that bound them.

use super::{LoadgenRun, MAX_POISSON_DEVIATIONS, MAX_TARGET_DEVIATION};
use crate::check::{Rule, RuleCheck};
use retrial_readings::number::{format_figure, format_grouped, to_f64};

impl LoadgenRun {
    /// Checks that the number of queries and of samples lies within the settings' bounds. Where LoadGen itself says
    /// that it is not, its result is INVALID.
    pub(super) fn amount_relations(&self) -> Vec<Option<RuleCheck>> {
        let settings = self.parameters();
        let is_met = self.constraints().min_queries != Some(false);
        let detail = self.detail.as_ref();
        let queries = || {
            let count = detail?.query_count?;
            let least = settings.min_query_count.filter(|_| is_met).unwrap_or(0);
            let most = settings.max_query_count.filter(|most| *most > 0);
            let required = match most {
                Some(most) => format!("min_query_count {least} to max_query_count {most}"),
                None => format!("at least min_query_count {least}"),
            };
            let passed = count >= least && most.is_none_or(|most| count <= most);
            let rule = Rule::of_entries(
                "queries of the result, by its settings",
                ["effective_min_query_count", "effective_max_query_count", "result_query_count"],
            );
            Some(RuleCheck::new(rule, count.to_string(), required, passed))
        };
        let samples = || {
            let least = settings.min_sample_count.filter(|_| is_met)?;
            let each = detail?.generated_samples_per_query?;
            let count = detail?.query_count?.saturating_mul(each);
            let required = format!("at least min_sample_count {least}");
            let rule = Rule::of_entries(
                "samples of the result, by its settings",
                ["effective_min_sample_count", "result_query_count", "generated_samples_per_query"],
            );
            Some(RuleCheck::new(rule, count.to_string(), required, count >= least))
        };
        vec![queries(), samples()]
    }

    /// Server schedules its queries at the target rate.
    pub(super) fn check_target_rate(&self) -> Option<RuleCheck> {
        let scheduled = self.figure("scheduled_samples_per_second")?;
        let target = self.parameters().target_qps.filter(|target| *target > 0.0)?;
        let queries = to_f64(self.detail.as_ref()?.query_count.filter(|count| *count > 0)?);
        let allowed = MAX_TARGET_DEVIATION.max(MAX_POISSON_DEVIATIONS / queries.sqrt());
        Some(RuleCheck::new(
            Rule::of_entries(
                "scheduled samples/s",
                ["result_scheduled_samples_per_sec", "effective_target_qps"],
            ),
            format_figure(scheduled.value, &scheduled.unit),
            format!(
                "within {} % of target_qps {}",
                format_grouped(allowed * 100.0),
                format_grouped(target)
            ),
            (scheduled.value / target - 1.0).abs() <= allowed,
        ))
    }
}
