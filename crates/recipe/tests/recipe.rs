//! A complete recipe over a complete template: its meaning, and that of its resolved text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::error::Error;
use std::path::{Path, PathBuf};

use retrial_recipe::model::{ParamValue, Template, Trials};
use retrial_recipe::{
    LoadedRecipe, NoTemplates, ParamSetting, RecipeFileKind, ResolvedRecipe, Source,
    TemplateSource, check_source, read_variants, resolve_recipe,
};

struct Fixtures;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

impl TemplateSource for Fixtures {
    fn read_template(&self, name: &str) -> Result<Option<Source>, Box<dyn Error>> {
        let path = fixtures().join("templates").join(format!("{name}.yaml"));
        let text = std::fs::read_to_string(path).ok();
        Ok(text.map(|text| Source::new(format!("templates/{name}.yaml"), text)))
    }

    fn template_names(&self) -> Vec<String> {
        vec!["amd-like".into()]
    }

    fn companion_exists(&self, _relative: &str) -> Option<bool> {
        None
    }
}

fn source() -> Source {
    let text = std::fs::read_to_string(fixtures().join("recipes/llama2-like.yaml")).unwrap();
    Source::new("llama2-like.yaml", text)
}

fn resolved(settings: &[(&str, &str)]) -> ResolvedRecipe {
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| ParamSetting::new(*name, *value)).collect();
    resolve(&settings, false)
}

fn resolve(settings: &[ParamSetting], smoke_test: bool) -> ResolvedRecipe {
    let loaded = LoadedRecipe::from_source("llama2-like", &source(), &Fixtures).unwrap();
    match loaded.for_smoke_test(smoke_test).resolve(&Fixtures, settings) {
        Ok(resolved) => resolved,
        Err(problems) => panic!("{problems}"),
    }
}

#[test]
fn every_key_of_a_recipe_is_read() {
    insta::assert_json_snapshot!(resolved(&[]).recipe);
}

#[test]
fn the_resolved_text_has_every_merged_value() {
    insta::assert_snapshot!(resolved(&[]).yaml);
}

#[test]
fn the_resolved_text_resolves_to_the_same_recipe() {
    for settings in
        [&[][..], &[("rocm", "6.4.1"), ("gpus", "4")], &[("results", "/x y/${z}: #'\"")]]
    {
        the_text_resolves_to_the_same_recipe(&resolved(settings));
    }
    the_text_resolves_to_the_same_recipe(&resolve(&[], true));
}

fn the_text_resolves_to_the_same_recipe(first: &ResolvedRecipe) {
    let again = Source::new("recipe.yaml", first.yaml.clone());
    let second = resolve_recipe("llama2-like", &again, &NoTemplates, &[])
        .map_err(|problems| problems.to_string())
        .unwrap();
    assert_eq!(first.recipe, second.recipe);
    assert_eq!(first.yaml, second.yaml);
    assert_eq!(first.hash, second.hash);
}

#[test]
fn a_smoke_test_is_the_recipe_under_its_overlay() {
    let whole = resolved(&[]).recipe;
    let trial = resolve(&[], true).recipe;
    assert!(trial.smoke_test && !whole.smoke_test);
    assert_eq!(trial.params["gpus"], ParamValue::Int(2));
    assert_eq!(trial.requires.gpus.unwrap().count, 2);
    // The recipe's own value for it.
    assert!(trial.modified.is_empty());
    assert_eq!(trial.expected_duration.unwrap().as_secs(), 300);
    assert_eq!(whole.expected_duration, None);
    assert!(trial.scenarios[0].1.modes.len() < whole.scenarios[0].1.modes.len());
    // The command line wins.
    let trial = resolve(&[ParamSetting::new("gpus", "4")], true).recipe;
    assert_eq!(trial.params["gpus"], ParamValue::Int(4));
}

#[test]
fn settings_choose_variants_and_params() {
    let resolved = resolved(&[("rocm", "6.4.1"), ("gpus", "4")]);
    let recipe = &resolved.recipe;
    assert_eq!(recipe.variant["rocm"], "6.4.1");
    assert_eq!(recipe.modified, ["gpus"]);
    assert_eq!(recipe.params["gpus"], ParamValue::Int(4));
    assert_eq!(recipe.requires.gpus.as_ref().unwrap().count, 4);
    assert_eq!(recipe.container.devices, ["/dev/kfd", "/dev/dri"]);
    assert_eq!(recipe.image.reference().as_deref(), Some("rocm/amd-mlperf:rocm641"));
    let origin = |key: &str| {
        resolved.list_origins().into_iter().find(|origin| origin.key == key).unwrap().from
    };
    assert_eq!(origin("params.gpus.set"), "--set");
    assert_eq!(origin("container.privileged"), "templates/amd-like.yaml:14:15");
    assert_eq!(origin("container.init"), "default");
}

#[test]
fn setting_a_default_value_modifies_nothing() {
    assert!(resolved(&[("gpus", "8"), ("rocm", "7.1.1")]).recipe.modified.is_empty());
}

#[test]
fn the_recipe_is_merged_over_its_template() {
    let recipe = resolved(&[]).recipe;
    assert_eq!(recipe.container.devices, ["/dev/kfd", "/dev/dri", "/dev/mem"]);
    assert_eq!(recipe.container.ipc, None);
    assert_eq!(recipe.container.network.as_deref(), Some("host"));
    assert_eq!(recipe.container.env[0], ("HSA_NO_SCRATCH_RECLAIM".into(), Template("1".into())));
    let (_, offline) = &recipe.scenarios[0];
    assert_eq!(offline.loadgen.as_deref(), Some("Offline"));
    assert_eq!(offline.modes[0].1.trials, Trials { min: 1, max: 5 });
    assert_eq!(recipe.scenarios[1].1.loadgen, None);
}

#[test]
fn the_fixtures_have_no_problems() {
    assert_eq!(check_source(&source(), RecipeFileKind::Recipe, &Fixtures).to_string(), "");
    let template = Fixtures.read_template("amd-like").unwrap().unwrap();
    assert_eq!(check_source(&template, RecipeFileKind::Template, &Fixtures).to_string(), "");
}

#[test]
fn variants_are_listed() {
    let variants = read_variants(&source(), &Fixtures).unwrap();
    assert_eq!(variants.axes[0].name, "rocm");
    assert_eq!(variants.axes[0].values, ["6.4.1", "7.1.1"]);
    assert_eq!(variants.axes[0].default.as_deref(), Some("7.1.1"));
}
