//! The parts of the recipe on the command line: variants, params, scenarios, steps.

use clap_complete::engine::CompletionCandidate;

use super::{candidate, typed_words};
use crate::app::catalog::{self, FoundRecipe};
use crate::app::launch::stand_ins::resolve_with_stand_ins;
use retrial_host::model::HostView;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::{Plan, PlanOptions, build_plan};
use retrial_recipe::LoadedRecipe;

/// The first word that is a recipe.
fn typed_recipe() -> Option<FoundRecipe> {
    let words = typed_words();
    let mut names = words.iter().skip(2).filter(|word| !word.is_empty());
    names.find_map(|name| catalog::open_recipe(name).ok())
}

fn load_typed_recipe() -> Option<LoadedRecipe> {
    let found = typed_recipe()?;
    LoadedRecipe::from_source(&found.name, &found.source, &found).ok()
}

/// Each value of each variant, and the params with their purpose: `rocm=7.1.1`, `batch=`.
pub fn settings(_: &str) -> Vec<CompletionCandidate> {
    let Some(loaded) = load_typed_recipe() else {
        return Vec::new();
    };
    let axes = loaded.variants().axes.iter();
    let variants = axes.flat_map(|axis| {
        let values = axis.values.iter();
        values.map(|value| candidate(format!("{}={value}", axis.name), "variant"))
    });
    let params = loaded.declared_params().into_iter().flat_map(|param| {
        let help = param.help.unwrap_or_default();
        let values = match param.kind.as_str() {
            "enum" => param.values,
            "bool" => vec!["true".to_owned(), "false".to_owned()],
            _ => vec![String::new()],
        };
        let name = param.name;
        let each = values.into_iter();
        each.map(move |value| candidate(format!("{name}={value}"), help.trim_end()))
    });
    variants.chain(params).collect()
}

/// The names of variants and params.
pub fn axes(_: &str) -> Vec<CompletionCandidate> {
    let Some(loaded) = load_typed_recipe() else {
        return Vec::new();
    };
    let axes = loaded.variants().axes.iter();
    let axes = axes.map(|axis| candidate(&axis.name, axis.values.join(", ")));
    let params = loaded.declared_params().into_iter();
    axes.chain(params.map(|param| candidate(param.name, param.help.unwrap_or_default()))).collect()
}

pub fn scenarios(_: &str) -> Vec<CompletionCandidate> {
    let keys = load_typed_recipe().map(|loaded| loaded.scenario_keys());
    keys.into_iter().flatten().map(|key| candidate(key, "")).collect()
}

pub fn points(_: &str) -> Vec<CompletionCandidate> {
    let points = load_typed_recipe().map(|loaded| loaded.sweep_points());
    points.into_iter().flatten().map(|(point, axis)| candidate(point, axis)).collect()
}

/// The steps of the recipe's plan.
pub fn steps(_: &str) -> Vec<CompletionCandidate> {
    let plan = typed_recipe().and_then(|found| {
        let (opened, _) = resolve_with_stand_ins(found, Vec::new()).ok()?;
        let origin = RecipeOrigin {
            hash: opened.resolved.hash.clone(),
            built_in: opened.entry.is_builtin(),
            ..RecipeOrigin::default()
        };
        let recipe = &opened.resolved.recipe;
        build_plan(recipe, &origin, &PlanOptions::default(), &HostView::default()).ok()
    });
    plan.map(|plan| list_steps(&plan)).unwrap_or_default()
}

/// The steps of a plan, with their numbers.
pub fn list_steps(plan: &Plan) -> Vec<CompletionCandidate> {
    let steps = plan.steps.iter();
    steps.map(|step| candidate(&step.name, format!("step {}", step.number))).collect()
}
