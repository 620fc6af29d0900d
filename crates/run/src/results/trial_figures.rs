//! Shows the figures of a trial as soon as its last step is done. They are for live display: nothing is stored,
//! and nothing slow is read between two measurements.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::interrupt::run_on_thread;
use crate::step::StepSession;
use retrial_plan::step::Plan;
use retrial_results::evidence::run::{self, RunFiles};
use retrial_store::RunDirectory;
use retrial_store::clock::Moment;
use retrial_store::journal::{JournalState, LiveEvent, StepEnd};

/// The maximum size of logs that are read, bytes.
const MAX_LOG_BYTES: u64 = 32 << 20;
const MAX_SHOWN_FIGURES: usize = 2;
/// The maximum time for reading.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Shows the figures of a trial, if this step is its last.
pub async fn emit_figures(session: &StepSession<'_>) {
    let step = session.step;
    let Some((measurement, trial)) = step.measurement_and_trial() else {
        return;
    };
    let mut steps = session.run_session.plan.steps.iter();
    if steps.any(|other| {
        other.number > step.number && other.measurement_and_trial() == step.measurement_and_trial()
    }) {
        return;
    }
    let Some(measured) = session.run_session.plan.measurements.get(measurement) else {
        return;
    };
    let mut state = JournalState::clone(&session.run_session.state());
    let done = StepEnd::Done { exit_code: None };
    state.ended.insert(step.number, (done, Moment::now()));
    let (directory, plan) = (session.run_session.run.clone(), session.run_session.plan.clone());
    let read = move || trial_figures(&directory, &plan, &state, (measurement, trial));
    let figures =
        tokio::time::timeout(READ_TIMEOUT, run_on_thread(&session.run_session.stop, read)).await;
    let event = LiveEvent::Measured {
        trial: measured.trial_name(trial),
        figures: figures.ok().and_then(Result::ok).unwrap_or_default(),
    };
    session.emit(event);
}

/// The published figures of a trial, or else those that the recipe declares.
fn trial_figures(
    directory: &RunDirectory,
    plan: &Plan,
    state: &JournalState,
    (measurement, trial): (usize, u32),
) -> Vec<(String, f64, String)> {
    let steps = plan.steps.iter();
    let steps = steps.filter(|step| step.measurement_and_trial() == Some((measurement, trial)));
    let logs =
        steps.map(|step| directory_size(&directory.steps_directory().join(step.directory_name())));
    let results = plan.results_directory(measurement, trial);
    if logs.sum::<u64>() + directory_size(&directory.join(&results)) > MAX_LOG_BYTES {
        return Vec::new();
    }
    let files = RunFiles::without_telemetry(directory, plan, state);
    let evidence = run::gather_measurement(&files, measurement);
    let mut trials = evidence.trials.iter().chain(&evidence.warmups);
    let Some(measured) = trials.find(|candidate| candidate.trial == trial) else {
        return Vec::new();
    };
    let published = evidence.plan.expect.iter().map(|(name, _)| name);
    let declared = evidence.plan.figures.iter().map(|(name, _)| name);
    let figures = published.chain(declared).filter_map(|requested| {
        let mut figures = measured.figures.iter();
        let (name, figure) = figures.find(|(name, _)| name.eq_ignore_ascii_case(requested))?;
        Some((name.clone(), figure.value, figure.unit.clone()))
    });
    let mut shown: Vec<(String, f64, String)> = Vec::new();
    for figure in figures.filter(|(_, value, _)| value.is_finite()) {
        if shown.len() < MAX_SHOWN_FIGURES && !shown.contains(&figure) {
            shown.push(figure);
        }
    }
    shown
}

/// The size of the files in a directory.
fn directory_size(directory: &Path) -> u64 {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}
