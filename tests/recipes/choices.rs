//! What the command line chooses, by the program itself: from a machine without engine or GPU, for
//! a planted host with eight MI355X.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

const RECIPE: &str = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";

fn retrial(arguments: &[&str]) -> Output {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts/mi355x-8");
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
    command.env("RETRIAL_HOME", "/home/of/retrial");
    command.env("RETRIAL_CACHE", "/cache/of/retrial");
    command.arg("--root").arg(host).args(arguments);
    command.output().unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = retrial(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_misspelled_scenario_is_refused() {
    let stderr = refused(&["plan", RECIPE, "-q", "--scenario", "offline,bogus"]);
    assert!(stderr.contains("--scenario bogus"), "{stderr}");
    assert!(stderr.contains("offline, server, interactive"), "{stderr}");
}

#[test]
fn a_batch_is_refused_as_a_recipe_with_the_command_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let batch = folder.path().join("both.yaml");
    std::fs::write(&batch, "schema: 1\nrecipe: ./mine.yaml\nvary: { a: [1, 2] }\n").unwrap();
    let batch = batch.to_str().unwrap();
    for command in ["run", "show", "lock"] {
        let stderr = refused(&[command, batch]);
        assert!(stderr.contains("is a batch, not a recipe"), "{stderr}");
        assert!(stderr.contains(&format!("retrial batch {batch}")), "{stderr}");
    }
}

#[test]
fn no_check_of_a_built_in_recipe_warns_of_what_a_user_cannot_change() {
    let listed = retrial(&["list", "--output", "json"]);
    let recipes: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let recipes = recipes.as_array().unwrap();
    let names: Vec<_> = recipes.iter().map(|recipe| recipe["name"].as_str().unwrap()).collect();
    let checked = retrial(&[&["check"], &names[..]].concat());
    assert!(checked.status.success(), "{checked:?}");
    let stdout = String::from_utf8(checked.stdout).unwrap();
    assert!(stdout.contains(&format!("{RECIPE}: ok\n")), "{stdout}");
    for reason in ["which moves", "has no value"] {
        assert!(!stdout.contains(reason), "{stdout}");
    }
}

#[test]
fn a_failure_is_json_where_json_was_asked_for() {
    let failure = |arguments: &[&str]| -> serde_json::Value {
        let output = retrial(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        serde_json::from_slice(&output.stderr).unwrap()
    };
    let unknown = failure(&["show", "no-such-recipe", "--output", "json"]);
    assert_eq!(unknown["exit_code"], 2);
    let message = &unknown["errors"][0]["message"];
    assert_eq!(message, "there is no built-in recipe `no-such-recipe`");
    let setting = failure(&["plan", RECIPE, "--set", "bogus=1", "--output=json"]);
    assert_eq!(setting["problems"][0]["message"], "no such param or variant: `bogus`");
    let option = failure(&["run", "--bogus", "--output", "json"]);
    let message = option["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("--bogus"), "{message}");
}

#[test]
fn one_trial_is_warned_of_unless_the_command_line_repeats_it() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("one.yaml");
    let text = "schema: 1\ntitle: One\nsubmission: { suite: mine, benchmark: mine }\nimage: debian:12\nscenarios:\n  a:\n    performance:\n      run: 'true'\n      figures: { x: { pattern: 'x: ${number}' } }\n      expect: { x: { value: 1, kind: guide } }\n";
    std::fs::write(&recipe, text).unwrap();
    let recipe = recipe.to_str().unwrap();
    let warns = |arguments: &[&str]| {
        let output = retrial(&[&["plan", recipe], arguments].concat());
        String::from_utf8(output.stderr).unwrap().contains("one trial cannot show")
    };
    assert!(warns(&[]));
    assert!(!warns(&["--trials", "3"]));
}

#[test]
fn a_script_repeats_the_values_of_params_without_a_default() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("one.yaml");
    let text = "schema: 1\ntitle: One\nsubmission: { suite: mine, benchmark: mine }\nparams: { image: { type: string } }\nimage: '${{ params.image }}'\nscenarios:\n  a:\n    performance:\n      run: 'true'\n      figures: { x: { pattern: 'x: ${number}' } }\n";
    std::fs::write(&recipe, text).unwrap();
    let recipe = recipe.to_str().unwrap();
    let output = retrial(&["plan", recipe, "--set", "image=debian:12", "--format", "shell"]);
    let script = String::from_utf8(output.stdout).unwrap();
    let made_by = format!("# made by `retrial plan {recipe} --image debian:12 --format shell`");
    assert!(script.contains(&made_by), "{script}");
    assert!(script.contains(&format!("--recipe {recipe} --image debian:12")), "{script}");
}

/// `--force` does not help if a directory is missing.
#[test]
fn a_missing_source_of_a_mount_is_to_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("one.yaml");
    let text = "schema: 1\ntitle: One\nsubmission: { suite: mine, benchmark: mine }\nimage: debian:12\ncontainer: { mounts: ['./out:/out'] }\nscenarios:\n  a:\n    performance:\n      run: 'true'\n      figures: { x: { pattern: 'x: ${number}' } }\n";
    std::fs::write(&recipe, text).unwrap();
    let output = retrial(&["run", recipe.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let help = format!("mkdir -p {}/out", folder.path().display());
    assert!(stderr.contains(&help) && !stderr.contains("--force"), "{stderr}");
}

#[test]
fn gpus_are_unique_valid_indices() {
    let stderr = refused(&["plan", RECIPE, "-q", "--gpus", "0,0"]);
    assert!(stderr.contains("0 is a duplicate"), "{stderr}");
    let stderr = refused(&["plan", RECIPE, "-q", "--gpus", "GPU0"]);
    assert!(stderr.contains("`GPU0` is neither a number"), "{stderr}");
    let stderr = refused(&["plan", RECIPE, "-q", "--gpus", "8"]);
    assert!(stderr.contains("this host has 8 such GPUs"), "{stderr}");
}

/// A privileged container has every device of the host: fewer `--device` narrow nothing there.
#[test]
fn selected_gpus_apply_in_a_privileged_container() {
    let output = retrial(&["plan", RECIPE, "-q", "--gpus", "2,3", "--format", "json"]);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["container"]["privileged"], true);
    let env = plan["container"]["env"].as_array().unwrap();
    let expected = serde_json::json!(["ROCR_VISIBLE_DEVICES", "2,3"]);
    assert!(env.contains(&expected), "{env:?}");
}

#[test]
fn part_of_a_name_suggests_recipes() {
    let stderr = refused(&["show", "llama2"]);
    assert!(stderr.contains("help: choose one:\n  mlperf-inference/v4.1"), "{stderr}");
}

#[test]
fn ambiguous_names_are_listed_one_a_line() {
    let stderr = refused(&["show", "llama2-70b-mi355x"]);
    let list = "recipes\nhelp: choose one:\n  v5.1/llama2-70b-mi355x\n  v6.0/llama2-70b-mi355x\n";
    assert!(stderr.contains(list), "{stderr}");
}

#[test]
fn a_misspelt_step_is_suggested() {
    let stderr = refused(&["plan", RECIPE, "-q", "--skip", "pul"]);
    assert!(stderr.contains("no such step\nhelp: did you mean `pull`?"), "{stderr}");
}

#[test]
fn setup_steps_of_a_mode_are_planned_only_with_that_mode() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("recipe.yaml");
    let text = "schema: 1\ntitle: Modes\nsubmission: { suite: example, benchmark: modes }\nimage: debian\nsetup:\n  always: { run: 'true' }\n  environment: { mode: accuracy, run: 'true' }\nscenarios:\n  offline:\n    performance: { run: 'true' }\n    accuracy: { run: 'true' }\n";
    std::fs::write(&recipe, text).unwrap();
    let plan = |options: &[&str]| -> serde_json::Value {
        let recipe = recipe.to_str().unwrap();
        let output = retrial(&[&["plan", recipe, "-q", "--format", "json"], options].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let steps = |options: &[&str]| {
        let plan = plan(options);
        let steps = plan["steps"].as_array().unwrap().iter();
        let names = steps.map(|step| step["name"].as_str().unwrap().to_owned());
        let shown = |name: &String| name.starts_with("setup-") || name.starts_with("offline-");
        names.filter(shown).collect::<Vec<_>>()
    };
    let [always, environment] = ["setup-always", "setup-environment"];
    let [performance, accuracy] = ["offline-performance", "offline-accuracy"];
    assert_eq!(steps(&[]), [always, environment, performance, accuracy]);
    let steps_of = |mode| steps(&["--mode", mode]);
    assert_eq!(steps_of("performance"), [always, performance]);
    assert_eq!(steps_of("accuracy"), [always, environment, accuracy]);
    // Without it the verdict is `performance only`.
    assert_eq!(plan(&["--mode", "performance"])["excluded_accuracy"][0], "Offline");
    assert!(plan(&[]).get("excluded_accuracy").is_none());
}

#[test]
fn an_image_that_must_be_set_is_named_by_its_param() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("mine.yaml");
    let text = "schema: 1\ntitle: Mine\nsubmission: { suite: house, benchmark: own }\nparams:\n  image: { type: string }\n\
                image: ${{ params.image }}\nscenarios:\n  case:\n    performance:\n      run: ./bench\n      figures: { speed: { pattern: 'speed ${number}' } }\n";
    std::fs::write(&recipe, text).unwrap();
    let path = recipe.to_str().unwrap();
    for command in ["show", "doctor", "lock"] {
        let stderr = refused(&[command, path]);
        assert!(stderr.contains("--set image=VALUE"), "{command}: {stderr}");
        assert!(!stderr.contains("to-be-set"), "{command}: {stderr}");
    }
}

#[test]
fn a_name_of_a_file_that_does_not_exist_is_said_to_be_none() {
    let stderr = refused(&["batch", "five.txt"]);
    assert!(stderr.contains("no built-in recipe, and no file `five.txt`"), "{stderr}");
    let stderr = refused(&["judge", "nixx"]);
    assert!(stderr.contains("no such file, directory, run or batch: `nixx`"), "{stderr}");
}

#[test]
fn the_tag_of_a_built_image_changes_with_its_context() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("image")).unwrap();
    let recipe = folder.path().join("recipe.yaml");
    let plan_script = || {
        let path = recipe.to_str().unwrap();
        let planned = retrial(&["plan", path, "--format", "shell"]);
        assert!(planned.status.success(), "{planned:?}");
        String::from_utf8(planned.stdout).unwrap()
    };
    write(
        "recipe.yaml",
        "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: tagged }\nimage: { build: { context: image } }\nscenarios: { s: { performance: { run: ./bench, figures: { speed: { pattern: 'speed ${number}' } } } } }\n",
    );
    write("image/Dockerfile", "FROM debian:bookworm-slim\n");
    let tag_of = |script: &str| {
        let (_, rest) = script.split_once("retrial/tagged:").unwrap();
        rest[..12].to_owned()
    };
    let first = tag_of(&plan_script());
    assert_eq!(tag_of(&plan_script()), first);
    write("image/Dockerfile", "FROM debian:trixie-slim\n");
    let changed = tag_of(&plan_script());
    assert_ne!(changed, first);
    write("image/bench", "#!/bin/sh\n");
    assert_ne!(tag_of(&plan_script()), changed);
}

/// A path that is longer than the terminal stays whole, and so does a remedy: they are copied.
#[test]
fn messages_are_broken_between_words_in_a_terminal() {
    let path = format!("/no/{}/such.yaml", "directory/".repeat(8));
    for (name, whole) in [("no-such-recipe", "recipes and batches"), (&path, path.as_str())] {
        let line =
            format!("stty cols 60 rows 20; exec '{}' show {name}", env!("CARGO_BIN_EXE_retrial"));
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let is_whole = |line: &str| {
            line.chars().count() <= 60
                || line.starts_with("help: ")
                || line.trim() == format!("`{path}`")
        };
        assert!(shown.lines().all(is_whole) && shown.contains(whole), "{shown}");
        assert!(shown.lines().count() > 1, "{shown}");
    }
}
