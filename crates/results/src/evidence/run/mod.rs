//! The evidence of one run: its plan, its journal, and the steps' output.

mod trial;

use self::trial::RunTrial;
use super::identity::copies;
use super::telemetry::RunTelemetry;
use super::trials::complete_evidence;
use super::unknown_rules;
use crate::verdict::Evidence;
use retrial_plan::step::Plan;
use retrial_recipe::model::Mode;
use retrial_store::RunDirectory;
use retrial_store::journal::JournalState;

pub struct RunFiles<'a> {
    pub directory: &'a RunDirectory,
    /// The plan that was executed.
    pub plan: &'a Plan,
    pub state: &'a JournalState,
    /// Another process is executing it.
    pub is_running: bool,
    /// Its telemetry; empty where only figures are required.
    pub telemetry: RunTelemetry,
}

impl<'a> RunFiles<'a> {
    /// Returns all files of a run.
    pub fn with_telemetry(
        directory: &'a RunDirectory,
        plan: &'a Plan,
        state: &'a JournalState,
    ) -> Self {
        Self {
            telemetry: RunTelemetry::from_run(directory),
            ..Self::without_telemetry(directory, plan, state)
        }
    }

    /// Returns the files that contain figures.
    pub fn without_telemetry(
        directory: &'a RunDirectory,
        plan: &'a Plan,
        state: &'a JournalState,
    ) -> Self {
        let is_running = state.over.is_none() && directory.is_followed_by_another_process();
        Self { directory, plan, state, is_running, telemetry: RunTelemetry::default() }
    }
}

/// Returns the evidence of every measurement.
pub fn gather_evidence(files: &RunFiles<'_>) -> Vec<Evidence> {
    let indexes = 0..files.plan.measurements.len();
    let mut all: Vec<Evidence> = indexes.map(|index| gather_measurement(files, index)).collect();
    copies::check_copied_measurements(&mut all, Some(files.plan));
    all
}

pub fn gather_measurement(files: &RunFiles<'_>, index: usize) -> Evidence {
    let Some(measured) = files.plan.measurements.get(index) else {
        return Evidence::new("unknown", Mode::Performance);
    };
    let mut evidence = Evidence::from(measured.clone());
    evidence.unknown_rules = unknown_rules::reason_for_recipe(&files.plan.submission, measured);
    for number in (1..=measured.warmup).chain(measured.judged_trials()) {
        if let Some(trial) = (RunTrial { files, index, measured, number }).find() {
            trial.read_into(&mut evidence);
        }
    }
    complete_evidence(&mut evidence);
    evidence
}
