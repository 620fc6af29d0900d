//! What the lines gave, put together: what is missing, which stats count, which estimate is published.

use super::parser::Parser;
use super::{Completeness, Summary, SummaryError};
use crate::loadgen::early_stopping::Stop;
use crate::loadgen::names::{self, EARLY_STOPPING_LATENCY};
use crate::loadgen::{EarlyStopping, Mode, Scenario};
use retrial_readings::figure::{Figure, Figures, NANOSECONDS, Source};

impl Parser {
    /// The summary, after its last line.
    pub(super) fn finish(self) -> Result<Summary, SummaryError> {
        if self.known == 0 {
            return Err(SummaryError::NotASummary);
        }
        let mut notes = self.notes;
        let (stats, note) = self.stats.belonging_to(&self.head);
        notes.extend(note);
        let has_stats = !stats.is_empty();
        // The head has the figures that count; the stats repeat some of them.
        let mut figures = stats;
        figures.extend(self.head);
        let stop = |text: Option<String>| text.as_deref().map(Stop::parse);
        let early_stopping = EarlyStopping {
            query: stop(self.query),
            ttft: stop(self.ttft),
            tpot: stop(self.tpot),
        };
        add_estimates(&early_stopping, self.scenario, &mut figures);

        let nothing_but_counts = self.sut_name.is_none()
            && self.scenario.is_none()
            && self.mode.is_none()
            && self.result.is_none()
            && figures.is_empty();
        let accuracy = nothing_but_counts && self.warnings.is_some() && self.errors.is_some();
        let mode = self.mode.or(accuracy.then_some(Mode::Accuracy));
        let performance = mode != Some(Mode::Accuracy);
        let parts = [
            (self.sut_name.is_some() || !performance, "SUT name"),
            (self.scenario.is_some() || !performance, "Scenario"),
            (mode.is_some(), "Mode"),
            (self.result.is_some() || !performance, "Result is"),
            (has_stats || !performance, "Additional Stats"),
            (
                self.parameters.performance_sample_count.is_some() || !performance,
                "Test Parameters Used",
            ),
            (self.warnings.is_some(), "warnings encountered"),
            (self.errors.is_some(), "errors encountered"),
        ];
        let missing: Vec<_> = parts
            .into_iter()
            .filter_map(|(there, part)| (!there).then_some(part))
            .collect();
        let completeness = if missing.is_empty() {
            Completeness::Whole
        } else if self.excerpt {
            Completeness::Excerpt
        } else {
            Completeness::CutOff
        };
        Ok(Summary {
            sut_name: self.sut_name,
            scenario: self.scenario,
            mode,
            result: self.result,
            constraints: self.constraints,
            recommendations: self.recommendations,
            early_stopping,
            figures,
            parameters: self.parameters,
            warnings: self.warnings,
            errors: self.errors,
            completeness,
            missing,
            notes,
            unread: self.unread,
        })
    }
}

/// Early stopping's estimates as figures; the first one of SingleStream and MultiStream, at the
/// target percentile, is what MLCommons publishes. With token latencies that is TTFT's.
fn add_estimates(stopping: &EarlyStopping, scenario: Option<Scenario>, figures: &mut Figures) {
    let blocks = [
        (&stopping.query, "early_stopping"),
        (&stopping.ttft, "ttft_early_stopping"),
        (&stopping.tpot, "tpot_early_stopping"),
    ];
    for (stop, kind) in blocks {
        for &(percentile, estimate) in stop.iter().flat_map(|stop| &stop.estimates) {
            let Some(label) = names::percentile(&percentile.to_string()) else {
                continue;
            };
            figures.insert(format!("{kind}_{label}_ns").into(), nanoseconds(estimate));
        }
    }
    let published = stopping.query.as_ref().or(stopping.ttft.as_ref());
    let first = published.and_then(|stop| stop.estimates.first());
    if let (Some(Scenario::SingleStream | Scenario::MultiStream), Some(&(_, estimate))) =
        (scenario, first)
    {
        figures.insert(EARLY_STOPPING_LATENCY.into(), nanoseconds(estimate));
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn nanoseconds(value: u64) -> Figure {
    Figure {
        value: value as f64,
        unit: NANOSECONDS.into(),
        half_digit: 0.5,
        source: Source::Summary,
    }
}
