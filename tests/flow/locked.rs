//! A locked recipe runs the locked digests and commits, even after tag and branch have moved.

use std::fs;

use crate::hub::{Hub, Repository};
use crate::lab::{Lab, case, image, recipe_with};

const LOOK: &str = "cat /model/config.json; echo; id -u; echo commit ${{ models.tiny.commit }}";

#[test]
#[ignore = "needs the lab"]
fn locked_image_and_commit_are_used_and_changes_reported() {
    let lab = Lab::new();
    let hub = Hub::start();
    let model = |text: &'static str| Repository::new("lab/tiny").file("config.json", text);
    let first = hub.add(model("first"));
    let moving =
        image("busybox").replace("busybox:1", &format!("moving-{}:now", std::process::id()));
    let keys = format!(
        "image: {moving}\nmodels: {{ tiny: {{ source: {{ hub: lab/tiny }}, mount: /model }} }}"
    );
    let recipe = recipe_with(&keys, &case("main", LOOK, ""));
    let cache = lab.path("hf").display().to_string();
    let lab = lab.recipe(&recipe).env("HF_ENDPOINT", hub.endpoint()).env("HF_HOME", &cache);
    lab.publish("busybox", &moving);

    lab.retrial(&["lock", "./recipe.yaml", "--check"]).expect_exit(2).prints("is not locked");
    let locked = lab.retrial(&["lock", "./recipe.yaml"]).expect_exit(0);
    let locked = locked.prints("./recipe.lock.yaml").prints(&moving).prints(&first);
    assert!(hub.downloads("lab/tiny", "config.json") == 0, "no bytes");
    lab.retrial(&["lock", "./recipe.yaml", "--check"]).expect_exit(0).prints("is up to date");
    drop(locked);

    lab.publish("nonroot", &moving);
    let second = hub.add(model("second"));
    lab.retrial(&["lock", "./recipe.yaml", "--check"])
        .expect_exit(1)
        .prints(&format!("image {moving}: the lock has sha256:"))
        .prints("the registry now has sha256:")
        .prints(&format!("model lab/tiny@main: the lock has {first}, the hub now has {second}"));
    lab.retrial(&["plan", "./recipe.yaml"])
        .expect_exit(0)
        .prints("locked      ./recipe.lock.yaml")
        .prints(&format!("lab/tiny at {first}"))
        .does_not_print("not pinned")
        .does_not_print("warning");
    lab.run(&[]).expect_exit(0).prints("the registry now has");
    assert!(lab.output("04-main-performance").starts_with(&format!("first\n0\ncommit {first}\n")));
    assert!(!lab.text("verdict.json").contains("unpinned"));

    // A lock of a recipe that was changed since is reported, and another lock can be named.
    lab.retrial(&["lock", "./recipe.yaml", "--to", "mine.lock.yaml"]).expect_exit(0);
    let changed = recipe.replace("title: Flow", "title: Changed");
    fs::write(lab.path("recipe.yaml"), changed).unwrap();
    lab.retrial(&["plan", "./recipe.yaml"])
        .expect_exit(0)
        .prints("the recipe was changed since it was locked");
    let before = lab.runs();
    lab.run(&["--lock", "mine.lock.yaml"]).expect_exit(0);
    // Runs of one second are in no order.
    let mut runs = lab.runs().into_iter();
    let newest = runs.find(|run| !before.contains(run)).unwrap();
    let output = fs::read_to_string(newest.join("steps/04-main-performance/output.log")).unwrap();
    // The engine keeps no more of it than it had.
    let repository = moving.trim_end_matches(":now");
    let format = "{{.Repository}}@{{.Digest}}";
    for left in lab.docker(&["images", "--digests", "--format", format, repository]).lines() {
        lab.docker(&["rmi", left]);
    }
    assert!(output.starts_with(&format!("second\n1000\ncommit {second}\n")), "{output}");
}

#[test]
#[ignore = "needs the lab"]
fn a_handwritten_lock_is_validated() {
    let lab = Lab::new();
    let lab = lab
        .measures("true")
        .file("recipe.lock.yaml", "lock: 1\nimages: { debian:bookworm-slim: latest }\nmodel: {}\n");
    lab.run(&[]).expect_exit(2).prints("unknown key `model`").prints("is not a digest");
    lab.run(&["--lock", "none"]).expect_exit(0);
}
