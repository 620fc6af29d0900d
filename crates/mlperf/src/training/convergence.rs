//! `MLPerf` Training's normalisation by reference convergence points (RCP).
//!
//! Training is random: a submission whose runs happened to converge in fewer samples than the
//! reference's is not faster for it. `MLCommons` multiplies its score by the reference's mean over
//! the submission's, and refuses one that converged faster than chance can explain. This is the
//! arithmetic of mlcommons/logging, `rcp_checker.py` (`training_5.0.0` to `6.1.0`), its quirks
//! included: means without the smallest and the largest, a population's deviation of all, a pooled
//! t test at 5 %, points pruned to those that converge fastest, and points between them by straight
//! lines.

use std::collections::BTreeMap;

use retrial_readings::number::{format_grouped, to_f64};
use serde::Deserialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// One-sided error of the test of convergence.
const ALPHA: f64 = 0.05;
/// Fewer runs have no Olympic mean.
pub const MIN_RUNS: usize = 3;

/// Reference convergence points of a benchmark.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferencePoints {
    /// By global batch size: the samples or epochs in which the reference's runs converged.
    pub points: BTreeMap<u64, Vec<f64>>,
    /// By how much a submission may converge sooner than chance explains.
    #[serde(default)]
    pub allowance: f64,
}

/// A submission's convergence compared with the reference's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convergence {
    /// The factor of the score; at least 1.
    pub factor: f64,
    /// Samples of the submission: the mean without the smallest and the largest.
    pub samples: f64,
    /// The reference's at this batch size.
    pub reference: f64,
    /// The fewest samples that chance explains.
    pub fewest: f64,
}

/// Reasons why a score has no normalisation, as lower-case fragments.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConvergenceError {
    /// The reference was never run at such a batch size.
    #[error(
        "there is no reference convergence point for the global batch size {size}, and none above it"
    )]
    NoPoint {
        /// The global batch size of the runs.
        size: f64,
    },
    /// Faster than chance explains.
    #[error(
        "it converged in {} samples on average, fewer than the minimum of {} (reference {})",
        format_grouped(.0.samples), format_grouped(.0.fewest), format_grouped(.0.reference)
    )]
    TooFast(Convergence),
    /// Too many runs did not converge.
    #[error("{lost} of {trials} runs did not converge; MLPerf Training allows one")]
    NotConverged {
        /// The number of runs that did not converge.
        lost: usize,
        /// The number of all runs.
        trials: usize,
    },
}

/// One reference convergence point.
#[derive(Debug, Clone, Copy)]
struct ReferencePoint {
    batch_size: f64,
    mean: f64,
    deviation: f64,
    fewest: f64,
}

/// Normalises the samples to convergence of a submission's runs, all of one batch size. A submission
/// has as many as `runs`.
///
/// # Errors
/// If they converged faster than chance can explain, more than one did not converge, or there is no
/// reference for the batch size.
pub fn normalize_convergence(
    rcp: &ReferencePoints,
    runs: u32,
    batch_size: f64,
    samples: &[f64],
) -> Result<Convergence, ConvergenceError> {
    let lost = samples.iter().filter(|samples| !samples.is_finite()).count();
    if lost > 1 {
        return Err(ConvergenceError::NotConverged { lost, trials: samples.len() });
    }
    let point = find_point(rcp, f64::from(runs), batch_size)
        .ok_or(ConvergenceError::NoPoint { size: batch_size })?;
    let mean = olympic_mean(samples);
    let convergence = Convergence {
        factor: (point.mean / mean).max(1.0),
        samples: mean,
        reference: point.mean,
        fewest: point.fewest - rcp.allowance,
    };
    if mean < convergence.fewest {
        return Err(ConvergenceError::TooFast(convergence));
    }
    Ok(convergence)
}

/// Returns the point of a batch size: its own, else one between its neighbours, else the smallest where
/// all are larger (a smaller batch converges in fewer samples).
fn find_point(rcp: &ReferencePoints, runs: f64, size: f64) -> Option<ReferencePoint> {
    let points = prune_points(rcp, runs);
    let own = points.iter().find(|point| (point.batch_size - size).abs() < 0.5);
    let below = points.iter().rfind(|point| point.batch_size < size);
    let above = points.iter().find(|point| point.batch_size > size);
    match (own, below, above) {
        (Some(own), ..) => Some(*own),
        (None, Some(below), Some(above)) => Some(interpolate_point(size, below, above, runs)),
        (None, None, Some(smallest)) => Some(*smallest),
        (None, _, None) => None,
    }
}

/// Returns the points by batch size, without those that converge slower than a line between their
/// neighbours, and without those below the fastest of all.
fn prune_points(rcp: &ReferencePoints, runs: f64) -> Vec<ReferencePoint> {
    let mut points: Vec<ReferencePoint> = rcp
        .points
        .iter()
        .filter(|(_, samples)| samples.len() >= MIN_RUNS)
        .map(|(size, samples)| {
            let (mean, deviation) = (olympic_mean(samples), population_deviation(samples));
            ReferencePoint {
                batch_size: to_f64(*size),
                mean,
                deviation,
                fewest: min_plausible_mean(mean, deviation, count_as_f64(samples) - 2.0, runs),
            }
        })
        .collect();
    let fastest = points
        .iter()
        .min_by(|point, other| point.mean.total_cmp(&other.mean))
        .map_or(0.0, |point| point.batch_size);
    points.retain(|point| point.batch_size >= fastest);
    let mut at = 1;
    while at + 1 < points.len() {
        let line = interpolate_point(points[at].batch_size, &points[at - 1], &points[at + 1], runs);
        if points[at].mean > line.mean {
            points.remove(at);
        } else {
            at += 1;
        }
    }
    points
}

fn interpolate_point(
    size: f64,
    below: &ReferencePoint,
    above: &ReferencePoint,
    runs: f64,
) -> ReferencePoint {
    let share = (size - below.batch_size) / (above.batch_size - below.batch_size);
    let on_line = |low: f64, high: f64| low + share * (high - low);
    let mean = on_line(below.mean, above.mean);
    let deviation = on_line(below.deviation, above.deviation);
    ReferencePoint {
        batch_size: size,
        mean,
        deviation,
        fewest: min_plausible_mean(mean, deviation, runs * 2.0, runs),
    }
}

/// Returns the smallest mean that a one-sided t test with pooled deviation does not distinguish from the
/// reference's. The checker searches it by halving; the test has it in closed form.
fn min_plausible_mean(mean: f64, deviation: f64, reference_runs: f64, runs: f64) -> f64 {
    let submission_runs = runs - 2.0;
    if deviation <= 0.0 || submission_runs < 1.0 {
        return mean;
    }
    let degrees = reference_runs + submission_runs - 2.0;
    let error = deviation * (1.0 / reference_runs + 1.0 / submission_runs).sqrt();
    StudentsT::new(0.0, 1.0, degrees)
        .map_or(mean, |student| (mean - student.inverse_cdf(1.0 - ALPHA) * error).max(0.0))
}

/// Returns the mean without the smallest and the largest.
fn olympic_mean(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [_, middle @ .., _] if !middle.is_empty() => {
            middle.iter().sum::<f64>() / count_as_f64(middle)
        }
        all => all.iter().sum::<f64>() / count_as_f64(all),
    }
}

fn population_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / count_as_f64(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / count_as_f64(values)).sqrt()
}

fn count_as_f64(values: &[f64]) -> f64 {
    to_f64(values.len() as u64)
}
