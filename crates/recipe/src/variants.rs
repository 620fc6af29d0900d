//! Variants: overlays on a recipe, by axis and value.

use retrial_document::{Diagnostics, MapEntry, Node, Span, Value, did_you_mean};
use std::collections::BTreeMap;

use super::keys::TOP_LEVEL_KEYS;
use super::merge::merge_trees;

/// An axis along which a recipe has variants.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct VariantAxis {
    /// The name of the axis, as `--set` takes it: `rocm`.
    pub name: String,
    /// The values, in the order of the file.
    pub values: Vec<String>,
    /// The value that is chosen without `--set`.
    pub default: Option<String>,
}

/// A combination of variants that the recipe does not support.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct UnsupportedVariant {
    /// Axis and value; all of them must be chosen.
    pub combination: BTreeMap<String, String>,
    /// The reason, as shown to users who select it.
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Variants {
    /// The axes, in the order of the file.
    pub axes: Vec<VariantAxis>,
    /// The combinations that the recipe does not support.
    pub unsupported: Vec<UnsupportedVariant>,
}

/// A value for each axis.
pub type VariantChoice = BTreeMap<String, String>;

/// More combinations than this are checked one axis at a time.
const MAX_COMBINATIONS: usize = 256;

impl Variants {
    pub fn axis(&self, name: &str) -> Option<&VariantAxis> {
        self.axes.iter().find(|axis| axis.name == name)
    }

    /// Returns the unsupported combination that a choice contains, if any.
    pub fn find_unsupported(&self, choice: &VariantChoice) -> Option<&UnsupportedVariant> {
        self.unsupported.iter().find(|unsupported| {
            let meets = |(axis, value): (&String, &String)| choice.get(axis) == Some(value);
            !unsupported.combination.is_empty() && unsupported.combination.iter().all(meets)
        })
    }

    /// Returns all supported choices; where there are very many, each value once with the others' first.
    pub fn supported_choices(&self) -> Vec<VariantChoice> {
        let nonempty_axes = self.axes.iter().filter(|axis| !axis.values.is_empty());
        let axes: Vec<&VariantAxis> = nonempty_axes.collect();
        let count =
            axes.iter().try_fold(1_usize, |product, axis| product.checked_mul(axis.values.len()));
        let mut choices = vec![VariantChoice::new()];
        if count.is_some_and(|count| count <= MAX_COMBINATIONS) {
            for axis in &axes {
                choices = axis
                    .values
                    .iter()
                    .flat_map(|value| {
                        choices.iter().map(move |choice| with_axis_value(choice, axis, value))
                    })
                    .collect();
            }
        } else {
            let usual = axes.iter().fold(VariantChoice::new(), |choice, axis| {
                let value = axis.default.as_ref().unwrap_or(&axis.values[0]);
                with_axis_value(&choice, axis, value)
            });
            choices = axes
                .iter()
                .flat_map(|axis| {
                    axis.values.iter().map(|value| with_axis_value(&usual, axis, value))
                })
                .collect();
        }
        choices.retain(|choice| self.find_unsupported(choice).is_none());
        choices
    }

    /// Reads the variants of a merged recipe.
    pub fn from_recipe(recipe: &Node, problems: &mut Diagnostics) -> Self {
        let mut variants = Self::default();
        for (name, values) in recipe.present_entries_at("variants") {
            let default = recipe.get("default").and_then(|default| default.get(name));
            variants.axes.push(VariantAxis {
                name: name.to_owned(),
                values: values.present_entries().map(|(value, _)| value.to_owned()).collect(),
                default: default.and_then(Node::text).map(str::to_owned),
            });
        }
        for entry in recipe.entries_at("variants") {
            let axis = &entry.key;
            let is_empty = entry.value.present_entries().next().is_none();
            if is_empty && matches!(entry.value.value, Value::Map(_)) {
                let message = format!("the axis `{axis}` has no values");
                let help = "write them: `{one: {}, other: {}}`";
                problems.error("variant", message, &entry.key_span, help);
            }
            if let Some(param) = recipe.get("params").and_then(|params| params.entry(axis)) {
                let message =
                    format!("`{axis}` is a param and an axis of variants: --set could mean either");
                let help = "give one of them another name";
                problems.error("variant", message, &param.key_span, help);
            }
        }
        for entry in recipe.entries_at("default") {
            if let Some(value) = entry.value.text() {
                variants.check_value_exists(entry, value, problems);
            }
        }
        for item in recipe.items_at("unsupported") {
            variants.read_unsupported(item, problems);
        }
        variants.check_default_supported(recipe, problems);
        variants
    }

    fn read_unsupported(&mut self, item: &Node, problems: &mut Diagnostics) {
        let mut combinations = vec![VariantChoice::new()];
        for entry in item.entries().iter().filter(|entry| entry.key != "reason") {
            let values = entry.value.one_or_items().iter();
            let values: Vec<&str> = values.filter_map(Node::text).collect();
            for value in &values {
                self.check_value_exists(entry, value, problems);
            }
            let extend = |combination: VariantChoice| {
                let axis = entry.key.clone();
                values.iter().map(move |value| {
                    let mut extended = combination.clone();
                    extended.insert(axis.clone(), (*value).to_owned());
                    extended
                })
            };
            combinations = combinations.into_iter().flat_map(extend).collect();
        }
        let reason = item.text_at("reason").unwrap_or("");
        if reason.is_empty() && matches!(item.value, Value::Map(_)) {
            problems.error(
                "variant",
                "an unsupported combination needs a `reason`",
                &item.span,
                "give the reason: it is shown to users who select it",
            );
        }
        self.unsupported.extend(
            combinations
                .into_iter()
                .map(|combination| UnsupportedVariant { combination, reason: reason.to_owned() }),
        );
    }

    /// Reports an axis that does not exist, or a value that the axis does not have.
    fn check_value_exists(&self, entry: &MapEntry, value: &str, problems: &mut Diagnostics) {
        let axis = entry.key.as_str();
        match self.axis(axis) {
            None => {
                let names = self.axes.iter().map(|axis| axis.name.as_str());
                problems.error(
                    "variant",
                    format!("`{axis}` is not an axis of `variants`"),
                    &entry.key_span,
                    did_you_mean(axis, names, "axes of `variants`"),
                );
            }
            Some(found) if !found.values.iter().any(|other| other == value) => {
                let values = found.values.iter().map(String::as_str);
                problems.error(
                    "variant",
                    format!("invalid value `{value}` for `{axis}`"),
                    &entry.value.span,
                    did_you_mean(value, values, "values are"),
                );
            }
            Some(_) => {}
        }
    }

    /// Returns the default value of each axis that has one.
    pub fn default_choice(&self) -> VariantChoice {
        let axes = self.axes.iter();
        axes.filter_map(|axis| Some((axis.name.clone(), axis.default.clone()?))).collect()
    }

    fn check_default_supported(&self, recipe: &Node, problems: &mut Diagnostics) {
        if let (Some(unsupported), Some(default)) =
            (self.find_unsupported(&self.default_choice()), recipe.entry("default"))
        {
            let message = format!("the default is not supported: {}", unsupported.reason);
            problems.error("variant", message, &default.key_span, "choose another default");
        }
    }
}

fn with_axis_value(choice: &VariantChoice, axis: &VariantAxis, value: &str) -> VariantChoice {
    let mut extended = choice.clone();
    extended.insert(axis.name.clone(), value.to_owned());
    extended
}

/// Returns the recipe with the chosen overlays merged over it, axes in the order of the file. It keeps only the chosen
/// part of `variants`, so that its text resolves to the same recipe.
pub fn apply_variants(recipe: &Node, choice: &VariantChoice, problems: &mut Diagnostics) -> Node {
    let span = recipe.span.clone();
    let mut merged = recipe.clone();
    let mut chosen = Vec::new();
    let mut defaults = Vec::new();
    for axis in recipe.entries_at("variants") {
        let Some(entry) = choice.get(&axis.key).and_then(|value| axis.value.entry(value)) else {
            continue;
        };
        merged = merge_overlay(merged, &entry.value, problems);
        let value = entry.with_value(Node::map(Vec::new(), entry.value.span.clone()));
        chosen.push(axis.with_value(Node::map(vec![value], axis.value.span.clone())));
        let default = Node::scalar(entry.key.clone(), false, entry.key_span.clone());
        defaults.push(axis.with_value(default));
    }
    if let Value::Map(entries) = &mut merged.value {
        entries.retain(|entry| entry.key != "unsupported");
        replace_map(entries, "variants", chosen, &span);
        replace_map(entries, "default", defaults, &span);
    }
    merged
}

/// Returns the recipe for a smoke test, with its overlay for one merged over it, or for a whole run. The recipe of a trial
/// run has `true` in place of the overlay, so that its text resolves to the same recipe.
pub fn apply_smoke_test(mut recipe: Node, smoke_test: bool, problems: &mut Diagnostics) -> Node {
    let Value::Map(entries) = &mut recipe.value else {
        return recipe;
    };
    let is_overlay =
        |entry: &MapEntry| entry.key == "smoke_test" && matches!(entry.value.value, Value::Map(_));
    let Some(position) = entries.iter().position(is_overlay) else {
        return recipe;
    };
    let entry = entries.remove(position);
    if !smoke_test {
        return recipe;
    }
    let applied = Node::scalar("true", true, entry.value.span.clone());
    entries.insert(position, entry.with_value(applied));
    merge_overlay(recipe, &entry.value, problems)
}

/// Merges an overlay over a recipe, without the keys that only the top level of a file has.
fn merge_overlay(recipe: Node, overlay: &Node, problems: &mut Diagnostics) -> Node {
    let Value::Map(entries) = &overlay.value else {
        return recipe;
    };
    let span = recipe.span.clone();
    let entries = entries.iter();
    let allowed = entries.filter(|entry| !TOP_LEVEL_KEYS.contains(&entry.key.as_str()));
    let allowed = allowed.map(|entry| entry.with_value(with_removals(&entry.value)));
    merge_trees(recipe, Node::map(allowed.collect(), span), problems)
}

/// Returns an overlay whose nulls remove: a key that the recipe lacks may be one that a variant of another axis adds.
fn with_removals(node: &Node) -> Node {
    let value = match &node.value {
        Value::Null => Value::Removed,
        Value::Map(entries) => Value::Map(
            entries.iter().map(|entry| entry.with_value(with_removals(&entry.value))).collect(),
        ),
        value => value.clone(),
    };
    Node { value, ..node.clone() }
}

/// Replaces the map under a key; if there is none, adds it unless it is empty.
fn replace_map(entries: &mut Vec<MapEntry>, key: &str, map: Vec<MapEntry>, recipe: &Span) {
    match entries.iter_mut().find(|entry| entry.key == key) {
        Some(entry) => entry.value = Node::map(map, entry.value.span.clone()),
        None if map.is_empty() => {}
        None => {
            let key_span = recipe.sub_span(0..0);
            entries.push(MapEntry {
                key: key.to_owned(),
                key_span: key_span.clone(),
                append: false,
                value: Node::map(map, key_span),
            });
        }
    }
}
