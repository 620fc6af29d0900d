//! The container that a shell plan's `docker run` makes and the one that `retrial run` makes
//! have the same configuration, but for names, ids, labels and our control mount.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::needs::assert_engine_answers;

const EVERYTHING: &str = r#"
schema: 1
title: every flag there is
submission: { suite: own, benchmark: parity, sources: [tests/engine/shell_plan.rs] }
image: debian:bookworm-slim
container:
  privileged: true
  ipc: host
  network: host
  uts: host
  devices: [/dev/null, "/dev/zero:/dev/other:rw"]
  cap_add: [CAP_SYS_ADMIN, SYS_PTRACE]
  security_opt: [seccomp=unconfined]
  group_add: [video, "109"]
  shm_size: 128M
  ulimits: { core: 0, nofile: { soft: 1024, hard: 2048 } }
  env: { HSA: "1", WITH_SPACE: "a b 'c' $HOME" }
  mounts: ["./data:/data:ro", { source: ./out, target: /out }]
  workdir: /opt
  init: true
scenarios:
  nothing:
    performance: { run: "echo speed 1", figures: { speed: { pattern: "speed ([0-9]+)" } } }
"#;

const IMAGE_ENTRYPOINT: &str = r#"
schema: 1
title: the image's entrypoint, a user
submission: { suite: own, benchmark: parity, sources: [tests/engine/shell_plan.rs] }
image: debian:bookworm-slim
container: { entrypoint: image, user: "1000:1000" }
scenarios:
  nothing:
    performance: { run: "echo speed 1", figures: { speed: { pattern: "speed ([0-9]+)" } } }
"#;

const WITH_A_MODEL: &str = r#"
schema: 1
title: a model of the hub
submission: { suite: own, benchmark: parity, sources: [tests/engine/shell_plan.rs] }
image: debian:bookworm-slim
models: { tiny: { source: { hub: own/tiny }, mount: /model } }
scenarios:
  nothing:
    performance: { run: "echo speed 1", figures: { speed: { pattern: "speed ([0-9]+)" } } }
"#;

/// The hub's own program, as far as a mount is concerned: it makes the directory.
const HF: &str = "#!/bin/sh\nfor last; do :; done; mkdir -p \"$last\"\n";

fn retrial(arguments: &[&str], home: &Path, environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .env("RETRIAL_HOME", home)
        .env("RETRIAL_CACHE", home.join("cache"))
        .env("HF_HOME", home.join("hf"))
        .envs(environment.iter().copied())
        .env("RETRIAL_CACHE", home.join("cache"))
        .current_dir(home)
        .output()
        .unwrap()
}

fn docker(arguments: &[&str]) -> Output {
    Command::new("docker").args(arguments).output().unwrap()
}

/// The output of `docker inspect`, without the parts that must differ.
fn configuration(container: &str) -> Value {
    let output = docker(&["inspect", container]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut spec = all[0].take();
    let map = spec.as_object_mut().unwrap();
    let of_one_container = [
        "Id",
        "Created",
        "Name",
        "State",
        "LogPath",
        "HostnamePath",
        "HostsPath",
        "ResolvConfPath",
        "GraphDriver",
        "NetworkSettings",
        "ExecIDs",
        "RestartCount",
    ];
    for key in of_one_container {
        map.remove(key);
    }
    let config = map["Config"].as_object_mut().unwrap();
    config.remove("Labels");
    config.remove("Hostname");
    // Docker's command line sends variables and binds in random order.
    if let Some(env) = config["Env"].as_array_mut() {
        env.sort_by_key(ToString::to_string);
    }
    let ours = |text: &str| text.contains("/.retrial");
    // The script has a copy of the model, the run a view of the hub's cache.
    let source = regex::Regex::new(r"^/\S+/(models|hf)/[^:]+").unwrap();
    // The script mounts the recipe's files themselves, the run its copies.
    let copies = regex::Regex::new("/runs/[^/]+/(companions|writable)/").unwrap();
    let anywhere = |text: &mut Value| {
        if let Some(path) = text.as_str() {
            *text = source.replace(&copies.replace(path, "/"), "MODEL").into_owned().into();
        }
    };
    let binds = map["HostConfig"]["Binds"].as_array_mut();
    binds.into_iter().flatten().for_each(anywhere);
    let mounts = map["Mounts"].as_array_mut().into_iter().flatten();
    mounts.for_each(|mount| anywhere(&mut mount["Source"]));
    if let Some(mounts) = map["Mounts"].as_array_mut() {
        mounts.retain(|mount| !ours(&mount["Destination"].to_string()));
        mounts.sort_by_key(|mount| mount["Destination"].to_string());
    }
    let host = map["HostConfig"].as_object_mut().unwrap();
    if let Some(binds) = host["Binds"].as_array_mut() {
        binds.retain(|bind| !ours(&bind.to_string()));
        binds.sort_by_key(ToString::to_string);
    }
    for key in ["Binds", "Mounts"] {
        // No mounts of the recipe: an absent list and an empty one are the same.
        let empty = match host.get_mut(key) {
            Some(Value::Array(list)) => {
                list.retain(|mount| !ours(&mount.to_string()));
                list.is_empty()
            }
            other => other.is_none_or(|value| value.is_null()),
        };
        if empty {
            host.remove(key);
        }
    }
    spec
}

/// The part of the script up to the container's creation, with a name of its own.
fn creation(script: &str, name: &str) -> String {
    let create = script.find(" create\n").unwrap();
    let end = script[create..].find("\n# ").unwrap() + create;
    script[..end].replacen("--name parity", &format!("--name {name}"), 1)
}

fn same_configuration(recipe: &str, tag: &str) {
    same_configuration_with(recipe, tag, &[]);
}

fn same_configuration_with(recipe: &str, tag: &str, environment: &[(&str, &str)]) {
    assert_engine_answers();
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    std::fs::create_dir_all(home.join("data")).unwrap();
    std::fs::create_dir_all(home.join("out")).unwrap();
    std::fs::write(home.join("parity.yaml"), recipe).unwrap();

    let script = retrial(&["plan", "./parity.yaml", "--format", "shell"], home, environment);
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let name = format!("retrial-parity-{tag}-{}", std::process::id());
    let script = creation(&String::from_utf8(script.stdout).unwrap(), &name);
    std::fs::create_dir(home.join("bin")).unwrap();
    std::fs::write(home.join("bin/hf"), HF).unwrap();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.join("bin/hf"), rights).unwrap();
    let path = format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap());
    let made = Command::new("sh")
        .env("PATH", path)
        .args(["-c", &script])
        .current_dir(home)
        .output()
        .unwrap();
    assert!(made.status.success(), "{script}\n{}", String::from_utf8_lossy(&made.stderr));

    let allow = ["--allow", "privileged,sys-admin,dev-mem,mounts", "--keep", "always"];
    let run = retrial(&[&["run", "./parity.yaml"], &allow[..]].concat(), home, environment);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let id = std::fs::read_dir(home.join("runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name()
        .into_string()
        .unwrap();

    let by_script = configuration(&name);
    let by_run = configuration(&format!("retrial-{id}"));
    docker(&["rm", "-f", &name]);
    let cleaned = retrial(&["clean", &id], home, environment);
    assert!(cleaned.status.success());
    if by_script != by_run {
        let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        panic!("--- docker run\n{}\n--- retrial run\n{}", text(&by_script), text(&by_run));
    }
}

#[test]
#[ignore = "needs the lab"]
fn with_a_model() {
    let hub = crate::hub::Hub::start();
    hub.add(crate::hub::Repository::new("own/tiny").file("config.json", "{}"));
    same_configuration_with(WITH_A_MODEL, "model", &[("HF_ENDPOINT", hub.endpoint())]);
}

#[test]
#[ignore = "needs the lab"]
fn with_every_flag() {
    same_configuration(EVERYTHING, "every");
}

#[test]
#[ignore = "needs the lab"]
fn with_the_images_entrypoint() {
    same_configuration(IMAGE_ENTRYPOINT, "entrypoint");
}
