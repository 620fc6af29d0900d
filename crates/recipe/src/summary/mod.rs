//! A recipe's summary for lists, read without choosing variants.

mod published;

use retrial_document::{Diagnostics, Node, Source, Value};
use serde::Serialize;

pub use published::PublishedFigure;

use super::TemplateSource;
use super::client_figures::declare_client_figures;
use super::load::load_merged;
use super::merge::settle_tree;
use super::model::GpuRequest;
use super::names::{DeclaredNames, evaluate_scalar};
use super::sweep::expand_sweeps;
use super::variants::{self, VariantChoice, Variants};

/// A line of `retrial list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    /// The GPUs that each machine needs; none if it needs none, or this is not known.
    #[serde(skip)]
    pub gpu_request: Option<GpuRequest>,
    /// Its images, with the default variants and with each other value of an axis.
    #[serde(skip)]
    pub images: Vec<ImageSummary>,
    /// The number of machines, if it needs several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<u32>,
    /// What a run needs besides the machine: secrets, and params without a default.
    pub needs: Vec<String>,
    /// The published figure that decides.
    pub published: Option<PublishedFigure>,
    /// The first source of the publication.
    pub source: Option<String>,
    /// The division in which it was submitted.
    #[serde(skip)]
    pub division: Option<String>,
    /// The number of GPUs of all machines, if it is known.
    #[serde(skip)]
    pub gpu_count: Option<u32>,
    /// All published figures of its performance, in the order of its scenarios.
    #[serde(skip)]
    pub figures: Vec<PublishedFigure>,
}

/// An image, as a recipe states it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageSummary {
    /// Its name; none of one that is built.
    pub name: Option<String>,
    /// The release of `ROCm` that the recipe says it contains.
    pub rocm: Option<String>,
}

/// A recipe's summary with another value of one axis.
#[derive(Debug, Clone, PartialEq)]
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
    let mut first = summarize_choice(&merged, usual.clone());
    let mut others = Vec::new();
    for axis in &variants.axes {
        for value in axis.values.iter().filter(|value| usual.get(&axis.name) != Some(*value)) {
            let mut choice = usual.clone();
            choice.insert(axis.name.clone(), value.clone());
            if variants.find_unsupported(&choice).is_some() {
                continue;
            }
            let other = summarize_choice(&merged, choice);
            let is_new = |image: &&ImageSummary| !first.images.contains(image);
            let images: Vec<ImageSummary> = other.images.iter().filter(is_new).cloned().collect();
            first.images.extend(images);
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
    let scope = SummaryScope { recipe: &recipe, names: &names };
    let published = |key: &str| scope.text(recipe.descendant(&["submission", key]));
    let sources = recipe.descendant(&["submission", "sources"]);
    let requested = |key: &str| scope.text(recipe.descendant(&["requires", "gpus", key]));
    let models_node = recipe.descendant(&["requires", "gpus", "models"]);
    let models = models_node.map_or(&[][..], Node::items);
    let gpu_models: Vec<String> =
        models.iter().filter_map(|model| scope.text(Some(model))).collect();
    let machines = scope.text(recipe.descendant(&["nodes", "count"]));
    let machines: Option<u32> = machines.and_then(|count| count.parse().ok());
    let gpus_of_all = scope.text(recipe.descendant(&["nodes", "gpus"]));
    let gpu_count = gpus_of_all.and_then(|count| count.parse().ok()).or_else(|| {
        let per_machine: u32 = requested("count")?.parse().ok()?;
        per_machine.checked_mul(machines.unwrap_or(1))
    });
    let mut expanded = recipe.clone();
    expand_sweeps(&mut expanded, &mut Diagnostics::default());
    declare_client_figures(&mut expanded);
    let figures = published::published_figures(&SummaryScope { recipe: &expanded, names: &names });
    RecipeSummary {
        title: scope.text(recipe.get("title")).unwrap_or_default().trim().to_owned(),
        suite: published("suite"),
        round: published("round"),
        submitter: published("submitter"),
        system: published("system"),
        benchmark: published("benchmark"),
        gpus: describe_gpus(requested("count"), &gpu_models, requested("vendor")),
        gpu_request: scope.gpu_request(&gpu_models),
        gpu_models,
        images: vec![ImageSummary {
            name: scope
                .text(recipe.get("image"))
                .or_else(|| scope.text(recipe.descendant(&["image", "ref"]))),
            rocm: scope.text(recipe.descendant(&["image", "contains", "rocm"])),
        }],
        machines,
        needs: scope.needs(),
        published: published::first_deciding(&figures).cloned(),
        source: scope.text(sources.and_then(|sources| sources.items().first())),
        division: published("division"),
        gpu_count,
        figures,
    }
}

/// A recipe with the values of its expressions.
struct SummaryScope<'a> {
    recipe: &'a Node,
    names: &'a DeclaredNames,
}

impl SummaryScope<'_> {
    fn text(&self, node: Option<&Node>) -> Option<String> {
        match &node?.value {
            Value::Scalar(scalar) => {
                evaluate_scalar(scalar, &self.names.scope).ok().map(|value| value.text)
            }
            _ => None,
        }
    }

    fn number(&self, node: &Node) -> Option<f64> {
        self.text(Some(node))?.parse().ok()
    }

    fn gpu_request(&self, models: &[String]) -> Option<GpuRequest> {
        let gpus = self.recipe.descendant(&["requires", "gpus"])?;
        Some(GpuRequest {
            vendor: gpus.get("vendor")?.text()?.parse().ok()?,
            models: models.to_vec(),
            count: self.text(gpus.get("count"))?.parse().ok()?,
            partition: None,
        })
    }

    /// Returns the secrets, and the params that must be set.
    fn needs(&self) -> Vec<String> {
        let secrets = self.recipe.items_at("secrets").iter();
        let secrets = secrets.filter_map(|secret| self.text(Some(secret)));
        let params = self.recipe.present_entries_at("params");
        let unset = params.filter(|(_, param)| param.get("default").is_none());
        secrets.chain(unset.map(|(name, _)| format!("--set {name}=…"))).collect()
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
