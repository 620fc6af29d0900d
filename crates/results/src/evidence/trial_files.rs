//! The one reader of a trial: its files as evidence, wherever they lie. Each source of results (a run, folders, a
//! submission tree) says which folder is a trial and of which measurement.

use std::borrow::Cow;
use std::path::Path;

use super::accuracy::ACCURACY_FILE;
use super::cut_run::warn_of_cut_run;
use super::failed_line::find_failure_line;
use super::figures::TextFile;
use super::folder::{self, FolderError, LoadgenLogs};
use super::identity::loadgen_log;
use super::identity::window::{StepWindow, retain_own_readings};
use super::loadgen::{
    add_loadgen_evidence, check_mode_and_scenario, is_speed_compared, warn_of_missing_detail_log,
    warn_of_other_kind,
};
use super::readings::read_trial_figures;
use super::result_path::ResultPath;
use super::{accuracy, compliance, endpoints, markers, script};
use crate::verdict::{Evidence, RuleCheck, StepOutcome, TrialEvidence, table_name};
use retrial_mlperf::loadgen::{self, LoadgenRun, TestScenario};
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;
use retrial_plan::Plan;
use retrial_plan::failure::FailureSigns;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{InvalidMarker, Mode};
use retrial_store::open;

/// The submitter's settings of `LoadGen`.
const USER_CONF: &str = "user.conf";
/// The largest such file that is read: real ones have a few lines.
const MAX_CONF_BYTES: u64 = 1 << 20;

/// Who laid a trial's files out, and so what their folder must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Retrial, a script or a user: the logs are in or below the folder.
    Own,
    /// A submitter, outside a whole tree: `MLCommons` checks an accuracy log's mode and scenario less.
    Submitted,
    /// A submission tree: the logs are in the very folder, and a submission's rules of files hold.
    Tree,
}

/// The files of one trial, and what is known of the step that wrote them.
pub(crate) struct TrialFiles<'a> {
    /// The measurement that the trial belongs to.
    measured: &'a MeasurementPlan,
    /// The recipe's marks of an invalid result; without a recipe the usual one counts.
    markers: Option<&'a [InvalidMarker]>,
    /// The signs of a failure of its command, where no journal says how that ended.
    signs: Option<&'a FailureSigns>,
    /// The directory beneath which every file is opened.
    root: &'a Path,
    /// The folder of its results.
    folder: Cow<'a, Path>,
    /// The outputs of its steps, the check's first.
    outputs: Vec<TextFile>,
    /// The time of its step, where that is known.
    window: Option<StepWindow<'a>>,
    layout: Layout,
}

impl<'a> TrialFiles<'a> {
    fn new(
        measured: &'a MeasurementPlan,
        plan: Option<&'a Plan>,
        root: &'a Path,
        folder: Cow<'a, Path>,
        layout: Layout,
    ) -> Self {
        Self {
            measured,
            markers: plan.map(|plan| plan.judge.invalid_if.as_slice()),
            signs: None,
            root,
            folder,
            outputs: Vec::new(),
            window: None,
            layout,
        }
    }

    /// Returns the files of a run's trial, whose journal knows its step.
    pub fn of_run(
        measured: &'a MeasurementPlan,
        plan: &'a Plan,
        folder: &'a Path,
        outputs: Vec<TextFile>,
        window: Option<StepWindow<'a>>,
    ) -> Self {
        let files = Self::new(measured, Some(plan), folder, folder.into(), Layout::Own);
        Self { outputs, window, ..files }
    }

    /// Returns the files of a trial in a folder outside a tree; `plan` is the recipe's, if there is one.
    pub fn of_folder(
        measured: &'a MeasurementPlan,
        plan: Option<&'a Plan>,
        folder: &'a Path,
    ) -> Self {
        let is_submitted = plan.is_none() || ResultPath::parse(folder).is_submitted();
        let layout = if is_submitted { Layout::Submitted } else { Layout::Own };
        Self {
            signs: plan.and_then(|plan| plan.failure_signs(measured)),
            outputs: script::output_texts(folder, measured),
            ..Self::new(measured, plan, folder, folder.into(), layout)
        }
    }

    /// Returns the files in a folder of a submission tree, `path` below its root.
    pub fn of_tree(measured: &'a MeasurementPlan, root: &'a Path, path: &Path) -> Self {
        Self::new(measured, None, root, root.join(path).into(), Layout::Tree)
    }

    /// Reads all files of a trial: several trials where its step trained several times. What holds
    /// for the measurement is added to its evidence. One whose command failed has no result.
    pub fn read_trial(
        &self,
        mut trial: TrialEvidence,
        evidence: &mut Evidence,
    ) -> Vec<TrialEvidence> {
        if let Some(outcome) = script::read_command_failure(&self.folder, trial.trial) {
            trial.outcome = outcome;
            return vec![trial];
        }
        // The measurement's output is the last.
        let signs = self.signs.zip(self.outputs.last());
        if let Some(reason) = signs.and_then(|(signs, output)| find_failure_line(signs, output)) {
            trial.outcome = StepOutcome::Failed { reason, code: None };
            return vec![trial];
        }
        if let Some(outcome) = script::read_check_failure(&self.folder) {
            trial.outcome = outcome;
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
        if self.layout != Layout::Tree && endpoints::is_endpoint_result(&self.folder) {
            endpoints::read_trial(&self.folder, self.measured, evidence, trial);
            return None;
        }
        let run = match self.open_logs(trial, evidence) {
            Ok(run) => run?,
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
        if self.layout != Layout::Tree {
            self.check_settings(&run, self.relative_path(), trial.trial, evidence);
        }
        Some(run)
    }

    /// Checks the settings of a performance run against a folder's `user.conf`, if it has one.
    pub fn check_settings(
        &self,
        run: &LoadgenRun,
        folder: &Path,
        trial: u32,
        evidence: &mut Evidence,
    ) {
        if self.measured.mode == Mode::Performance
            && let Ok(text) =
                open::read_text_beneath(self.root, &folder.join(USER_CONF), MAX_CONF_BYTES)
        {
            add_checks(evidence, trial, loadgen::check_user_conf(&text, run));
        }
    }

    /// Opens `LoadGen`'s logs. A tree has them in the very folder, and of two that are there one may be unreadable:
    /// none, where it has no log to judge by.
    fn open_logs(
        &self,
        trial: &TrialEvidence,
        evidence: &mut Evidence,
    ) -> Result<Option<LoadgenRun>, FolderError> {
        if self.layout != Layout::Tree {
            return folder::read_result_folder(&self.folder).map(Some);
        }
        let LoadgenLogs { run, faults } = folder::read_logs(self.root, self.relative_path());
        // A test of answers needs no speed, and its logs may be missing.
        let is_of_answers =
            self.measured.mode == Mode::Compliance && !is_speed_compared(&trial.path);
        if is_of_answers {
            return Ok(run.detail.is_some().then_some(run));
        }
        evidence.checks.extend(run.check_files(&faults));
        Ok((run.summary.is_some() || run.detail.is_some()).then_some(run))
    }

    /// Returns the path of its folder beneath the directory in which files are opened.
    fn relative_path(&self) -> &Path {
        self.folder.strip_prefix(self.root).unwrap_or(&self.folder)
    }

    /// Reads the recipe's own figures, its marks of invalid results, and what scripts wrote.
    pub fn read_figures(
        &self,
        trial: &TrialEvidence,
        evidence: &mut Evidence,
    ) -> Vec<TrialEvidence> {
        self.check_markers(trial.trial, evidence);
        let readings = read_trial_figures(&self.measured.figures, &|source| {
            script::texts_of_source(&self.folder, &self.outputs, source)
        });
        let readings = match retain_own_readings(self.window.as_ref(), readings, trial) {
            Ok((readings, warnings)) => {
                evidence.checks.extend(warnings);
                readings
            }
            Err(trial) => return vec![*trial],
        };
        for reading in &readings {
            let cut = warn_of_cut_run(&self.outputs, &self.folder, &reading.figures);
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
                self.read_accuracy(&mut read_trial, evidence);
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
        let mut checks = match (self.layout, self.measured.mode) {
            (Layout::Own, _) => check_mode_and_scenario(run, mode, scenario),
            (_, Mode::Accuracy) => warn_of_other_kind(run, scenario),
            // The rules of the test say which mode it has.
            (Layout::Tree, Mode::Compliance) => Vec::new(),
            // A result of an edge system may be inferred from the log of another scenario.
            _ => check_mode_and_scenario(run, mode, None),
        };
        if self.measured.mode == Mode::Accuracy {
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
        let folders = compliance::find_test_folders(&self.folder).into_iter();
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

    /// Checks the marks of an invalid result that the recipe names, or the usual one.
    pub fn check_markers(&self, trial: u32, evidence: &mut Evidence) {
        let checks = match self.markers {
            Some(markers) => markers::check_recipe_markers(markers, &self.folder, &self.outputs),
            None => markers::check_usual_marker(&self.folder).into_iter().collect(),
        };
        add_checks(evidence, trial, checks);
        let required = self.measured.required_values.as_slice();
        let checks = markers::check_required_values(required, &self.folder, &self.outputs);
        add_checks(evidence, trial, checks);
    }

    /// Adds the figures that the suite's accuracy script printed, in the step that ran it or into its file.
    pub fn read_accuracy(&self, trial: &mut TrialEvidence, evidence: &mut Evidence) {
        let rules = self.measured.rules.as_ref();
        let required = rules.map_or(&[][..], |rules| &rules.accuracy);
        let printed = self.outputs.first().filter(|output| output.file != Path::new(ACCURACY_FILE));
        let read_output = printed
            .and_then(|text| accuracy::read_accuracy(&text.directory, &text.file, required).ok());
        if let Some(printed) = read_output {
            accuracy::add_to_trial(trial, &printed);
        }
        let folder = self.relative_path();
        match accuracy::read_accuracy(self.root, &folder.join(ACCURACY_FILE), required) {
            Ok(read) => {
                let of_log = trial.run_settings.as_ref().and_then(|run| run.library_samples);
                let samples = rules.and_then(|rules| rules.accuracy_samples).or(of_log);
                add_checks(evidence, trial.trial, read.check_counts(samples));
                if self.layout == Layout::Tree {
                    let checks = accuracy::check_accuracy_files(&read, self.root, folder);
                    add_checks(evidence, trial.trial, checks);
                }
                accuracy::add_to_trial(trial, &read);
            }
            Err(error) if self.layout == Layout::Tree => {
                let required = "what the benchmark's accuracy script prints";
                let check = RuleCheck::violation(ACCURACY_FILE, error.to_string(), required);
                evidence.checks.push(check);
            }
            Err(error) => {
                trial.missing.insert(ACCURACY_FILE.to_owned(), error.to_string());
            }
        }
    }

    /// Returns whether what was printed can be among the files: the output of a submitted result is not.
    fn has_output(&self) -> bool {
        let mut outputs = self.outputs.iter();
        let is_speed = self.measured.loadgen && self.measured.mode == Mode::Performance;
        !is_speed || outputs.any(|output| output.open().is_ok())
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
