//! Estimates the remaining time of a run: from its own steps so far, an earlier run of the recipe, or the recipe's
//! expected duration. Downloads and builds are excluded. Pure: the caller provides the times.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::step::{Action, CommandPurpose, Plan, Step, StepCondition};

/// Durations of steps: number and sum in seconds, by their work. The trials of a measurement do the same work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepTimes(BTreeMap<String, (f64, f64)>);

impl StepTimes {
    /// Adds a step that took so many seconds.
    pub fn add(&mut self, plan: &Plan, number: u32, seconds: f64) {
        if let Some(work) = plan.step(number).and_then(|step| step_work(plan, step)) {
            let (count, sum) = self.0.entry(work).or_default();
            *count += 1.0;
            *sum += seconds;
        }
    }

    fn mean_seconds(&self, work: &str) -> Option<f64> {
        let (count, sum) = self.0.get(work)?;
        Some(sum / count)
    }
}

/// The basis of an estimate: of several, the least reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EstimateBasis {
    /// The run's own steps.
    ThisRun,
    /// An earlier run of the same recipe.
    EarlierRun,
    /// The recipe's `expected_duration`, which is that of the published system.
    Recipe,
}

/// The estimated time of the remaining steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeEstimate {
    /// The remaining time, seconds.
    pub seconds: f64,
    /// The source of the least reliable part of the estimate.
    pub basis: EstimateBasis,
}

/// The remaining steps of a run, and how long such steps took.
#[derive(Debug, Clone)]
pub struct RemainingSteps {
    plan: Plan,
    steps: Vec<u32>,
    own_times: StepTimes,
    earlier_times: StepTimes,
}

impl RemainingSteps {
    /// All steps of a plan, with the times of steps in this run and in an earlier one.
    pub fn new(plan: Plan, own_times: StepTimes, earlier_times: StepTimes) -> Self {
        let is_sure = |step: &&Step| {
            !matches!(step.when, StepCondition::UntilDecided { .. } | StepCondition::Skipped { .. })
        };
        let steps = plan.steps.iter().filter(is_sure);
        Self { steps: steps.map(|step| step.number).collect(), plan, own_times, earlier_times }
    }

    /// Removes a step that ended, and adds its seconds if it was executed now.
    pub fn finish_step(&mut self, number: u32, seconds: Option<f64>) {
        self.steps.retain(|step| *step != number);
        if let Some(seconds) = seconds {
            self.own_times.add(&self.plan, number, seconds);
        }
    }

    /// The time of all remaining steps, one of which may have been running for some seconds. None if the time
    /// of a remaining measurement is unknown, or if no measurement remains.
    pub fn estimate(&self, running: Option<(u32, f64)>) -> Option<TimeEstimate> {
        let mut whole = TimeEstimate { seconds: 0.0, basis: EstimateBasis::ThisRun };
        let mut measures = false;
        let steps = self.plan.steps.iter();
        for step in steps.filter(|step| self.steps.contains(&step.number)) {
            let Some(work) = step_work(&self.plan, step) else {
                continue;
            };
            measures |= step.runs_measurement();
            let own =
                self.own_times.mean_seconds(&work).map(|seconds| (seconds, EstimateBasis::ThisRun));
            let earlier =
                || Some((self.earlier_times.mean_seconds(&work)?, EstimateBasis::EarlierRun));
            let (seconds, basis) = match own.or_else(earlier) {
                Some(own) => own,
                None if step.runs_measurement() => {
                    (self.seconds_per_measurement()?, EstimateBasis::Recipe)
                }
                None => continue,
            };
            let running_step = running.filter(|(number, _)| *number == step.number);
            let since = running_step.map_or(0.0, |(_, since)| since);
            whole.seconds += (seconds - since).max(0.0);
            whole.basis = whole.basis.max(basis);
        }
        Some(whole).filter(|whole| measures && whole.seconds > 0.0)
    }

    pub fn is_measuring_step(&self, number: u32) -> bool {
        self.plan.step(number).is_some_and(Step::runs_measurement)
    }

    /// The expected duration's part of one measurement: all have the same, since the recipe states the sum only.
    fn seconds_per_measurement(&self) -> Option<f64> {
        let whole = self.plan.expected_duration?;
        let work = |step: &Step| step_work(&self.plan, step);
        let measuring = self.plan.steps.iter().filter(|step| step.runs_measurement());
        let count = measuring.filter_map(work).unique().count();
        let count = u32::try_from(count).ok()?;
        (count > 0 && self.plan.excluded.is_empty()).then(|| whole.as_secs_f64() / f64::from(count))
    }
}

/// The work of a step, the same for all trials; none for downloads and builds, whose time depends on existing
/// files.
fn step_work(plan: &Plan, step: &Step) -> Option<String> {
    let kind = match &step.action {
        Action::Pull { .. } | Action::Build(_) | Action::FetchModel(_) | Action::Populate(_) => {
            return None;
        }
        Action::StartService(start) => return Some(format!("start {}", start.service)),
        Action::StopService(end) => return Some(format!("stop {}", end.service)),
        Action::Collect { .. } => "collect",
        Action::Exec(exec) => match exec.purpose {
            CommandPurpose::Check { .. } => "check",
            CommandPurpose::Measure { .. } => "measure",
            CommandPurpose::Prepare => return Some(step.name.clone()),
        },
        _ => return Some(step.name.clone()),
    };
    let (measurement, _) = step.measurement_and_trial()?;
    let measured = plan.measurements.get(measurement)?;
    Some(format!("{kind} {}", measured.step_name_stem()))
}

#[cfg(test)]
mod tests;
