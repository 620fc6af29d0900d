//! `LoadGen`'s logs of a trial, or what an endpoint left in their place.

use super::{Layout, TrialFiles, add_checks};
use crate::evidence::endpoints;
use crate::evidence::folder::{self, FolderError, LoadgenLogs};
use crate::evidence::identity::loadgen_log;
use crate::evidence::loadgen::{
    add_loadgen_evidence, check_mode_and_scenario, is_speed_compared, warn_of_missing_detail_log,
    warn_of_other_kind,
};
use crate::evidence::measured_window::measured_window;
use crate::verdict::{Evidence, StepOutcome, TrialEvidence, TrialLog};
use retrial_mlperf::loadgen::{self, LoadgenRun, TestScenario};
use retrial_recipe::model::Mode;
use retrial_store::open;

/// The submitter's settings of `LoadGen`.
const USER_CONF: &str = "user.conf";
/// The largest such file that is read: real ones have a few lines.
const MAX_CONF_BYTES: u64 = 1 << 20;

impl TrialFiles<'_> {
    /// Reads `LoadGen`'s logs, if they are its results. A trial without a log of its own has no new
    /// result, and the reason says which file is at fault.
    pub(super) fn read_log(
        &self,
        trial: &mut TrialEvidence,
        evidence: &mut Evidence,
    ) -> Option<LoadgenRun> {
        if !self.measured.loadgen {
            return None;
        }
        let run = match self.open_logs(trial, evidence) {
            Ok(run) => run?,
            Err(FolderError::NoSummary) if endpoints::has_results(&self.folder) => {
                let log = endpoints::read_trial(&self.folder, self.measured, evidence, trial);
                if let Some(log) = log {
                    self.add_own_log(log, trial);
                }
                return None;
            }
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
        if !self.add_own_log(loadgen_log(&run, &self.folder), trial) {
            return None;
        }
        add_loadgen_evidence(&run, evidence, trial);
        self.check_kind(&run, trial, evidence);
        self.check_settings(&run, trial.trial, evidence);
        if let (Some(telemetry), Some(window)) = (&self.telemetry, measured_window(&run)) {
            trial.telemetry = telemetry.summarize(Some(window)).or(trial.telemetry.take());
        }
        Some(run)
    }

    /// Adds the log of a trial, unless it is of before the trial's step, which has no new result then.
    fn add_own_log(&self, log: TrialLog, trial: &mut TrialEvidence) -> bool {
        let window = self.window.as_ref();
        if let Some(reason) = window.and_then(|window| window.reason_outside_step([&log])) {
            trial.outcome = StepOutcome::NoNewResult { reason };
            return false;
        }
        trial.logs.push(TrialLog { directory: trial.path.clone(), ..log });
        true
    }

    /// Checks the settings of a performance run against its `user.conf`, if there is one.
    fn check_settings(&self, run: &LoadgenRun, trial: u32, evidence: &mut Evidence) {
        if self.measured.mode != Mode::Performance {
            return;
        }
        let below_root = self.settings.as_deref().unwrap_or(self.relative_path());
        let file = below_root.join(USER_CONF);
        if let Ok(text) = open::read_text_beneath(&self.root, &file, MAX_CONF_BYTES) {
            add_checks(evidence, trial, loadgen::check_user_conf(&text, run));
        }
    }

    /// Opens `LoadGen`'s logs. A tree has them in the very folder, and of two that are there one may be unreadable:
    /// none, where it has no log to judge by. An error if there is none and an endpoint's results are.
    fn open_logs(
        &self,
        trial: &TrialEvidence,
        evidence: &mut Evidence,
    ) -> Result<Option<LoadgenRun>, FolderError> {
        if self.layout != Layout::Tree {
            return folder::read_result_folder(&self.folder).map(Some);
        }
        let LoadgenLogs { run, faults } = folder::read_logs(&self.root, self.relative_path());
        // A test of answers needs no speed, and its logs may be missing.
        let is_of_answers =
            self.measured.mode == Mode::Compliance && !is_speed_compared(&trial.path);
        if is_of_answers {
            return Ok(run.detail.is_some().then_some(run));
        }
        let has_logs = run.summary.is_some() || run.detail.is_some();
        if !has_logs && faults.is_empty() && endpoints::has_results(&self.folder) {
            return Err(FolderError::NoSummary);
        }
        evidence.checks.extend(run.check_files(&faults));
        Ok(has_logs.then_some(run))
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
}
