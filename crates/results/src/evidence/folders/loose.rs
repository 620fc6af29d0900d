//! Results of `LoadGen`, wherever they lie: their paths and their logs say which scenario and mode they have.

use std::path::{Path, PathBuf};

use super::ResultsDirectory;
use super::found::FoundTrial;
use crate::evidence::other_suite::OtherSuiteResult;
use crate::evidence::result_path::ResultPath;
use crate::evidence::{compliance, folder, unknown_rules};
use crate::verdict::{Evidence, TrialEvidence};
use retrial_mlperf::ScenarioName;
use retrial_mlperf::compliance::Test;
use retrial_mlperf::loadgen;
use retrial_mlperf::other_suite::OtherSuite;
use retrial_mlperf::rounds::InferenceRules;
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// Reads the results of a directory.
pub(super) struct LooseResultsReader<'a> {
    pub results: &'a ResultsDirectory<'a>,
    /// The directory, as an absolute path.
    pub directory: &'a Path,
}

impl LooseResultsReader<'_> {
    /// Returns the place of a folder.
    pub fn result_path(&self, relative: &Path) -> ResultPath {
        let mut place = ResultPath::parse(&self.directory.join(relative));
        // One recipe's results belong together, whatever the names of the folders.
        if self.results.plan.is_some() && place.scenario.is_none() {
            self.directory.clone_into(&mut place.group);
        }
        place
    }

    /// Finds the trial in a folder with logs of `LoadGen`.
    ///
    /// # Errors
    /// If it is a result of a suite that is not judged.
    pub fn find_trial(&self, relative: &Path) -> Result<FoundTrial, OtherSuiteResult> {
        let (place, folder) = (self.result_path(relative), self.directory.join(relative));
        // Logs that cannot be read are reported where they are read as a trial's.
        let run = folder::read_result_folder(&folder).unwrap_or_default();
        if let Some(suite) = OtherSuite::from_run(&run) {
            return Err(OtherSuiteResult { path: folder, suite });
        }
        let measured = self.find_measurement(&folder, &place, &run);
        Ok(FoundTrial {
            unknown_rules: self.reason_for_unknown_rules(&measured, &place, &run),
            ..FoundTrial::new(measured, &place, (self.directory, relative))
        })
    }

    /// Adds the checks of a test's script to the evidence of its run, or as evidence of its own.
    pub fn add_test_checks(
        &self,
        evidence: &mut Vec<Evidence>,
        (test, folder): (Test, &Path),
        relative: &Path,
        place: &ResultPath,
    ) {
        let run = folder::read_logs(folder, Path::new(PERFORMANCE_RUN)).run;
        let scenario = place.scenario.clone().unwrap_or_default();
        let rules = self.find_tested_rules(&scenario, place, &run);
        let checks = compliance::check_loose_test(folder, test, rules.as_ref(), &run);
        let is_run_of = |result: &&mut Evidence| {
            result.plan.mode == Mode::Compliance && Path::new(&result.path).starts_with(relative)
        };
        if let Some(result) = evidence.iter_mut().find(is_run_of) {
            result.checks.extend(checks);
            return;
        }
        let mut result = Evidence::from(MeasurementPlan::new(scenario, Mode::Compliance));
        result.plan.loadgen = true;
        result.checks = checks;
        result.path = relative.display().to_string();
        result.trials.push(TrialEvidence::new_finished(1, result.path.clone()));
        evidence.push(result);
    }

    /// Returns why no rules are known for a result; none if they are.
    fn reason_for_unknown_rules(
        &self,
        measured: &MeasurementPlan,
        place: &ResultPath,
        run: &loadgen::LoadgenRun,
    ) -> Option<String> {
        if let Some(plan) = self.results.plan {
            return unknown_rules::reason_for_recipe(&plan.submission, measured);
        }
        let unplanned = self.results.without_recipe;
        unknown_rules::needs_rules(run, measured.mode)
            .then(|| unplanned.reason_for_unknown_rules(&measured.scenario, place, run))
            .flatten()
    }

    /// Returns the rules for the result that a test belongs to.
    fn find_tested_rules(
        &self,
        scenario: &ScenarioName,
        place: &ResultPath,
        run: &loadgen::LoadgenRun,
    ) -> Option<InferenceRules> {
        let mut measurements = self.results.plan.iter().flat_map(|plan| &plan.measurements);
        let of_recipe = measurements
            .find(|one| one.mode == Mode::Performance && one.has_scenario_name(scenario))
            .and_then(|one| one.rules.clone());
        of_recipe.or_else(|| self.results.without_recipe.find_rules(scenario, place, run))
    }

    /// Returns the recipe's measurement that a folder belongs to, else one that its log and path indicate.
    fn find_measurement(
        &self,
        folder: &Path,
        place: &ResultPath,
        run: &loadgen::LoadgenRun,
    ) -> MeasurementPlan {
        let mode = match (run.mode(), place.mode) {
            // An accuracy summary has only two lines: then the folder's name decides.
            (Some(loadgen::TestMode::Accuracy), _) | (None, Some(Mode::Accuracy)) => Mode::Accuracy,
            // The log in a submission's folder `accuracy` is never the published speed.
            (_, Some(Mode::Accuracy)) if place.is_submitted() => Mode::Accuracy,
            (_, Some(Mode::Compliance)) => Mode::Compliance,
            _ => Mode::Performance,
        };
        let logged = || run.scenario().map(ScenarioName::from);
        let chosen_name = self.results.scenario.cloned();
        let name = chosen_name
            .or_else(|| place.scenario.clone())
            .or_else(logged)
            .unwrap_or_else(|| folder_name(folder).into());
        let mut measurements = self.results.plan.iter().flat_map(|plan| &plan.measurements);
        let of_recipe = measurements.find(|one| one.mode == mode && one.has_scenario_name(&name));
        of_recipe.cloned().unwrap_or_else(|| {
            let unplanned = self.results.without_recipe;
            unplanned.plan_measurement(&name, mode, place, run)
        })
    }
}

fn folder_name(path: &Path) -> String {
    let full_path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    full_path
        .file_name()
        .map_or_else(|| "results".to_owned(), |name| name.to_string_lossy().into_owned())
}
