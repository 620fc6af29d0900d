//! Applies settings: chooses the variants, and sets params and images.

use super::image_settings::apply_image;
use super::param_setting::{ImageSetting, ParamSetting};
use super::variants::{VariantAxis, VariantChoice, Variants};
use itertools::Itertools as _;
use retrial_document::{Diagnostics, Node, did_you_mean};

/// Chooses a value for each axis, from the settings and the defaults.
pub fn choose_variants(
    recipe: &Node,
    variants: &Variants,
    settings: &[ParamSetting],
    problems: &mut Diagnostics,
) -> VariantChoice {
    let mut choice = choices_by_settings(recipe, variants, settings, problems);
    for axis in &variants.axes {
        if choice.contains_key(&axis.name) {
            continue;
        }
        match &axis.default {
            Some(default) => {
                choice.insert(axis.name.clone(), default.clone());
            }
            None if axis.values.is_empty() => {}
            None => report_undecided(recipe, axis, problems),
        }
    }
    report_unsupported(recipe, variants, settings, &choice, problems);
    choice
}

/// Returns the values of the axes that settings name.
fn choices_by_settings(
    recipe: &Node,
    variants: &Variants,
    settings: &[ParamSetting],
    problems: &mut Diagnostics,
) -> VariantChoice {
    let mut choice = VariantChoice::new();
    let params = recipe.entries_at("params");
    for setting in settings {
        if let Some(axis) = variants.axis(&setting.name) {
            if axis.values.contains(&setting.value) {
                choice.insert(axis.name.clone(), setting.value.clone());
            } else {
                let values = axis.values.iter().map(String::as_str);
                let help = did_you_mean(&setting.value, values, "values are");
                let message = format!("invalid value `{}` for `{}`", setting.value, axis.name);
                problems.error("setting", message, &setting.value_span(), help);
            }
        } else if !params.iter().any(|param| param.key == setting.name)
            && ImageSetting::parse(&setting.name).is_none()
        {
            let param_names = params.iter().map(|param| param.key.as_str());
            let names = param_names.chain(variants.axes.iter().map(|axis| axis.name.as_str()));
            let help = did_you_mean(&setting.name, names, "param or variant that could be set");
            let message = format!("no such param or variant: `{}`", setting.name);
            problems.error("setting", message, &setting.name_span(), help);
        }
    }
    choice
}

/// Reports an axis that neither a setting nor a default decides.
fn report_undecided(recipe: &Node, axis: &VariantAxis, problems: &mut Diagnostics) {
    let declared = recipe.get("variants").and_then(|variants| variants.entry(&axis.name));
    let span = declared.map_or_else(|| recipe.span.sub_span(0..0), |entry| entry.key_span.clone());
    let message = format!("`{}` must be set: it has no default", axis.name);
    let values = axis.values.join(", ");
    let help = format!("choose with --set {}=VALUE: {values}", axis.name);
    problems.error("setting", message, &span, help);
}

/// Reports a combination that the recipe declares unsupported.
fn report_unsupported(
    recipe: &Node,
    variants: &Variants,
    settings: &[ParamSetting],
    choice: &VariantChoice,
    problems: &mut Diagnostics,
) {
    let Some(unsupported) = variants.find_unsupported(choice) else {
        return;
    };
    let combination = unsupported.combination.iter();
    let words = combination.map(|(axis, value)| format!("{axis}={value}")).join(" with ");
    let setting =
        settings.iter().find(|setting| unsupported.combination.contains_key(&setting.name));
    let span = setting.map_or_else(|| recipe.span.sub_span(0..0), ParamSetting::span);
    let message = format!("{words} is not supported: {}", unsupported.reason);
    problems.error("unsupported", message, &span, "choose another combination");
}

/// Returns the recipe with the settings in it, as `set` next to each default.
pub fn apply_settings(
    mut recipe: Node,
    settings: &[ParamSetting],
    problems: &mut Diagnostics,
) -> Node {
    for setting in settings {
        let declares = |key| recipe.get(key).is_some_and(|map| map.entry(&setting.name).is_some());
        let image = ImageSetting::parse(&setting.name);
        let image = image.filter(|_| !["params", "variants"].into_iter().any(declares));
        if setting.value.contains("${{") || setting.value.contains('\0') {
            let option = setting.to_option().0;
            let message = format!("a value of {option} is taken as it is, without expressions");
            problems.error("setting", message, &setting.value_span(), "write the value itself");
            continue;
        }
        match image {
            Some(image) => apply_image(&mut recipe, image, setting, settings, problems),
            None => set_param(&mut recipe, setting),
        }
    }
    recipe
}

fn set_param(recipe: &mut Node, setting: &ParamSetting) {
    let Some(param) = recipe.descendant_mut(&["params", &setting.name]) else {
        return;
    };
    let types = ["string", "path", "enum"];
    let is_textual = param.text_at("type").is_some_and(|name| types.contains(&name));
    param.set_key("set", Node::scalar(&setting.value, !is_textual, setting.value_span()));
}
