//! One published figure against its trials: what is compared, and on which side of the margin the
//! bounds lie.

use itertools::Itertools as _;

use super::reference::AssumedNoise;
use super::{
    Evidence, FigureValue, QualifierKind, RunContext, TrialEvidence, convergence, reference,
};
use retrial_mlperf::figures::find_known_figure;
use retrial_recipe::model::{Aggregate, Better, Expectation, Mode};
use retrial_stats::{AcceptanceRegion, Decision, Estimate, ReferenceComparison, holm_step_down};

#[derive(Debug, Clone)]
pub(crate) struct PublishedFigureTrials {
    pub figure: String,
    pub unit: String,
    /// The values in the order of the trials; empty where one of them has no usable figure.
    pub values: Vec<f64>,
    /// The configured aggregate, or the median where rare trials are slow.
    pub aggregate: Aggregate,
    /// None where neither the recipe nor `MLPerf` defines it: the figure is then undecided.
    pub better: Option<Better>,
    pub expectations: Vec<Expectation>,
    /// Position of the expectation that decides.
    pub decisive: usize,
    /// None where the published figure or the trials have no logarithm, or the direction is unknown.
    pub estimate: Option<Estimate>,
    pub margin: f64,
    /// The log ratios that the claim lets through.
    pub region: AcceptanceRegion,
    /// Error of each bound.
    pub alpha: f64,
    /// Declared deviation of the published figure.
    pub sigma: f64,
    /// Assumed of one trial.
    pub assumed: Option<AssumedNoise>,
    /// It was published of another system.
    pub other_system: bool,
    /// The factor of the aggregated trials, where reference convergence points are known.
    pub factor: Option<f64>,
}

/// Compares every figure that something was published for.
pub(crate) fn compare_figures(
    context: &RunContext,
    evidence: &Evidence,
) -> Vec<PublishedFigureTrials> {
    evidence
        .plan
        .expect
        .iter()
        .filter_map(|(name, expectations)| compare_figure(context, evidence, name, expectations))
        .collect()
}

fn compare_figure(
    context: &RunContext,
    evidence: &Evidence,
    name: &str,
    expectations: &[Expectation],
) -> Option<PublishedFigureTrials> {
    let decisive = reference::find_decisive(expectations)?;
    let expectation = &expectations[decisive];
    let values = usable_values(evidence, name).unwrap_or_default();
    let unit = figure_unit(evidence, name);
    let better = reference::figure_direction(evidence, name);
    let aggregate = reference::figure_aggregate(evidence, name);
    let sigma = expectation.sigma.filter(|sigma| has_logarithm(*sigma)).unwrap_or(0.0);
    let assumed = reference::assumed_noise(context, evidence, name, Some(expectation));
    let noise = assumed.as_ref().map(|assumed| assumed.value);
    let comparison = better.map(|better| ReferenceComparison {
        reference: expectation.value,
        sigma,
        better,
        aggregate,
        noise,
        rounding_error: relative_rounding_error(evidence, name, noise),
        typical: evidence.plan.mode == Mode::Performance,
    });
    // The rules report a convergence that violates them; the figure is compared as measured.
    let factor = convergence::score_factor(evidence, name);
    let is_comparable = !values.is_empty() && has_logarithm(expectation.value);
    let estimate = comparison.filter(|_| is_comparable).map(|comparison| {
        Estimate::from_trials(&values, &comparison)
            .scale_by(factor.unwrap_or(1.0), comparison.better)
    });
    let aggregate = estimate.as_ref().map_or(aggregate, |estimate| estimate.aggregate);
    let margin = reference::figure_margin(context, &evidence.plan, expectation);
    let mut qualifiers = context.qualifiers.iter();
    let other_hardware = qualifiers.any(|qualifier| qualifier.kind == QualifierKind::OtherHardware);
    Some(PublishedFigureTrials {
        figure: name.to_owned(),
        unit,
        values,
        aggregate,
        better,
        expectations: expectations.to_vec(),
        decisive,
        estimate,
        margin,
        region: AcceptanceRegion::new(expectation.claim, margin),
        alpha: context.error_per_analysis(evidence.stages.len()),
        sigma,
        assumed,
        other_system: (other_hardware || evidence.other_system)
            && reference::is_published(evidence, name),
        factor,
    })
}

fn has_logarithm(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Returns a figure's values in the order of the trials; none where one of them has no usable value.
pub(crate) fn usable_values(evidence: &Evidence, name: &str) -> Option<Vec<f64>> {
    let dropped = convergence::dropped_trial(evidence, name);
    let value = |(position, trial): (usize, &TrialEvidence)| {
        let value = trial.figure(name)?.value;
        (has_logarithm(value) || dropped == Some(position)).then_some(value)
    };
    evidence.trials.iter().enumerate().map(value).collect()
}

fn figures_of_trials<'a>(
    evidence: &'a Evidence,
    name: &str,
) -> impl Iterator<Item = &'a FigureValue> {
    let trials = evidence.trials.iter();
    trials.filter_map(move |trial| trial.figure(name))
}

/// Returns half of the last digit that the trials print, as a fraction of the least of them. What is fixed
/// (noise 0) is no rounded measurement: accuracies are compared as they are printed.
pub(crate) fn relative_rounding_error(evidence: &Evidence, name: &str, noise: Option<f64>) -> f64 {
    if noise == Some(0.0) {
        return 0.0;
    }
    let shares = figures_of_trials(evidence, name).map(|figure| figure.half_digit / figure.value);
    shares.filter(|share| has_logarithm(*share)).fold(0.0, f64::max)
}

/// Returns a figure's unit: by the trials, else by the recipe, else by `MLPerf`.
pub(crate) fn figure_unit(evidence: &Evidence, name: &str) -> String {
    let mut units = figures_of_trials(evidence, name).map(|figure| &figure.unit);
    units
        .find(|unit| !unit.is_empty())
        .or_else(|| evidence.figure_source(name)?.unit.as_ref())
        .cloned()
        .or_else(|| Some(find_known_figure(name)?.unit.to_owned()))
        .unwrap_or_default()
}

impl PublishedFigureTrials {
    /// Bounds of the log ratio, each with error `alpha`.
    pub fn bounds(&self, alpha: f64) -> Option<(f64, f64)> {
        self.estimate.as_ref()?.bounds(alpha)
    }

    /// On which side of the acceptance region the figure lies, with error `alpha` on either side.
    pub fn decide(&self, alpha: f64) -> Decision {
        let bounds = self.bounds(alpha);
        bounds.map_or(Decision::Open, |(lower, upper)| self.region.decide(lower, upper))
    }

    /// Returns whether its bounds have a width: it may be wrong by chance, and counts in a correction for many.
    pub fn is_statistical(&self) -> bool {
        let bounds = self.bounds(self.alpha);
        bounds.is_some_and(|(lower, upper)| upper > lower)
    }

    pub fn deciding_expectation(&self) -> &Expectation {
        &self.expectations[self.decisive]
    }

    /// Returns the aggregate of the trials, in their unit.
    pub fn aggregated_figure(&self) -> Option<FigureValue> {
        let value = retrial_stats::aggregate_trials(&self.values, self.aggregate)?
            * self.factor.unwrap_or(1.0);
        Some(FigureValue::new(value, self.unit.clone()))
    }

    /// Returns the ratio of the measured figure to `reference`; above 1 is better.
    pub fn ratio_to(&self, reference: f64) -> Option<f64> {
        let estimate = self.estimate.as_ref()?;
        let published = self.deciding_expectation().value;
        if !reference.is_finite() || reference <= 0.0 {
            return None;
        }
        let shift = match self.better? {
            Better::Higher => published.ln() - reference.ln(),
            Better::Lower => reference.ln() - published.ln(),
        };
        Some(finite_exp(estimate.center + shift))
    }
}

/// `exp` that stays a number that JSON can hold.
pub fn finite_exp(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}

/// Returns which of several figures are worse, with error `alpha` that any is named so wrongly (Holm). Those
/// without a width are compared as they are, and share no error.
pub(crate) fn find_worse(figures: &[&PublishedFigureTrials]) -> Vec<bool> {
    let worse_at = |figure: &PublishedFigureTrials, share: f64| {
        figure.decide(figure.alpha / share) == Decision::Worse
    };
    let mut worse: Vec<bool> =
        figures.iter().map(|figure| !figure.is_statistical() && worse_at(figure, 1.0)).collect();
    let tested_positions = figures.iter().positions(|figure| figure.is_statistical());
    let tested: Vec<usize> = tested_positions.collect();
    let rejected =
        holm_step_down(tested.len(), |index, share| worse_at(figures[tested[index]], share));
    for (position, rejected) in tested.into_iter().zip(rejected) {
        worse[position] |= rejected;
    }
    worse
}
