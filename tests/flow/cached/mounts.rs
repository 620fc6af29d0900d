//! Cache mounts: retained between runs that succeed, one for each running container.

use std::fs;

use super::sharing_cache;
use crate::lab::{Lab, case, recipe_with};

/// A recipe with a cache mount, in which the image has a file.
fn compiles(measured: &str) -> String {
    let keys = "container: { cache_mounts: { kernels: /usr/share/base-files } }";
    recipe_with(keys, &case("main", measured, ""))
}

/// A kernel is compiled unless one is there.
const COMPILE: &str = "cd /usr/share/base-files; cat kernel 2>/dev/null || { ls motd; mkdir -m 700 deep; echo compiled >deep/file; mv deep/file kernel; }";

/// The directories of the mounts of a run's containers, and whose files were in them.
fn mounted(lab: &Lab) -> Vec<(String, Option<String>)> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let journal = lab.journal().into_iter();
    journal
        .filter(|entry| entry["event"] == "cache_mounted")
        .map(|entry| (text(&entry["directory"]).unwrap(), text(&entry["reused_from"])))
        .collect()
}

fn warnings(lab: &Lab) -> String {
    lab.verdict()["warnings"].to_string()
}

#[test]
#[ignore = "needs the lab"]
fn a_reused_compile_cache_is_stated_in_the_verdict() {
    let lab = Lab::new();
    let text = compiles(COMPILE);
    let lab = lab.recipe(&text);
    let plan = lab.retrial(&["plan", "./recipe.yaml"]).expect_exit(0);
    plan.prints("cache mount   kernels:/usr/share/base-files");
    lab.run(&[]).expect_exit(0).prints("nothing to reuse");
    assert_eq!(lab.output("03-main-performance"), "motd\nspeed: 42.5 MB/s\n");
    let first = mounted(&lab);
    assert_eq!(first[0].1, None);
    assert_eq!(warnings(&lab), "null");
    lab.retrial(&["clean", "--cached"])
        .expect_exit(0)
        .prints(&format!("kernels/{}", first[0].0))
        .prints(&format!("cache mount, last used by {}", lab.id()));

    let second = sharing_cache(&lab).recipe(&text);
    second.run(&[]).expect_exit(0);
    let output = "compiled\nspeed: 42.5 MB/s\n";
    assert_eq!(second.output("03-main-performance"), output);
    let reused = (first[0].0.clone(), Some(lab.id()));
    assert_eq!(mounted(&second), [reused]);
    assert!(warnings(&second).contains(&format!("of run {} were reused", lab.id())));

    // Another command is another recipe, which is not given another one's programs.
    let other = sharing_cache(&lab).recipe(&compiles("ls /usr/share/base-files"));
    other.run(&[]).expect_exit(0).prints("nothing to reuse");
    lab.retrial(&["clean", "--cached", "kernels"]).expect_exit(0);
    let empty = lab.retrial(&["clean", "--cached"]).expect_exit(0);
    empty.prints("no cached directories");
}

#[test]
#[ignore = "needs the lab"]
fn a_cache_mount_of_a_failed_run_is_not_reused() {
    let lab = Lab::new();
    let text = compiles("cd /usr/share/base-files; ls; echo torn >kernel; test -e /nothing");
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(4);
    let again = sharing_cache(&lab).recipe(&text);
    again.run(&[]).expect_exit(4).prints("nothing to reuse");
    assert_eq!(mounted(&again), mounted(&lab));
    assert!(!again.output("03-main-performance").contains("kernel"));
}

#[test]
#[ignore = "needs the lab"]
fn concurrent_runs_have_separate_cache_mounts() {
    let lab = Lab::new();
    let text = compiles(
        "echo going; for i in $(seq 1 600); do test ! -e /.retrial/go-on || break; sleep 0.05; done",
    );
    let lab = lab.recipe(&text);
    let other = sharing_cache(&lab).recipe(&text);
    let mut first = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    let mut second = other.start(&[]);
    other.until_printed("03-main-performance", "going");
    lab.retrial(&["clean", "--cached", "kernels"]).expect_exit(0).prints("has it mounted");
    for lab in [&lab, &other] {
        fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    }
    first.end().expect_exit(0);
    second.end().expect_exit(0);
    let (first, second) = (mounted(&lab), mounted(&other));
    assert!(first[0].0.ends_with("-1"), "{first:?}");
    assert!(second[0].0.ends_with("-2"), "{second:?}");
    assert_eq!(second[0].1, None);
}
