//! The evidence of one run: its plan, its journal, and what the steps left.

use std::collections::BTreeMap;

use super::trial::Trial;
use crate::plan::measurement::MeasurementPlan;
use crate::plan::step::Plan;
use crate::results::verdict::{Evidence, FigureMeta, TrialEvidence};
use crate::store::RunDirectory;
use crate::store::journal::State;
use crate::telemetry::Row;
use retrial_recipe::model::{Find, Mode};

/// The files of a run.
pub struct RunFiles<'a> {
    /// Its directory.
    pub directory: &'a RunDirectory,
    /// Its plan.
    pub plan: &'a Plan,
    /// What its journal says.
    pub state: &'a State,
    /// What its telemetry says; empty where only figures are asked for.
    pub telemetry: Vec<Row>,
}

/// The evidence of every measurement.
#[must_use]
pub fn gather(files: &RunFiles<'_>) -> Vec<Evidence> {
    (0..files.plan.measurements.len())
        .map(|index| gather_one(files, index))
        .collect()
}

/// The evidence of one measurement.
#[must_use]
pub fn gather_one(files: &RunFiles<'_>, index: usize) -> Evidence {
    let Some(measured) = files.plan.measurements.get(index) else {
        return Evidence::new("unknown", Mode::Performance);
    };
    let mut evidence = without_trials(measured);
    evidence.stages = measured.trials.stages();
    for trial in 1..=measured.trials.max {
        let one = Trial {
            files,
            index,
            measured,
            number: trial,
        };
        evidence
            .trials
            .extend(one.gather(&mut evidence.published_metric));
    }
    // A step that trained several times gave as many trials.
    let several = |pair: &[TrialEvidence]| pair[0].trial == pair[1].trial;
    if evidence.trials.windows(2).any(several) {
        for (number, trial) in (1..).zip(&mut evidence.trials) {
            trial.trial = number;
        }
    }
    evidence
}

/// What the plan says of a measurement, before any trial.
#[must_use]
pub fn without_trials(measured: &MeasurementPlan) -> Evidence {
    let mut evidence = Evidence::new(measured.scenario.clone(), measured.mode);
    evidence.loadgen = measured.loadgen;
    evidence.expect.clone_from(&measured.expect);
    evidence.limits.clone_from(&measured.limits);
    evidence.rules.clone_from(&measured.rules);
    evidence.published_target_qps = measured.target_qps;
    evidence.first_figure = measured.figures.first().map(|(name, _)| name.clone());
    evidence.figure_meta = figure_meta(measured);
    evidence
}

/// What is known of the figures that the recipe defines.
fn figure_meta(measured: &MeasurementPlan) -> BTreeMap<String, FigureMeta> {
    let figures = measured.figures.iter();
    figures
        .map(|(name, figure)| {
            let meta = FigureMeta {
                better: figure.better,
                aggregate: figure.aggregate,
                noise: figure.noise,
                unit: figure.unit.clone(),
                rcp: match &figure.find {
                    Find::Mllog(figure) => figure.rcp.clone(),
                    _ => None,
                },
            };
            (name.clone(), meta)
        })
        .collect()
}
