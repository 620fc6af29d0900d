//! A recipe that is parsed once and resolved with different settings: a batch may have a thousand cells of one file.

use itertools::Itertools as _;
use retrial_document::{
    Diagnostic, Diagnostics, Keys as _, MAX_DOCUMENT_BYTES, Node, Source, to_yaml,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use super::TemplateSource;
use super::load::load_merged;
use super::merge::settle_tree;
use super::model::{
    ParamValue, Recipe, ReplacedImage, image_contents, other_published_image, replaced_images,
};
use super::names::DeclaredNames;
use super::origin::{ValueOrigin, list_origins};
use super::param_setting::{ImageSetting, ParamSetting};
use super::resolve::{ResolutionKind, VariantResolution, check_structure, is_template_missing};
use super::settings;
use super::variants::{VariantChoice, Variants, apply_variants};

/// A recipe whose variants are chosen and whose params have values.
#[derive(Debug, Clone)]
pub struct ResolvedRecipe {
    /// The recipe from which the plan is made.
    pub recipe: Recipe,
    /// The text of the run's recipe.yaml: everything merged; it resolves to the same recipe.
    pub yaml: String,
    /// The tree with the place of each value.
    settled: Node,
    /// Problems that do not prevent a run, but that a person should check.
    pub warnings: Diagnostics,
    /// SHA-256 of `yaml`, hexadecimal: approvals are stored by it.
    pub hash: String,
}

impl ResolvedRecipe {
    /// Returns the origin of each value: file and position, `--set` or `default`.
    pub fn list_origins(&self) -> Vec<ValueOrigin> {
        list_origins(&self.settled)
    }
}

/// Resolves a recipe with these settings.
///
/// # Errors
/// Every problem of the recipe as chosen, and of the settings.
pub fn resolve_recipe(
    name: &str,
    source: &Source,
    templates: &dyn TemplateSource,
    settings: &[ParamSetting],
) -> Result<ResolvedRecipe, Diagnostics> {
    LoadedRecipe::from_source(name, source, templates)?.resolve(templates, settings)
}

/// A recipe's text merged over its templates, nothing chosen yet.
#[derive(Debug, Clone)]
pub struct LoadedRecipe {
    name: String,
    source: Source,
    merged: Node,
    variants: Variants,
    /// The problems that do not depend on any choice.
    problems: Diagnostics,
    /// A template of it is missing.
    base_missing: bool,
    /// It is resolved for a smoke test.
    smoke_test: bool,
}

/// A param as the recipe declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredParam {
    /// The name for `--set`.
    pub name: String,
    /// The type: `string`, `int`, `path`, `enum` or `bool`.
    pub kind: String,
    /// The values of an enum; empty for other types.
    pub values: Vec<String>,
    /// The purpose of the param, as the recipe states it.
    pub help: Option<String>,
}

impl LoadedRecipe {
    /// Parses a recipe and merges it over its templates.
    ///
    /// # Errors
    /// Returns the problems if the text is not a recipe.
    pub fn from_source(
        name: &str,
        source: &Source,
        templates: &dyn TemplateSource,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let Some(merged) = load_merged(source, templates, &mut problems) else {
            problems.sort_by_place(&source.path);
            return Err(problems);
        };
        let base_missing = is_template_missing(&problems);
        let variants = check_structure(&merged, false, &mut problems);
        Ok(Self {
            name: name.to_owned(),
            source: source.clone(),
            merged,
            variants,
            problems,
            base_missing,
            smoke_test: false,
        })
    }

    /// Resolves the recipe for a smoke test, if `smoke_test`: with its own overlay for one.
    #[must_use]
    pub fn for_smoke_test(self, smoke_test: bool) -> Self {
        Self { smoke_test, ..self }
    }

    /// Returns the axes of the recipe's variants, and unsupported combinations.
    pub fn variants(&self) -> &Variants {
        &self.variants
    }

    /// Returns the params that can be set. Variants may declare more.
    pub fn declared_params(&self) -> Vec<DeclaredParam> {
        self.recipe_and_overlays()
            .flat_map(|recipe| recipe.present_entries_at("params"))
            .unique_by(|(name, _)| *name)
            .map(|(name, param)| DeclaredParam {
                name: name.to_owned(),
                kind: param.text_at("type").unwrap_or("string").to_owned(),
                values: param.texts_at("values"),
                help: param.text_at("help").map(str::to_owned),
            })
            .collect()
    }

    /// Returns whether a setting of images applies to the recipe, under any variant.
    pub fn has_image_setting(&self, setting: ImageSetting<'_>) -> bool {
        let has = |path: &[&str]| {
            self.recipe_and_overlays().any(|recipe| recipe.descendant(path).is_some())
        };
        match setting {
            ImageSetting::Image => true,
            ImageSetting::ServiceImage(name) => has(&["services", name, "container", "image"]),
            ImageSetting::BuildArg(_) => has(&["image", "build"]),
        }
    }

    /// Returns the versions of what the image contains under a choice of variants, as far as the recipe states them.
    pub fn image_contents(&self, choice: &VariantChoice) -> BTreeMap<String, String> {
        let mut problems = Diagnostics::default();
        let chosen = apply_variants(&self.merged, choice, &mut problems);
        image_contents(&settle_tree(chosen, &mut problems))
    }

    /// Returns the keys of the scenarios, under all variants.
    pub fn scenario_keys(&self) -> Vec<String> {
        let names = self.written_scenarios().map(|(name, _)| name.to_owned());
        names.unique().collect()
    }

    /// Returns the points of its sweeps, each with its axis.
    pub fn sweep_points(&self) -> Vec<(String, String)> {
        let modes = self.written_scenarios().flat_map(|(_, scenario)| scenario.present_entries());
        let axes = modes.flat_map(|(_, mode)| mode.present_entries_at("sweep"));
        let points = axes.flat_map(|(axis, points)| {
            let points = points.items().iter().filter_map(|point| point.text());
            points.map(move |point| (point.to_owned(), axis.to_owned()))
        });
        points.unique().collect()
    }

    /// Returns the figures that the recipe names: its own, published ones, limits. `LoadGen` has more.
    pub fn figure_names(&self) -> Vec<String> {
        let scenarios = self.written_scenarios();
        let modes = scenarios.flat_map(|(_, scenario)| scenario.present_entries());
        let keys = ["figures", "expect", "limits"];
        let named = modes
            .flat_map(|(_, mode)| keys.into_iter().flat_map(|key| mode.present_entries_at(key)));
        named.map(|(name, _)| name.to_owned()).unique().collect()
    }

    /// Returns the largest number of trials that the recipe states for a performance, under any variant; of a range its
    /// least.
    pub fn stated_trials(&self) -> Option<u32> {
        let performances = self
            .written_scenarios()
            .filter_map(|(_, scenario)| scenario.get("performance")?.get("trials"));
        let counts = performances
            .filter_map(|trials| trials.get("min").unwrap_or(trials).text()?.parse().ok());
        counts.max()
    }

    fn written_scenarios(&self) -> impl Iterator<Item = (&str, &Node)> {
        let recipes = self.recipe_and_overlays();
        recipes.flat_map(|recipe| recipe.present_entries_at("scenarios"))
    }

    /// Returns the recipe without overlays, and each variant's overlay.
    fn recipe_and_overlays(&self) -> impl Iterator<Item = &Node> {
        let axes = self.merged.present_entries_at("variants");
        let overlays = axes.flat_map(|(_, axis)| axis.present_entries());
        std::iter::once(&self.merged).chain(overlays.map(|(_, overlay)| overlay))
    }

    /// Resolves the recipe with these settings.
    ///
    /// # Errors
    /// Every problem of the recipe as chosen, and of the settings.
    pub fn resolve(
        &self,
        templates: &dyn TemplateSource,
        settings: &[ParamSetting],
    ) -> Result<ResolvedRecipe, Diagnostics> {
        let mut problems = self.problems.clone();
        let resolved = self.try_resolve(templates, settings, &mut problems);
        problems.sort_by_place(&self.source.path);
        match resolved {
            Some(resolved) if !problems.has_errors() => {
                Ok(ResolvedRecipe { warnings: problems, ..resolved })
            }
            _ => Err(problems),
        }
    }

    fn try_resolve(
        &self,
        templates: &dyn TemplateSource,
        settings: &[ParamSetting],
        problems: &mut Diagnostics,
    ) -> Option<ResolvedRecipe> {
        let choice = settings::choose_variants(&self.merged, &self.variants, settings, problems);
        let mut axes = self.variants.axes.iter();
        if choice.len() < axes.by_ref().filter(|axis| !axis.values.is_empty()).count() {
            // Without a choice, nothing that it would give can be missed.
            return None;
        }
        let kind = ResolutionKind {
            partial: false,
            base_missing: self.base_missing,
            smoke_test: self.smoke_test,
        };
        let stage =
            VariantResolution::new(&self.merged, &choice, settings, kind, templates, problems);
        for (param, declared) in stage.names.unset_params() {
            let message = format!("the param `{param}` has no value");
            let help = format!("give one with --set {param}=VALUE");
            let help = declared.help_with_purpose(Some(&help));
            let problem = Diagnostic::error("unset", message, declared.span.clone());
            problems.push(problem.with_optional_help(help));
        }
        if problems.has_errors() {
            return None;
        }
        let Some(recipe) = build_recipe(&self.name, &stage.validated, &stage.names) else {
            let message = "this recipe passes the check but cannot be read: a bug in retrial";
            problems.error(
                "internal",
                message,
                &self.source.span(0..0),
                "please report it with the recipe",
            );
            return None;
        };
        let yaml = to_yaml(&stage.settled, Recipe::OBJECT);
        if yaml.len() > MAX_DOCUMENT_BYTES {
            // Merged and with aliases expanded; a run must be able to read its stored recipe again.
            problems.extend(self.source.size_limit_problem());
            return None;
        }
        let hash = hex::encode(Sha256::digest(yaml.as_bytes()));
        Some(ResolvedRecipe {
            recipe,
            yaml,
            settled: stage.settled,
            warnings: Diagnostics::default(),
            hash,
        })
    }
}

/// Builds a recipe from a validated tree; `None` where the validation passed what cannot be read, a
/// fault of ours.
fn build_recipe(name: &str, node: &Node, names: &DeclaredNames) -> Option<Recipe> {
    let recipe = Recipe::from_keys(node)?;
    let mut recipe = Recipe {
        name: name.to_owned(),
        title: recipe.title.trim().to_owned(),
        params: names.scope.params.clone(),
        variant: names.scope.variant.clone(),
        modified: names.modified.clone(),
        given_params: names.given_params.clone(),
        published_image: other_published_image(node),
        image_contents: image_contents(node),
        ..recipe
    };
    for ReplacedImage { name, value, published } in replaced_images(node) {
        recipe.params.insert(name.clone(), ParamValue::Text(value));
        match published {
            Some(published) => {
                recipe.modified.push(name.clone());
                recipe.replaced.insert(name, published);
            }
            None => recipe.given_params.push(name),
        }
    }
    Some(recipe)
}
