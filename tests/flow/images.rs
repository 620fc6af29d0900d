//! Images as they come: without bash, with another user than root, with an entrypoint.

use std::os::unix::fs::PermissionsExt;

use crate::lab::{Lab, case, image, recipe_with};

fn on(name: &str, keys: &str, commands: &str, more: &str) -> Lab {
    let keys = format!("image: {}\n{keys}", image(name));
    Lab::new().recipe(&recipe_with(&keys, &case("main", commands, more)))
}

#[test]
#[ignore = "needs the lab"]
fn an_image_without_bash_can_be_measured() {
    let lab = on(
        "busybox",
        "",
        "mkdir /results; date >/results/when; (setsid sleep 50 &); sleep 0.1",
        "results: /results",
    );
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.count("main-performance", "leftover_processes"), 1);
    assert!(lab.the_run().join("results/main/performance/run_1/when").exists());
}

#[test]
#[ignore = "needs the lab"]
fn of_another_user() {
    let lab = on(
        "nonroot",
        "",
        "id -u; mkdir /tmp/out; date >/tmp/out/when; sleep 50 &",
        "results: /tmp/out",
    );
    lab.run(&[]).expect_exit(0);
    assert!(lab.output("03-main-performance").starts_with("1000\n"));
    assert!(lab.the_run().join("results/main/performance/run_1/when").exists());
    assert!(lab.text("journal.jsonl").contains("sleep"), "what it left is named");
    let status =
        std::fs::metadata(lab.the_run().join("steps/03-main-performance/output.log")).unwrap();
    assert_eq!(status.permissions().mode() & 0o777, 0o644);
}

#[test]
#[ignore = "needs the lab"]
fn a_step_with_another_user_and_workdir() {
    let lab = Lab::new();
    let lab = lab.recipe(&recipe_with(
        "",
        &case(
            "main",
            "id -un; pwd; echo $COLOUR",
            "user: nobody\nworkdir: /tmp\nenv: { COLOUR: blue }",
        ),
    ));
    lab.run(&[]).expect_exit(0);
    assert!(lab.output("03-main-performance").starts_with("nobody\n/tmp\nblue\n"));
}

#[test]
#[ignore = "needs the lab"]
fn with_an_entrypoint() {
    let print = "echo \"entrypoint: ${FROM_ENTRYPOINT:-no}\"; tr '\\0' '\\n' </proc/1/environ | grep FROM_ENTRYPOINT || echo bypassed";
    let lab = on("entrypoint", "", print, "");
    lab.run(&[]).expect_exit(0);
    assert!(lab.output("03-main-performance").contains("bypassed"));

    let lab = on("entrypoint", "container: { entrypoint: image }", print, "");
    lab.run(&[]).expect_exit(0);
    assert!(
        lab.output("03-main-performance").contains("FROM_ENTRYPOINT=yes"),
        "{}",
        lab.output("03-main-performance")
    );
}

#[test]
#[ignore = "needs the lab"]
fn without_a_shell() {
    let lab = on("noshell", "", "true", "");
    lab.run(&[]).expect_exit(3).prints("the image has no /bin/sh");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn with_an_entrypoint_that_does_not_run_its_arguments() {
    let dockerfile =
        |entrypoint: &str| format!("FROM debian:bookworm-slim\nENTRYPOINT {entrypoint}\n");
    let keys = "image: { build: { context: image, dockerfile: Dockerfile } }\ncontainer: { entrypoint: image }";
    for (entrypoint, message) in [
        (r#"["/bin/sh", "-c", "echo I am the server; exit 5"]"#, "I am the server"),
        (
            r#"["/bin/sh", "-c", "echo I am the server; sleep 100"]"#,
            "does not execute its arguments",
        ),
    ] {
        let lab = Lab::new();
        let lab = lab
            .recipe(&recipe_with(keys, &case("main", "true", "")))
            .file("image/Dockerfile", &dockerfile(entrypoint));
        lab.run(&[]).expect_exit(3).prints(message).prints("entrypoint");
        assert_eq!(lab.containers(), [""; 0]);
        let plan: serde_json::Value = serde_json::from_str(&lab.text("plan.json")).unwrap();
        lab.docker(&["rmi", "-f", plan["image"].as_str().unwrap()]);
    }
}

/// The builder gets the same context as from the command line.
#[test]
#[ignore = "needs the lab"]
fn layers_that_docker_built_are_not_built_again() {
    let lab = Lab::new();
    let keys = "image: { build: { context: image, dockerfile: Dockerfile } }";
    let unique = lab.path("").display().to_string();
    let dockerfile =
        "FROM debian:bookworm-slim\nCOPY sub/ /sub\nRUN head -c 16 /dev/urandom | md5sum >/layer\n";
    let lab = lab
        .recipe(&recipe_with(keys, &case("main", "cat /layer", "")))
        .file("image/Dockerfile", dockerfile)
        .file("image/sub/deep/file", &unique);
    let context = lab.path("image");
    let mut command = lab.docker_command(&["build", "-q", context.to_str().unwrap()]);
    let image = command.env("DOCKER_BUILDKIT", "0").output().unwrap();
    assert!(image.status.success(), "{image:?}");
    let image = String::from_utf8(image.stdout).unwrap();
    let layer = lab.docker(&["run", "--rm", image.trim(), "cat", "/layer"]);
    lab.run(&[]).expect_exit(0);
    let output = lab.text("steps/03-main-performance/output.log");
    assert_eq!(output.lines().next(), Some(layer.as_str()));
    let plan: serde_json::Value = serde_json::from_str(&lab.text("plan.json")).unwrap();
    lab.docker(&["rmi", "-f", plan["image"].as_str().unwrap(), image.trim()]);
}

#[test]
#[ignore = "needs the lab"]
fn processes_of_an_entrypoint_are_not_terminated() {
    let lab = Lab::new();
    let keys = "image: { build: { context: image, dockerfile: Dockerfile } }\ncontainer: { entrypoint: image }";
    let dockerfile = "FROM debian:bookworm-slim\nENTRYPOINT [\"/bin/sh\", \"-c\", \"setsid sleep 77 & exec \\\"$@\\\"\", \"entrypoint\"]\n";
    let there = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep 'sleep 77'";
    let cases = case("first", there, "") + &case("second", there, "");
    let lab = lab.recipe(&recipe_with(keys, &cases)).file("image/Dockerfile", dockerfile);
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.count("first-performance", "leftover_processes"), 0);
}
