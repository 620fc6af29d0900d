//! Result folders outside submission trees: their evidence, with the context of each group.

use std::path::{Path, PathBuf};

use super::ResultSet;
use super::basis::JudgeInputs;
use super::other_system::SubmissionOrigin;
use crate::app::failure::Failure;
use crate::app::launch::stand_ins::open_with_stand_ins;
use crate::app::open;
use crate::app::options::{GlobalOptions, JudgeRequest, PlanRequest, RecipeRequest};
use retrial_document::ErrorText;
use retrial_plan::Plan;
use retrial_results::evidence::folders::{self, ResultGroup, ResultsDirectory};
use retrial_results::verdict::{Qualifier, QualifierKind, RunContext};

/// The evidence of every result in or below a directory, grouped for judging.
pub fn gather_folders(
    global: &GlobalOptions,
    directory: &Path,
    basis: &JudgeInputs<'_>,
) -> Result<Vec<ResultSet>, Failure> {
    let plan = plan_of_recipe(global, basis.request)?;
    let folder_groups = folders::gather_groups(&ResultsDirectory {
        path: directory,
        plan: plan.as_ref(),
        scenario: basis.request.scenario.as_deref(),
        without_recipe: basis,
    });
    let groups = folder_groups.map_err(|error| Failure::usage(ErrorText::of(&error)))?;
    let groups = groups.into_iter();
    groups
        .map(|group| add_context(group, directory, plan.as_ref(), basis))
        .collect()
}

/// Adds the context of a group: that of the recipe, or the one that its folder and its rules state.
fn add_context(
    group: ResultGroup,
    directory: &Path,
    plan: Option<&Plan>,
    basis: &JudgeInputs<'_>,
) -> Result<ResultSet, Failure> {
    let rules = || group.evidence.iter().find_map(|one| one.rules.as_ref());
    let mut context = match plan {
        Some(plan) => RunContext::from(plan),
        None => RunContext {
            submission: basis.submission(&group.place, rules()),
            ..RunContext::default()
        },
    };
    if let Some(plan) = plan {
        context
            .qualifiers
            .extend(other_system_qualifiers(&group, plan, basis)?);
        // Accuracy is required only of scenarios that were measured.
        let is_there =
            |scenario: &String| group.evidence.iter().any(|one| one.scenario == *scenario);
        context.accuracy_scenarios.retain(is_there);
    }
    let changing_options = group.changing_options.into_iter();
    let changes = changing_options.map(|change| Qualifier::new(QualifierKind::Modified, change));
    context.execution.extend(changes);
    context.require_accuracy |= basis.request.require_accuracy;
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
    basis: &JudgeInputs<'_>,
) -> Result<Vec<Qualifier>, Failure> {
    let is_of_loadgen = group.evidence.iter().any(|one| one.loadgen);
    let origin = if is_of_loadgen {
        SubmissionOrigin::from_inference(&group.place)
    } else {
        SubmissionOrigin::from_training(&group.place.group)
    };
    let qualifiers =
        origin.map(|origin| origin.system_qualifiers(plan, &basis.rounds, basis.request.force));
    Ok(qualifiers.transpose()?.unwrap_or_default())
}

/// The plan of `--recipe`, by which results are read.
fn plan_of_recipe(global: &GlobalOptions, request: &JudgeRequest) -> Result<Option<Plan>, Failure> {
    let Some(recipe) = &request.recipe else {
        return Ok(None);
    };
    let recipe = RecipeRequest {
        recipe: recipe.clone(),
        settings: request.settings.clone(),
    };
    // Host paths that must be set for a run do not affect the published figures.
    let (opened, _) = open_with_stand_ins(&recipe)?;
    let mut everything = PlanRequest::whole_recipe(recipe);
    everything.files.rules.clone_from(&request.rules);
    let host = open::probe_host(global);
    opened.plan(global, &everything, Some(&host)).map(Some)
}
