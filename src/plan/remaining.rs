//! How long the rest of a run takes: by its own steps so far, by an earlier run of the recipe, or by
//! what the recipe expects. Downloads and builds are left out. Pure: times come from whoever read them.

use std::collections::BTreeMap;

use super::step::{Action, Condition, Plan, Purpose, Step};

/// How long steps took: number and sum in seconds, by what they do. The trials of a measurement do the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepTimes(BTreeMap<String, (f64, f64)>);

impl StepTimes {
    /// Adds a step that took so many seconds.
    pub fn add(&mut self, plan: &Plan, number: u32, seconds: f64) {
        if let Some(work) = plan.step(number).and_then(|step| work(plan, step)) {
            let (count, sum) = self.0.entry(work).or_default();
            *count += 1.0;
            *sum += seconds;
        }
    }

    fn mean(&self, work: &str) -> Option<f64> {
        let (count, sum) = self.0.get(work)?;
        Some(sum / count)
    }
}

/// What an estimate is based on: of several, the least sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The run's own steps.
    Own,
    /// An earlier run of the same recipe.
    Earlier,
    /// The recipe's `expected_duration`, which is that of the published system.
    Recipe,
}

/// An estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds.
    pub seconds: f64,
    /// What it is based on.
    pub basis: Basis,
}

/// The steps of a run that are left, and how long such steps took.
#[derive(Debug, Clone)]
pub struct Remaining {
    plan: Plan,
    left: Vec<u32>,
    own: StepTimes,
    earlier: StepTimes,
}

impl Remaining {
    /// All of a plan, of which steps took so long in this run, and in an earlier one.
    pub fn of(plan: Plan, own: StepTimes, earlier: StepTimes) -> Self {
        let is_sure = |step: &&Step| {
            !matches!(
                step.when,
                Condition::UntilDecided { .. } | Condition::Skipped { .. }
            )
        };
        let left = plan.steps.iter().filter(is_sure);
        Self {
            left: left.map(|step| step.number).collect(),
            plan,
            own,
            earlier,
        }
    }

    /// A step ended, and took so many seconds if it was done now.
    pub fn ended(&mut self, number: u32, seconds: Option<f64>) {
        self.left.retain(|left| *left != number);
        if let Some(seconds) = seconds {
            self.own.add(&self.plan, number, seconds);
        }
    }

    /// The time of all steps that are left, one of which has been running for so many seconds. None if a
    /// measurement is left of which nothing says how long it takes, or if no measurement is left.
    pub fn estimate(&self, running: Option<(u32, f64)>) -> Option<Estimate> {
        let mut whole = Estimate {
            seconds: 0.0,
            basis: Basis::Own,
        };
        let mut measures = false;
        let steps = self.plan.steps.iter();
        for step in steps.filter(|step| self.left.contains(&step.number)) {
            let Some(work) = work(&self.plan, step) else {
                continue;
            };
            measures |= step.measures();
            let known = self.own.mean(&work).map(|seconds| (seconds, Basis::Own));
            let earlier = || Some((self.earlier.mean(&work)?, Basis::Earlier));
            let (seconds, basis) = match known.or_else(earlier) {
                Some(known) => known,
                None if step.measures() => (self.share()?, Basis::Recipe),
                None => continue,
            };
            let since = running.filter(|(number, _)| *number == step.number);
            let since = since.map_or(0.0, |(_, since)| since);
            whole.seconds += (seconds - since).max(0.0);
            whole.basis = whole.basis.max(basis);
        }
        Some(whole).filter(|whole| measures && whole.seconds > 0.0)
    }

    /// Whether a step measures.
    pub fn measures(&self, number: u32) -> bool {
        self.plan.step(number).is_some_and(Step::measures)
    }

    /// The expected duration's part of one measurement: all have the same, since the recipe states the sum only.
    fn share(&self) -> Option<f64> {
        let whole = self.plan.expected_duration?;
        let work = |step: &Step| work(&self.plan, step);
        let measuring = self.plan.steps.iter().filter(|step| step.measures());
        let mut all: Vec<String> = measuring.filter_map(work).collect();
        all.sort();
        all.dedup();
        let count = u32::try_from(all.len()).ok()?;
        (count > 0 && !self.plan.partial).then(|| whole.as_secs_f64() / f64::from(count))
    }
}

/// What a step does, whichever trial it is of; none for downloads and builds, whose time depends on what is there.
fn work(plan: &Plan, step: &Step) -> Option<String> {
    let kind = match &step.action {
        Action::Pull { .. } | Action::Build(_) | Action::FetchModel(_) | Action::Populate(_) => {
            return None;
        }
        Action::StartService(start) => return Some(format!("start {}", start.service)),
        Action::StopService(end) => return Some(format!("stop {}", end.service)),
        Action::Collect { .. } => "collect",
        Action::Exec(exec) => match exec.purpose {
            Purpose::Check { .. } => "check",
            Purpose::Measure { .. } => "measure",
            Purpose::Prepare => return Some(step.name.clone()),
        },
        _ => return Some(step.name.clone()),
    };
    let (measurement, _) = step.trial()?;
    let measured = plan.measurements.get(measurement)?;
    Some(format!("{kind} {}", measured.stem()))
}

#[cfg(test)]
mod tests;
