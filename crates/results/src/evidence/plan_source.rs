//! The sources of a run's plan: its recipe, its settings and its host, as its files have them. Whoever signs or
//! packs a run may have written its plan by hand.

use std::path::Path;

use sha2::{Digest, Sha256};
use thiserror::Error;

use retrial_host::model::HostView;
use retrial_plan::build::PlanError;
use retrial_plan::difference::PlanDifference;
use retrial_plan::{Derivation, Plan};
use retrial_recipe::{MAX_DOCUMENT_BYTES, NoTemplates, ResolvedRecipe, Source, resolve_recipe};
use retrial_store::open::read_text_beneath;
use retrial_store::{RunDirectory, StoreError};

/// The keys of a plan by which its run is judged.
const JUDGED_FACTS: [&str; 18] = [
    "measurements",
    "submission",
    "claims",
    "judge",
    "packages",
    "excluded_accuracy",
    "modified",
    "given_params",
    "params",
    "variant",
    "replaced",
    "base",
    "published_image",
    "changes",
    "unmet",
    "smoke_test",
    "pinned",
    "same_sku",
];

/// Reasons why a plan cannot be derived again.
#[derive(Debug, Error)]
pub enum PlanDerivationError {
    /// A file of the run that it was made from cannot be read.
    #[error("{file}: {reason}")]
    File {
        /// The file, below the run's directory.
        file: String,
        /// Why it cannot be read, as a lower-case fragment.
        reason: String,
    },
    /// This version of the program does not read the recipe.
    #[error("recipe.yaml is not a recipe of this version: {0}")]
    Recipe(String),
    /// The recipe gives no plan with the recorded settings.
    #[error("recipe.yaml gives no plan with the recorded settings: {0}")]
    Plan(#[from] PlanError),
}

impl PlanDerivationError {
    fn from_file_error(file: &str, error: &StoreError) -> Self {
        Self::File { file: file.to_owned(), reason: error.reason_without_path() }
    }
}

/// Derives the plan of a run again from its recipe.yaml and host.json, and those of its other machines. Returns
/// every difference of the recorded plans.
///
/// # Errors
/// If a file is missing, or the recipe gives no plan.
pub fn plan_differences(
    run: &RunDirectory,
    plan: &Plan,
) -> Result<Vec<PlanDifference>, PlanDerivationError> {
    let (resolved, recipe_hash) = read_recipe(run, plan)?;
    let host = read_host(run, "")?;
    let derivation = Derivation {
        recorded: plan,
        recipe: &resolved.recipe,
        recipe_hash: &recipe_hash,
        host: &host,
    };
    let mut differences = derivation.find_differences()?;
    for name in run.list_other_machines() {
        let part = run.machine_directory(&name);
        let prefix = format!("nodes/{name}/");
        let executed: Plan = part.read_json("plan.json").map_err(|error| {
            PlanDerivationError::from_file_error(&format!("{prefix}plan.json"), &error)
        })?;
        let host = read_host(&part, &prefix)?;
        let node_differences = derivation.find_node_differences(&host, &executed)?;
        differences.extend(node_differences.into_iter().map(|difference| PlanDifference {
            path: format!("{prefix}plan.json: {}", difference.path),
            ..difference
        }));
    }
    Ok(differences)
}

/// Returns a run's plan with the facts by which it is judged as they follow from its recipe, and a warning that names
/// the first that was recorded otherwise. A plan that cannot be derived again is left as it is.
pub fn derive_judged_facts(run: &RunDirectory, plan: Plan) -> Plan {
    let derived = || {
        let (resolved, recipe_hash) = read_recipe(run, &plan).ok()?;
        let host = read_host(run, "").ok()?;
        let (recipe, recipe_hash) = (&resolved.recipe, recipe_hash.as_str());
        let derivation = Derivation { recorded: &plan, recipe, recipe_hash, host: &host };
        let (derived, differences) = derivation.derive_closest_plan().ok()?;
        let mut judged = differences.iter().filter(|one| JUDGED_FACTS.contains(&one.key()));
        let warning = describe_foreign_plan(judged.next()?);
        Some((adopt_facts(&plan, &derived)?, warning))
    };
    let Some((mut derived, warning)) = derived() else {
        return plan;
    };
    derived.warnings.push(warning);
    derived
}

/// Takes over the facts by which a run is judged. Measurements are those of the plan that made its files, so that others
/// are not judged.
fn adopt_facts(recorded: &Plan, derived: &Plan) -> Option<Plan> {
    let mut facts = serde_json::to_value(recorded).ok()?;
    let derived_facts = serde_json::to_value(derived).ok()?;
    let is_same = recorded.measurements.len() == derived.measurements.len()
        && recorded
            .measurements
            .iter()
            .zip(&derived.measurements)
            .all(|(one, other)| one.key == other.key && one.mode == other.mode);
    for key in JUDGED_FACTS.iter().filter(|key| is_same || **key != "measurements") {
        let object = facts.as_object_mut()?;
        match derived_facts.get(key) {
            Some(fact) => drop(object.insert((*key).to_owned(), fact.clone())),
            None => drop(object.remove(*key)),
        }
    }
    serde_json::from_value(facts).ok()
}

/// Says that a plan does not follow from the run's recipe: by a plan that was written by hand any log is reproduced.
pub fn describe_foreign_plan(first: &PlanDifference) -> String {
    format!("its plan does not follow from its recipe.yaml: {first}")
}

/// Returns the recipe of a run as resolved, and the hash of its text.
fn read_recipe(
    run: &RunDirectory,
    plan: &Plan,
) -> Result<(ResolvedRecipe, String), PlanDerivationError> {
    const FILE: &str = "recipe.yaml";
    let text = read_text_beneath(run.path(), Path::new(FILE), MAX_DOCUMENT_BYTES as u64)
        .map_err(|error| PlanDerivationError::from_file_error(FILE, &error))?;
    let hash = hex::encode(Sha256::digest(&text));
    // The stored recipe is resolved: its templates are merged, and its variants chosen.
    let resolution = resolve_recipe(&plan.recipe, &Source::new(FILE, text), &NoTemplates, &[]);
    let resolved = resolution.map_err(|problems| {
        let first = problems.iter().next();
        PlanDerivationError::Recipe(
            first.map_or_else(String::new, |problem| problem.message.clone()),
        )
    })?;
    Ok((resolved, hash))
}

/// Returns the host of a run, or of a machine of it, by its host.json.
pub(super) fn read_host(
    part: &RunDirectory,
    prefix: &str,
) -> Result<HostView, PlanDerivationError> {
    part.read_host().map_err(|error| {
        PlanDerivationError::from_file_error(&format!("{prefix}host.json"), &error)
    })
}
