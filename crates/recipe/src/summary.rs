//! A recipe's summary for lists, read without choosing variants.

use retrial_document::{Diagnostics, Node, Source, Value};
use serde::Serialize;

use super::TemplateSource;
use super::load::load_merged;
use super::merge::settle_tree;
use super::names::{DeclaredNames, evaluate_scalar};
use super::variants::{self, VariantChoice, Variants};

/// A line of `retrial list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RecipeSummary {
    /// The recipe's title in one line.
    pub title: String,
    /// The suite that the benchmark is of: `mlperf-inference`.
    pub suite: Option<String>,
    /// The round in which it was submitted: `v6.0`.
    pub round: Option<String>,
    /// The submitter of the published result.
    pub submitter: Option<String>,
    /// The system's name as published.
    pub system: Option<String>,
    /// The benchmark's name as published.
    pub benchmark: Option<String>,
    /// Number and model of the GPUs: `8 x MI355X`, or the part that is known.
    pub gpus: Option<String>,
    /// The models of the GPUs: `MI355X`.
    #[serde(skip)]
    pub gpu_models: Vec<String>,
    /// The first source of the publication.
    pub source: Option<String>,
}

/// A recipe's summary with another value of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantSummary {
    /// The axis of variants: `gpu`.
    pub axis: String,
    /// The value of the axis: `mi300x`.
    pub value: String,
    /// The summary of the recipe with this value.
    pub summary: RecipeSummary,
}

/// Returns a recipe's summary with its default variants, and one for each variant that is another
/// submission.
///
/// # Errors
/// Returns the problems if the file is not a recipe.
pub fn summarize(
    source: &Source,
    templates: &dyn TemplateSource,
) -> Result<(RecipeSummary, Vec<VariantSummary>), Diagnostics> {
    let mut problems = Diagnostics::default();
    let Some(merged) = load_merged(source, templates, &mut problems) else {
        return Err(problems);
    };
    let variants = Variants::from_recipe(&merged, &mut problems);
    let usual = variants.default_choice();
    let first = summarize_choice(&merged, usual.clone());
    let mut others = Vec::new();
    for axis in &variants.axes {
        for value in axis
            .values
            .iter()
            .filter(|value| usual.get(&axis.name) != Some(*value))
        {
            let mut choice = usual.clone();
            choice.insert(axis.name.clone(), value.clone());
            if variants.find_unsupported(&choice).is_some() {
                continue;
            }
            let other = summarize_choice(&merged, choice);
            if other.is_another_submission(&first) {
                others.push(VariantSummary {
                    axis: axis.name.clone(),
                    value: value.clone(),
                    summary: other,
                });
            }
        }
    }
    Ok((first, others))
}

impl RecipeSummary {
    /// Returns whether it is of another submitter, system, benchmark or GPU.
    fn is_another_submission(&self, other: &Self) -> bool {
        self.submitter != other.submitter
            || self.system != other.system
            || self.benchmark != other.benchmark
            || self.gpus != other.gpus
    }
}

/// Summarizes the recipe with this choice. `check` reports its problems.
fn summarize_choice(merged: &Node, choice: VariantChoice) -> RecipeSummary {
    let mut problems = Diagnostics::default();
    let chosen = variants::apply_variants(merged, &choice, &mut problems);
    let recipe = settle_tree(chosen, &mut problems);
    let names = DeclaredNames::from_recipe(&recipe, choice, &mut problems);
    let text = |node: Option<&Node>| match &node?.value {
        Value::Scalar(scalar) => evaluate_scalar(scalar, &names.scope)
            .ok()
            .map(|value| value.text),
        _ => None,
    };
    let published = |key: &str| text(recipe.descendant(&["submission", key]));
    let sources = recipe.descendant(&["submission", "sources"]);
    let requested = |key: &str| text(recipe.descendant(&["requires", "gpus", key]));
    let models_node = recipe.descendant(&["requires", "gpus", "models"]);
    let models = models_node.map_or(&[][..], Node::items);
    let gpu_models: Vec<String> = models
        .iter()
        .filter_map(|model| text(Some(model)))
        .collect();
    RecipeSummary {
        title: text(recipe.get("title"))
            .unwrap_or_default()
            .trim()
            .to_owned(),
        suite: published("suite"),
        round: published("round"),
        submitter: published("submitter"),
        system: published("system"),
        benchmark: published("benchmark"),
        gpus: describe_gpus(requested("count"), &gpu_models, requested("vendor")),
        gpu_models,
        source: text(sources.and_then(|sources| sources.items().first())),
    }
}

fn describe_gpus(
    count: Option<String>,
    models: &[String],
    vendor: Option<String>,
) -> Option<String> {
    let model = if models.is_empty() {
        vendor.map(|vendor| vendor.to_uppercase())
    } else {
        Some(models.join(" or "))
    };
    match (count, model) {
        (Some(count), Some(model)) => Some(format!("{count} x {model}")),
        (count, model) => count.or(model),
    }
}
