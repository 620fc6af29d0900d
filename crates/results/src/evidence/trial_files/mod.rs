//! The one reader of a trial: its files as evidence, wherever they lie. Each source of results (a run, folders, a
//! submission tree) finds trials, and says of each which folder it is and of which measurement.

mod log;

use std::path::{Path, PathBuf};

use super::accuracy::ACCURACY_FILE;
use super::cut_run::warn_of_cut_run;
use super::failed_line::find_failure_line;
use super::figures::TextFile;
use super::folder;
use super::identity::window::{StepWindow, retain_own_readings};
use super::loadgen::is_speed_compared;
use super::readings::read_trial_figures;
use super::result_path::ResultPath;
use super::telemetry::StepTelemetry;
use super::trials::add_warmup;
use super::{accuracy, compliance, loads, markers, script};
use crate::verdict::{Evidence, RuleCheck, StepOutcome, TrialEvidence, table_name};
use retrial_mlperf::check::RuleCheckKind;
use retrial_mlperf::loadgen::LoadgenRun;
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{InvalidMarker, Mode};

/// Who laid a trial's files out, and so what their folder must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Retrial, a script or a user: the logs are in or below the folder.
    Own,
    /// A submitter, outside a whole tree: `MLCommons` checks an accuracy log's mode and scenario less.
    Submitted,
    /// A submission tree: the logs are in the very folder, and a submission's rules of files hold.
    Tree,
}

/// A trial that a source has found: its files, and what is known of the step that wrote them.
pub(crate) struct TrialFiles<'a> {
    /// The measurement that the trial belongs to.
    pub(super) measured: &'a MeasurementPlan,
    /// Its number and path, and how its command ended.
    pub(super) trial: TrialEvidence,
    /// How the check of its results ended.
    pub(super) check: StepOutcome,
    /// It came before the trials that are judged.
    pub(super) is_warmup: bool,
    /// The recipe's marks of an invalid result; without a recipe the usual one counts.
    pub(super) markers: Option<&'a [InvalidMarker]>,
    /// The directory beneath which every file is opened.
    pub(super) root: PathBuf,
    /// The folder of its results.
    pub(super) folder: PathBuf,
    /// The folder of its `user.conf` below the root, if that is another.
    pub(super) settings: Option<PathBuf>,
    /// The outputs of its steps, the check's first.
    pub(super) outputs: Vec<TextFile>,
    /// The time of its step, where that is known.
    pub(super) window: Option<StepWindow<'a>>,
    pub(super) telemetry: Option<StepTelemetry<'a>>,
    pub(super) layout: Layout,
}

impl<'a> TrialFiles<'a> {
    fn new(
        measured: &'a MeasurementPlan,
        plan: Option<&'a Plan>,
        trial: TrialEvidence,
        folder: PathBuf,
        layout: Layout,
    ) -> Self {
        Self {
            measured,
            trial,
            check: StepOutcome::Finished,
            is_warmup: false,
            markers: plan.map(|plan| plan.judge.invalid_if.as_slice()),
            root: folder.clone(),
            folder,
            settings: None,
            outputs: Vec::new(),
            window: None,
            telemetry: None,
            layout,
        }
    }

    /// Returns the files of a run's trial; what its journal and its step tell is added.
    pub fn of_run(
        measured: &'a MeasurementPlan,
        plan: &'a Plan,
        trial: TrialEvidence,
        folder: PathBuf,
    ) -> Self {
        Self::new(measured, Some(plan), trial, folder, Layout::Own)
    }

    /// Returns the files of a trial in a folder outside a tree; `plan` is the recipe's, if there is one.
    pub fn of_folder(
        measured: &'a MeasurementPlan,
        plan: Option<&'a Plan>,
        mut trial: TrialEvidence,
        folder: &Path,
    ) -> Self {
        let is_submitted = plan.is_none() || ResultPath::parse(folder).is_submitted();
        let layout = if is_submitted { Layout::Submitted } else { Layout::Own };
        let outputs = script::output_texts(folder, measured);
        trial.outcome = script::read_command_failure(folder, trial.trial)
            .or_else(|| {
                let signs = plan?.failure_signs(measured)?;
                // The measurement's output is the last.
                let reason = find_failure_line(signs, outputs.last()?)?;
                Some(StepOutcome::Failed { reason, code: None })
            })
            .unwrap_or_default();
        Self {
            check: script::read_check_failure(folder).unwrap_or_default(),
            outputs,
            ..Self::new(measured, plan, trial, folder.to_owned(), layout)
        }
    }

    /// Returns the files in a folder of a submission tree, `path` below its root.
    pub fn of_tree(
        measured: &'a MeasurementPlan,
        trial: TrialEvidence,
        root: &Path,
        path: &Path,
    ) -> Self {
        let files = Self::new(measured, None, trial, root.join(path), Layout::Tree);
        Self { root: root.to_owned(), ..files }
    }

    /// Adds the trial to the evidence of its measurement: several trials where its step trained several times, and none
    /// that a tree has no log of. Returns `LoadGen`'s logs, if it has them.
    pub fn read_into(self, evidence: &mut Evidence) -> Option<LoadgenRun> {
        if self.is_warmup {
            // The rules of a result are not those of its warm-up.
            let mut unjudged = Evidence::from(self.measured.clone());
            let (trials, run) = self.read(&mut unjudged);
            add_warmup(evidence, trials);
            return run;
        }
        let (trials, run) = self.read(evidence);
        evidence.trials.extend(trials);
        run
    }

    /// Reads all files. A trial whose command failed has no result.
    fn read(self, evidence: &mut Evidence) -> (Vec<TrialEvidence>, Option<LoadgenRun>) {
        let mut trial = self.trial.clone();
        if trial.outcome != StepOutcome::Finished {
            return (vec![trial], None);
        }
        trial.outcome = self.check.clone();
        let run = self.read_log(&mut trial, evidence);
        let is_tree = self.layout == Layout::Tree;
        if is_tree && let StepOutcome::NoNewResult { reason } = &trial.outcome {
            // A tree has no step whose result is missing.
            let required = "config.yaml, and the results of its runs";
            let check = RuleCheck::violation("endpoint's files", reason.as_str(), required);
            evidence.checks.push(check);
            return (Vec::new(), None);
        }
        let is_speed = evidence.plan.loadgen && self.measured.mode == Mode::Performance;
        if is_tree && is_speed && run.is_none() {
            return (Vec::new(), None);
        }
        // In a tree, a test has a folder of its own.
        if self.measured.mode == Mode::Compliance && !is_tree {
            self.check_tests(trial.trial, evidence);
        }
        (self.read_figures(&trial, evidence), run)
    }

    /// Returns the path of its folder beneath the directory in which files are opened.
    fn relative_path(&self) -> &Path {
        self.folder.strip_prefix(&self.root).unwrap_or(&self.folder)
    }

    /// Reads the recipe's own figures, its marks of invalid results, and what scripts wrote.
    fn read_figures(&self, trial: &TrialEvidence, evidence: &mut Evidence) -> Vec<TrialEvidence> {
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
            if evidence.plan.loadgen && self.measured.mode == Mode::Accuracy {
                self.read_accuracy(&mut read_trial, evidence);
            }
            read_trial
        });
        trials.collect()
    }

    /// Adds what the scripts of the audit's tests found, where a folder has a test's name.
    fn check_tests(&self, trial: u32, evidence: &mut Evidence) {
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
    fn check_markers(&self, trial: u32, evidence: &mut Evidence) {
        let checks = match self.markers {
            Some(markers) => markers::check_recipe_markers(markers, &self.folder, &self.outputs),
            // A test of answers needs no valid run.
            None if !is_speed_compared(&self.trial.path) => Vec::new(),
            None => markers::check_usual_marker(&self.folder).into_iter().collect(),
        };
        add_checks(evidence, trial, checks);
        let client = self.measured.client.iter();
        let point = self.measured.point.as_ref();
        let checks = client.flat_map(|client| loads::check_loads(client, point, &self.folder));
        let checks = checks.collect();
        add_checks(evidence, trial, checks);
        let required = self.measured.required_values.as_slice();
        let checks = markers::check_required_values(required, &self.folder, &self.outputs);
        add_checks(evidence, trial, checks);
    }

    /// Adds the figures that the suite's accuracy script printed, in the step that ran it or into its file.
    fn read_accuracy(&self, trial: &mut TrialEvidence, evidence: &mut Evidence) {
        let rules = self.measured.rules.as_ref();
        let required = rules.map_or(&[][..], |rules| &rules.accuracy);
        let printed = self.outputs.first().filter(|output| output.file != Path::new(ACCURACY_FILE));
        let read_output = printed
            .and_then(|text| accuracy::read_accuracy(&text.directory, &text.file, required).ok());
        if let Some(printed) = read_output {
            accuracy::add_to_trial(trial, &printed);
        }
        let folder = self.relative_path();
        match accuracy::read_accuracy(&self.root, &folder.join(ACCURACY_FILE), required) {
            Ok(read) => {
                let logged = trial.run_settings.as_ref().and_then(|run| run.library_samples);
                let samples = rules.and_then(|rules| rules.accuracy_samples).or(logged);
                add_checks(evidence, trial.trial, read.check_counts(samples));
                if self.layout == Layout::Tree {
                    let checks = accuracy::check_accuracy_files(&read, &self.root, folder);
                    add_checks(evidence, trial.trial, checks);
                }
                accuracy::add_to_trial(trial, &read);
            }
            Err(error) if self.layout == Layout::Tree => {
                let required = "what the benchmark's accuracy script prints";
                let check = RuleCheck::violation(ACCURACY_FILE, error.to_string(), required);
                evidence.checks.push(RuleCheck { kind: RuleCheckKind::File, ..check });
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
