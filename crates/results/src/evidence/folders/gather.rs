//! Finds the results of a directory, and reads each by what tells whose it is.

use std::path::{Path, PathBuf};

use itertools::{Itertools as _, join};

use super::candidates::{Candidate, CandidateKind, find_candidates};
use super::layout::{self, LaidOutResults, PlanMeasurements};
use super::loose::LooseResultsReader;
use super::{FoldersError, ResultGroup, ResultsDirectory, endpoints, flat};
use crate::evidence::identity::copies::check_copied_measurements;
use crate::evidence::other_suite::{self, OtherSuiteResult};
use crate::evidence::script;
use crate::evidence::trials::complete_evidence;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// Returns the evidence of every result in or below a directory, grouped for judging. What cannot be read is
/// recorded in the evidence, and stops nothing else.
///
/// # Errors
/// If there is no result.
pub fn gather_groups(results: &ResultsDirectory<'_>) -> Result<Vec<ResultGroup>, FoldersError> {
    let directory = results.path.canonicalize().unwrap_or_else(|_| results.path.to_owned());
    let mut gathering = ResultCollector::new(results, &directory);
    let measurements =
        results.plan.map(|plan| PlanMeasurements { plan, scenario: results.scenario });
    if let Some(measurements) = &measurements {
        if measurements.selection().next().is_none() {
            return Err(unknown_scenario_error(results, measurements.plan));
        }
        gathering.drop_unselected(measurements);
        gathering.read_laid_out_results(measurements);
    }
    gathering.read_loose_results(measurements.as_ref())?;
    if let Some(measurements) = &measurements {
        gathering.read_own_figures(measurements);
    }
    let mut groups = gathering.groups;
    groups.retain(|group| !group.evidence.is_empty());
    if groups.is_empty() {
        let path = results.path.to_owned();
        let mut candidates = gathering.candidates.iter();
        let has_endpoint = candidates.any(|one| one.kind == CandidateKind::Endpoint);
        return Err(match measurements {
            Some(measurements) => FoldersError::NoFigure {
                path,
                recipe: measurements.plan.recipe.clone(),
                missing: flat::missing_figures(&directory, &measurements, has_endpoint),
            },
            None => other_suite::find_other_suite(&directory)
                .map_or(FoldersError::NoResult { path }, FoldersError::OtherSuite),
        });
    }
    let changing_options =
        results.plan.map_or_else(Vec::new, |_| script::read_changing_options(&directory));
    for group in &mut groups {
        group.changing_options.clone_from(&changing_options);
        group.evidence.iter_mut().for_each(complete_evidence);
        check_copied_measurements(&mut group.evidence, results.plan);
        // Nobody expects the others in the folder of one scenario.
        if let Some(measurements) = &measurements
            && group.place.group.starts_with(&directory)
        {
            let missing = describe_missing_results(group, measurements);
            group.warnings.extend(missing);
        }
    }
    Ok(groups)
}

/// The results that were found, and those that were read.
struct ResultCollector<'a> {
    results: &'a ResultsDirectory<'a>,
    directory: &'a Path,
    /// Folders that were not read yet.
    candidates: Vec<Candidate>,
    groups: Vec<ResultGroup>,
}

impl<'a> ResultCollector<'a> {
    fn new(results: &'a ResultsDirectory<'a>, directory: &'a Path) -> Self {
        let candidates = find_candidates(directory, results.plan.is_some());
        Self { results, directory, candidates, groups: Vec::new() }
    }

    /// Drops what is no result of the measurements: logs of LoadGen where none is LoadGen's, and
    /// those of other scenarios than the named one.
    fn drop_unselected(&mut self, measurements: &PlanMeasurements<'_>) {
        let is_loadgen = measurements.selection().any(|one| one.loadgen);
        self.candidates.retain(|candidate| {
            let named = measurements.scenario.zip(candidate.place.scenario.as_ref());
            is_loadgen && named.is_none_or(|(named, scenario)| named == scenario)
        });
    }

    /// Reads the results in folders of their own.
    fn read_laid_out_results(&mut self, measurements: &PlanMeasurements<'_>) {
        let logs = self.candidates.iter().filter(|one| one.kind == CandidateKind::LoadGen);
        let roots = logs.map(|candidate| candidate.place.group.clone());
        for found in find_laid_out(self.directory, measurements, roots) {
            self.candidates.retain(|candidate| {
                let mut folders = found.folders.iter();
                !folders.any(|folder| candidate.folder.starts_with(folder))
            });
            for trial in found.trials {
                // A scenario's folder with results of an endpoint has none of LoadGen's.
                let is_of_endpoint = self.candidates.iter().any(|candidate| {
                    candidate.kind == CandidateKind::Endpoint
                        && trial.folder.starts_with(&candidate.folder)
                });
                if !is_of_endpoint {
                    trial.read_into(&mut self.groups, Some(measurements.plan));
                }
            }
        }
    }

    /// Reads the results that tell themselves whose they are; those of endpoints only by a recipe.
    ///
    /// # Errors
    /// If one is of a suite that is not judged.
    fn read_loose_results(
        &mut self,
        measurements: Option<&PlanMeasurements<'_>>,
    ) -> Result<(), OtherSuiteResult> {
        let reader = LooseResultsReader(self.results);
        for candidate in &self.candidates {
            let trials = match candidate.kind {
                CandidateKind::LoadGen => vec![reader.find_trial(candidate)?],
                CandidateKind::Endpoint => {
                    measurements.map_or_else(Vec::new, |all| endpoints::find_trials(all, candidate))
                }
                CandidateKind::Test => {
                    reader.add_test_checks(&mut self.groups, candidate);
                    Vec::new()
                }
            };
            for trial in trials {
                trial.read_into(&mut self.groups, self.results.plan);
            }
        }
        Ok(())
    }

    /// Reads the recipe's own figures that no folder distinguishes.
    fn read_own_figures(&mut self, measurements: &PlanMeasurements<'_>) {
        let mut evidence = self.groups.iter().flat_map(|group| &group.evidence);
        if evidence.any(|one| !one.plan.loadgen) {
            return;
        }
        let mut own = Vec::new();
        for trial in flat::find_trials(self.directory, measurements, self.groups.is_empty()) {
            trial.read_into(&mut own, Some(measurements.plan));
        }
        for mut found in own {
            found.warnings = flat::complete(&mut found.evidence, measurements.plan);
            let group = ResultGroup::find_or_add(&mut self.groups, &found.place);
            group.evidence.extend(found.evidence);
            group.warnings.extend(found.warnings);
        }
    }
}

fn unknown_scenario_error(results: &ResultsDirectory<'_>, plan: &Plan) -> FoldersError {
    let known = plan.measurements.iter().map(|one| &one.key);
    FoldersError::NoScenario {
        recipe: plan.recipe.clone(),
        scenario: results.scenario.cloned().unwrap_or_default(),
        known: join(known.unique(), ", "),
    }
}

/// Returns the results in folders of their own: around the directory, and in each folder of a submission.
fn find_laid_out(
    directory: &Path,
    measurements: &PlanMeasurements<'_>,
    roots: impl Iterator<Item = PathBuf>,
) -> Vec<LaidOutResults> {
    let mut found: Vec<LaidOutResults> =
        layout::find_laid_out_around(directory, measurements).into_iter().collect();
    for root in roots.unique() {
        if root.starts_with(directory) && found.iter().all(|one| one.root != root) {
            found.extend(layout::find_laid_out_below(&root, directory, measurements));
        }
    }
    found
}

/// Names the scenarios of a plan without any result in a group, and those of which only the accuracy
/// or a test is there.
fn describe_missing_results(
    group: &ResultGroup,
    measurements: &PlanMeasurements<'_>,
) -> Option<String> {
    let is_there = |measured: &MeasurementPlan, mode: Option<Mode>| {
        let mut evidence = group.evidence.iter();
        evidence.any(|one| {
            one.plan.scenario == measured.scenario && mode.is_none_or(|mode| one.plan.mode == mode)
        })
    };
    let missing_scenarios = measurements.selection().filter_map(|measured| {
        if !is_there(measured, None) {
            return Some(measured.scenario.to_string());
        }
        let is_missing =
            measured.mode == Mode::Performance && !is_there(measured, Some(Mode::Performance));
        is_missing.then(|| format!("{} {}", measured.scenario, measured.mode))
    });
    let missing: Vec<String> = missing_scenarios.unique().collect();
    (!missing.is_empty()).then(|| format!("not among these results: {}", join(missing, ", ")))
}
