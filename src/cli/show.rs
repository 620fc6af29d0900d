//! `retrial show`: what a recipe is, what was published, what it asks of host and trust.

use std::fmt::Write as _;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest, RecipeRequest};
use crate::app::{open, terminal};
use crate::plan::Plan;
use crate::results::verdict::ExitCode;
use retrial_recipe::model::{ExpectationKind, Recipe};
use retrial_recipe::{self};

/// Shows a recipe.
pub fn show(
    global: &GlobalOptions,
    request: &RecipeRequest,
    resolved: bool,
) -> Result<ExitCode, Failure> {
    let (opened, unset) = open::recipe_to_look_at(request)?;
    if resolved {
        let text = if global.output == Output::Json {
            let origins = serde_json::to_string_pretty(&opened.resolved.origins);
            origins.map_err(|error| Failure::host(error.to_string()))? + "\n"
        } else {
            origins_text(&opened.resolved)
        };
        terminal::print(&text);
        return Ok(ExitCode::Success);
    }
    let recipe = &opened.resolved.recipe;
    if global.output == Output::Json {
        let text = serde_json::to_string_pretty(recipe)
            .map_err(|error| Failure::host(error.to_string()))?;
        terminal::print(&format!("{text}\n"));
        return Ok(ExitCode::Success);
    }
    let every = PlanRequest::everything(request.clone(), recipe.secrets.clone());
    let plan = open::plan(global, &every, &opened, false)?;
    let axes = retrial_recipe::variants(&opened.entry.source, &opened.entry).ok();
    let mut shown = text(recipe, &plan, axes.as_ref(), &unset);
    for name in &unset {
        let named = format!("${{{{ params.{name} }}}}");
        shown = shown.replace(&open::stand_in(name), &named);
    }
    terminal::print(&shown);
    Ok(ExitCode::Success)
}

fn origins_text(resolved: &retrial_recipe::Resolved) -> String {
    let width = resolved
        .origins
        .iter()
        .map(|origin| origin.key.len())
        .max()
        .unwrap_or(0)
        .min(60);
    let mut out = format!(
        "{}\n# where each value came from\n",
        resolved.yaml.trim_end()
    );
    for origin in &resolved.origins {
        let value: String = origin
            .value
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        let _ = writeln!(
            out,
            "# {:<width$}  {}  ({})",
            origin.key, value, origin.from
        );
    }
    out
}

fn text(
    recipe: &Recipe,
    plan: &Plan,
    axes: Option<&retrial_recipe::Variants>,
    unset: &[String],
) -> String {
    let mut out = String::new();
    let submission = &recipe.submission;
    let _ = writeln!(out, "{}", recipe.title);
    if let Some(description) = &recipe.description {
        let _ = writeln!(out, "{}", description.trim_end());
    }
    let _ = writeln!(out, "\nsubmission");
    let rows = [
        ("suite", Some(submission.suite.clone())),
        ("round", submission.round.clone()),
        ("division", submission.division.clone()),
        ("submitter", submission.submitter.clone()),
        ("system", submission.system.clone()),
        ("benchmark", Some(submission.benchmark.clone())),
    ];
    for (key, value) in rows {
        if let Some(value) = value {
            let _ = writeln!(out, "  {key:<10} {value}");
        }
    }
    for source in &submission.sources {
        let _ = writeln!(out, "  source     {source}");
    }
    if let Some(rules) = plan.judged_by() {
        let _ = writeln!(out, "  rules      {rules}");
    }
    let _ = writeln!(out, "\npublished");
    let mut published = false;
    for measured in &plan.measurements {
        for (name, list) in &measured.expect {
            for one in list {
                published = true;
                let kind = match one.kind {
                    ExpectationKind::Official => "official",
                    ExpectationKind::Guide => "guide",
                    ExpectationKind::ThirdParty => "third party",
                };
                let source = one
                    .source
                    .as_deref()
                    .map(|source| format!(", {source}"))
                    .unwrap_or_default();
                let what = format!("{} {}", measured.scenario, measured.mode);
                let _ = writeln!(out, "  {what:<24} {name} {} ({kind}{source})", one.value);
            }
        }
    }
    if !published {
        let _ = writeln!(out, "  nothing in figures: what is measured is only told");
    }
    let _ = writeln!(out, "\nasks of the host");
    for line in asks(recipe, plan) {
        let _ = writeln!(out, "  {line}");
    }
    said(&mut out, "host notes", &recipe.host_notes);
    said(&mut out, "deviates from the guide", &recipe.deviations);
    let _ = writeln!(out, "\nasks for your trust");
    if plan.privileges.is_empty() {
        let _ = writeln!(out, "  nothing that is as good as root");
    }
    for power in &plan.privileges {
        let _ = writeln!(out, "  {:<14} {}", power.name, power);
    }
    choices(&mut out, recipe, axes, unset);
    let _ = writeln!(out, "\nits steps: retrial plan {}", recipe.name);
    out
}

/// A list that the recipe says of itself.
fn said(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{title}");
    }
    for line in lines {
        let _ = writeln!(out, "  - {}", line.trim_end());
    }
}

fn asks(recipe: &Recipe, plan: &Plan) -> Vec<String> {
    let requires = &recipe.requires;
    let size = |bytes: u64| crate::format::size(bytes);
    let mut lines = vec![format!("image      {}", plan.image)];
    lines.extend(
        plan.lock
            .iter()
            .map(|lock| format!("locked     {}", lock.path)),
    );
    if let Some(gpus) = &requires.gpus {
        let partition = gpus
            .partition
            .as_deref()
            .map(|mode| format!(", partition {mode}"))
            .unwrap_or_default();
        lines.push(format!(
            "GPUs       {} × {}{partition}",
            gpus.count,
            gpus.models.join(" or ")
        ));
    }
    lines.extend(
        requires
            .rocm
            .iter()
            .map(|range| format!("ROCm       {range}")),
    );
    lines.extend(
        requires
            .disk
            .map(|bytes| format!("disk       {}", size(bytes))),
    );
    lines.extend(
        requires
            .memory
            .map(|bytes| format!("memory     {}", size(bytes))),
    );
    lines.extend(recipe.expected_duration.map(|whole| {
        let whole = crate::format::limit(whole.as_secs());
        format!("time       {whole} where it was published, besides downloads")
    }));
    lines.extend(
        recipe
            .secrets
            .iter()
            .map(|name| format!("secret     {name}")),
    );
    lines.extend(plan.unmet.iter().map(|check| format!("here: {check}")));
    lines
}

fn choices(
    out: &mut String,
    recipe: &Recipe,
    axes: Option<&retrial_recipe::Variants>,
    unset: &[String],
) {
    let axes = axes
        .map(|variants| variants.axes.as_slice())
        .unwrap_or_default();
    if recipe.params.is_empty() && axes.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nchoices (--set NAME=VALUE)");
    for axis in axes {
        let chosen = recipe
            .variant
            .get(&axis.name)
            .map_or("none", String::as_str);
        let _ = writeln!(
            out,
            "  {:<14} {} (one of {})",
            axis.name,
            chosen,
            axis.values.join(", ")
        );
    }
    for (name, value) in &recipe.params {
        if unset.contains(name) {
            let _ = writeln!(out, "  {name:<14} must be set");
        } else {
            let _ = writeln!(out, "  {name:<14} {value}");
        }
    }
}
