//! Assembles the lines: the missing parts, the stats that count, the published estimate.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::parser::SummaryParser;
use super::{Completeness, LoadgenSummary, SummaryError};
use crate::loadgen::early_stopping::EarlyStoppingBlock;
use crate::loadgen::names::{self, EARLY_STOPPING_LATENCY};
use crate::loadgen::{EarlyStopping, TestMode, TestScenario};
use retrial_readings::figure::{Figure, Figures, NANOSECONDS};
use retrial_readings::number::to_f64;

impl SummaryParser {
    /// Returns the summary, after its last line.
    pub(super) fn finish(self) -> Result<LoadgenSummary, SummaryError> {
        if self.recognized == 0 {
            return Err(SummaryError::NotASummary);
        }
        let mut summary = self.summary;
        let mut head = self.head;
        let stats = self.stats.block_of_head(&head);
        let rounded = rounded_up_percentiles(&head, &stats);
        head.retain(|name, _| !rounded.contains(name.as_ref()));
        let has_stats = !stats.is_empty();
        // The head has the figures that count; the stats repeat some of them.
        summary.figures = stats;
        summary.figures.extend(head);
        let blocks = self.early_stopping;
        let [query, ttft, tpot] = blocks.map(|text| text.as_deref().map(EarlyStoppingBlock::parse));
        summary.early_stopping = EarlyStopping { query, ttft, tpot };
        let scenario = summary.scenario;
        add_estimates(&summary.early_stopping, scenario, &mut summary.figures);
        if !rounded.is_empty() {
            rename_rounded_estimates(&mut summary.figures);
        }

        let nothing_but_counts = summary.sut_name.is_none()
            && summary.scenario.is_none()
            && summary.mode.is_none()
            && summary.result.is_none()
            && summary.figures.is_empty();
        if nothing_but_counts && summary.warnings.is_some() && summary.errors.is_some() {
            summary.mode = Some(TestMode::Accuracy);
        }
        let is_accuracy = summary.mode == Some(TestMode::Accuracy);
        let has_parameters = summary.parameters.performance_sample_count.is_some();
        let parts = [
            (summary.sut_name.is_some() || is_accuracy, "SUT name"),
            (summary.scenario.is_some() || is_accuracy, "Scenario"),
            (summary.mode.is_some(), "Mode"),
            (summary.result.is_some() || is_accuracy, "Result is"),
            (has_stats || is_accuracy, "Additional Stats"),
            (has_parameters || is_accuracy, "Test Parameters Used"),
            (summary.warnings.is_some(), "warnings encountered"),
            (summary.errors.is_some(), "errors encountered"),
        ];
        let missing = parts.into_iter().filter(|(there, _)| !there);
        summary.missing = missing.map(|(_, part)| part).collect();
        summary.completeness = if summary.missing.is_empty() {
            Completeness::Whole
        } else if self.excerpt {
            Completeness::Excerpt
        } else {
            Completeness::CutOff
        };
        Ok(summary)
    }
}

/// The highest percentile that LoadGen prints, and that percentile as LoadGen 5.0 prints it in the
/// head: without a decimal. No percentile is the 100th.
const ROUNDED_PERCENTILE: (&str, &str) = ("p99_9", "p100");

/// Returns the figures of the head that are a target percentile of 99.9, printed as
/// `100th percentile latency`: the stats have their values by the right name.
fn rounded_up_percentiles(head: &Figures, stats: &Figures) -> BTreeSet<String> {
    let (name, rounded) = ROUNDED_PERCENTILE;
    let is_rounded = |(printed, figure): (&Cow<'static, str>, &Figure)| {
        let right = stats.get(printed.replace(rounded, name).as_str())?;
        let is_same = right.value.to_bits() == figure.value.to_bits();
        (printed.contains(rounded) && is_same).then(|| printed.to_string())
    };
    head.iter().filter_map(is_rounded).collect()
}

/// Names the estimates at such a percentile by it.
fn rename_rounded_estimates(figures: &mut Figures) {
    let (name, rounded) = ROUNDED_PERCENTILE;
    let estimates: Vec<Cow<'static, str>> = figures
        .keys()
        .filter(|key| key.contains(rounded) && key.contains("early_stopping"))
        .cloned()
        .collect();
    for estimate in estimates {
        if let Some(figure) = figures.remove(&estimate) {
            figures.insert(estimate.replace(rounded, name).into(), figure);
        }
    }
}

/// Early stopping's estimates as figures; the first one of SingleStream and MultiStream, at the
/// target percentile, is published by MLCommons. With token latencies that is TTFT's.
fn add_estimates(stopping: &EarlyStopping, scenario: Option<TestScenario>, figures: &mut Figures) {
    let blocks = [
        (&stopping.query, "early_stopping"),
        (&stopping.ttft, "ttft_early_stopping"),
        (&stopping.tpot, "tpot_early_stopping"),
    ];
    for (stop, kind) in blocks {
        for &(percentile, estimate) in stop.iter().flat_map(|stop| &stop.estimates) {
            let Some(label) = names::percentile_label(&percentile.to_string()) else {
                continue;
            };
            figures.insert(format!("{kind}_{label}_ns").into(), nanosecond_figure(estimate));
        }
    }
    let published = stopping.query.as_ref().or(stopping.ttft.as_ref());
    let first = published.and_then(|stop| stop.estimates.first());
    if let (Some(TestScenario::SingleStream | TestScenario::MultiStream), Some(&(_, estimate))) =
        (scenario, first)
    {
        figures.insert(EARLY_STOPPING_LATENCY.into(), nanosecond_figure(estimate));
    }
}

fn nanosecond_figure(value: u64) -> Figure {
    Figure { value: to_f64(value), unit: NANOSECONDS.into(), half_digit: 0.5 }
}
