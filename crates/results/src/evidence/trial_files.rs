//! One trial's files as evidence, the same wherever they lie: in a run's directory, where a script
//! left them, or in a submission.

use std::path::Path;

use super::cut_run::warn_of_cut_run;
use super::failed_line::find_failure_line;
use super::figures::TextFile;
use super::folder::{self, FolderError};
use super::identity::loadgen_log;
use super::identity::window::{StepWindow, retain_own_readings};
use super::loadgen::{
    add_loadgen_evidence, check_mode_and_scenario, warn_of_missing_detail_log, warn_of_other_kind,
};
use super::readings::read_trial_figures;
use super::result_path::ResultPath;
use super::{accuracy, compliance, endpoints, markers};
use crate::verdict::{Evidence, RuleCheck, StepOutcome, TrialEvidence, table_name};
use retrial_mlperf::loadgen::{self, LoadgenRun, TestScenario};
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;
use retrial_plan::failure::FailureSigns;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{FigureLocator, FigureSource, InvalidMarker, Mode};

/// The files of one trial, and what is known of the step that wrote them.
pub(crate) struct TrialFiles<'a> {
    /// The measurement that the trial belongs to.
    pub measured: &'a MeasurementPlan,
    /// The recipe's marks of an invalid result.
    pub markers: &'a [InvalidMarker],
    /// The signs of a failure of its command, where no journal says how that ended.
    pub signs: Option<&'a FailureSigns>,
    /// The folder of its results.
    pub folder: &'a Path,
    /// The outputs of its steps, the check's first.
    pub outputs: Vec<TextFile>,
    /// The time of its step, where that is known.
    pub window: Option<StepWindow<'a>>,
    /// It lies in a submission, where `MLCommons` checks an accuracy log's mode and scenario less.
    pub is_submitted: bool,
}

impl TrialFiles<'_> {
    /// Reads all files of a trial: several trials where its step trained several times. What holds
    /// for the measurement is added to its evidence. One whose command failed has no result.
    pub fn read_trial(
        &self,
        mut trial: TrialEvidence,
        evidence: &mut Evidence,
    ) -> Vec<TrialEvidence> {
        // The measurement's output is the last.
        let signs = self.signs.zip(self.outputs.last());
        if let Some(reason) = signs.and_then(|(signs, output)| find_failure_line(signs, output)) {
            trial.outcome = StepOutcome::Failed { reason, code: None };
            return vec![trial];
        }
        self.read_log(&mut trial, evidence);
        self.read_figures(&trial, evidence)
    }

    /// Reads `LoadGen`'s logs, if they are its results. A trial without a log of its own has no new
    /// result, and the reason says which file is at fault.
    pub fn read_log(
        &self,
        trial: &mut TrialEvidence,
        evidence: &mut Evidence,
    ) -> Option<LoadgenRun> {
        if !self.measured.loadgen {
            return None;
        }
        if endpoints::is_endpoint_result(self.folder) {
            endpoints::read_trial(self.folder, self.measured, evidence, trial);
            return None;
        }
        let run = match folder::read_result_folder(self.folder) {
            Ok(run) => run,
            // An audit's folder need not hold a LoadGen run (TEST06): its check decides.
            Err(FolderError::NoSummary) if self.measured.mode == Mode::Compliance => return None,
            Err(error) => {
                let reason = match error {
                    FolderError::Unreadable { path, reason } if !trial.path.is_empty() => {
                        format!("{}/{path}: {reason}", trial.path)
                    }
                    error => error.to_string(),
                };
                trial.outcome = StepOutcome::NoNewResult { reason };
                return None;
            }
        };
        let log = loadgen_log(&run, &self.folder.display().to_string());
        let window = self.window.as_ref();
        if let Some(reason) = window.and_then(|window| window.reason_outside_step([&log])) {
            trial.outcome = StepOutcome::NoNewResult { reason };
            return None;
        }
        add_loadgen_evidence(&run, evidence, trial);
        self.check_kind(&run, trial, evidence);
        Some(run)
    }

    /// Reads the recipe's own figures, its marks of invalid results, and what scripts wrote.
    pub fn read_figures(
        &self,
        trial: &TrialEvidence,
        evidence: &mut Evidence,
    ) -> Vec<TrialEvidence> {
        let checks = markers::check_recipe_markers(self.markers, self.folder, &self.outputs);
        add_checks(evidence, trial.trial, checks);
        let readings =
            read_trial_figures(&self.measured.figures, &|source| self.texts_of_source(source));
        let readings = match retain_own_readings(self.window.as_ref(), readings, trial) {
            Ok((readings, warnings)) => {
                evidence.checks.extend(warnings);
                readings
            }
            Err(trial) => return vec![*trial],
        };
        for reading in &readings {
            let cut = warn_of_cut_run(&self.outputs, self.folder, &reading.figures);
            add_checks(evidence, trial.trial, cut.into_iter().collect());
        }
        let has_output = self.has_output();
        let trials = readings.into_iter().map(|mut reading| {
            if !has_output {
                let measured = self.measured;
                reading.missing.retain(|name, _| is_expected_figure(measured, name));
            }
            let mut read_trial = trial.clone();
            reading.add_to_trial(&mut read_trial);
            if self.measured.loadgen && self.measured.mode == Mode::Accuracy {
                self.read_accuracy(&mut read_trial);
            }
            read_trial
        });
        trials.collect()
    }

    /// Checks that the step measured what the recipe declares, and by which log.
    fn check_kind(&self, run: &LoadgenRun, trial: &mut TrialEvidence, evidence: &mut Evidence) {
        let scenario = TestScenario::from_word(&self.measured.scenario);
        let mode = match self.measured.mode {
            Mode::Accuracy => loadgen::TestMode::Accuracy,
            Mode::Performance | Mode::Compliance => loadgen::TestMode::Performance,
        };
        let mut checks = match (self.is_submitted, self.measured.mode) {
            (true, Mode::Accuracy) => warn_of_other_kind(run, scenario),
            // A result of an edge system may be inferred from the log of another scenario.
            (true, _) => check_mode_and_scenario(run, mode, None),
            (false, _) => check_mode_and_scenario(run, mode, scenario),
        };
        if self.measured.mode == Mode::Accuracy && run.mode() != Some(loadgen::TestMode::Accuracy) {
            // The log of a performance run has a speed, which is not this result's.
            trial.figures.clear();
        }
        if self.measured.mode == Mode::Performance {
            checks.extend(warn_of_missing_detail_log(run));
        }
        add_checks(evidence, trial.trial, checks);
    }

    /// Adds what the scripts of the audit's tests found, where a folder has a test's name.
    pub fn check_tests(&self, trial: u32, evidence: &mut Evidence) {
        let folders = compliance::find_test_folders(self.folder).into_iter();
        let checks = folders.flat_map(|relative| {
            let place = ResultPath::parse(&self.folder.join(relative));
            let checks = place.test.map(|(test, folder)| {
                let run = folder::read_logs(&folder, Path::new(PERFORMANCE_RUN)).run;
                compliance::check_loose_test(&folder, test, self.measured.rules.as_ref(), &run)
            });
            checks.unwrap_or_default()
        });
        add_checks(evidence, trial, checks.collect());
    }

    /// Adds the figures that the suite's accuracy script printed, in the step that ran it or into its file.
    fn read_accuracy(&self, trial: &mut TrialEvidence) {
        let rules = self.measured.rules.as_ref();
        let required = rules.map_or(&[][..], |rules| &rules.accuracy);
        let file = Path::new(accuracy::ACCURACY_FILE);
        let printed = self.outputs.first();
        if let Some(output) = printed.filter(|output| output.file != file) {
            accuracy::read_into_trial(trial, &output.directory, &output.file, required);
        }
        accuracy::read_into_trial(trial, self.folder, file, required);
    }

    /// Returns whether what was printed can be among the files: the output of a submitted result is not.
    fn has_output(&self) -> bool {
        let mut outputs = self.outputs.iter();
        let is_speed = self.measured.loadgen && self.measured.mode == Mode::Performance;
        !is_speed || outputs.any(|output| output.open().is_ok())
    }

    /// Returns the texts in which a figure is searched.
    fn texts_of_source(&self, source: &FigureSource) -> Vec<TextFile> {
        match &source.file {
            Some(file) => {
                vec![TextFile { directory: self.folder.to_owned(), file: file.0.clone().into() }]
            }
            None => self.outputs.clone(),
        }
    }
}

fn add_checks(evidence: &mut Evidence, trial: u32, checks: Vec<RuleCheck>) {
    let trial_checks = checks.into_iter();
    evidence.checks.extend(trial_checks.map(|check| check.for_trial(Some(trial))));
}

/// Returns whether a figure is read from a file of the results, or something is required of it.
fn is_expected_figure(measured: &MeasurementPlan, name: &str) -> bool {
    let mut figures = measured.figures.iter();
    let is_in_file = figures.any(|(figure, source)| figure == name && source.file.is_some());
    let is_required = |required: &str| required == name || table_name(required) == Some(name);
    is_in_file
        || measured.expect.iter().any(|(required, _)| is_required(required))
        || measured.limits.iter().any(|(required, _)| is_required(required))
}

/// Returns whether figures of a measurement are read of training logs.
pub(crate) fn has_training_figures(measured: &MeasurementPlan) -> bool {
    let mut figures = measured.figures.iter();
    figures.any(|(_, figure)| matches!(figure.find, FigureLocator::Mllog(_)))
}
