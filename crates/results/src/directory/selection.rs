//! The part of submission trees that a user selects by the names of folders.

use std::collections::BTreeSet;

use super::error::JudgeError;
use super::trees::SuiteTrees;
use crate::evidence::training::{TRAINING_SCENARIO, TrainingTrees};
use crate::evidence::tree::{ScenarioFolder, SubmissionTrees};
use retrial_document::list_choices;
use retrial_mlperf::{Division, ScenarioName};

/// The results that the user selects; all of what is not named.
pub struct TreeSelection<'a> {
    pub benchmark: Option<&'a str>,
    pub division: Option<Division>,
    pub scenario: Option<&'a ScenarioName>,
}

impl SuiteTrees {
    /// Keeps the results of the benchmark, division and scenario that the user names. Training results have their
    /// division in the description of the system: there it is no selection.
    ///
    /// # Errors
    /// The trees have no results of that name.
    pub fn select(mut self, selection: &TreeSelection<'_>) -> Result<Self, JudgeError> {
        match &mut self {
            Self::Inference(trees) => select_inference(trees, selection)?,
            Self::Training(trees) => select_training(trees, selection)?,
        }
        Ok(self)
    }
}

fn select_inference(
    trees: &mut SubmissionTrees,
    selection: &TreeSelection<'_>,
) -> Result<(), JudgeError> {
    let all = &mut trees.benchmarks;
    let division = selection.division.map(|division| division.to_string());
    retain_named(all, "division", division.as_deref(), |one| {
        vec![one.submitter.division.to_string()]
    })?;
    retain_named(all, "benchmark", selection.benchmark, |one| {
        let official = one.submitter.names.get(&one.name);
        [&one.name].into_iter().chain(official).cloned().collect()
    })?;
    let scenario = selection.scenario.map(ToString::to_string);
    retain_named(all, "scenario", scenario.as_deref(), |one| {
        one.scenarios.iter().map(|place| place.scenario_name().to_string()).collect()
    })?;
    if let Some(selected) = selection.scenario {
        for benchmark in all {
            let is_excluded = |place: &mut ScenarioFolder| place.scenario_name() != *selected;
            let excluded = benchmark.scenarios.extract_if(.., is_excluded);
            benchmark.excluded = excluded.map(|place| place.scenario_name().to_string()).collect();
            benchmark.has_all_scenarios = false;
        }
    }
    Ok(())
}

fn select_training(
    trees: &mut TrainingTrees,
    selection: &TreeSelection<'_>,
) -> Result<(), JudgeError> {
    let all = &mut trees.results;
    retain_named(all, "benchmark", selection.benchmark, |one| vec![one.benchmark.clone()])?;
    let scenario = selection.scenario.map(ToString::to_string);
    retain_named(all, "scenario", scenario.as_deref(), |_| vec![TRAINING_SCENARIO.to_owned()])
}

/// Keeps the results that have the requested name.
fn retain_named<T>(
    results: &mut Vec<T>,
    property: &'static str,
    requested: Option<&str>,
    names: impl Fn(&T) -> Vec<String>,
) -> Result<(), JudgeError> {
    let Some(requested) = requested else {
        return Ok(());
    };
    let known: BTreeSet<String> = results.iter().flat_map(&names).collect();
    let is_requested = |name: &String| name.eq_ignore_ascii_case(requested);
    if !known.iter().any(is_requested) {
        let choices = list_choices(&known.into_iter().collect::<Vec<_>>());
        return Err(JudgeError::NotInTree { property, name: requested.to_owned(), choices });
    }
    results.retain(|one| names(one).iter().any(is_requested));
    Ok(())
}
