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
        let of_machine = derivation.find_node_differences(&host, &executed)?;
        differences.extend(of_machine.into_iter().map(|difference| PlanDifference {
            path: format!("{prefix}plan.json: {}", difference.path),
            ..difference
        }));
    }
    Ok(differences)
}

/// Returns a run's plan with the facts by which it is judged as they follow from its recipe, and a warning that names
/// the first that was recorded otherwise. A plan that cannot be derived again is left as it is.
pub fn derive_judged_facts(run: &RunDirectory, mut plan: Plan) -> Plan {
    let derived = || {
        let (resolved, recipe_hash) = read_recipe(run, &plan).ok()?;
        let host = read_host(run, "").ok()?;
        let (recipe, recipe_hash) = (&resolved.recipe, recipe_hash.as_str());
        Derivation { recorded: &plan, recipe, recipe_hash, host: &host }.derive_closest_plan().ok()
    };
    let Some((derived, differences)) = derived() else {
        return plan;
    };
    let mut warning = None;
    for difference in &differences {
        if adopt_fact(&mut plan, &derived, difference.key()) {
            warning.get_or_insert_with(|| describe_foreign_plan(difference));
        }
    }
    plan.warnings.extend(warning);
    plan
}

/// Says that a plan does not follow from the run's recipe: by a plan that was written by hand any log is reproduced.
pub fn describe_foreign_plan(first: &PlanDifference) -> String {
    format!("its plan does not follow from its recipe.yaml: {first}")
}

/// Takes one fact of a plan over, if a run is judged by it; returns whether it is.
fn adopt_fact(plan: &mut Plan, derived: &Plan, key: &str) -> bool {
    match key {
        "measurements" => {
            let identities = |plan: &Plan| -> Vec<_> {
                let all = plan.measurements.iter();
                all.map(|measured| (measured.key.clone(), measured.mode)).collect()
            };
            // The files of other measurements are not those that were made.
            if identities(plan) == identities(derived) {
                plan.measurements.clone_from(&derived.measurements);
            }
        }
        "submission" => plan.submission.clone_from(&derived.submission),
        "claims" => plan.claims.clone_from(&derived.claims),
        "judge" => plan.judge.clone_from(&derived.judge),
        "packages" => plan.packages.clone_from(&derived.packages),
        "excluded_accuracy" => plan.excluded_accuracy.clone_from(&derived.excluded_accuracy),
        "modified" => plan.modified.clone_from(&derived.modified),
        "given_params" => plan.given_params.clone_from(&derived.given_params),
        "params" => plan.params.clone_from(&derived.params),
        "variant" => plan.variant.clone_from(&derived.variant),
        "replaced" => plan.replaced.clone_from(&derived.replaced),
        "base" => plan.base.clone_from(&derived.base),
        "published_image" => plan.published_image.clone_from(&derived.published_image),
        "changes" => plan.changes.clone_from(&derived.changes),
        "unmet" => plan.unmet.clone_from(&derived.unmet),
        "trial_run" => plan.trial_run = derived.trial_run,
        "pinned" => plan.pinned = derived.pinned,
        "same_sku" => plan.same_sku = derived.same_sku,
        _ => return false,
    }
    true
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
fn read_host(part: &RunDirectory, prefix: &str) -> Result<HostView, PlanDerivationError> {
    part.read_host().map_err(|error| {
        PlanDerivationError::from_file_error(&format!("{prefix}host.json"), &error)
    })
}
