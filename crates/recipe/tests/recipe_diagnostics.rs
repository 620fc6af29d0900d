//! Bad recipes and their diagnostics. Each file under `recipes-bad` has a snapshot.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::error::Error;
use std::path::{Path, PathBuf};

use retrial_recipe::{
    ParamSetting, RecipeFileKind, Source, TemplateSource, check_source, resolve_recipe,
};

struct Fixtures;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

impl TemplateSource for Fixtures {
    fn read_template(&self, name: &str) -> Result<Option<Source>, Box<dyn Error>> {
        let path = tests().join("fixtures/templates").join(format!("{name}.yaml"));
        let text = std::fs::read_to_string(path).ok();
        Ok(text.map(|text| Source::new(format!("templates/{name}.yaml"), text)))
    }

    fn template_names(&self) -> Vec<String> {
        vec!["amd-like".into(), "broken".into(), "circle-a".into(), "circle-b".into()]
    }

    fn companion_exists(&self, relative: &str) -> Option<bool> {
        Some(relative.starts_with("there"))
    }
}

#[test]
fn each_bad_recipe_is_reported_with_its_problems() {
    insta::glob!("recipes-bad/*.yaml", |path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let source = Source::from_bytes(name, &std::fs::read(path).unwrap()).unwrap();
        let problems = check_source(&source, RecipeFileKind::Recipe, &Fixtures);
        assert!(!problems.is_empty());
        insta::assert_snapshot!(problems.render(false));
    });
}

fn recipe(name: &str) -> Source {
    let path = tests().join("fixtures/recipes").join(name);
    Source::new(name, std::fs::read_to_string(path).unwrap())
}

fn refused(source: &Source, settings: &[(&str, &str)]) -> String {
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| ParamSetting::new(*name, *value)).collect();
    match resolve_recipe("x", source, &Fixtures, &settings) {
        Ok(_) => panic!("resolved"),
        Err(problems) => problems.render(false),
    }
}

#[test]
fn settings_without_a_param_or_with_bad_values_are_reported() {
    let settings = [
        ("rokm", "1"),
        ("rocm", "7.1.2"),
        ("gpus", "many"),
        ("results", "relative"),
        ("result", "/x"),
    ];
    insta::assert_snapshot!(refused(&recipe("llama2-like.yaml"), &settings));
}

#[test]
fn unset_axes_and_params_are_reported() {
    let source = recipe("llama2-like.yaml");
    let text =
        source.text.replace("default: { rocm: \"7.1.1\" }\n", "").replace("default: 8, ", "");
    insta::assert_snapshot!(refused(&Source::new("unset.yaml", text), &[]));
}

#[test]
fn an_unsupported_combination_is_reported_with_its_reason() {
    let source = recipe("llama2-like.yaml");
    let text = source.text.replace(
        "default: { rocm: \"7.1.1\" }\n",
        "default: { rocm: \"7.1.1\" }\nunsupported: [{ rocm: \"6.4.1\", reason: the image was withdrawn }]\n",
    );
    insta::assert_snapshot!(refused(&Source::new("unsupported.yaml", text), &[("rocm", "6.4.1")]));
}

#[test]
fn problems_are_serialized_with_their_position() {
    let source = Source::new("x.yaml", "schema: 1\ntitel: x\n");
    let problems = check_source(&source, RecipeFileKind::Template, &Fixtures);
    insta::assert_json_snapshot!(problems);
}

#[test]
fn files_missing_next_to_the_recipe_are_reported() {
    let text = "schema: 1\nimage: { build: { context: there } }\nfiles: { there.sh: /x, gone.sh: /y, ../up.sh: /z }\n";
    let problems = check_source(&Source::new("x.yaml", text), RecipeFileKind::Template, &Fixtures);
    insta::assert_snapshot!(problems.render(false));
}

#[test]
fn settings_of_a_shared_command_have_no_effect_where_it_is_named() {
    let text = "schema: 1\ncommands: { all: { run: x } }\nscenarios: { offline: { performance: { from: all, max_log: 1G, results: /r } } }\n";
    let problems = check_source(&Source::new("x.yaml", text), RecipeFileKind::Template, &Fixtures);
    let shown = problems.render(false);
    assert!(shown.contains("`max_log` has no effect with `from`"), "{shown}");
}

#[test]
fn a_name_without_its_first_part_gets_the_whole_one_as_help() {
    let text = r#"
schema: 1
title: Names
submission: { suite: own, benchmark: names, sources: [x] }
image: debian
params: { batch: { type: int, default: 4 } }
models: { tiny: { source: { hub: own/tiny, revision: 0123456789012345678901234567890123456789 }, mount: /model } }
variants: { rocm: { "7.1.1": {}, "6.4.1": {} } }
default: { rocm: "7.1.1" }
scenarios:
  s: { performance: { run: "bench ${{ batch }} ${{ rocm }} ${{ tiny }}", figures: { speed: { pattern: "([0-9]+)" } } } }
"#;
    let problems = refused(&Source::new("names.yaml", text), &[]);
    for whole in ["params.batch", "variant.rocm", "models.tiny.commit"] {
        let help = format!("help: did you mean `{whole}`?");
        assert!(problems.contains(&help), "{problems}");
    }
}
