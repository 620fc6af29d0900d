//! Where recipes are found: names and paths, templates, companions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use retrial::app::catalog::{self, CatalogError};
use serde_json::Value;

use retrial_document::ErrorText;
use retrial_recipe::{
    RecipeFileKind, TemplateSource, check_source, resolve_recipe, scaffold, summarize,
};

const RECIPE: &str = "schema: 1
title: On disk
extends: mine
submission: { suite: own, benchmark: b }
image: { build: { context: ., dockerfile: docker/Dockerfile } }
files: { run.sh: /run.sh }
requires: { gpus: { vendor: amd, models: [MI300X], count: 8 } }
scenarios: { case: { performance: { run: /run.sh, figures: { speed: { csv: speed } } } } }
";

fn project() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("recipe.yaml", RECIPE);
    write("run.sh", "#!/bin/sh\n");
    write("docker/Dockerfile", "FROM scratch\n");
    write("templates/mine.yaml", "schema: 1\ncontainer: { ipc: host }\n");
    directory
}

fn open(path: &Path) -> retrial::app::catalog::FoundRecipe {
    catalog::open_recipe(path.to_str().unwrap()).unwrap()
}

#[test]
fn a_directory_with_templates_and_companions() {
    let project = project();
    let opened = open(project.path());
    assert_eq!(opened.name, project.path().to_str().unwrap());
    assert_eq!(check_source(&opened.source, opened.kind, &opened).to_string(), "");
    let resolved = resolve_recipe(&opened.name, &opened.source, &opened, &[]).unwrap();
    assert_eq!(resolved.recipe.container.ipc.as_deref(), Some("host"));
    assert!(!opened.is_builtin());
    let directory = fs::canonicalize(project.path()).unwrap();
    assert_eq!(opened.directory(), Some(directory.as_path()));

    fs::remove_file(project.path().join("run.sh")).unwrap();
    let problems = check_source(&opened.source, opened.kind, &opened);
    assert!(
        problems.to_string().contains("no such file next to the recipe: `run.sh`"),
        "{problems}"
    );
}

#[test]
fn a_template_is_identified_by_its_directory() {
    let project = project();
    let opened = open(&project.path().join("templates/mine.yaml"));
    assert_eq!(opened.kind, RecipeFileKind::Template);
    assert!(check_source(&opened.source, opened.kind, &opened).is_empty());
    assert_eq!(open(&project.path().join("recipe.yaml")).kind, RecipeFileKind::Recipe);
}

/// A built-in template of the same name would give another recipe than the one that its author wrote.
#[test]
fn a_template_of_ones_own_that_cannot_be_read_is_not_replaced_by_the_built_in_one() {
    let project = project();
    let built_in = "amd-instinct";
    let own = project.path().join(format!("templates/{built_in}.yaml"));
    std::fs::write(&own, b"image: \xff\xfe\n").unwrap();
    let opened = open(project.path());
    let error = opened.read_template(built_in).unwrap_err().to_string();
    assert!(error.contains("UTF-8"), "{error}");
    let recipe = format!("schema: 1\ntitle: Mine\nextends: {built_in}\n");
    std::fs::write(project.path().join("recipe.yaml"), recipe).unwrap();
    let opened = open(project.path());
    let problems = check_source(&opened.source, opened.kind, &opened).to_string();
    assert!(problems.contains("cannot read template"), "{problems}");
}

/// Writes a recipe and plans it; returns its directory of companions, or the error.
fn plan_in(project: &Path, keys: &str) -> Result<Value, String> {
    fs::write(project.join("mine.yaml"), format!("schema: 1\ntitle: Mine\n{keys}")).unwrap();
    let planned = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["plan", "./mine.yaml", "--output", "json"])
        .env("RETRIAL_HOME", project.join("home"))
        .current_dir(project)
        .output()
        .unwrap();
    serde_json::from_slice(&planned.stdout)
        .map_err(|_| String::from_utf8_lossy(&planned.stderr).into_owned())
}

#[test]
fn a_built_in_recipe_is_extended_with_its_companions() {
    let directory = tempfile::tempdir().unwrap();
    let project = fs::canonicalize(directory.path()).unwrap();
    let gemm = plan_in(&project, "extends: mi350x/gemm\nimage: rocm/pytorch:latest\n").unwrap();
    let base = "training-benchmarks/amd/mi350x/gemm";
    assert_eq!(gemm["base"], serde_json::json!({ "recipe": base, "changes": ["image"] }));
    assert_eq!((&gemm["title"], &gemm["image"]), (&"Mine".into(), &"rocm/pytorch:latest".into()));
    let notes = gemm["notes"].to_string();
    assert!(notes.contains(&format!("extends {base}, changing image")), "{notes}");

    let of_base = plan_in(&project, "extends: bert-large-radeon\n").unwrap();
    let below_home = project.join("home/recipes");
    assert!(Path::new(of_base["directory"].as_str().unwrap()).starts_with(&below_home));

    // A run has the files of one directory.
    fs::write(project.join("mine.sh"), "#!/bin/sh\n").unwrap();
    let mixed = "extends: bert-large-radeon\nfiles: { mine.sh: /mine.sh }\n";
    let error = plan_in(&project, mixed).unwrap_err();
    assert!(error.contains("`mine.sh` is next to the recipe"), "{error}");
    fs::create_dir_all(project.join("image")).unwrap();
    fs::write(project.join("image/rocm.Dockerfile"), "FROM scratch\n").unwrap();
    fs::write(project.join("on_provider.py"), "").unwrap();
    let own = plan_in(&project, "extends: bert-large-radeon\n").unwrap();
    assert_eq!(Path::new(own["directory"].as_str().unwrap()), project);
}

#[test]
fn a_template_cannot_extend_a_recipe() {
    let project = project();
    let template = project.path().join("templates/mine.yaml");
    fs::write(template, "schema: 1\nextends: mi350x/gemm\n").unwrap();
    let opened = open(project.path());
    let problems = check_source(&opened.source, opened.kind, &opened).to_string();
    assert!(problems.contains("a template cannot extend the recipe"), "{problems}");
}

#[test]
fn template_names_cannot_escape_their_directory() {
    let project = project();
    let opened = open(project.path());
    assert!(opened.read_template("mine").unwrap().is_some());
    for name in ["../recipe", "/etc/passwd", "", "..", "./mine", "a/../../recipe"] {
        assert!(opened.read_template(name).unwrap().is_none(), "{name}");
    }
}

#[test]
fn missing_recipes_are_reported() {
    let project = project();
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(catalog::open_recipe("./no/such.yaml"), Err(CatalogError::Missing { .. })));
    assert!(matches!(catalog::open_path(empty.path()), Err(CatalogError::NoRecipe { .. })));
    assert!(matches!(
        catalog::open_path(&project.path().join("recipe.yaml/x")),
        Err(CatalogError::Missing { .. })
    ));
    assert!(matches!(catalog::open_recipe("no-such-recipe"), Err(CatalogError::Unknown { .. })));
}

/// Tests run in the crate's directory, where Cargo.toml lies.
#[test]
fn a_bare_name_is_never_a_local_file() {
    let error = catalog::open_recipe("Cargo.toml").unwrap_err();
    assert_eq!(error.to_string(), "there is no built-in recipe `Cargo.toml`");
    assert_eq!(ErrorText::of(&error).help, ["for the one in this directory, write `./Cargo.toml`"]);
}

/// No built-in name ends so.
#[test]
fn a_name_that_ends_with_yaml_is_a_path() {
    let error = catalog::open_recipe("no-such.yaml").unwrap_err();
    assert!(matches!(error, CatalogError::Missing { .. }), "{error}");
    let found = catalog::open_recipe("tests/fixtures/recipes/llama2-like.yaml").unwrap();
    assert!(!found.is_builtin());
}

#[test]
fn the_unique_end_of_a_name_is_enough_and_another_asks_which() {
    let found = catalog::open_recipe("v6.0/llama2-70b-mi355x").unwrap();
    assert_eq!(found.name, "mlperf-inference/v6.0/amd/llama2-70b-mi355x");
    let error = catalog::open_recipe("llama2-70b-mi355x").unwrap_err();
    assert_eq!(error.to_string(), "`llama2-70b-mi355x` is the name of 3 recipes");
    assert_eq!(
        ErrorText::of(&error).help,
        [
            "choose one:\n  v5.1/llama2-70b-mi355x\n  v6.0/llama2-70b-mi355x\n  v6.1/llama2-70b-mi355x"
        ]
    );
}

#[test]
fn a_summary_needs_no_options() {
    let project = project();
    let opened = open(project.path());
    let (summary, _) = summarize(&opened.source, &opened).unwrap();
    assert_eq!(summary.title, "On disk");
    assert_eq!(summary.gpus.as_deref(), Some("8 x MI300X"));
}

#[test]
fn every_built_in_recipe_and_template_checks() {
    let mut checked = 0;
    for opened in catalog::builtin_recipes() {
        assert_eq!(catalog::open_recipe(&opened.name).unwrap().source, opened.source);
        let problems = check_source(&opened.source, RecipeFileKind::Recipe, &opened);
        assert!(!problems.has_errors(), "{}", problems.render(false));
        summarize(&opened.source, &opened).unwrap();
        // Companions are written where the engine can mount them.
        let directory = tempfile::tempdir().unwrap();
        opened.extract_to(directory.path()).unwrap();
        assert!(fs::read_dir(directory.path()).unwrap().next().is_some());
        for name in opened.template_names() {
            let template = opened.read_template(&name).unwrap().unwrap();
            let problems = check_source(&template, RecipeFileKind::Template, &opened);
            assert!(!problems.has_errors(), "{}", problems.render(false));
        }
        checked += 1;
    }
    assert!(checked > 30, "{checked}");
}

/// No recipe is its guide word for word: each states its deviations.
#[test]
fn every_built_in_recipe_lists_its_deviations() {
    for opened in catalog::builtin_recipes() {
        let recipe = shown(&opened.name, None);
        let deviations = recipe["deviations"].as_array().unwrap();
        assert!(!deviations.is_empty(), "{}", opened.name);
    }
}

/// Rows of others are data of a template; the recipe appends its own, which come first and decide.
#[test]
fn third_party_rows_come_after_the_official_ones() {
    for opened in catalog::builtin_recipes() {
        let text = &opened.source.text;
        let is_document = text.contains("suite: training-benchmarks");
        assert!(is_document || !text.contains("kind: third-party"), "{}", opened.name);
    }
    let recipe = shown("mlperf-inference/v6.0/amd/llama2-70b-mi355x", None);
    let rows = &recipe["scenarios"][0][1]["modes"][0][1]["expect"][0][1];
    let kinds: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["official", "guide"], "{rows:#}");
    assert_eq!(kinds[2..], ["third-party"; 6], "{rows:#}");
}

/// The settings that choose one variant each, and none.
fn variant_settings(opened: &catalog::FoundRecipe) -> Vec<Option<String>> {
    let axes = retrial_recipe::read_variants(&opened.source, opened).unwrap().axes;
    let settings = axes.iter().flat_map(|axis| {
        let values = axis.values.iter();
        values.map(|value| Some(format!("{}={value}", axis.name)))
    });
    settings.chain([None]).collect()
}

#[test]
fn titles_name_only_the_gpus_of_the_chosen_variant() {
    let gpu_name = regex::Regex::new(r"\b(MI\d+[A-Z]|H\d00|RTX \d+|RX \d+ ?[A-Z]*)\b").unwrap();
    let mut named = 0;
    for opened in catalog::builtin_recipes() {
        for setting in variant_settings(&opened) {
            let recipe = shown_or_unsupported(&opened.name, setting.as_deref());
            let title = recipe["title"].as_str().unwrap_or_default();
            let models = recipe["requires"]["gpus"]["models"].to_string();
            for gpu in gpu_name.find_iter(title) {
                named += 1;
                assert!(
                    models.contains(gpu.as_str()),
                    "{} {setting:?}: `{title}` for {models}",
                    opened.name
                );
            }
        }
    }
    assert!(named > 40, "{named} titles name a GPU");
}

/// Each states its downloads, in every variant: models, data sets, and steps whose commands are downloaders.
#[test]
fn every_built_in_recipe_declares_its_downloads() {
    for opened in catalog::builtin_recipes() {
        for setting in variant_settings(&opened) {
            let recipe = shown_or_unsupported(&opened.name, setting.as_deref());
            for kind in ["models", "datasets", "setup"] {
                for step in recipe[kind].as_array().into_iter().flatten() {
                    let (name, step) = (step[0].as_str().unwrap(), &step[1]);
                    // A directory of the host is nobody's download.
                    let is_here = !step["source"]["path"].is_null();
                    let run = step["run"].as_str().unwrap_or_default();
                    let fetches = !is_here && (kind != "setup" || is_download(run));
                    assert!(
                        !fetches || !step["download"].is_null(),
                        "{} {setting:?}: {kind}.{name} has no download",
                        opened.name
                    );
                }
            }
        }
    }
}

fn is_download(command: &str) -> bool {
    let programs = ["pip", "curl", "wget", "mlcr", "rclone", "git clone", "hf download"];
    let separators =
        |character: char| !(character.is_ascii_alphanumeric() || "-_".contains(character));
    let words: Vec<&str> = command.split(separators).collect();
    let command = format!(" {} ", words.join(" "));
    programs.iter().any(|program| command.contains(&format!(" {program} ")))
}

/// A built-in recipe as `show` has it, with stand-ins for values that it lacks.
/// Commands are copied: they stay in one line, as everything does in a pipe.
#[test]
fn prose_of_a_plan_is_broken_between_words_in_a_terminal_and_commands_are_not() {
    let program = env!("CARGO_BIN_EXE_retrial");
    let plan = format!("'{program}' plan mlperf-inference/v6.1/amd/llama2-70b-mi355x 2>/dev/null");
    let print = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().replace('\r', "")
    };
    let piped = print("sh", &["-c", &plan]);
    let in_terminal = format!("stty cols 80 rows 24; {plan}");
    let shown = print("script", &["-qefc", &in_terminal, "/dev/null"]);
    let prose = |text: &str| {
        let (_, section) = text.split_once("\ndeviates from the guide\n").unwrap();
        section.split("\n\n").next().unwrap().to_owned()
    };
    let width = |text: &str| text.lines().map(str::len).max().unwrap();
    let (whole, broken) = (prose(&piped), prose(&shown));
    assert!(width(&whole) > 80 && width(&broken) <= 80, "{shown}");
    assert!(whole.split_whitespace().eq(broken.split_whitespace()), "{shown}");
    let commands = piped.lines().filter(|line| line.starts_with("       ") && line.len() > 80);
    let mut commands = commands.peekable();
    assert!(commands.peek().is_some());
    assert!(commands.all(|command| shown.lines().any(|line| line == command)), "{shown}");
}

fn shown(name: &str, setting: Option<&str>) -> Value {
    let output = show(name, setting);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {problems}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The same; null where the recipe does not support a choice next to its defaults.
fn shown_or_unsupported(name: &str, setting: Option<&str>) -> Value {
    let output = show(name, setting);
    if output.status.success() {
        return serde_json::from_slice(&output.stdout).unwrap();
    }
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(problems.contains("is not supported"), "{name}: {problems}");
    Value::Null
}

fn show(name: &str, setting: Option<&str>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["show", name, "--output", "json"])
        .args(setting.iter().flat_map(|setting| ["--set", setting]))
        .output()
        .unwrap()
}

#[test]
fn a_new_recipe_checks() {
    for name in ["mine", "with \"quotes\" and \\", "", "two\nlines: [", "日本 ${{ x }}"] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("recipe.yaml"), scaffold::starter_recipe(name)).unwrap();
        let opened = open(directory.path());
        let problems = check_source(&opened.source, opened.kind, &opened);
        assert_eq!(problems.to_string(), "", "{name}");
    }
}
