//! Early stopping's estimates: what the figures state, against the sentences that LoadGen writes of
//! them and against the percentiles that they estimate.

use super::statements::early_stopping_entries;
use super::{LoadgenRun, TestScenario};
use crate::check::{Rule, RuleCheck};
use crate::loadgen::names::{self, EARLY_STOPPING_LATENCY};
use retrial_readings::number::{format_figure, to_f64};

/// The percentile that MultiStream publishes, and that may be inferred from a SingleStream run.
const MULTI_STREAM_PERCENTILE: f64 = 0.99;

impl LoadgenRun {
    /// Checks the estimate of the run's own target percentile, and a SingleStream run's for MultiStream.
    pub(super) fn estimate_relations(&self) -> Vec<Option<RuleCheck>> {
        let target = self.parameters().target_latency_percentile;
        let own = match self.scenario() {
            Some(TestScenario::SingleStream) => target.unwrap_or(0.9),
            _ => target.unwrap_or(MULTI_STREAM_PERCENTILE),
        };
        let mut relations = self.check_estimate(EARLY_STOPPING_LATENCY, own, 0);
        if self.scenario() == Some(TestScenario::SingleStream) {
            let inferred = names::multi_stream_estimate_name(&self.parameters());
            relations.extend(self.check_estimate(inferred, MULTI_STREAM_PERCENTILE, 1));
        }
        relations
    }

    /// Checks one estimate: the figure `name`, which is the `position`th sentence's.
    fn check_estimate(
        &self,
        name: &str,
        percentile: f64,
        position: usize,
    ) -> Vec<Option<RuleCheck>> {
        let estimate = self.figure_value(name);
        let shown = format_percentile(percentile);
        let sentence = || {
            let detail = self.detail.as_ref()?;
            let stopping = &detail.early_stopping;
            let block = stopping.query.as_ref().or(stopping.ttft.as_ref())?;
            let stated = to_f64(block.estimates.get(position)?.1);
            let logged = estimate?;
            Some(RuleCheck::new(
                Rule::of_figure(
                    format!("early stopping estimate of the {shown}th percentile"),
                    name,
                )
                .or_in(early_stopping_entries()),
                format_figure(logged, "ns"),
                format!("{}, as early stopping's text states it", format_figure(stated, "ns")),
                (logged - stated).abs() <= 0.5,
            ))
        };
        let range = || {
            if self.parameters().use_token_latencies == Some(true) {
                // The estimate is of a token latency.
                return None;
            }
            let label = names::percentile_label(&shown)?;
            let least = self.figure_value(&format!("latency_{label}_ns"))?;
            let most = self.figure_value("latency_max_ns")?;
            let estimate = estimate?;
            // It is that of a higher latency of the run.
            Some(RuleCheck::new(
                Rule::of_figure("early stopping estimate", name).or_in(early_stopping_entries()),
                format_figure(estimate, "ns"),
                format!("{} to {}", format_figure(least, "ns"), format_figure(most, "ns")),
                estimate >= least && estimate <= most,
            ))
        };
        vec![sentence(), range()]
    }
}

/// `99.9` of 0.999: without the digits that a product of binary fractions adds.
fn format_percentile(share: f64) -> String {
    ((share * 1e6).round() / 1e4).to_string()
}
