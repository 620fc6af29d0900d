//! `~/.config/retrial/config.yaml`, and `retrial config`.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

fn retrial(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .env("XDG_CONFIG_HOME", directory)
        .env_remove("RETRIAL_HOME")
        .env_remove("RETRIAL_CACHE")
        .env_remove("DOCKER_HOST")
        .output()
        .unwrap()
}

fn configured(text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("retrial")).unwrap();
    std::fs::write(directory.path().join("retrial/config.yaml"), text).unwrap();
    directory
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_command_line_comes_before_the_configuration() {
    let directory =
        configured("home: /configured/home\ncache: /configured/cache\nengine: unix:///x.sock\n");
    let shown = json(&retrial(directory.path(), &["config", "--output", "json"]));
    assert_eq!(shown["home"], "/configured/home");
    assert_eq!(shown["cache"], "/configured/cache");
    assert_eq!(shown["engine"], "unix:///x.sock");
    let arguments = ["config", "--output", "json", "--home", "/given", "--engine", "tcp://h:1"];
    let shown = json(&retrial(directory.path(), &arguments));
    assert_eq!(shown["home"], "/given");
    assert_eq!(shown["cache"], "/configured/cache");
    assert_eq!(shown["engine"], "tcp://h:1");
}

#[test]
fn trials_of_the_configuration_are_planned_unless_they_are_given() {
    let directory = configured("trials: 4\n");
    let recipe = "v6.0/llama2-70b-mi355x";
    let trials = |more: &[&str]| {
        let arguments = [&["plan", recipe, "-q", "--format", "json"], more].concat();
        json(&retrial(directory.path(), &arguments))["measurements"][0]["trials"]["max"].clone()
    };
    assert_eq!(trials(&[]), 4);
    assert_eq!(trials(&["--trials", "2"]), 2);
}

#[test]
fn a_mistake_in_the_configuration_is_reported_with_its_place() {
    let directory = configured("hme: /x\n");
    let output = retrial(directory.path(), &["config"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("config.yaml:1:1"), "{stderr}");
    assert!(stderr.contains("did you mean `home`?"), "{stderr}");
    let directory = configured("allow: { /srv/recipes: [privileges] }\n");
    let output = retrial(directory.path(), &["config"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("did you mean `privileged`?"), "{stderr}");
}
