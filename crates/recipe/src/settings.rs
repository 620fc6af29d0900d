//! `--set name=value`: a param or an axis of variants.

use super::variants::{VariantAxis, VariantChoice, Variants};
use itertools::Itertools as _;
use retrial_document::{Diagnostics, MapEntry, Node, Source, Span, Value, did_you_mean};

/// The path that is reported as the source of a value from the command line.
pub const COMMAND_LINE_PATH: &str = "--set";

/// A `--set name=value` of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamSetting {
    /// The name of a param or of an axis of variants.
    pub name: String,
    /// The text after `=`, without expressions.
    pub value: String,
}

impl ParamSetting {
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// Returns the span of the setting, in a source of its own.
    fn span(&self) -> Span {
        let source = Source::new(COMMAND_LINE_PATH, format!("{}={}", self.name, self.value));
        source.span(0..source.text.len())
    }

    fn name_span(&self) -> Span {
        self.span().sub_span(0..self.name.len())
    }

    fn value_span(&self) -> Span {
        let whole = self.span();
        whole.sub_span(self.name.len() + 1..whole.end)
    }
}

/// A text that is no setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected NAME=VALUE")]
pub struct InvalidParamSetting;

impl std::str::FromStr for ParamSetting {
    type Err = InvalidParamSetting;

    fn from_str(text: &str) -> Result<Self, InvalidParamSetting> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self::new(name, value)),
            _ => Err(InvalidParamSetting),
        }
    }
}

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
        } else if !params.iter().any(|param| param.key == setting.name) {
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

/// Returns the recipe with the settings of params in it, as `set` next to each `default`.
pub fn apply_settings(
    mut recipe: Node,
    settings: &[ParamSetting],
    problems: &mut Diagnostics,
) -> Node {
    let Value::Map(entries) = &mut recipe.value else {
        return recipe;
    };
    let Some(params) = entries.iter_mut().find(|entry| entry.key == "params") else {
        return recipe;
    };
    let Value::Map(params) = &mut params.value.value else {
        return recipe;
    };
    for setting in settings {
        let Some(param) = params.iter_mut().find(|param| param.key == setting.name) else {
            continue;
        };
        let Value::Map(keys) = &mut param.value.value else {
            continue;
        };
        let span = setting.value_span();
        if setting.value.contains("${{") || setting.value.contains('\0') {
            let message = "a value of --set is taken as it is, without expressions";
            problems.error("setting", message, &span, "write the value itself");
            continue;
        }
        let textual = keys.iter().any(|key| {
            key.key == "type" && matches!(key.value.text(), Some("string" | "path" | "enum"))
        });
        keys.retain(|key| key.key != "set");
        keys.push(MapEntry {
            key: "set".into(),
            key_span: setting.name_span(),
            append: false,
            value: Node::scalar(&setting.value, !textual, span),
        });
    }
    recipe
}
