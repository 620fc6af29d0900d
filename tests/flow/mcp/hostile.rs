//! A client that tries to approve by itself.

use std::fs;

use serde_json::{Value, json};

use super::client::Client;
use super::privileged;
use crate::lab::Lab;

/// Asserts that a call starts nothing, and is no way to approve.
#[track_caller]
fn expect_refused(lab: &Lab, client: &mut Client, tool: &str, arguments: &Value) {
    let answer = client.call(tool, arguments.clone());
    assert!(answer.is_error, "{tool} {arguments}: {:#}", answer.value);
    assert!(lab.runs().is_empty(), "{tool} {arguments} started a run");
    let is_remembered = lab.home_path().join("approvals.json").exists();
    assert!(!is_remembered, "{tool} {arguments} approved");
}

#[test]
#[ignore = "needs the lab"]
fn no_argument_approves() {
    let lab = Lab::new().recipe(&privileged("true"));
    fs::copy(lab.path("recipe.yaml"), lab.path("--allow=capabilities.yaml")).unwrap();
    let mut client = Client::connect(&lab, &[]);
    let allow = "--allow=capabilities";
    let with = |key: &str, value: Value| {
        let mut arguments = json!({ "recipe": "./recipe.yaml" });
        arguments[key] = value;
        arguments
    };
    for arguments in [
        with("allow", json!(["capabilities"])),
        with("approve", json!(true)),
        with("yes", json!(true)),
        with("home", json!("/tmp")),
        with("secrets", json!(["HF_TOKEN"])),
        with("set", json!({ "x": format!("1 {allow}") })),
        with("set", json!({ allow: "1" })),
        with("set", json!({ "": allow })),
        with("scenarios", json!([allow])),
        with("points", json!([allow])),
        with("scenarios", json!(["main", allow])),
        with("modes", json!([allow])),
        with("trials", json!(allow)),
        with("trials", json!(format!("1\n{allow}"))),
        with("recipe", json!(allow)),
        with("recipe", json!(format!("./recipe.yaml {allow}"))),
        with("recipe", json!(format!("./recipe.yaml\0{allow}"))),
        with("recipe", json!("--allow=capabilities.yaml")),
        with("recipe", json!("/dev/stdin")),
        with("recipe", json!("/proc/self/fd/0")),
        with("recipe", json!("")),
        json!({}),
    ] {
        expect_refused(&lab, &mut client, "run", &arguments);
    }
    for run in ["--in-background", "--in-job", "../..", "./", "", "/"] {
        for tool in ["resume", "stop"] {
            expect_refused(&lab, &mut client, tool, &json!({ "run": run }));
        }
    }
}

/// Nor does one wait for a writer.
#[test]
#[ignore = "needs the lab"]
fn a_pipe_is_no_recipe() {
    let lab = Lab::new();
    let pipe = lab.path("pipe.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut client = Client::connect(&lab, &[]);
    expect_refused(&lab, &mut client, "run", &json!({ "recipe": "./pipe.yaml" }));
}

/// A parameter of a built-in recipe is a part of its commands, which no approval covers: the client's is no user's.
#[test]
#[ignore = "needs the lab"]
fn settings_of_a_built_in_recipe_need_approval() {
    let lab = Lab::new();
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/mi355x-8");
    let mut client = Client::connect(&lab, &["--root", host]);
    for set in
        [json!({ "options": "x=1; touch /tmp/x" }), json!({ "image": "debian:bookworm-slim" })]
    {
        let arguments = json!({ "recipe": "v6.0/llama2-70b-mi355x", "set": set });
        let answer = client.call("run", arguments);
        let approval = &answer.value["approval"];
        let names = approval["privileges"].to_string();
        assert!(names.contains("privileged") && names.contains("dev-mem"), "{:#}", answer.value);
        let reason = approval["reason"].as_str().unwrap();
        assert!(reason.contains("set by         the command line: "), "{reason}");
        let words = shlex::split(approval["command"].as_str().unwrap()).unwrap();
        let (name, value) = set.as_object().unwrap().iter().next().unwrap();
        let setting = format!("--set={name}={}", value.as_str().unwrap());
        assert!(words.contains(&setting), "{words:?}");
        assert!(words.iter().any(|word| word == "--untrusted-settings"), "{words:?}");
    }
    assert!(lab.runs().is_empty());
}
