//! `MLPerf` Training's normalisation by reference convergence points, of a recipe's figure: the
//! arithmetic is [`retrial_mlperf::training::convergence`]'s.

use itertools::Itertools as _;

use super::Evidence;
use retrial_mlperf::training::convergence::{self, Convergence, MIN_RUNS, ReferencePoints};
use retrial_recipe::model::{Aggregate, Better, FigureLocator, MllogFigure, ReferenceConvergence};

/// A trial's parameter: samples (or epochs) until the target was met; infinite where it was not.
pub const SAMPLES_PARAMETER: &str = "samples_to_converge";
/// A trial's parameter: the global batch size.
pub const BATCH_SIZE_PARAMETER: &str = "global_batch_size";

/// The fewest trials with which a run that did not converge can be excluded from the bounds.
const MIN_TRIALS_WITH_ONE_LOST: usize = 5;

/// Reasons why a score has no normalisation, as lower-case fragments.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrialConvergenceError {
    /// A log lacks a parameter.
    #[error("trial {trial}: its log has no {parameter}")]
    NotLogged {
        /// The number of the trial, from 1.
        trial: u32,
        /// The parameter that its log lacks.
        parameter: &'static str,
    },
    /// Trials of different batch sizes are no submission.
    #[error("trials with different global batch sizes: {first} and {second}")]
    BatchSizes {
        /// The global batch size of the first trial.
        first: f64,
        /// The global batch size of a trial that differs from it.
        second: f64,
    },
    /// The samples to convergence violate the reference convergence points.
    #[error(transparent)]
    Reference(#[from] convergence::ConvergenceError),
}

/// Returns a figure's normalisation by all the trials; none where nothing normalises it, or there are too
/// few of them.
pub(crate) fn compute_convergence(
    evidence: &Evidence,
    figure: &str,
) -> Option<Result<Convergence, TrialConvergenceError>> {
    let FigureLocator::Mllog(MllogFigure { rcp: Some(rcp), .. }) =
        &evidence.figure_source(figure)?.find
    else {
        return None;
    };
    if evidence.trials.len() < MIN_RUNS {
        return None;
    }
    Some(normalize_trials(evidence, rcp))
}

/// Returns the factor of a figure's aggregated trials: by its convergence, and by the submission's
/// own `scaling.json`.
pub(crate) fn score_factor(evidence: &Evidence, figure: &str) -> Option<f64> {
    let converged = compute_convergence(evidence, figure).and_then(Result::ok);
    let is_score = evidence.published_metric.as_deref() == Some(figure);
    let scaled = evidence.scaling.filter(|_| is_score);
    scaled.or(converged.map(|convergence| convergence.factor))
}

fn is_olympic_time(evidence: &Evidence, figure: &str) -> bool {
    evidence.figure_source(figure).is_some_and(|source| {
        source.aggregate == Aggregate::Olympic && source.better == Better::Lower
    })
}

fn normalize_trials(
    evidence: &Evidence,
    rcp: &ReferenceConvergence,
) -> Result<Convergence, TrialConvergenceError> {
    let logged = |name: &str, parameter| {
        let values = evidence.trials.iter().map(move |trial| {
            let logged = trial.parameters.get(name).copied();
            let number = trial.trial;
            logged.ok_or(TrialConvergenceError::NotLogged { trial: number, parameter })
        });
        values.collect::<Result<Vec<f64>, _>>()
    };
    let samples = logged(SAMPLES_PARAMETER, "samples_count or epoch_num of an eval_accuracy")?;
    let sizes = logged(BATCH_SIZE_PARAMETER, "global_batch_size")?;
    let size = sizes[0];
    if let Some(other) = sizes.iter().find(|other| (*other - size).abs() > 0.0) {
        return Err(TrialConvergenceError::BatchSizes { first: size, second: *other });
    }
    let points = ReferencePoints { points: rcp.points.iter().cloned().collect(), allowance: 0.0 };
    let normalised = convergence::normalize_convergence(&points, rcp.runs, size, &samples);
    Ok(normalised?)
}

/// Returns whether a value has no end: that of a run that did not converge, in its time as in its samples.
pub(crate) fn is_infinite(value: f64) -> bool {
    value.is_infinite() && value.is_sign_positive()
}

/// Returns the trial that did not converge and is the slowest that an Olympic mean drops, as `MLPerf`
/// Training's rules allow one.
pub(crate) fn dropped_trial(evidence: &Evidence, figure: &str) -> Option<usize> {
    if !is_olympic_time(evidence, figure) || evidence.trials.len() < MIN_TRIALS_WITH_ONE_LOST {
        return None;
    }
    let lost = evidence.trials.iter().positions(|trial| {
        let figure = trial.figure(figure);
        figure.is_some_and(|figure| is_infinite(figure.value))
    });
    lost.exactly_one().ok()
}

#[cfg(test)]
mod tests;
