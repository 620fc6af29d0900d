//! Results of `LoadGen`, wherever they lie: their paths and their logs say which scenario and mode they have.

use std::path::{Path, PathBuf};

use super::candidates::Candidate;
use super::found::FoundTrial;
use super::{ResultGroup, ResultsDirectory};
use crate::evidence::other_suite::OtherSuiteResult;
use crate::evidence::{compliance, folder, unknown_rules};
use crate::verdict::{Evidence, TrialEvidence};
use retrial_mlperf::ScenarioName;
use retrial_mlperf::loadgen;
use retrial_mlperf::other_suite::OtherSuite;
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// Reads the results of a directory.
pub(super) struct LooseResultsReader<'a>(pub &'a ResultsDirectory<'a>);

impl LooseResultsReader<'_> {
    /// Finds the trial in a folder with logs of `LoadGen`.
    ///
    /// # Errors
    /// If it is a result of a suite that is not judged.
    pub fn find_trial(&self, candidate: &Candidate) -> Result<FoundTrial, OtherSuiteResult> {
        // Logs that cannot be read are reported where they are read as a trial's.
        let run = folder::read_result_folder(&candidate.folder).unwrap_or_default();
        if let Some(suite) = OtherSuite::from_run(&run) {
            return Err(OtherSuiteResult { path: candidate.folder.clone(), suite });
        }
        let (measured, unknown_rules) = self.find_measurement(candidate, &run);
        Ok(FoundTrial { unknown_rules, ..FoundTrial::new(measured, candidate) })
    }

    /// Adds the checks of a test's script to the evidence of its run, or as evidence of its own.
    pub fn add_test_checks(&self, groups: &mut Vec<ResultGroup>, candidate: &Candidate) {
        let Candidate { relative, place, .. } = candidate;
        let Some((test, folder)) = &place.test else {
            return;
        };
        let evidence = &mut ResultGroup::find_or_add(groups, place).evidence;
        let run = folder::read_logs(folder, Path::new(PERFORMANCE_RUN)).run;
        let scenario = place.scenario.clone().unwrap_or_default();
        let rules = self.of_recipe(Mode::Performance, &scenario).and_then(|one| one.rules.clone());
        let unplanned = self.0.without_recipe;
        let rules =
            rules.or_else(|| unplanned.plan_result(&scenario, Mode::Compliance, place, &run).rules);
        let checks = compliance::check_loose_test(folder, *test, rules.as_ref(), &run);
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

    /// Returns the recipe's measurement of a scenario, if there is a recipe.
    fn of_recipe(&self, mode: Mode, scenario: &ScenarioName) -> Option<&MeasurementPlan> {
        let mut measurements = self.0.plan.iter().flat_map(|plan| &plan.measurements);
        measurements.find(|one| one.mode == mode && one.has_scenario_name(scenario))
    }

    /// Returns the recipe's measurement that a folder belongs to, else one that its log and path indicate; with the
    /// reason for which no rules of it are known.
    fn find_measurement(
        &self,
        candidate: &Candidate,
        run: &loadgen::LoadgenRun,
    ) -> (MeasurementPlan, Option<String>) {
        let place = &candidate.place;
        let mode = match (run.mode(), place.mode) {
            // An accuracy summary has only two lines: then the folder's name decides.
            (Some(loadgen::TestMode::Accuracy), _) | (None, Some(Mode::Accuracy)) => Mode::Accuracy,
            // The log in a submission's folder `accuracy` is never the published speed.
            (_, Some(Mode::Accuracy)) if place.is_submitted() => Mode::Accuracy,
            (_, Some(Mode::Compliance)) => Mode::Compliance,
            _ => Mode::Performance,
        };
        let logged = || run.scenario().map(ScenarioName::from);
        let chosen_name = self.0.scenario.cloned();
        let name = chosen_name
            .or_else(|| place.scenario.clone())
            .or_else(logged)
            .unwrap_or_else(|| folder_name(&candidate.folder).into());
        let (measured, unknown_rules) = if let Some(measured) = self.of_recipe(mode, &name) {
            (measured.clone(), None)
        } else {
            let unplanned = self.0.without_recipe.plan_result(&name, mode, place, run);
            (unplanned.measured, unplanned.unknown_rules)
        };
        let unknown_rules = match self.0.plan {
            Some(plan) => unknown_rules::reason_for_recipe(&plan.submission, &measured),
            None => unknown_rules,
        };
        (measured, unknown_rules)
    }
}

fn folder_name(path: &Path) -> String {
    let full_path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    full_path
        .file_name()
        .map_or_else(|| "results".to_owned(), |name| name.to_string_lossy().into_owned())
}
