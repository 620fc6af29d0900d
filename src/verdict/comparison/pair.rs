//! One figure of two subjects: its trials, their ratio, what that shows.

use super::difference::{Difference, Sample};
use super::model::{ComparedFigure, MeasuredSide};
use super::{Change, FailIf, Side};
use crate::recipe::model::{Aggregate, Better, Claim, Mode};
use crate::verdict::compare::{self, exp};
use crate::verdict::reference;
use crate::verdict::statistics::aggregate;
use crate::verdict::{Bounds, Context, Evidence, ResultVerdict, convergence};

/// One scenario in one mode of one subject.
pub(super) struct Measured<'a> {
    pub letter: String,
    pub context: &'a Context,
    pub evidence: &'a Evidence,
    pub result: ResultVerdict,
}

impl Measured<'_> {
    /// The figures that are worth comparing, in order of their weight.
    pub fn figures(&self) -> Vec<String> {
        let evidence = self.evidence;
        let mut names: Vec<String> = evidence.published_metric.iter().cloned().collect();
        names.extend(evidence.expect.iter().map(|(name, _)| name.clone()));
        names.extend(self.result.deciding.clone());
        let given: Vec<&String> = evidence
            .trials
            .iter()
            .flat_map(|trial| trial.figures.keys())
            .collect();
        let told = |name: &&&String| {
            let accuracy = evidence.mode != Mode::Performance;
            accuracy || evidence.meta_of(name).is_some()
        };
        names.extend(given.iter().filter(told).map(|name| (*name).clone()));
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| given.contains(&name) && seen.insert(name.clone()));
        names
    }

    /// The trials of a figure, times what their convergence makes of them; none where one of them
    /// has no usable figure.
    fn values(&self, figure: &str) -> Option<Vec<f64>> {
        let factor = convergence::of(self.evidence, figure)
            .and_then(Result::ok)
            .map_or(1.0, |convergence| convergence.factor);
        let dropped = convergence::dropped(self.evidence, figure);
        let trials = self.evidence.trials.iter().enumerate();
        let values: Option<Vec<f64>> = trials
            .map(|(position, trial)| {
                let value = trial.figures.get(figure)?.value;
                let usable = value.is_finite() && value > 0.0;
                (usable || dropped == Some(position)).then_some(value * factor)
            })
            .collect();
        values.filter(|values| !values.is_empty())
    }

    fn noise(&self, figure: &str) -> Option<f64> {
        let expectations = self
            .evidence
            .expect
            .iter()
            .find(|(name, _)| name == figure)
            .map(|(_, list)| list.as_slice());
        let decides = expectations
            .and_then(|list| reference::decisive(list).and_then(|position| list.get(position)));
        reference::noise(self.context, self.evidence, figure, decides)
    }
}

/// One figure on both sides.
pub(super) struct Pair<'a> {
    pub baseline: &'a Measured<'a>,
    pub candidate: &'a Measured<'a>,
    pub figure: String,
    pub unit: String,
    pub better: Better,
    pub aggregate: Aggregate,
    values: [Option<Vec<f64>>; 2],
    /// None where they cannot be compared.
    pub difference: Option<Difference>,
}

impl<'a> Pair<'a> {
    pub fn of(
        baseline: &'a Measured<'a>,
        candidate: &'a Measured<'a>,
        figure: &str,
        paired: bool,
    ) -> Self {
        let unit = compare::unit(baseline.evidence, figure);
        let meta = reference::meta(baseline.evidence, figure, &unit);
        let values = [baseline.values(figure), candidate.values(figure)];
        let valid = baseline.result.valid && candidate.result.valid;
        let difference = match &values {
            [Some(one), Some(other)] if valid => {
                let of = |values, side: &Measured<'_>| Sample {
                    values,
                    noise: side.noise(figure),
                };
                let (baseline, candidate) = (of(one, baseline), of(other, candidate));
                if paired {
                    Difference::paired(candidate, baseline, meta.better, meta.aggregate)
                } else {
                    let how = meta.aggregate;
                    Some(Difference::of(candidate, baseline, meta.better, how))
                }
            }
            _ => None,
        };
        Self {
            baseline,
            candidate,
            figure: figure.to_owned(),
            unit,
            better: meta.better,
            aggregate: meta.aggregate,
            values,
            difference: difference.filter(|difference| difference.center.is_finite()),
        }
    }

    pub fn is_performance(&self) -> bool {
        self.candidate.evidence.mode == Mode::Performance
    }

    /// Whether a bound with this error shows a difference, and which.
    pub fn shown(&self, alpha: f64) -> Change {
        let Some(difference) = &self.difference else {
            return Change::NotCompared;
        };
        match difference.bounds(alpha) {
            Some((lower, _)) if lower > 0.0 && self.is_performance() => Change::Faster,
            Some((_, upper)) if upper < 0.0 && self.is_performance() => Change::Slower,
            Some((lower, _)) if lower > 0.0 => Change::Better,
            Some((_, upper)) if upper < 0.0 => Change::Worse,
            _ => Change::NoDifference,
        }
    }

    /// On which side of a limit it lies.
    pub fn side(&self, limit: FailIf, alpha: f64) -> Side {
        self.difference.as_ref().map_or(Side::Open, |difference| {
            difference.side(Claim::NotWorse, limit.slower, alpha)
        })
    }

    /// As it is shown; the sentence is still to be written.
    pub fn finish(&self, alpha: f64, change: Change, limit: Option<Side>) -> ComparedFigure {
        let side = |of: &Measured<'_>, values: &Option<Vec<f64>>| MeasuredSide {
            subject: of.letter.clone(),
            value: values
                .as_ref()
                .and_then(|values| aggregate(values, self.aggregate)),
            // JSON has no infinity: a run that did not converge has no figure.
            trials: values
                .iter()
                .flatten()
                .copied()
                .filter(|value| value.is_finite())
                .collect(),
        };
        let bounds = self
            .difference
            .as_ref()
            .and_then(|difference| difference.bounds(alpha / 2.0));
        ComparedFigure {
            benchmark: self.candidate.result.benchmark.clone(),
            scenario: self.candidate.evidence.scenario.clone(),
            mode: self.candidate.evidence.mode,
            figure: self.figure.clone(),
            unit: self.unit.clone(),
            better: self.better,
            aggregate: self.aggregate,
            baseline: side(self.baseline, &self.values[0]),
            candidate: side(self.candidate, &self.values[1]),
            ratio: self.difference.as_ref().map(|one| exp(one.center)),
            interval: bounds.map(|(lower, upper)| Bounds {
                lower: exp(lower),
                upper: exp(upper),
            }),
            change,
            limit,
            sentence: String::new(),
        }
    }
}
