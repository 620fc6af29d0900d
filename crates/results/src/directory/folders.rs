//! Result folders outside submission trees: their evidence, with the context of each group.

use std::path::{Path, PathBuf};

use super::ResultSet;
use super::basis::JudgeBasis;
use super::error::JudgeError;
use super::origin::SubmissionOrigin;
use crate::evidence::folders::{self, ResultGroup, ResultsDirectory};
use crate::verdict::{Qualifier, RunContext, qualifier_of_part};
use itertools::Itertools as _;
use retrial_mlperf::ScenarioName;
use retrial_plan::Plan;

/// The evidence of every result in or below a directory, grouped for judging: by the plan of a recipe, if there is
/// one.
///
/// # Errors
/// If it has no results, or they are of another system than the recipe's figures.
pub fn gather_folders(
    directory: &Path,
    plan: Option<&Plan>,
    basis: &JudgeBasis,
) -> Result<Vec<ResultSet>, JudgeError> {
    let groups = folders::gather_groups(&ResultsDirectory {
        path: directory,
        plan,
        scenario: basis.scenario.as_ref(),
        without_recipe: basis,
    })?;
    let groups = groups.into_iter();
    groups.map(|group| add_context(group, directory, plan, basis)).collect()
}

/// Adds the context of a group: that of the recipe, or the one that its folder and its rules state.
fn add_context(
    group: ResultGroup,
    directory: &Path,
    plan: Option<&Plan>,
    basis: &JudgeBasis,
) -> Result<ResultSet, JudgeError> {
    let rules = || group.evidence.iter().find_map(|one| one.plan.rules.as_ref());
    let mut context = match plan {
        Some(plan) => RunContext::from(plan),
        None => RunContext {
            submission: basis.submission(&group.place, rules()),
            ..RunContext::default()
        },
    };
    if let Some(plan) = plan {
        context.qualifiers.extend(other_system_qualifiers(&group, plan, basis)?);
        let selected = basis.scenario.as_ref();
        let is_excluded = |scenario: &&ScenarioName| selected.is_some_and(|one| one != *scenario);
        let scenarios = plan.measurements.iter().map(|measurement| &measurement.scenario);
        let excluded = scenarios.filter(is_excluded).map(ToString::to_string).unique();
        context.part = context.part.or(qualifier_of_part(&excluded.collect::<Vec<_>>()));
        // Accuracy is required only of scenarios that were measured.
        let is_there = |scenario: &ScenarioName| {
            group.evidence.iter().any(|one| one.plan.scenario == *scenario)
        };
        context.accuracy_scenarios.retain(is_there);
    }
    let changing_options = group.changing_options.into_iter();
    let changes = changing_options.map(Qualifier::from_change);
    context.execution.extend(changes);
    context.require_accuracy |= basis.require_accuracy;
    context.warnings.extend(group.warnings);
    Ok(ResultSet {
        path: path_as_typed(directory, group.place.group),
        context,
        evidence: group.evidence,
    })
}

/// Returns a folder's path as the user has named the directory that it is in.
fn path_as_typed(directory: &Path, folder: PathBuf) -> PathBuf {
    let full = directory.canonicalize().ok();
    let below = full.and_then(|full| Some(folder.strip_prefix(full).ok()?.to_owned()));
    match below {
        Some(below) if below.as_os_str().is_empty() => directory.to_owned(),
        Some(below) => directory.join(below),
        None => folder,
    }
}

/// Qualifiers of results of another system: they are compared with a recipe's figures on demand only.
fn other_system_qualifiers(
    group: &ResultGroup,
    plan: &Plan,
    basis: &JudgeBasis,
) -> Result<Vec<Qualifier>, JudgeError> {
    let is_of_loadgen = group.evidence.iter().any(|one| one.plan.loadgen);
    let origin = if is_of_loadgen {
        SubmissionOrigin::from_inference(&group.place)
    } else {
        SubmissionOrigin::from_training(&group.place.group)
    };
    let qualifiers =
        origin.map(|origin| origin.system_qualifiers(plan, &basis.rounds, basis.force));
    Ok(qualifiers.transpose()?.unwrap_or_default())
}
