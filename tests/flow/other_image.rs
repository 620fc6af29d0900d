//! `--image` and `--build-arg` on a real engine, for each way in which a recipe has an image: the verdict names both.

use crate::lab::{Lab, case, image, recipe_with};

const OWN: &str = "debian:bookworm-slim";

/// The `modified` qualifier of the verdict.
fn modified(lab: &Lab) -> String {
    let verdict = lab.verdict();
    let qualifiers = verdict["qualifiers"].as_array().unwrap();
    let mut modified = qualifiers.iter().filter(|one| one["kind"] == "modified");
    let reason = modified.next().unwrap_or_else(|| panic!("{verdict:#}"))["reason"].clone();
    reason.as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_replaced(lab: &Lab, option: &str, published: &str) {
    let reason = modified(lab);
    assert!(reason.starts_with(&format!("{option} (")), "{reason}");
    assert!(reason.contains("sha256:"), "{reason}");
    assert!(reason.ends_with(&format!("in place of {published}")), "{reason}");
}

#[test]
#[ignore = "needs the lab"]
fn in_place_of_a_pulled_image() {
    let lab =
        Lab::new().recipe(&recipe_with("", &case("main", "test ! -e /etc/debian_version", "")));
    let other = image("busybox");
    let option = format!("--image {other}");
    lab.run(&["--image", &other]).expect_exit(0).prints(&option);
    assert_replaced(&lab, &option, OWN);
}

#[test]
#[ignore = "needs the lab"]
fn in_place_of_the_image_of_a_template() {
    let template = format!("schema: 1\nimage: {OWN}\ncontainer: {{ network: host }}\n");
    let cases = case("main", "test ! -e /etc/debian_version", "");
    let recipe = recipe_with("extends: own\n", &cases).replace("image: debian:bookworm-slim\n", "");
    let lab = Lab::new().recipe(&recipe).file("templates/own.yaml", &template);
    let other = image("busybox");
    lab.run(&["--image", &other]).expect_exit(0);
    assert_replaced(&lab, &format!("--image {other}"), OWN);
}

#[test]
#[ignore = "needs the lab"]
fn in_place_of_a_build() {
    let keys = "image: { build: { context: image, dockerfile: Dockerfile, args: { BASE: debian:bookworm-slim } } }";
    let dockerfile = "ARG BASE\nFROM ${BASE}\nRUN touch /built\n";
    let cases = case("main", "test ! -e /etc/debian_version", "");
    let lab = Lab::new().recipe(&recipe_with(keys, &cases)).file("image/Dockerfile", dockerfile);
    let other = image("busybox");
    lab.run(&["--image", &other]).expect_exit(0).does_not_print("build");
    assert_replaced(
        &lab,
        &format!("--image {other}"),
        "image/Dockerfile (BASE=debian:bookworm-slim)",
    );

    let cases = case("main", "test -e /built; test ! -e /etc/debian_version", "");
    let lab = Lab::new().recipe(&recipe_with(keys, &cases)).file("image/Dockerfile", dockerfile);
    lab.run(&["--build-arg", &format!("BASE={other}")]).expect_exit(0);
    assert_eq!(modified(&lab), format!("--build-arg BASE={other} in place of {OWN}"));
    let plan: serde_json::Value = serde_json::from_str(&lab.text("plan.json")).unwrap();
    lab.docker(&["rmi", "-f", plan["image"].as_str().unwrap()]);
}

#[test]
#[ignore = "needs the lab"]
fn in_place_of_the_image_of_a_service() {
    let services = "services:\n  server:\n    container: { image: debian:bookworm-slim }\n    run: 'test ! -e /etc/debian_version && echo listening; sleep 1000'\n    ready: { log: listening, timeout: 30s }\n";
    let recipe =
        recipe_with(services, &case("main", "test -e /etc/debian_version", "needs: [server]"));
    let lab = Lab::new().recipe(&recipe);
    let option = format!("server={}", image("busybox"));
    lab.run(&["--image", &option]).expect_exit(0);
    assert_replaced(&lab, &format!("--image {option}"), OWN);

    let lab = Lab::new().recipe(&recipe);
    lab.run(&["--image", "sever=debian:12"]).expect_exit(2).prints("did you mean `server`?");
}

/// What is judged again, resumed or verified later has the choice from the run's own recipe.
#[test]
#[ignore = "needs the lab"]
fn the_choice_is_recorded() {
    let lab = Lab::new().recipe(&recipe_with("", &case("main", "true", "")));
    let other = image("busybox");
    lab.run(&["--image", &other]).expect_exit(0);
    let reason = modified(&lab);
    lab.retrial(&["judge", &lab.id()]).expect_exit(0).prints(&format!("--image {other}"));
    assert_eq!(modified(&lab), reason);
}
