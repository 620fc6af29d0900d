//! The stages in their order: checks all variants of a file. `loaded` resolves one.

use retrial_document::{
    Diagnostic, Diagnostics, Keys as _, Node, Source, Validator, Value, to_yaml,
};
use std::collections::BTreeSet;

use itertools::Itertools as _;
use sha2::{Digest, Sha256};

use super::TemplateSource;
use super::checks::CheckContext;
use super::client_figures::declare_client_figures;
use super::inherited_figures::check_inherited_figures;
use super::language::RecipeLanguage;
use super::load::load_merged;
use super::merge::settle_tree;
use super::model::Recipe;
use super::names::DeclaredNames;
use super::param_setting::ParamSetting;
use super::settings;
use super::sweep::expand_sweeps;
use super::variants::{self, VariantChoice, Variants};

/// The kind of a checked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecipeFileKind {
    /// A recipe: it must be complete.
    Recipe,
    /// A template: the recipe that extends it adds the missing keys.
    Template,
}

/// Returns every problem of a file, under all of its variants.
pub fn check_source(
    source: &Source,
    kind: RecipeFileKind,
    templates: &dyn TemplateSource,
) -> Diagnostics {
    let mut problems = Diagnostics::default();
    if let Some(merged) = load_merged(source, templates, &mut problems) {
        let partial = kind == RecipeFileKind::Template;
        let base_missing = is_template_missing(&problems);
        let variants = check_structure(&merged, partial, &mut problems);
        let choices = variants.supported_choices();
        if let (true, Some(unsupported)) = (choices.is_empty(), merged.entry("unsupported")) {
            let message = "every combination of variants is unsupported";
            problems.error("variant", message, &unsupported.key_span, "leave one");
        }
        let whole = ResolutionKind { partial, base_missing, smoke_test: false };
        let default = (!partial && choices.len() > 1).then(|| {
            let (choice, ignored) = (variants.default_choice(), &mut Diagnostics::default());
            VariantResolution::new(&merged, &choice, &[], whole, templates, ignored)
        });
        let mut used = BTreeSet::new();
        let mut by_choice = Vec::new();
        for choice in &choices {
            let mut choice_problems = Diagnostics::default();
            let stage = VariantResolution::new(
                &merged,
                choice,
                &[],
                whole,
                templates,
                &mut choice_problems,
            );
            used.extend(stage.used_params);
            if let Some(default) = &default {
                check_inherited_figures(&default.validated, &stage.validated, &mut choice_problems);
            }
            if merged.get("smoke_test").is_some() && !choice_problems.has_errors() {
                let trial = ResolutionKind { smoke_test: true, ..whole };
                VariantResolution::new(
                    &merged,
                    choice,
                    &[],
                    trial,
                    templates,
                    &mut choice_problems,
                );
            }
            let enough = choice_problems.omitted_count() > 0;
            by_choice.push(choice_problems);
            if enough {
                // The limit is reached: the other choices would only add more.
                break;
            }
        }
        collect_by_choice(&mut problems, &choices, by_choice);
        if !partial {
            warn_unused_params(&merged, &used, &mut problems);
        }
    }
    problems.sort_by_place(&source.path);
    problems
}

/// Returns the SHA-256 of a recipe with its templates, under all variants; comments do not matter. None if it is not a
/// recipe.
pub fn compute_fingerprint(source: &Source, templates: &dyn TemplateSource) -> Option<String> {
    let merged = load_merged(source, templates, &mut Diagnostics::default())?;
    Some(hex::encode(Sha256::digest(to_yaml(&merged, Recipe::OBJECT).as_bytes())))
}

/// Returns the variants of a recipe, for `show` and `--vary`.
///
/// # Errors
/// Returns the problems if the file is not a recipe, or its variants are malformed.
pub fn read_variants(
    source: &Source,
    templates: &dyn TemplateSource,
) -> Result<Variants, Diagnostics> {
    let mut problems = Diagnostics::default();
    let merged = load_merged(source, templates, &mut problems);
    let variants = merged.map(|merged| Variants::from_recipe(&merged, &mut problems));
    problems.into_result(variants, &source.path)
}

/// Returns whether a template is missing: it might have had the missing keys.
pub(super) fn is_template_missing(problems: &Diagnostics) -> bool {
    let is_missing_template = |problem: &Diagnostic| {
        matches!(problem.code, "missing-template" | "unreadable-template" | "circle")
    };
    problems.iter().any(is_missing_template)
}

/// Checks the keys that do not depend on the choice of variants: `variants`, `default`, `unsupported`, `smoke_test`.
pub(super) fn check_structure(
    merged: &Node,
    partial: bool,
    problems: &mut Diagnostics,
) -> Variants {
    let names = DeclaredNames::default();
    let mut language = RecipeLanguage::new(&names, partial, false);
    let mut validator = Validator::new(&mut language, problems);
    for name in ["variants", "default", "unsupported", "smoke_test"] {
        let (Some(entry), Some(key)) = (merged.entry(name), Recipe::OBJECT.key(name)) else {
            continue;
        };
        // Null removes here, too: an axis, or a value of one.
        let node = without_nulls(&entry.value, 2);
        validator.check_value(&node, &key.field_type, &entry.key_span);
    }
    Variants::from_recipe(merged, problems)
}

/// What is resolved of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolutionKind {
    /// Keys may be missing: it is a template.
    pub partial: bool,
    /// A template of it is missing.
    pub base_missing: bool,
    /// The recipe as a smoke test executes it.
    pub smoke_test: bool,
}

/// A recipe under one choice of variants.
pub(super) struct VariantResolution {
    pub settled: Node,
    pub validated: Node,
    pub names: DeclaredNames,
    used_params: BTreeSet<String>,
}

impl VariantResolution {
    pub fn new(
        merged: &Node,
        choice: &VariantChoice,
        settings: &[ParamSetting],
        kind: ResolutionKind,
        templates: &dyn TemplateSource,
        problems: &mut Diagnostics,
    ) -> Self {
        let ResolutionKind { partial, base_missing, smoke_test } = kind;
        let chosen = variants::apply_variants(merged, choice, problems);
        let chosen = variants::apply_smoke_test(chosen, smoke_test, problems);
        let chosen = settings::apply_settings(chosen, settings, problems);
        let mut settled = settle_tree(chosen, problems);
        expand_sweeps(&mut settled, problems);
        declare_client_figures(&mut settled);
        let names = DeclaredNames::from_recipe(&settled, choice.clone(), problems);
        let mut language = RecipeLanguage::new(&names, partial, base_missing);
        let top = settled.span.sub_span(0..0);
        let validated =
            Validator::new(&mut language, problems).check_object(&settled, Recipe::OBJECT, &top);
        let used_params = language.used_params;
        let checks = CheckContext {
            recipe: &validated,
            unchecked_recipe: &settled,
            partial,
            templates,
            problems: Diagnostics::default(),
        };
        problems.extend(checks.run());
        Self { settled, validated, names, used_params }
    }
}

/// Adds the problems of all choices; a problem that not all choices have lists its settings.
fn collect_by_choice(
    problems: &mut Diagnostics,
    choices: &[VariantChoice],
    by_choice: Vec<Diagnostics>,
) {
    let mut all: Vec<(Diagnostic, Vec<usize>)> = Vec::new();
    let count = by_choice.len();
    // Presumably the same ones are omitted under each choice.
    let omitted = by_choice.iter().map(Diagnostics::omitted_count).max();
    problems.add_omitted(omitted.unwrap_or(0));
    for (index, diagnostics) in by_choice.into_iter().enumerate() {
        for diagnostic in diagnostics {
            match all.iter_mut().find(|(other, _)| *other == diagnostic) {
                Some((_, under)) => under.push(index),
                None => all.push((diagnostic, vec![index])),
            }
        }
    }
    for (diagnostic, under) in all {
        if problems.iter().any(|other| *other == diagnostic) {
            continue;
        }
        let variants = (under.len() < count).then(|| shared_settings(choices, &under));
        problems.push(Diagnostic { variants, ..diagnostic });
    }
}

/// Returns the settings that the choices share, which alone cause the problem.
fn shared_settings(choices: &[VariantChoice], under: &[usize]) -> String {
    let shared = |axis: &String, value: &String| {
        under.iter().all(|&index| choices[index].get(axis) == Some(value))
    };
    let words = choices[under[0]]
        .iter()
        .filter(|(axis, value)| shared(axis, value))
        .map(|(axis, value)| format!("{axis}={value}"))
        .join(" ");
    if words.is_empty() {
        return "some variants".into();
    }
    words
}

fn warn_unused_params(merged: &Node, used: &BTreeSet<String>, problems: &mut Diagnostics) {
    for param in merged.entries_at("params") {
        if !used.contains(&param.key) {
            let message = format!("unused param `{}`", param.key);
            let help = format!("use it, `${{{{ params.{} }}}}`, or remove it", param.key);
            problems.warning("unused-param", message, &param.key_span, help);
        }
    }
}

fn without_nulls(node: &Node, levels: usize) -> Node {
    let Value::Map(entries) = &node.value else {
        return node.clone();
    };
    if levels == 0 {
        return node.clone();
    }
    let present = entries.iter().filter(|entry| !entry.value.is_null());
    let entries = present.map(|entry| entry.with_value(without_nulls(&entry.value, levels - 1)));
    Node::map(entries.collect(), node.span.clone())
}
