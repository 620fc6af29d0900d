//! The committed JSON schema is the one that the table of keys gives, and it takes every recipe
//! that there is.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use retrial_recipe::{scaffold, schema};
use serde_json::Value;

use crate::support::json_schema::fits;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `UPDATE_SCHEMA=1 cargo test` writes it.
#[test]
fn the_committed_schema_is_up_to_date() {
    let path = root().join("docs/recipe.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema::recipe_schema_json()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == schema::recipe_schema_json(),
        "docs/recipe.schema.json is old: `retrial schema > docs/recipe.schema.json`"
    );
}

/// `UPDATE_SCHEMA=1 cargo test` writes them.
#[test]
fn the_key_tables_in_the_docs_are_up_to_date() {
    let path = root().join("docs/recipe-format.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- keys -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of keys -->\n").unwrap();
    let tables = schema::render_key_tables();
    let expected = format!("{before}<!-- keys -->\n{tables}<!-- end of keys -->\n{after}");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(
            text == expected,
            "docs/recipe-format.md is old: run this test with UPDATE_SCHEMA=1"
        );
    }
}

#[test]
fn every_recipe_and_template_matches_the_schema() {
    let mut files = Vec::new();
    for directory in
        ["recipes", "templates", "examples", "tests/fixtures/recipes", "tests/fixtures/templates"]
    {
        yaml_files(&root().join(directory), &mut files);
    }
    // Rules of rounds are another language, with a check of its own.
    files.retain(|file| !file.starts_with(root().join("templates/rules")));
    assert!(files.len() >= 2);
    for file in files.iter().filter(|file| !file.ends_with("broken.yaml")) {
        let text = std::fs::read_to_string(file).unwrap();
        // A batch may have the key, too; its own schema is tested in tests/recipes/batch.rs.
        let is_batch = ["\nrecipe:", "\nrecipes:"].iter().any(|key| text.contains(key));
        if is_batch {
            continue;
        }
        if text.contains("\nscenarios:") || file.to_string_lossy().contains("templates") {
            assert_eq!(problem(&text), None, "{}", file.display());
        }
    }
    assert_eq!(problem(&scaffold::starter_recipe("x")), None);
}

/// `retrial check` accepts every recipe, template and rules file of the tree, built in or not.
#[test]
fn every_file_passes_retrial_check() {
    let mut files = Vec::new();
    for directory in ["recipes", "templates", "crates/mlperf/rules/mlperf-inference", "examples"] {
        yaml_files(&root().join(directory), &mut files);
    }
    files
        .retain(|file| !file.starts_with(root().join("examples")) || file.ends_with("recipe.yaml"));
    assert!(files.len() > 50, "{files:?}");
    let checked =
        Command::new(env!("CARGO_BIN_EXE_retrial")).arg("check").args(&files).output().unwrap();
    let problems = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{problems}");
}

fn yaml_files(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // The rules of rounds are no recipes.
            if !path.ends_with("templates/rules") {
                yaml_files(&path, files);
            }
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(path);
        }
    }
}

#[test]
fn invalid_recipes_do_not_match_the_schema() {
    for (text, place) in [
        ("title: x\n", ""),
        ("schema: 2\n", "/schema"),
        ("schema: 1\nimge: x\n", "/imge"),
        ("schema: 1\nrequires: { gpus: { count: 0 } }\n", "/requires/gpus/count"),
        ("schema: 1\ncontainer: { privileged: 'yes' }\n", "/container/privileged"),
        ("schema: 1\nvariants: { rocm: { a: { extends: b } } }\n", "/variants/rocm/a/extends"),
        (
            "schema: 1\nscenarios: { a: { performance: { timeout: 5 } } }\n",
            "/scenarios/a/performance/timeout",
        ),
        ("schema: 1\nroles: {}\n", "/roles"),
    ] {
        assert_eq!(problem(text).as_deref(), Some(place), "{text}");
    }
    for text in [
        "schema: 1\nrequires: { gpus: { count: '${{ params.gpus }}' } }\n",
        "schema: 1\ncontainer: { devices+: [/dev/mem], ipc: null }\n",
        "schema: 1\nvariants: { rocm: { a: { image: x, container: { cap_add+: [SYS_ADMIN] } } } }\n",
    ] {
        assert_eq!(problem(text), None, "{text}");
    }
}

/// The deepest place at which a YAML text does not fit the schema.
fn problem(text: &str) -> Option<String> {
    let schema: Value = serde_json::from_str(&schema::recipe_schema_json()).unwrap();
    let value: Value = serde_saphyr::from_str(text).unwrap();
    fits(&schema, &schema, &value, "").err()
}
