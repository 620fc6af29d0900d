//! Recipes that `retrial new` makes of another, and what `check`, `plan` and `--set` say of them.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const BUILTIN: &str = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
/// A guide with a blank, a privilege and directories of the host.
const GUIDE: &str =
    "docker run --privileged -v $DATA:/data -v $(pwd)/in:/in debian:12 ./bench --n $SIZE\n";

fn retrial(directory: &Path, arguments: &[&str]) -> Output {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts/mi355x-8");
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .env("RETRIAL_HOME", directory.join("home"))
        .arg("--root")
        .arg(host)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Makes a recipe of the guide in a directory below this.
fn recipe_below(directory: &Path) {
    fs::create_dir(directory.join("below")).unwrap();
    fs::write(directory.join("below/guide.txt"), GUIDE).unwrap();
    let options = ["--figure", "x=x ${number}", "--expect", "none"];
    let new = ["new", "below/mine.yaml", "--from", "below/guide.txt"];
    let made = retrial(directory, &[&new[..], &options].concat());
    assert!(made.status.success(), "{made:?}");
}

/// The sources of the mounts of a plan's container.
fn mounts(plan: &Value) -> Vec<String> {
    let mounts = plan["container"]["mounts"].as_array().unwrap().iter();
    mounts.map(|mount| mount["source"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_recipe_extends_a_built_in_one() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let made = retrial(directory, &["new", "mine", "--from-recipe", BUILTIN]);
    assert!(made.status.success(), "{made:?}");
    let text = fs::read_to_string(directory.join("mine/recipe.yaml")).unwrap();
    assert!(text.contains(&format!("\ntitle: mine\n\nextends: {BUILTIN}\n")), "{text}");
    assert!(text.contains("# options: { default: … }"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let checked = retrial(directory, &["check", "mine/recipe.yaml"]);
    assert!(checked.status.success(), "{checked:?}");

    // It measures as its base does, until a key of its own replaces one.
    let planned = |recipe| json(&retrial(directory, &["plan", recipe, "--output", "json"]));
    let (base, own) = (planned(BUILTIN), planned("./mine/recipe.yaml"));
    assert!(!own["measurements"].as_array().unwrap().is_empty());
    for key in ["measurements", "image", "requires"] {
        assert_eq!(own[key], base[key], "{key}");
    }
    fs::write(directory.join("mine/recipe.yaml"), text + "image: example.org/other:1\n").unwrap();
    let own = planned("./mine/recipe.yaml");
    assert_eq!(own["image"], "example.org/other:1", "{own}");
    assert_eq!(own["requires"], base["requires"]);
}

#[test]
fn a_recipe_that_is_not_built_in_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = retrial(directory.path(), &["new", "mine", "--from-recipe", "no/such"]);
    assert_eq!(refused.status.code(), Some(2));
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("no built-in recipe `no/such`"), "{stderr}");
    assert!(!directory.path().join("mine").exists());
}

/// `--set` is relative to the directory in which one stands, `$(pwd)` of the guide to the recipe's.
#[test]
fn a_path_of_the_command_line_is_relative_to_the_current_directory() {
    let directory = tempfile::tempdir().unwrap();
    let directory = fs::canonicalize(directory.path()).unwrap();
    recipe_below(&directory);
    let set = ["--set", "data=./sets/a", "--set", "size=1", "--output", "json"];
    let plan = json(&retrial(&directory, &[&["plan", "below/mine.yaml"], &set[..]].concat()));
    let below = |path: &str| directory.join(path).display().to_string();
    assert_eq!(mounts(&plan), [below("sets/a"), below("below/in")]);
}

#[test]
fn check_says_what_a_run_asks_for() {
    let directory = tempfile::tempdir().unwrap();
    let directory = fs::canonicalize(directory.path()).unwrap();
    recipe_below(&directory);
    let checked = retrial(&directory, &["check", "below/mine.yaml"]);
    assert!(checked.status.success(), "{checked:?}");
    let text = String::from_utf8(checked.stdout).unwrap();
    let missing = format!("  missing: {}/below/in (mount /in)", directory.display());
    for line in ["  to set: --set data=VALUE", "  to set: --set size=VALUE", &missing] {
        assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
    }
    let approve = "  to approve: privileged, container.privileged: ";
    assert!(text.lines().any(|shown| shown.starts_with(approve)), "{text}");

    fs::create_dir(directory.join("below/in")).unwrap();
    let checked = json(&retrial(&directory, &["check", "below/mine.yaml", "--output", "json"]));
    let start = checked[0]["start"].as_array().unwrap();
    assert!(start.iter().all(|line| !line.as_str().unwrap().starts_with("missing")), "{start:?}");
}

/// The figures of a client of LLM servers have names; nothing is asked of how they are read.
#[test]
fn a_client_of_a_server_is_written_as_one() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let guide = "docker run --network host vllm/vllm-openai:v0.29.0 vllm bench serve --model /m --num-prompts 40";
    let expected = ["--expect", "output_throughput=0.32 ktok/s", "--expect", "tpot_p50=0.0106 s"];
    let new = [&["new", "mine", "--from", guide][..], &expected].concat();
    let made = retrial(directory, &new);
    assert!(made.status.success(), "{made:?}");
    let text = fs::read_to_string(directory.join("mine.yaml")).unwrap();
    assert!(text.contains("client: vllm") && !text.contains("incomplete"), "{text}");
    let plan = json(&retrial(directory, &["plan", "./mine.yaml", "--output", "json"]));
    let measured = &plan["measurements"][0];
    let values = ["output_throughput", "tpot_p50"].map(|name| {
        let mut expected = measured["expect"].as_array().unwrap().iter();
        let pair = expected.find(|pair| pair[0] == name).unwrap();
        pair[1][0]["value"].as_f64().unwrap()
    });
    assert_eq!(format!("{values:?}"), "[320.0, 10.6]");
    assert!(measured["figures"].to_string().contains("$.median_tpot_ms"), "{measured:#}");
    // Until one of its figures is asked for, the command is the guide's own.
    let made = retrial(directory, &["new", "own", "--from", guide]);
    assert!(String::from_utf8_lossy(&made.stderr).contains("is a client whose figures have names"));
    let text = fs::read_to_string(directory.join("own.yaml")).unwrap();
    let has_client = text.lines().any(|line| line.trim_start().starts_with("client:"));
    assert!(!has_client && !text.contains("--save-result"), "{text}");
    let unknown = ["new", "other", "--from", guide, "--expect", "speed=3"];
    let refused = retrial(directory, &unknown);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
