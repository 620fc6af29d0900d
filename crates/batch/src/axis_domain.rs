//! The axes and values that the recipes of a batch have.

use indexmap::IndexSet;
use itertools::join;
use std::collections::BTreeMap;

use super::model::{Batch, Spanned};
use retrial_document::Keys as _;
use retrial_mlperf::ScenarioName;
use retrial_recipe::{
    DeclaredParam, Diagnostic, ImageSetting, LoadedRecipe, Span, VariantChoice, Variants,
    suggest_nearest,
};

/// A recipe of a batch, as far as cells depend on it.
#[derive(Debug, Clone)]
pub struct AxisDomain {
    /// The recipe's short name in the batch.
    pub name: String,
    /// The recipe as `retrial run` takes it: a built-in name or a path.
    pub path: String,
    pub(super) variants: Variants,
    params: Vec<DeclaredParam>,
    recipe: LoadedRecipe,
    pub(super) scenarios: Vec<ScenarioName>,
    /// The figures that the recipe declares; none of a suite that has figures of its own.
    pub figures: Vec<String>,
    /// The number of trials that the recipe states.
    pub(super) stated_trials: Option<u32>,
}

impl AxisDomain {
    /// Creates the domain of a recipe that was read.
    pub fn new(name: impl Into<String>, path: impl Into<String>, recipe: &LoadedRecipe) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
            variants: recipe.variants().clone(),
            params: recipe.declared_params(),
            recipe: recipe.clone(),
            scenarios: recipe.scenario_keys().into_iter().map(Into::into).collect(),
            figures: recipe.figure_names(),
            stated_trials: recipe.stated_trials(),
        }
    }

    /// Returns what the recipe states of its image under a choice of variants and settings.
    pub(super) fn image_contents(&self, choice: &VariantChoice) -> BTreeMap<String, String> {
        let is_replaced = choice.keys().any(|name| !self.declares(name) && self.has_axis(name));
        if is_replaced { BTreeMap::new() } else { self.recipe.image_contents(choice) }
    }

    /// Returns whether it has an axis of variants, a param or an image of this name.
    pub(super) fn has_axis(&self, name: &str) -> bool {
        self.declares(name)
            || ImageSetting::parse(name).is_some_and(|image| self.recipe.has_image_setting(image))
    }

    fn declares(&self, name: &str) -> bool {
        self.variants.axis(name).is_some() || self.find_param(name).is_some()
    }

    /// Returns whether a value may be chosen, as far as is known.
    pub(super) fn has_value(&self, name: &str, value: &str) -> bool {
        if let Some(axis) = self.variants.axis(name) {
            return axis.values.iter().any(|listed| listed == value);
        }
        if let Some(param) = self.find_param(name) {
            return describe_mismatch(param, value).is_none();
        }
        // The name of an image is checked with the recipe.
        self.has_axis(name)
    }

    fn find_param(&self, name: &str) -> Option<&DeclaredParam> {
        self.params.iter().find(|param| param.name == name)
    }

    pub(super) fn axis_names(&self) -> impl Iterator<Item = &str> {
        let axes = self.variants.axes.iter().map(|axis| axis.name.as_str());
        axes.chain(self.params.iter().map(|param| param.name.as_str())).chain(["image"])
    }

    /// The values of an axis of variants or of a param, in their order; none if the recipe does not
    /// list them.
    ///
    /// # Errors
    /// The recipe has no such axis or param.
    pub fn list_values(&self, name: &str, span: &Span) -> Result<Vec<String>, Box<Diagnostic>> {
        if !self.has_axis(name) {
            let recipes = std::slice::from_ref(self);
            return Err(Box::new(unknown_axis(recipes, name, span)));
        }
        Ok(self.axis_values(name).into_iter().map(str::to_owned).collect())
    }

    pub(super) fn axis_values(&self, name: &str) -> Vec<&str> {
        let axis = self.variants.axis(name).map(|axis| &axis.values);
        let param = self.find_param(name).map(|param| &param.values);
        let values = axis.or(param).into_iter().flatten();
        values.map(String::as_str).collect()
    }
}

/// Describes the values that a param requires, if this value does not match.
fn describe_mismatch(param: &DeclaredParam, value: &str) -> Option<String> {
    match param.kind.as_str() {
        "enum" if !param.values.iter().any(|listed| listed == value) => {
            Some(format!("one of {}", param.values.join(", ")))
        }
        "int" if value.parse::<i64>().is_err() => Some("a whole number".to_owned()),
        "bool" if !matches!(value, "true" | "false") => Some("true or false".to_owned()),
        _ => None,
    }
}

/// Returns whether any recipe has an axis or a param of this name.
pub(super) fn is_known_axis(recipes: &[AxisDomain], name: &str) -> bool {
    recipes.iter().any(|domain| domain.has_axis(name))
}

/// The problem of an axis that no recipe has.
pub(super) fn unknown_axis(recipes: &[AxisDomain], name: &str, span: &Span) -> Diagnostic {
    let names: IndexSet<&str> = recipes.iter().flat_map(AxisDomain::axis_names).collect();
    let who = match recipes {
        [recipe] => format!("{} has no", recipe.name),
        _ => "no recipe has a".to_owned(),
    };
    let message = format!("{who} variant or param `{name}`");
    if Batch::OBJECT.key(name).is_some() {
        let help = format!("`{name}` is for all cells: write it at the top of the file");
        return Diagnostic::error("unknown-axis", message, span.clone()).with_help(help);
    }
    let help = suggest_nearest(name, names.iter().copied()).unwrap_or_else(|| {
        let listed = if names.is_empty() {
            String::new()
        } else {
            let listed = join(&names, ", ");
            format!("axes and params that can be varied: {listed}; for another one, ")
        };
        format!("{listed}write `params: {{ {name}: {{ type: string }} }}` in the recipe, and `${{{{ params.{name} }}}}` where it is used")
    });
    Diagnostic::error("unknown-axis", message, span.clone()).with_help(help)
}

/// The problem of a value that no recipe has.
pub(super) fn unknown_value(
    recipes: &[AxisDomain],
    name: &str,
    value: &Spanned<String>,
) -> Option<Diagnostic> {
    let text = &value.value;
    if recipes.iter().any(|domain| domain.has_value(name, text)) {
        return None;
    }
    let message = format!("invalid value `{text}` for `{name}`");
    let problem = Diagnostic::error("unknown-value", message, value.span.clone());
    let values = recipes.iter().flat_map(|domain| domain.axis_values(name));
    let values: IndexSet<&str> = values.collect();
    let param = recipes.iter().find_map(|domain| domain.find_param(name));
    let expected = param.and_then(|param| describe_mismatch(param, text));
    Some(problem.with_help(match (suggest_nearest(text, values.iter().copied()), expected) {
        (Some(suggestion), _) => suggestion,
        (None, Some(expected)) => format!("expected {expected}"),
        (None, None) => format!("values are: {}", join(values, ", ")),
    }))
}
