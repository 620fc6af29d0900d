//! A batch as YAML that reads to the same batch from anywhere: a batch's batch.yaml.

use std::fmt::Write;

use super::model::{Batch, Combination};
use retrial_document::quoted;

/// The text. Paths stand as the batch has them: whoever keeps it makes them absolute before.
#[must_use]
pub fn text(batch: &Batch) -> String {
    let mut out = String::from("schema: 1\n");
    line(&mut out, "title", &batch.title);
    if let Some(description) = &batch.description {
        line(&mut out, "description", description);
    }
    out += "recipes:\n";
    for recipe in &batch.recipes {
        line(
            &mut out,
            &format!("  {}", name(&recipe.name)),
            &recipe.recipe.value,
        );
    }
    if !batch.vary.is_empty() {
        out += "vary:\n";
    }
    for axis in &batch.vary {
        let values = axis.values.iter().map(|value| value.value.as_str());
        list(&mut out, &format!("  {}", name(&axis.name.value)), values);
    }
    combinations(&mut out, "exclude", &batch.exclude);
    combinations(&mut out, "include", &batch.include);
    if !batch.set.is_empty() {
        out += "set:\n";
    }
    for set in &batch.set {
        line(&mut out, &format!("  {}", name(&set.value.0)), &set.value.1);
    }
    let scenarios = batch.scenarios.iter().map(|one| one.value.as_str());
    list(&mut out, "scenarios", scenarios);
    let modes: Vec<String> = batch.modes.iter().map(ToString::to_string).collect();
    list(&mut out, "modes", modes.iter().map(String::as_str));
    if let Some(baseline) = &batch.baseline {
        let _ = writeln!(out, "baseline: {}", flow(baseline));
    }
    let execution = &batch.execution;
    for (key, value) in [
        ("trials", execution.trials.to_string()),
        ("order", execution.order.word().to_owned()),
        ("on_failure", execution.on_failure.word().to_owned()),
        ("retries", execution.retries.to_string()),
        ("parallel", execution.parallel.to_string()),
        ("pull_ahead", execution.pull_ahead.word().to_owned()),
        ("confidence", execution.confidence.to_string()),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{key}: {value}");
    }
    list(&mut out, "gpus", execution.gpus.iter().map(String::as_str));
    if !batch.claims.is_empty() {
        out += "claims:\n";
    }
    for claim in &batch.claims {
        let _ = writeln!(out, "  - claim: {}", quoted(&claim.text.value, false));
        if let Some(source) = &claim.source {
            line(&mut out, "    source", source);
        }
    }
    if !batch.external_results.is_empty() {
        out += "others:\n";
    }
    for other in &batch.external_results {
        let _ = writeln!(out, "  {}:", name(&other.name));
        let runs = other.runs.iter().map(|run| run.value.as_str());
        list(&mut out, "    runs", runs);
    }
    out
}

fn name(text: &str) -> String {
    quoted(text, true)
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "{key}: {}", quoted(value, false));
}

fn list<'a>(out: &mut String, key: &str, values: impl Iterator<Item = &'a str>) {
    let values: Vec<String> = values.map(in_flow).collect();
    if !values.is_empty() {
        let _ = writeln!(out, "{key}: [{}]", values.join(", "));
    }
}

fn combinations(out: &mut String, key: &str, combinations: &[Combination]) {
    if !combinations.is_empty() {
        let _ = writeln!(out, "{key}:");
    }
    for combination in combinations {
        let _ = writeln!(out, "  - {}", flow(combination));
    }
}

fn flow(combination: &Combination) -> String {
    let mut pairs: Vec<String> = combination
        .values
        .iter()
        .map(|(name, value)| format!("{}: {}", self::name(&name.value), in_flow(&value.value)))
        .collect();
    let reason = combination.reason.iter();
    pairs.extend(reason.map(|why| format!("reason: {}", in_flow(why))));
    format!("{{ {} }}", pairs.join(", "))
}

/// A comma would part it.
fn in_flow(value: &str) -> String {
    let plain = quoted(value, false);
    if plain.contains(',') && !plain.starts_with('"') {
        format!("\"{plain}\"")
    } else {
        plain
    }
}
