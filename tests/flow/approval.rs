//! Approval covers what containers of every kind are given, and what the engine mounts is what was approved.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::lab::{Lab, case, recipe_with};

/// A service in a container of its own, and a measurement that needs it.
fn served(run: &str, container: &str) -> String {
    let service = format!(
        "services:\n  server: {{ run: '{run}; echo serving; exec sleep 100', ready: {{ log: serving }}, container: {{ {container} }} }}"
    );
    recipe_with(&service, &case("main", "true", "needs: [server]"))
}

/// A data set whose container has the recipe's directory, and a container that mounts a directory in it.
fn replaced_by(target: &str, before: &str) -> String {
    let commands = format!("{before}rm -rf /own/sub; ln -s {target} /own/sub; echo x >/set/x");
    let keys = format!(
        "container: {{ network: host, mounts: ['./own:/own', './own/sub:/sub'] }}\ndatasets:\n  set: {{ run: '{commands}', cache: {{ key: set, path: /set }} }}"
    );
    recipe_with(&keys, &case("main", "ls /sub; touch /sub/written", ""))
}

#[test]
#[ignore = "needs the lab"]
fn a_link_that_a_service_mounts_needs_approval() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), lab.path("data")).unwrap();
    let lab = lab.recipe(&served("touch /data/written", "mounts: [\"./data:/data\"]"));
    let leads = format!("a link to {}", outside.path().display());
    lab.run(&[]).expect_exit(2).prints("--allow mounts").prints(&leads);
    assert!(lab.runs().is_empty(), "nothing was started");
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    assert!(outside.path().join("written").exists(), "it was approved as what it is");
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_that_a_data_set_replaces_by_a_link_is_not_mounted() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(lab.path("own/sub")).unwrap();
    let lab = lab.recipe(&replaced_by(&outside.path().display().to_string(), ""));
    lab.run(&[])
        .expect_exit(2)
        .prints("leads out of the recipe's directory, which was not approved");
    assert!(!outside.path().join("written").exists());
    assert!(lab.containers().is_empty(), "they were removed");
}

#[test]
#[ignore = "needs the lab"]
fn a_link_that_leads_elsewhere_after_approval_is_refused() {
    let lab = Lab::new();
    let (approved, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(lab.path("own")).unwrap();
    symlink(approved.path(), lab.path("own/sub")).unwrap();
    let lab = lab.recipe(&replaced_by(&other.path().display().to_string(), ""));
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("which was not approved");
    assert!(!other.path().join("written").exists());
    // Through a directory that was approved, not one next to the recipe.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(elsewhere.path().join("sub")).unwrap();
    let text = replaced_by(&other.path().display().to_string(), "")
        .replace("./own", &elsewhere.path().display().to_string());
    let lab = lab.recipe(&text);
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("which was not approved");
    assert!(!other.path().join("written").exists());
}

#[test]
#[ignore = "needs the lab"]
fn a_resumed_run_resolves_its_mounts_again() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(lab.path("own/sub")).unwrap();
    let before = "echo going; while [ ! -e /own/go ]; do sleep 0.1; done; exit 0; ";
    let lab = lab.recipe(&replaced_by("/nowhere", before));
    let going = lab.start(&[]);
    lab.until_printed("02-dataset-set", "going");
    going.kill();
    fs::remove_dir(lab.path("own/sub")).unwrap();
    symlink(outside.path(), lab.path("own/sub")).unwrap();
    fs::write(lab.path("own/go"), "").unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(2).prints("which was not approved");
    assert!(!outside.path().join("written").exists());
}

#[test]
#[ignore = "needs the lab"]
fn a_link_within_the_recipes_directory_needs_no_approval() {
    let lab = Lab::new();
    let lab = lab
        .file("real/figure", "42")
        .file("real/Dockerfile", "FROM debian:bookworm-slim\nCOPY figure /built/figure\n");
    symlink("real", lab.path("link")).unwrap();
    let keys = "image: { build: { context: link } }\ncontainer: { network: host, mounts: ['./link:/mounted:ro'] }";
    let lab =
        lab.recipe(&recipe_with(keys, &case("main", "cmp /built/figure /mounted/figure", "")));
    lab.run(&[]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_build_context_that_leads_out_of_the_recipes_directory_is_not_sent() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("id_ed25519"), "private").unwrap();
    let dockerfile = "FROM debian:bookworm-slim\nCOPY id_ed25519 /stolen\nRUN cat /stolen\n";
    fs::write(outside.path().join("Dockerfile"), dockerfile).unwrap();
    symlink(outside.path(), lab.path("context")).unwrap();
    let keys = "image: { build: { context: context } }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "cat /stolen", "")));
    lab.run(&[]).expect_exit(2).prints("build context").prints("--allow mounts");
    // A Dockerfile by itself, in a directory that stays inside.
    fs::remove_file(lab.path("context")).unwrap();
    fs::create_dir(lab.path("context")).unwrap();
    symlink(outside.path().join("Dockerfile"), lab.path("context/Dockerfile")).unwrap();
    lab.run(&[]).expect_exit(3).prints("leads out of the build context");
}

#[test]
#[ignore = "needs the lab"]
fn a_services_companions_must_belong_to_the_user() {
    let lab = Lab::new();
    let lab = lab.file("scripts/x.sh", "true\n");
    fs::set_permissions(lab.path("scripts"), fs::Permissions::from_mode(0o777)).unwrap();
    for mode in ["", ":ro"] {
        let container = format!("privileged: true, mounts: [\"./scripts:/scripts{mode}\"]");
        let text = served("sh /scripts/x.sh", &container);
        fs::write(lab.path("recipe.yaml"), text).unwrap();
        lab.run(&["--allow", "privileged"])
            .expect_exit(2)
            .prints("scripts is writable by other users");
    }
}

#[test]
#[ignore = "needs the lab"]
fn an_approval_ends_when_a_services_companion_changes() {
    let lab = Lab::new();
    for mode in ["", ":ro"] {
        let container = format!("privileged: true, mounts: [\"./scripts:/scripts{mode}\"]");
        fs::create_dir_all(lab.path("scripts")).unwrap();
        fs::write(lab.path("scripts/x.sh"), "true\n").unwrap();
        let text = served("sh /scripts/x.sh", &container);
        fs::write(lab.path("recipe.yaml"), text).unwrap();
        let mut asked = lab.start_in_terminal(&["run", "./recipe.yaml"]);
        asked.press("y\n");
        asked.end().expect_exit(0);
        lab.run(&[]).expect_exit(0);
        fs::write(lab.path("scripts/x.sh"), "echo changed\n").unwrap();
        lab.run(&[]).expect_exit(2).prints("--allow privileged");
    }
}

#[test]
#[ignore = "needs the lab"]
fn other_containers_and_the_hosts_settings_need_approval() {
    let lab = Lab::new();
    for (flags, privilege) in [
        ("network: 'container:other'", "namespaces"),
        ("ipc: 'container:other'", "namespaces"),
        ("network: host, cap_add: [SYS_TIME, NET_ADMIN, SYS_BOOT, SYSLOG]", "capabilities"),
        ("security_opt: [writable-cgroups=true]", "security-options"),
    ] {
        let text = recipe_with(&format!("container: {{ {flags} }}"), &case("main", "true", ""));
        fs::write(lab.path("recipe.yaml"), text).unwrap();
        lab.run(&[]).expect_exit(2).prints(&format!("--allow {privilege}"));
        if flags.contains("network") {
            continue;
        }
        fs::write(lab.path("recipe.yaml"), served("true", flags)).unwrap();
        lab.run(&[])
            .expect_exit(2)
            .prints(&format!("--allow {privilege}"))
            .prints("services.server.container");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_token_is_given_only_with_approval() {
    let lab = Lab::new();
    let commands = "test -z \"$HF_TOKEN\" || echo given";
    let text = recipe_with("secrets: [HF_TOKEN]", &case("main", commands, ""));
    let unset = lab.recipe(&text);
    unset.run(&[]).expect_exit(0).prints("HF_TOKEN is not set");
    let lab = unset.env("HF_TOKEN", "hf_abcdefghijk");
    lab.run(&[]).expect_exit(2).prints("asks for secrets of yours").prints("--allow secrets");
    lab.run(&["--allow", "secrets"]).expect_exit(0);
    lab.run(&["--secret", "HF_TOKEN"]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_token_that_was_not_set_at_the_start_is_not_given_to_a_resumed_run() {
    let lab = Lab::new();
    let first = "echo going; while [ ! -e /own/go ]; do sleep 0.1; done";
    let second = "test -z \"$HF_TOKEN\" || echo given";
    let cases = case("first", first, "") + &case("second", second, "");
    let keys = "secrets: [HF_TOKEN]\ncontainer: { network: host, mounts: ['./own:/own'] }";
    fs::create_dir(lab.path("own")).unwrap();
    let lab = lab.recipe(&recipe_with(keys, &cases));
    let going = lab.start(&[]);
    lab.until_printed("03-first-performance", "going");
    going.kill();
    fs::write(lab.path("own/go"), "").unwrap();
    let lab = lab.env("HF_TOKEN", "hf_abcdefghijk");
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(!lab.output("04-second-performance").contains("given"));
}
