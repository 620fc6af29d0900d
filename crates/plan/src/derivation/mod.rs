//! Derives a stored plan again from its recipe, by the settings that it records and the host that it was made for,
//! and names every difference. Whoever signs a run's evidence may have written its plan by hand. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use super::build::{PlanError, RecipeOrigin, build_plan, plan_for_host};
use super::difference::{PlanDifference, find_differences};
use super::options::PlanOptions;
use super::step::{Action, Plan};
use retrial_host::model::HostView;
use retrial_recipe::lock::{LockedModel, RecipeLock};
use retrial_recipe::model::{Image, ModelSource, Recipe, is_commit};

/// A stored plan, and the recipe, settings and host from which it must follow.
#[derive(Debug, Clone, Copy)]
pub struct Derivation<'a> {
    /// The plan as it was stored.
    pub recorded: &'a Plan,
    /// The recipe of its run, resolved.
    pub recipe: &'a Recipe,
    /// SHA-256 of that recipe's text.
    pub recipe_hash: &'a str,
    /// The host that it was made for.
    pub host: &'a HostView,
}

impl Derivation<'_> {
    /// Returns the differences between the recorded plan and the one that follows from the recipe. Settings that are no
    /// consequence of recipe, options and host are not compared: execution options, cache paths, and the rules of the
    /// round, which the program has, too.
    ///
    /// # Errors
    /// Returns an error if the recipe has no plan with these settings.
    pub fn find_differences(&self) -> Result<Vec<PlanDifference>, PlanError> {
        Ok(self.derive_closest_plan()?.1)
    }

    /// Returns the plan that follows, with what is no consequence of recipe, options and host as it was recorded, and the
    /// differences from the recorded one.
    ///
    /// # Errors
    /// As [`Derivation::find_differences`].
    pub fn derive_closest_plan(&self) -> Result<(Plan, Vec<PlanDifference>), PlanError> {
        let planned = self.derive_plan()?;
        // A job's plan is made where it is submitted, and completed on its node.
        let completed = plan_for_host(&planned, &self.pinned_recipe(), self.host)?;
        let [planned, completed] =
            [planned, completed].map(|derived| compare_plans(self.recorded, derived));
        Ok(if completed.1.len() < planned.1.len() { completed } else { planned })
    }

    /// Returns the differences between the plan that another machine of the run executed and the recorded plan as
    /// that machine has to execute it.
    ///
    /// # Errors
    /// If the recipe's container cannot have the GPUs of that machine.
    pub fn find_node_differences(
        &self,
        host: &HostView,
        executed: &Plan,
    ) -> Result<Vec<PlanDifference>, PlanError> {
        let derived = plan_for_host(self.recorded, &self.pinned_recipe(), host)?;
        Ok(compare_plans(executed, derived).1)
    }

    fn derive_plan(&self) -> Result<Plan, PlanError> {
        let origin = RecipeOrigin {
            directory: self.recorded.directory.clone(),
            home: self.recorded.home.clone(),
            hash: self.recipe_hash.to_owned(),
            built_in: self.recorded.built_in,
            build_content: self.recorded.build_content(),
        };
        let options = PlanOptions {
            // A job's are those that the scheduler assigned.
            gpus: self.recorded.gpus.clone(),
            ..self.recorded.options.clone()
        };
        build_plan(&self.pinned_recipe(), &origin, &options, self.host)
    }

    /// The recipe with the versions of the lock that the plan followed.
    fn pinned_recipe(&self) -> Recipe {
        let mut recipe = self.recipe.clone();
        if self.recorded.lock.is_some() {
            locked_versions(self.recorded, &recipe).apply_to(&mut recipe);
        }
        recipe
    }
}

fn compare_plans(recorded: &Plan, mut derived: Plan) -> (Plan, Vec<PlanDifference>) {
    adopt_settings(&mut derived, recorded.clone());
    let [recorded, derived_json] = [recorded, &derived].map(plan_to_json);
    (derived, find_differences(&recorded, &derived_json))
}

/// Takes over what does not follow from recipe, options and host. Lists that may only grow after a plan was made
/// are taken over if they have everything that follows: more unmet requirements or changes are more qualifiers.
fn adopt_settings(derived: &mut Plan, recorded: Plan) {
    derived.record_paths(|path| recorded.path_facts(path));
    derived.companions = recorded.companions;
    derived.withdraw_secrets(|name| recorded.secrets.iter().any(|secret| secret == name));
    derived.options = recorded.options;
    derived.batch = recorded.batch;
    derived.warnings = recorded.warnings;
    derived.node_differences = recorded.node_differences;
    derived.no_wait = recorded.no_wait;
    derived.require_accuracy = recorded.require_accuracy;
    derived.cache = recorded.cache;
    derived.verify_cache = recorded.verify_cache;
    derived.telemetry = recorded.telemetry;
    derived.lock = recorded.lock;
    let measurements = derived.measurements.iter_mut();
    for (derived, recorded) in measurements.zip(recorded.measurements) {
        derived.rules = recorded.rules;
    }
    adopt_superset(&mut derived.unmet, recorded.unmet);
    adopt_superset(&mut derived.changes, recorded.changes);
    adopt_superset(&mut derived.notes, recorded.notes);
}

/// The lock that a plan followed, as far as the plan shows it: the image's digest, and the commits and hashes of
/// models.
fn locked_versions(plan: &Plan, recipe: &Recipe) -> RecipeLock {
    let mut images = BTreeMap::new();
    if let Image::Pull { reference, .. } = &recipe.image
        && let Some((_, digest)) = plan.image.split_once('@')
    {
        images.insert(reference.clone(), digest.to_owned());
    }
    if let (Some(published), Some(pinned)) =
        (recipe.replaced.get("image"), plan.replaced.get("image"))
        && let Some(digest) = pinned.strip_prefix(published).and_then(|end| end.strip_prefix('@'))
    {
        images.insert(published.clone(), digest.to_owned());
    }
    let mut models = BTreeMap::new();
    for (name, model) in &recipe.models {
        let mut steps = plan.steps.iter();
        let fetched = steps.find_map(|step| match &step.action {
            Action::FetchModel(fetch) if fetch.model == *name => Some(fetch),
            _ => None,
        });
        if let (ModelSource::Hub { repository, revision, .. }, Some(fetch)) =
            (&model.source, fetched)
            && is_commit(&fetch.revision)
        {
            let locked =
                LockedModel { commit: fetch.revision.clone(), files: fetch.locked.clone() };
            models.insert(RecipeLock::model_key(repository, revision), locked);
        }
    }
    RecipeLock { images, models, ..RecipeLock::default() }
}

/// Replaces a list by one that has all of its elements, and perhaps more.
fn adopt_superset<T: PartialEq>(derived: &mut Vec<T>, recorded: Vec<T>) {
    if derived.iter().all(|one| recorded.contains(one)) {
        *derived = recorded;
    }
}

fn plan_to_json(plan: &Plan) -> Value {
    // A plan has no map whose keys are not texts.
    serde_json::to_value(plan).unwrap_or_default()
}

#[cfg(test)]
mod tests;
