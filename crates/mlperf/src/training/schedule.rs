//! The schedule of evaluations, in samples, where a round has one: the first, and the
//! interval from then on.

use serde::Deserialize;

use super::dependent::{DependentRule as _, WholeBatches};
use crate::check::RuleCheck;
use retrial_readings::number::format_grouped;

/// The times at which a run is evaluated.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EvaluationSchedule {
    /// When the first evaluation is due.
    first: Option<FirstEvaluation>,
    /// All are at multiples of this.
    every: Option<WholeBatches>,
    /// None of those is left out after the first.
    gapless: bool,
}

/// The first evaluation: after so many batches, or at the first multiple of `every` that is not below
/// a line over the batch size.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FirstEvaluation {
    Batches(WholeBatches),
    Line(LinearSamples),
}

/// `⌊(per_batch × batch + samples) / of⌋` samples
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinearSamples {
    per_batch: f64,
    samples: f64,
    of: f64,
}

impl EvaluationSchedule {
    /// Returns the rule that an evaluation after `count` samples violates; `before` is the one before
    /// it, and `batch` the batch size that was logged above.
    pub fn find_violation(
        &self,
        count: f64,
        before: Option<f64>,
        batch: Option<f64>,
    ) -> Option<RuleCheck> {
        if *self == Self::default() {
            return None;
        }
        let Some(batch) = batch.filter(|batch| *batch > 0.0) else {
            let measured = "before global_batch_size";
            return Some(RuleCheck::violation("evaluations", measured, "after it"));
        };
        let every = self.every.as_ref().map(|every| every.samples_at(batch));
        let shown = format!("after {} samples", format_grouped(count));
        if let (None, Some(first)) = (before, &self.first) {
            let expected = first.first_sample_count(batch, every);
            // As the checker, which cuts a fraction off.
            if (count.trunc() - expected).abs() > 0.0 {
                let required = format!("after {} ({})", format_grouped(expected), first.describe());
                return Some(RuleCheck::violation("first evaluation", shown, required));
            }
        }
        let every = every?;
        let is_off_grid = count % every > 0.0;
        let expected = before.map(|before| before + every);
        let (is_wrong, required) = match expected.filter(|_| self.gapless) {
            Some(expected) => (
                (count - expected).abs() > 0.0,
                format!("after {}, {} later", format_grouped(expected), format_grouped(every)),
            ),
            None => (is_off_grid, format!("every {} samples", format_grouped(every))),
        };
        is_wrong.then(|| RuleCheck::violation("evaluations", shown, required))
    }
}

impl FirstEvaluation {
    fn first_sample_count(&self, batch: f64, every: Option<f64>) -> f64 {
        match self {
            Self::Batches(batches) => batches.samples_at(batch),
            Self::Line(line) => {
                let least = ((line.per_batch * batch + line.samples) / line.of).floor();
                every.map_or(least, |every| (least / every).ceil() * every)
            }
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Batches(batches) => batches.describe(),
            Self::Line(line) => {
                let [per_batch, samples, of] =
                    [line.per_batch, line.samples, line.of].map(format_grouped);
                format!("from ({per_batch} × global_batch_size + {samples}) / {of} on")
            }
        }
    }
}
