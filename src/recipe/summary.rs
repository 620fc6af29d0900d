//! What a recipe says of itself, for lists: read without choosing variants.

use serde::Serialize;

use super::Templates;
use super::diagnostic::Diagnostics;
use super::load::load;
use super::merge::settle;
use super::names::{Names, evaluate};
use super::node::{Node, Value};
use super::source::Source;
use super::variants::{self, Choice, Variants};

/// A line of `retrial list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its title.
    pub title: String,
    /// `mlperf-inference`
    pub suite: Option<String>,
    /// `v6.0`
    pub round: Option<String>,
    /// `closed`, `open`
    pub division: Option<String>,
    /// Who submitted.
    pub submitter: Option<String>,
    /// The system as published.
    pub system: Option<String>,
    /// The benchmark as published.
    pub benchmark: Option<String>,
    /// `8 x MI355X`, or what is known of it.
    pub gpus: Option<String>,
    /// Scenarios and named cases, as they are keyed.
    pub scenarios: Vec<String>,
    /// Where it was published, the first place.
    pub source: Option<String>,
}

/// What a recipe says of itself, with its default variants.
///
/// # Errors
/// The file is no recipe.
pub fn summarize(source: &Source, templates: &dyn Templates) -> Result<Summary, Diagnostics> {
    let mut problems = Diagnostics::default();
    let Some(merged) = load(source, templates, &mut problems) else {
        return Err(problems);
    };
    let variants = Variants::read(&merged, &mut problems);
    let choice: Choice = variants
        .axes
        .iter()
        .filter_map(|axis| Some((axis.name.clone(), axis.default.clone()?)))
        .collect();
    let chosen = variants::apply(&merged, &choice, &mut problems);
    let recipe = settle(chosen, &mut problems);
    let names = Names::read(&recipe, choice, &mut problems);
    let text = |node: Option<&Node>| match &node?.value {
        Value::Scalar(scalar) => evaluate(scalar, &names.scope).ok().map(|value| value.text),
        _ => None,
    };
    let submission = recipe.get("submission");
    let published = |key: &str| text(submission.and_then(|submission| submission.get(key)));
    let sources = submission.and_then(|submission| submission.get("sources"));
    let scenarios = recipe.get("scenarios").into_iter().flat_map(Node::named);
    Ok(Summary {
        title: text(recipe.get("title"))
            .unwrap_or_default()
            .trim()
            .to_owned(),
        suite: published("suite"),
        round: published("round"),
        division: published("division"),
        submitter: published("submitter"),
        system: published("system"),
        benchmark: published("benchmark"),
        gpus: recipe
            .get("requires")
            .and_then(|requires| requires.get("gpus"))
            .and_then(|gpus| {
                let models = gpus.get("models").map_or(&[][..], Node::items);
                let models: Vec<String> = models
                    .iter()
                    .filter_map(|model| text(Some(model)))
                    .collect();
                describe(text(gpus.get("count")), &models, text(gpus.get("vendor")))
            }),
        scenarios: scenarios.map(|(name, _)| name.to_owned()).collect(),
        source: text(sources.and_then(|sources| sources.items().first())),
    })
}

fn describe(count: Option<String>, models: &[String], vendor: Option<String>) -> Option<String> {
    let what = if models.is_empty() {
        vendor.map(|vendor| vendor.to_uppercase())
    } else {
        Some(models.join(" or "))
    };
    match (count, what) {
        (Some(count), Some(what)) => Some(format!("{count} x {what}")),
        (count, what) => count.or(what),
    }
}
