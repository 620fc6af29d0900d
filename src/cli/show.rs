//! `retrial show`: a recipe's published figures, its requirements, privileges and options.

use std::fmt::Write as _;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest, RecipeRequest};
use crate::app::{hub, open, terminal};
use crate::plan::Plan;
use crate::plan::deviation::REIMPLEMENTED;
use crate::plan::text::downloads;
use crate::results::verdict::ExitCode;
use retrial_recipe::model::Recipe;
use retrial_recipe::{self};

/// Shows a recipe.
pub fn show(
    global: &GlobalOptions,
    request: &RecipeRequest,
    resolved: bool,
) -> Result<ExitCode, Failure> {
    let (opened, unset) = open::recipe_to_look_at(request)?;
    if resolved {
        if global.output == Output::Json {
            terminal::print_pretty(&opened.resolved.origins)?;
        } else {
            terminal::print(&origins_text(&opened.resolved));
        }
        return Ok(ExitCode::Success);
    }
    let recipe = &opened.resolved.recipe;
    if global.output == Output::Json {
        terminal::print_pretty(recipe)?;
        return Ok(ExitCode::Success);
    }
    let every = PlanRequest::everything(request.clone(), recipe.secrets.clone());
    let plan = open::plan(global, &every, &opened, false, &open::host_view(global))?;
    let axes = retrial_recipe::variants(&opened.entry.source, &opened.entry).ok();
    let shown = text(recipe, &plan, axes.as_ref(), &unset);
    terminal::print(&open::name_stand_ins(shown, &unset));
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
    let mut out = format!("{}\n# the source of each value\n", resolved.yaml.trim_end());
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
    if plan.judge.reimplemented {
        let _ = writeln!(out, "  qualifier  reimplemented: {REIMPLEMENTED}");
    }
    let _ = writeln!(out, "\npublished");
    let mut published = false;
    for measured in &plan.measurements {
        for (name, list) in &measured.expect {
            for one in list {
                published = true;
                let kind = one.kind.text();
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
        let _ = writeln!(out, "  no figures: results are measured and not compared");
    }
    let _ = writeln!(out, "\nrequirements");
    for line in requirements(recipe, plan) {
        let _ = writeln!(out, "  {line}");
    }
    let downloads = downloads::lines(plan, &hub::here());
    if !downloads.is_empty() {
        let _ = writeln!(out, "\ndownloads");
    }
    for line in downloads {
        let _ = writeln!(out, "  {line}");
    }
    list(&mut out, "host notes", &recipe.host_notes);
    list(&mut out, "deviates from the guide", &plan.deviations);
    let _ = writeln!(out, "\nprivileges that need your approval (--allow)");
    if plan.privileges.is_empty() {
        let _ = writeln!(out, "  none that is root-equivalent");
    }
    for privilege in &plan.privileges {
        let _ = writeln!(out, "  {:<14} {}", privilege.name, privilege);
    }
    options(&mut out, recipe, axes, unset);
    let _ = writeln!(out, "\nits steps: retrial plan {}", recipe.name);
    out
}

/// A list of the recipe's own.
fn list(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{title}");
    }
    for line in lines {
        let _ = writeln!(out, "  - {}", line.trim_end());
    }
}

fn requirements(recipe: &Recipe, plan: &Plan) -> Vec<String> {
    let requires = &recipe.requires;
    let gpus = requires.gpus.as_ref().map(|gpus| {
        let partition = gpus.partition.as_ref();
        let partition = partition.map(|mode| format!(", partition {mode}"));
        let (count, models) = (gpus.count, gpus.models.join(" or "));
        format!("{count} × {models}{}", partition.unwrap_or_default())
    });
    let time = recipe.expected_duration.map(|whole| {
        let whole = crate::format::limit(whole.as_secs());
        format!("{whole}{}, without downloads", plan.published_system())
    });
    let rows = [
        ("image", Some(plan.image.clone())),
        ("locked", plan.lock.as_ref().map(|lock| lock.path.clone())),
        ("GPUs", gpus),
        ("ROCm", requires.rocm.as_ref().map(ToString::to_string)),
        ("disk", requires.disk.map(crate::format::size)),
        ("memory", requires.memory.map(crate::format::size)),
        ("time", time),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let secrets = recipe.secrets.iter().map(|name| ("secret", name.clone()));
    let rows = rows.chain(secrets);
    let rows = rows.map(|(name, value)| format!("{name:<10} {value}"));
    let unmet = plan
        .unmet
        .iter()
        .map(|unmet| format!("on this host: {unmet}"));
    rows.chain(unmet).collect()
}

fn options(
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
    let _ = writeln!(out, "\noptions (--set NAME=VALUE)");
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
