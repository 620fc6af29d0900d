//! Checks that the recipes of a batch have the axes, values and scenarios that it names.

use super::axis_domain::{AxisDomain, is_known_axis, unknown_axis, unknown_value};
use super::model::{Batch, Spanned};
use super::names::RECIPE;
use retrial_mlperf::ScenarioName;
use retrial_recipe::{Diagnostics, did_you_mean};

/// Returns a problem for every name that means nothing to the recipes.
pub(super) fn check_names(batch: &Batch, recipes: &[AxisDomain]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    for axis in &batch.vary {
        let name = &axis.name.value;
        if !is_known_axis(recipes, name) {
            problems.push(unknown_axis(recipes, name, &axis.name.span));
            continue;
        }
        for value in &axis.values {
            check_value(batch, recipes, &axis.name, value, &mut problems);
        }
        if let Some((_, set)) = batch.set.iter().find(|(set, _)| set == name) {
            let message = format!("`{name}` is both varied and set");
            problems.error("conflict", message, &set.span, "remove one of them");
        }
    }
    for (name, value) in &batch.set {
        let name = Spanned { value: name.clone(), span: value.span.clone() };
        check_value(batch, recipes, &name, value, &mut problems);
    }
    for scenario in &batch.scenarios {
        let all = recipes.iter().flat_map(|domain| &domain.scenarios);
        let wanted = ScenarioName::from(scenario.value.as_str());
        if !all.clone().any(|name| *name == wanted) {
            let mut names: Vec<&str> = all.map(ScenarioName::as_str).collect();
            names.dedup();
            let message = format!("no recipe has the scenario `{}`", scenario.value);
            report_unknown_value(&message, scenario, names, &mut problems);
        }
    }
    let excluded_and_included = batch.exclude.iter().chain(&batch.include);
    let external = batch.external_results.iter().filter_map(|(_, other)| other.cells.as_ref());
    let combinations = excluded_and_included.chain(&batch.baseline).chain(external);
    for (name, value) in combinations.flat_map(|combination| &combination.values) {
        if name.value != RECIPE {
            check_value(batch, recipes, name, value, &mut problems);
            continue;
        }
        let names: Vec<&str> = batch.recipes.iter().map(|recipe| &*recipe.name).collect();
        if !names.contains(&&*value.value) {
            let message = format!("no recipe `{}` in this batch", value.value);
            report_unknown_value(&message, value, names, &mut problems);
        }
    }
    problems
}

fn check_value(
    batch: &Batch,
    recipes: &[AxisDomain],
    name: &Spanned<String>,
    value: &Spanned<String>,
    problems: &mut Diagnostics,
) {
    let problem = if is_known_axis(recipes, &name.value) {
        let setting = batch.setting(&name.value, &value.value).to_owned();
        let setting = Spanned { value: setting, span: value.span.clone() };
        unknown_value(recipes, &name.value, &setting)
    } else {
        Some(unknown_axis(recipes, &name.value, &name.span))
    };
    if let Some(problem) = problem {
        problems.push(problem);
    }
}

fn report_unknown_value(
    message: &str,
    value: &Spanned<String>,
    names: Vec<&str>,
    problems: &mut Diagnostics,
) {
    let help = did_you_mean(&value.value, names, "there are");
    problems.error("unknown-value", message, &value.span, help);
}
