//! One figure of two subjects: its trials, their ratio, what that shows.

use std::borrow::Cow;

use super::measurement::{MeasuredFigure, PooledMeasurement};
use super::model::{ComparedFigure, MeasuredSide};
use super::{Change, FailIf};
use crate::verdict::published_figure::finite_exp;
use crate::verdict::{Bounds, NoiseBasis};
use retrial_recipe::model::{Claim, Mode};
use retrial_stats::{Decision, Difference, Sample, TrialVariance, aggregate_trials};

/// One scenario in one mode of one subject.
#[derive(Clone, Copy)]
pub struct SideMeasurement<'a> {
    /// The letter of the subject, `A`.
    pub letter: &'a str,
    pub measured: &'a PooledMeasurement,
}

impl<'a> SideMeasurement<'a> {
    /// Returns the measurements of a subject.
    pub fn from_measurements(letter: &'a str, measured: &'a [PooledMeasurement]) -> Vec<Self> {
        let measurements = measured.iter();
        measurements.map(|measured| Self { letter, measured }).collect()
    }

    pub fn figure(&self, name: &str) -> Option<&'a MeasuredFigure> {
        let mut figures = self.measured.figures.iter();
        figures.find(|figure| figure.name == name)
    }
}

/// One figure on both sides.
pub struct FigurePair<'a> {
    pub baseline: SideMeasurement<'a>,
    pub candidate: SideMeasurement<'a>,
    /// The figure, of the baseline and of the candidate: in the baseline's unit, if it can be converted.
    pub figures: [Cow<'a, MeasuredFigure>; 2],
    /// The trials of a round are compared with each other.
    pub paired: bool,
    /// None where they cannot be compared.
    pub difference: Option<Difference>,
}

/// Returns the variances that trials of a figure show in other measurements like this one.
fn shown_variances(
    others: &[&PooledMeasurement],
    like: &PooledMeasurement,
    figure: &str,
) -> Vec<TrialVariance> {
    let valid = others.iter().filter(|one| one.valid && one.is_like(like, true));
    let figures = valid.filter_map(|one| one.figures.iter().find(|own| own.name == figure));
    let trials = figures.filter_map(|own| own.trials.as_deref());
    trials.filter_map(TrialVariance::from_trials).collect()
}

impl<'a> FigurePair<'a> {
    /// Returns the figure of the first, if the other has it; there is no difference between units of two kinds. `others`
    /// are compared together with these two: their trials show how one trial of the figure scatters.
    pub fn new(
        baseline: SideMeasurement<'a>,
        candidate: SideMeasurement<'a>,
        figure: &'a MeasuredFigure,
        paired: bool,
        others: &[&PooledMeasurement],
    ) -> Option<Self> {
        let other = candidate.figure(&figure.name)?;
        Some(Self::between([baseline, candidate], [figure, other], paired, others))
    }

    /// Returns two figures as a pair, whatever their names: the baseline's and the candidate's.
    pub(crate) fn between(
        [baseline, candidate]: [SideMeasurement<'a>; 2],
        [figure, other]: [&'a MeasuredFigure; 2],
        paired: bool,
        others: &[&PooledMeasurement],
    ) -> Self {
        let converted = other.to_unit(&figure.unit);
        let other = converted.unwrap_or(Cow::Borrowed(other));
        let valid = baseline.measured.valid && candidate.measured.valid;
        let difference = match (&figure.trials, &other.trials, figure.better) {
            (Some(ours), Some(theirs), Some(better))
                if valid && have_common_unit([figure, &other]) =>
            {
                let is_single = ours.len().min(theirs.len()) == 1;
                let others = if is_single { others } else { &[] };
                let shown = shown_variances(others, baseline.measured, &figure.name);
                let sample = |values, of: &MeasuredFigure| Sample {
                    values,
                    noise: of.noise,
                    is_noise_stated: of.noise_basis == Some(NoiseBasis::Recipe),
                    rounding_error: of.rounding_error,
                };
                let (ours, theirs) = (sample(ours, figure), sample(theirs, &other));
                let how = figure.aggregate;
                if paired {
                    Difference::between_pairs(theirs, ours, better, how, &shown)
                } else {
                    Some(Difference::between_samples(theirs, ours, better, how, &shown))
                }
            }
            _ => None,
        };
        Self {
            baseline,
            candidate,
            figures: [Cow::Borrowed(figure), other],
            paired,
            difference: difference.filter(|difference| difference.center.is_finite()),
        }
    }

    /// Returns whether both sides give the figure in one unit, as far as they say.
    pub fn has_common_unit(&self) -> bool {
        have_common_unit(self.figures.each_ref().map(AsRef::as_ref))
    }

    /// Returns how many trials each side has.
    pub fn trial_counts(&self) -> [usize; 2] {
        self.figures.each_ref().map(|figure| figure.trials.as_ref().map_or(0, Vec::len))
    }

    pub fn is_performance(&self) -> bool {
        self.candidate.measured.mode == Mode::Performance
    }

    /// Returns whether a bound with this error shows a difference, and which.
    pub fn change_at(&self, alpha: f64) -> Change {
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
    pub fn decide(&self, limit: FailIf, alpha: f64) -> Decision {
        self.difference.as_ref().map_or(Decision::Open, |difference| {
            difference.decide(Claim::NotWorse, limit.slower, alpha)
        })
    }

    /// Returns the compared figure as reports show it; its sentence is still to be written.
    pub fn to_compared_figure(
        &self,
        alpha: f64,
        change: Change,
        limit: Option<Decision>,
    ) -> ComparedFigure {
        let [ours, theirs] = &self.figures;
        let side = |letter: &str, figure: &MeasuredFigure| MeasuredSide {
            subject: letter.to_owned(),
            value: figure
                .trials
                .as_ref()
                .and_then(|values| aggregate_trials(values, ours.aggregate)),
            // JSON has no infinity: a run that did not converge has no figure.
            trials: figure
                .trials
                .iter()
                .flatten()
                .copied()
                .filter(|value| value.is_finite())
                .collect(),
        };
        let bounds = self.difference.as_ref().and_then(|difference| difference.bounds(alpha / 2.0));
        ComparedFigure {
            benchmark: self.candidate.measured.benchmark.clone(),
            scenario: self.candidate.measured.scenario.clone(),
            mode: self.candidate.measured.mode,
            figure: ours.name.clone(),
            unit: ours.unit.clone(),
            // Without a direction there is no difference, and nothing follows from the default.
            better: ours.better.unwrap_or_default(),
            aggregate: ours.aggregate,
            baseline: side(self.baseline.letter, ours),
            candidate: side(self.candidate.letter, theirs),
            paired: self.paired,
            ratio: self.difference.as_ref().map(|difference| finite_exp(difference.center)),
            interval: bounds.map(Bounds::from_logs),
            change,
            limit,
            sentence: String::new(),
        }
    }
}

/// Numbers in different units have no ratio; a log that states no unit contradicts none.
fn have_common_unit([ours, theirs]: [&MeasuredFigure; 2]) -> bool {
    ours.unit == theirs.unit || ours.unit.is_empty() || theirs.unit.is_empty()
}
