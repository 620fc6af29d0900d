//! A batch as YAML that reads to the same batch from anywhere: a batch's batch.yaml.

use serde_json::{Map, Value, json};

use super::model::{Batch, Combination, Spanned};
use retrial_document::json_to_yaml;

/// Returns the text. Paths stay as the batch has them: the caller makes them absolute before.
pub fn to_yaml(batch: &Batch) -> String {
    let recipes = batch.recipes.iter();
    let axes = batch.vary.iter();
    let others = batch.external_results.iter();
    let claims = batch.claims.iter();
    let mut document = json!({
        "schema": 1,
        "title": batch.title,
        "description": batch.description,
        "recipes": to_map(recipes.map(|recipe| (&recipe.name, json!(recipe.recipe.value)))),
        "vary": to_map(axes.map(|axis| {
            let values = to_texts(&axis.values);
            let values = if axis.named.is_empty() { values } else { json!(axis.named) };
            (&axis.name.value, values)
        })),
        "exclude": batch.exclude.iter().map(combination_to_value).collect::<Vec<_>>(),
        "include": batch.include.iter().map(combination_to_value).collect::<Vec<_>>(),
        "set": to_map(batch.set.iter().map(|(name, set)| (name, json!(set.value)))),
        "scenarios": to_texts(&batch.scenarios),
        "modes": batch.modes,
        "baseline": batch.baseline.as_ref().map(combination_to_value),
        "claims": claims
            .map(|claim| without_empty(json!({ "claim": claim.text.value, "source": claim.source })))
            .collect::<Vec<_>>(),
        "others": to_map(others.map(|(name, other)| {
            let cells = other.cells.as_ref().map(combination_to_value);
            (name, without_empty(json!({ "runs": to_texts(&other.runs), "cells": cells })))
        })),
    });
    if let (Value::Object(document), Ok(Value::Object(execution))) =
        (&mut document, serde_json::to_value(&batch.execution))
    {
        document.extend(execution);
    }
    json_to_yaml(&without_empty(document))
}

fn to_map<'a>(entries: impl Iterator<Item = (&'a String, Value)>) -> Map<String, Value> {
    entries.map(|(name, value)| (name.clone(), value)).collect()
}

fn to_texts(all: &[Spanned<String>]) -> Value {
    all.iter().map(|item| item.value.as_str()).collect()
}

fn combination_to_value(combination: &Combination) -> Value {
    let mut values = combination.to_values();
    if let Some(reason) = &combination.reason {
        values.set("reason", reason);
    }
    json!(values)
}

/// Leaves out keys without a value: the check asks for a value of each key.
fn without_empty(mut document: Value) -> Value {
    if let Value::Object(entries) = &mut document {
        let empty = [json!(null), json!([]), json!({})];
        entries.retain(|_, value| !empty.contains(value));
    }
    document
}
