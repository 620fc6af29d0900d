//! The committed JSON schema is the one that the table of keys gives, and it takes every recipe
//! that there is.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};

use regex::Regex;
use retrial::recipe::{scaffold, schema};
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `UPDATE_SCHEMA=1 cargo test` writes it.
#[test]
fn the_committed_schema_is_up_to_date() {
    let path = root().join("docs/recipe.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema::json()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == schema::json(),
        "docs/recipe.schema.json is old: `retrial schema > docs/recipe.schema.json`"
    );
}

#[test]
fn every_recipe_and_template_fits() {
    let mut files = Vec::new();
    for directory in [
        "recipes",
        "templates",
        "examples",
        "tests/fixtures/recipes",
        "tests/fixtures/templates",
    ] {
        yaml_files(&root().join(directory), &mut files);
    }
    // Rules of rounds are another language, with a check of its own.
    files.retain(|file| !file.starts_with(root().join("templates/rules")));
    assert!(files.len() >= 2);
    for file in files.iter().filter(|file| !file.ends_with("broken.yaml")) {
        let text = std::fs::read_to_string(file).unwrap();
        if text.contains("\nscenarios:") || file.to_string_lossy().contains("templates") {
            assert_eq!(problem(&text), None, "{}", file.display());
        }
    }
    assert_eq!(problem(&scaffold::new("x")), None);
}

fn yaml_files(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(path);
        }
    }
}

#[test]
fn what_is_wrong_does_not_fit() {
    for (text, place) in [
        ("title: x\n", ""),
        ("schema: 2\n", "/schema"),
        ("schema: 1\nimge: x\n", "/imge"),
        (
            "schema: 1\nrequires: { gpus: { count: 0 } }\n",
            "/requires/gpus/count",
        ),
        (
            "schema: 1\ncontainer: { privileged: 'yes' }\n",
            "/container/privileged",
        ),
        (
            "schema: 1\nvariants: { rocm: { a: { extends: b } } }\n",
            "/variants/rocm/a/extends",
        ),
        (
            "schema: 1\nscenarios: { a: { performance: { timeout: 5 } } }\n",
            "/scenarios/a/performance/timeout",
        ),
        ("schema: 1\nservices: {}\n", "/services"),
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
    let schema: Value = serde_json::from_str(&schema::json()).unwrap();
    let value: Value = serde_saphyr::from_str(text).unwrap();
    fits(&schema, &schema, &value, "").err()
}

/// JSON Schema, as much of it as the schema uses.
fn fits(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let here = || Err(place.to_owned());
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$ref" => {
                let pointer = rule.as_str().unwrap().trim_start_matches('#');
                fits(root, root.pointer(pointer).unwrap(), value, place)?;
            }
            "type" if !has_type(rule, value) => return here(),
            "const" if rule != value => return here(),
            "not" if *rule == json!({}) => return here(),
            "minimum" if value.as_f64() < rule.as_f64() => return here(),
            "maximum" if value.as_f64() > rule.as_f64() => return here(),
            "minItems" if (value.as_array().unwrap().len() as u64) < rule.as_u64().unwrap() => {
                return here();
            }
            "$schema" | "$defs" | "title" | "description" | "default" | "type" | "const"
            | "minimum" | "maximum" | "minItems" => {}
            "pattern" => {
                let pattern = Regex::new(rule.as_str().unwrap()).unwrap();
                if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                    return here();
                }
            }
            "required" => {
                let missing = |name: &&Value| value.get(name.as_str().unwrap()).is_none();
                if rule.as_array().unwrap().iter().any(|name| missing(&name)) {
                    return here();
                }
            }
            "anyOf" | "oneOf" => {
                let results: Vec<_> = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|rule| fits(root, rule, value, place))
                    .collect();
                if results.iter().all(Result::is_err) {
                    return results
                        .into_iter()
                        .max_by_key(|result| result.as_ref().err().map(String::len))
                        .unwrap();
                }
            }
            "items" => {
                for (index, item) in value.as_array().unwrap().iter().enumerate() {
                    fits(root, rule, item, &format!("{place}/{index}"))?;
                }
            }
            "propertyNames" => {
                for name in value.as_object().unwrap().keys() {
                    fits(root, rule, &json!(name), &format!("{place}/{name}"))?;
                }
            }
            "properties" => {
                for (name, value) in value.as_object().unwrap() {
                    if let Some(rule) = rule.get(name) {
                        fits(root, rule, value, &format!("{place}/{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().unwrap() {
                    let place = format!("{place}/{name}");
                    if schema
                        .pointer("/properties")
                        .and_then(|known| known.get(name))
                        .is_some()
                    {
                        continue;
                    }
                    match rule {
                        Value::Bool(false) => return Err(place),
                        rule => fits(root, rule, value, &place)?,
                    }
                }
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        }
    }
    Ok(())
}

fn has_type(rule: &Value, value: &Value) -> bool {
    if let Some(types) = rule.as_array() {
        return types.iter().any(|rule| has_type(rule, value));
    }
    match rule.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}
