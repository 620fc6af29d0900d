//! Shared by runs, by steps and by the shell plan; looked at and removed.

use std::fs;

use super::{DOWNLOAD, HASH, KEEP, cached, decision, keeps, listed, sharing_cache};
use crate::lab::{Lab, case, image, recipe_with};

#[test]
#[ignore = "needs the lab"]
fn two_runs_share_the_work() {
    let lab = Lab::new();
    let commands = "echo going; for i in $(seq 1 600); do test ! -e /.retrial/go-on || break; sleep 0.05; done; echo content >/data/file";
    let text = keeps("", commands, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    let mut first = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    let other = sharing_cache(&lab).recipe(&text);
    let mut second = other.start(&[]);
    other.until("it waits", |other| decision(other).starts_with("waiting for"));
    assert!(decision(&other).contains(&lab.id()), "{}", decision(&other));
    fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    first.end().expect_exit(0);
    second.end().expect_exit(0);
    assert!(decision(&other).starts_with("cache hit"));
    assert!(!other.the_run().join("steps/02-dataset-data").exists());
}

#[test]
#[ignore = "needs the lab"]
fn a_waiting_run_can_be_stopped() {
    let lab = Lab::new();
    let commands = "echo going; sleep 60";
    let text = keeps("", commands, KEEP, "true");
    let lab = lab.recipe(&text);
    let mut first = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    let other = sharing_cache(&lab).recipe(&text);
    let mut second = other.start(&[]);
    other.until("it waits", |other| decision(other).starts_with("waiting for"));
    second.signal("INT");
    second.end().expect_exit(130);
    first.signal("INT");
    first.end().expect_exit(130);
    assert_eq!(lab.containers(), [""; 0]);
    assert!(cached(&lab.path("cache")).is_empty());
    let left = fs::read_dir(lab.path("cache/directories/data")).unwrap();
    assert_eq!(left.count(), 0, "nothing of it is left");
}

#[test]
#[ignore = "needs the lab"]
fn a_writable_directory_is_writable_by_any_image_user() {
    let lab = Lab::new();
    let nonroot = format!("image: {}", image("nonroot"));
    let more = format!("{KEEP}\nwritable: true");
    let commands = "id -u; echo one >/data/file; mkdir /data/sub; chmod 700 /data/sub; touch /data/sub/x; chmod 0 /data/sub/x";
    let measured = "id -u; echo more >>/data/file; cat /data/file; cat /data/sub/x";
    let text = keeps(&nonroot, commands, &more, measured);
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), "1000\n");
    assert_eq!(lab.output("04-main-performance"), "1000\none\nmore\nspeed: 42.5 MB/s\n");
    let again = sharing_cache(&lab).recipe(&text);
    again.run(&[]).expect_exit(0);
    assert!(decision(&again).starts_with("cache hit"));
    assert!(again.output("04-main-performance").starts_with("1000\none\nmore\nmore\n"));
}

/// As v4.1's quantization does: a part of the model's directory is made by a step.
#[test]
#[ignore = "needs the lab"]
fn a_directory_inside_a_model_can_be_cached() {
    let lab = Lab::new();
    let keys = "models:\n  weights: { source: { path: MODEL }, mount: /model, writable: [quantized] }\nsetup:\n  quantize:\n    run: tr a-z A-Z </model/weights >/model/quantized/weights\n    cache: { path: /model/quantized, key: quantized }";
    let model = lab.path("model");
    fs::create_dir(&model).unwrap();
    fs::write(model.join("weights"), "abc\n").unwrap();
    let keys = keys.replace("MODEL", model.to_str().unwrap());
    let text = recipe_with(&keys, &case("main", "cat /model/weights /model/quantized/weights", ""));
    let lab = lab.recipe(&text);
    for _ in 0..2 {
        lab.run(&["--allow", "mounts"]).expect_exit(0);
    }
    for run in lab.runs() {
        let output = fs::read_to_string(run.join("steps/04-main-performance/output.log")).unwrap();
        assert_eq!(output, "abc\nABC\nspeed: 42.5 MB/s\n");
    }
    assert_eq!(cached(&lab.path("cache")).len(), 1);
    // Of another model it would be another one.
    let other = lab.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("weights"), "xyz\n").unwrap();
    let lab = lab.recipe(&text.replace(model.to_str().unwrap(), other.to_str().unwrap()));
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    assert_eq!(cached(&lab.path("cache")).len(), 2);
}

#[test]
#[ignore = "needs the lab"]
fn cached_directories_are_listed_and_removed() {
    let lab = Lab::new();
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "true"));
    lab.retrial(&["clean", "--cached"]).expect_exit(0).prints("no cached directories");
    lab.run(&[]).expect_exit(0);
    let id = lab.id();
    lab.retrial(&["clean", "--cached"]).expect_exit(0).prints("data/").prints("KiB").prints(&id);
    lab.retrial(&["clean", "--cached", "other"]).expect_exit(2);
    lab.retrial(&["clean", "--cached", "data", "--dry-run"])
        .expect_exit(0)
        .prints("would remove data/");
    assert_eq!(cached(&lab.path("cache")).len(), 1);
    lab.retrial(&["clean", "--cached", "data"]).expect_exit(0).prints("removed data/");
    assert!(cached(&lab.path("cache")).is_empty());
}

#[test]
#[ignore = "needs the lab"]
fn a_mounted_directory_is_not_removed() {
    let lab = Lab::new();
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "echo going; sleep 60"));
    let mut going = lab.start(&[]);
    lab.until_printed("04-main-performance", "going");
    lab.retrial(&["clean", "--cached", "data"]).expect_exit(0).prints("skipped");
    assert_eq!(cached(&lab.path("cache")).len(), 1);
    going.signal("INT");
    going.end().expect_exit(130);
}

/// The script does the same, and finds the directory that the run cached.
#[test]
#[ignore = "needs the lab"]
fn the_shell_plan_does_the_same() {
    let lab = Lab::new();
    let text = keeps("", DOWNLOAD, &listed(8, HASH), "cat /data/file");
    let lab = lab.recipe(&text);
    let script = |lab: &Lab| {
        let plan = lab.retrial(&["plan", "./recipe.yaml", "--format", "shell"]);
        let name = format!("flow-kept-{}", std::process::id());
        let text = plan.expect_exit(0).out.replace(" recipe", &format!(" {name}"));
        let output = lab.script(&text);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}\n---\n{stdout}\n{errors}");
        stdout
    };
    let printed = script(&lab);
    assert!(printed.contains("downloading\n") && printed.contains("content\n"), "{printed}");
    assert!(!script(&lab).contains("downloading"), "it is cached");
    // Its directories are its own: a run populates the one of its cache.
    lab.run(&[]).expect_exit(0);
    assert!(decision(&lab).starts_with("populated"));
}

#[test]
#[ignore = "needs the lab"]
fn a_container_that_failed_to_populate_can_be_inspected() {
    let lab = Lab::new();
    let lab = lab.recipe(&keeps("", "echo half >/data/file; exit 3", KEEP, "true"));
    lab.run(&["--keep", "on-failure"]).expect_exit(4).prints("retrial shell");
    let content = lab.docker(&["exec", &lab.container(), "cat", "/data/file"]);
    assert_eq!(content, "half");
    lab.retrial(&["clean", "last"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}
