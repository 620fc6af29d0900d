//! The shell plan of every built-in recipe reaches its end where nothing is but what the script and its commands
//! make, and stops where something is missing.
use std::fs;

use serde_json::Value;

use super::recorder::{Recorder, executable};

/// `--set` of each of the recipe's paths on the host, to an empty directory.
fn paths(recorder: &Recorder, recipe: &str) -> Vec<String> {
    let shown = recorder.retrial(&["show", recipe]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let options = shown.split_once("options (--set").map_or("", |(_, rest)| rest);
    let mut settings = Vec::new();
    for line in options.lines().skip(1) {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { break };
        let value = words.next().unwrap_or_default();
        if value.starts_with('/') || line.contains(" must be set") {
            let directory = recorder.path().join("of").join(name);
            fs::create_dir_all(&directory).unwrap();
            settings.push(format!("--set={name}={}", directory.display()));
        }
    }
    settings
}

/// A clone of MAD with its program.
fn clone_of_mad(recorder: &Recorder, directory: &str) {
    let bin = recorder.path().join(directory).join(".venv/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(recorder.path().join(directory).join(".git")).unwrap();
    executable(&bin.join("madengine"), "#!/bin/sh\n");
}

fn holds(recipe: &str) {
    let recorder = Recorder::new();
    let settings = paths(&recorder, recipe);
    if recipe.contains("madengine") {
        clone_of_mad(&recorder, "of/mad");
    }
    let mut arguments = vec![recipe];
    arguments.extend(settings.iter().map(String::as_str));
    let ran = recorder.run(&arguments);
    let problems = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{recipe}: {problems}");
    assert_eq!(recorder.missing(), "", "{recipe}");
    let commands = recorder.commands();
    assert!(commands.iter().any(|command| is(command, "run")), "{recipe}");
    // None but the `pull` and the `build` of the plan brings an image.
    let runs = commands.iter().filter(|command| is(command, "run"));
    for run in runs {
        assert!(run.contains(&"--pull=never".to_owned()), "{recipe}: {run:?}");
    }
    // At the end of the script services are stopped, those that have ended, too.
    let is_stop = |command: &Vec<String>| {
        command.starts_with(&["docker", "exec", "-u", "0"].map(str::to_owned))
    };
    let last = commands.iter().rfind(|command| !is_stop(command)).unwrap();
    assert_eq!(last[..4], ["retrial", "judge", "results", "--recipe"], "{recipe}");
    assert_eq!(last[4], recipe);
}

/// Recipes for several machines have no shell plan.
#[test]
fn every_built_in_recipe() {
    let list = Recorder::new().retrial(&["list", "--output", "json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let recipes = list.as_array().unwrap().iter().map(|recipe| &recipe["name"]);
    let recipes = recipes.map(|name| name.as_str().unwrap());
    let alone = |name: &&str| !super::nodes::NODES.iter().any(|(nodes, _)| name.ends_with(nodes));
    let recipes: Vec<&str> = recipes.filter(alone).collect();
    assert!(recipes.len() > 30);
    std::thread::scope(|scope| {
        for half in recipes.chunks(recipes.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|recipe| holds(recipe)));
        }
    });
}

const LLAMA_4_1: &str = "mlperf-inference/v4.1/amd/llama2-70b-mi300x";

#[test]
fn a_missing_mount_source_is_an_error() {
    let recorder = Recorder::new();
    let mut settings = paths(&recorder, LLAMA_4_1);
    fs::remove_dir(recorder.path().join("of/hist")).unwrap();
    settings.push(LLAMA_4_1.to_owned());
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let ran = recorder.run(&settings);
    assert_eq!(ran.status.code(), Some(1));
    let stderr = String::from_utf8(ran.stderr).unwrap();
    let missing = recorder.path().join("of/hist");
    let expected = format!("error: the mount's source {} does not exist\n", missing.display());
    assert!(stderr.ends_with(&expected), "{stderr}");
    let created = |command: &Vec<String>| command.contains(&"-d".to_owned());
    assert!(!recorder.commands().iter().any(created));
}

#[test]
fn an_image_that_is_not_pulled_must_exist() {
    let mut recorder = Recorder::new();
    let arguments = ["mlperf-inference/v6.0/amd/llama2-70b-mi355x", "--pull=never"];
    let ran = recorder.run(&arguments);
    assert_eq!(ran.status.code(), Some(1));
    let stderr = String::from_utf8(ran.stderr).unwrap();
    let missing = "error: the engine has no image rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0";
    assert!(stderr.contains(missing), "{stderr}");
    assert_eq!(recorder.commands().len(), 1);

    fs::remove_dir(recorder.path().join("empty")).unwrap();
    recorder.has_images = true;
    assert!(recorder.run(&arguments).status.success());
    assert!(!has_pulled(&recorder.commands()));
}

fn has_pulled(commands: &[Vec<String>]) -> bool {
    let mut commands = commands.iter();
    commands.any(|command| is(command, "pull"))
}

/// Whether it is a command of docker's.
fn is(command: &[String], name: &str) -> bool {
    command.starts_with(&["docker".to_owned(), name.to_owned()])
}

/// No registry has the image of v4.1: it is built, or the script ends, and no other one is pulled.
#[test]
fn an_image_that_a_step_builds_is_not_pulled() {
    for is_broken in [false, true] {
        let recorder = Recorder::new();
        let mut arguments = paths(&recorder, LLAMA_4_1);
        arguments.extend([LLAMA_4_1.to_owned(), "--pull=always".to_owned()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if is_broken {
            let page = "#!/bin/sh\necho '<html>'\n";
            executable(&recorder.path().join("bin/curl"), page);
        }
        let ran = recorder.run(&arguments);
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.success(), !is_broken, "{stderr}");
        assert_eq!(stderr.contains("is no wheel"), is_broken, "{stderr}");
        let commands = recorder.commands();
        let builds = |command: &Vec<String>| command[..] == ["bash", "build_llama2.sh"];
        assert_eq!(commands.iter().any(builds), !is_broken);
        assert!(!has_pulled(&commands));
    }
}

/// `judge` reads training logs from files of MLCommons' names.
#[test]
fn training_logs_are_stored() {
    let recorder = Recorder::new();
    let ran = recorder.run(&["mlperf-training/v5.1/amd/llama2-70b-lora", "--trials=2"]);
    assert!(ran.status.success());
    for log in ["run_1/result_1.txt", "run_2/result_2.txt"] {
        let results = recorder.path().join("empty/results/training/performance");
        assert!(results.join(log).exists(), "{log}");
    }
}
