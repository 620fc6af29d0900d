//! The execution of a run: its differences from one uninterrupted execution of its recipe's plan, by its plan and
//! its journal. The plan's own changes are compared when it is made.

use std::collections::BTreeSet;
use std::path::Path;

use itertools::{Itertools as _, join};

use super::run::RunFiles;
use crate::verdict::{Qualifier, QualifierKind};
use retrial_document::measures::format::{format_count, join_first};
use retrial_plan::step::{Action, Step};
use retrial_store::journal::StepEnd;

/// The largest number of files or processes that a text names.
const MAX_LISTED_NAMES: usize = 3;

/// Returns the qualifiers of how a run was executed, apart from the options that its plan names.
pub(super) fn execution_qualifiers(files: &RunFiles<'_>) -> Vec<Qualifier> {
    let modifications = unmet_requirements(files)
        .chain(foreign_lock(files))
        .chain(unwatched_gpus(files))
        .chain(replaced_image(files));
    let resumptions =
        repeated_steps(files).chain(several_containers(files)).chain(stale_preparation(files));
    let modified = modifications.map(|reason| Qualifier::new(QualifierKind::Modified, reason));
    let resumed = resumptions.map(|reason| Qualifier::new(QualifierKind::Resumed, reason));
    modified.chain(resumed).collect()
}

/// Requirements of the recipe that the host did not meet, other than its GPUs.
fn unmet_requirements(files: &RunFiles<'_>) -> impl Iterator<Item = String> {
    let unmet = files.plan.unmet.iter();
    let forced = unmet.filter(|check| check.prevents_start() && !check.is_other_hardware());
    forced.map(|check| format!("--force: {check}"))
}

/// Returns why a run did not follow its lock: it was made for another recipe.
fn foreign_lock(files: &RunFiles<'_>) -> Option<String> {
    let lock = files.plan.lock.as_ref()?;
    let name = Path::new(&lock.path).file_name()?.to_string_lossy();
    (!lock.differs.is_empty()).then(|| format!("lock {name}: {}", join(&lock.differs, ", ")))
}

/// Returns why the GPUs may have been idle: without telemetry nothing shows that they worked.
fn unwatched_gpus(files: &RunFiles<'_>) -> Option<String> {
    let is_off =
        files.plan.telemetry.initial_pause().is_none() && files.plan.requires.gpus.is_some();
    is_off.then(|| "--telemetry off: idle GPUs are not detected".to_owned())
}

/// Returns why an image is another one: the run was resumed with it.
fn replaced_image(files: &RunFiles<'_>) -> Option<String> {
    let images = &files.state.history.images;
    let (first, last) = (images.first()?, images.last()?);
    (first != last).then(|| format!("begun with the image {first}, resumed with {last}"))
}

/// Measurements and checks that were executed more than once: only the last time is judged.
fn repeated_steps(files: &RunFiles<'_>) -> impl Iterator<Item = String> {
    let steps = files.plan.steps.iter();
    let steps = steps.filter(|step| step.runs_measurement() || step.checks_results());
    steps.filter_map(|step| {
        let earlier = files.state.history.earlier.get(&step.number)?;
        let reasons = earlier.iter().map(|end| match end {
            Some(StepEnd::Failed { reason, .. }) => {
                // The others are output.
                let first_line = reason.lines().next().unwrap_or_default();
                format!("it had failed: {first_line}")
            }
            Some(StepEnd::Stopped) => "it had been stopped".to_owned(),
            None => "it had been interrupted".to_owned(),
            Some(StepEnd::Done { .. } | StepEnd::Skipped { .. }) => "it had finished".to_owned(),
        });
        Some(format!("{} was executed again: {}", step.name, reasons.unique().join("; ")))
    })
}

/// Trials of an interrupted run that were measured in different containers.
fn several_containers(files: &RunFiles<'_>) -> Option<String> {
    let containers: BTreeSet<u32> =
        finished_measurements(files).map(|(_, process)| process).collect();
    let number = containers.len();
    (number > 1).then(|| format!("measured in {number} containers, one after the other"))
}

/// Steps that prepared the host before an interruption, and were not executed again for the container that was
/// created after it.
fn stale_preparation(files: &RunFiles<'_>) -> Option<String> {
    let history = &files.state.history;
    let latest = finished_measurements(files).map(|(_, process)| process).max()?;
    let is_stale = |step: &&Step| {
        let is_of_host = matches!(step.action, Action::Host(_) | Action::CopyOut { .. });
        let by = history.ended_by.get(&step.number);
        is_of_host
            && files.state.is_done(step.number)
            && by.is_some_and(|process| *process < latest)
    };
    let stale = files.plan.steps.iter().filter(is_stale);
    let names = join(stale.map(|step| &step.name), ", ");
    (!names.is_empty())
        .then(|| format!("{names} was not executed again after the run was interrupted"))
}

/// Returns the measurements that finished, each with the process that created its container.
fn finished_measurements<'a>(files: &'a RunFiles<'_>) -> impl Iterator<Item = (&'a Step, u32)> {
    let steps = files.plan.steps.iter().filter(|step| step.runs_measurement());
    let done = steps.filter(|step| files.state.is_done(step.number));
    done.filter_map(|step| {
        let process = files.state.history.container_by.get(&step.number)?;
        Some((step, *process))
    })
}

/// Describes incidents of a run that failed no step, each with the step that it concerns.
pub(super) fn describe_incidents(files: &RunFiles<'_>) -> Vec<String> {
    let history = &files.state.history;
    let name = |number: &u32| {
        let step = files.plan.step(*number);
        step.map_or_else(String::new, |step| format!("{}: ", step.name))
    };
    let omitted = history.omitted.iter().map(|(step, omitted)| {
        let files = format_count(omitted.len(), "result file");
        let verb = if omitted.len() == 1 { "was" } else { "were" };
        let named = join_first(omitted, MAX_LISTED_NAMES);
        format!(
            "{}{files} {verb} not collected, and no figure is read from there: {named}",
            name(step)
        )
    });
    let leftovers = history.leftovers.iter().map(|(step, processes)| {
        format!(
            "{}processes that it left running were killed, and later steps ran without them: {}",
            name(step),
            join_first(processes, MAX_LISTED_NAMES)
        )
    });
    let incidents = history.incidents.iter().map(|(step, text)| {
        let name = step.as_ref().map(name).unwrap_or_default();
        format!("{name}{text}")
    });
    omitted.chain(leftovers).chain(incidents).collect()
}

#[cfg(test)]
mod tests;
