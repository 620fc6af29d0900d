//! Removing runs: only the selected ones, and none that is still running.

use std::fs;

use super::{Scene, ids};

#[test]
fn without_a_terminal_removal_needs_yes() {
    let scene = Scene::new(0..2);
    let output = scene.retrial(&["runs", "remove", "last"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("--yes"), "{}", output.err);
    let output = scene.retrial(&["runs", "remove", "--yes"]);
    assert_eq!(output.code, 2, "not all runs by oversight");
    let output = scene.retrial(&["runs", "remove", "--dry-run", "--recipe", "llama2"]);
    assert!(output.out.starts_with("would remove 2 runs"), "{}", output.out);
    assert_eq!(scene.listed(&[]), ids(0..2));
}

#[test]
fn only_selected_runs_are_removed() {
    let scene = Scene::new(0..6);
    let output = scene.retrial(&["runs", "remove", "--yes", "--set", "rocm=7.1.1"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("removed 2 runs, "), "{}", output.out);
    assert_eq!(scene.listed(&[]), ids([0, 1, 2, 3]));
    let output = scene.retrial(&["runs", "remove", "--yes", &ids([1])[0], "last"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(scene.listed(&[]), ids([0, 2]));
    let left = fs::read_dir(scene.home().join("runs")).unwrap().count();
    assert_eq!(left, 2, "nothing else is left");
}

#[test]
fn a_running_run_is_not_removed() {
    let scene = Scene::new(0..2);
    // Its process.
    let lock = fs::File::options().write(true).open(scene.run(0).join("lock")).unwrap();
    lock.lock().unwrap();
    // Killed before it ended, and then taken up again: its journal is open.
    let journal = fs::read_to_string(scene.run(0).join("journal.jsonl")).unwrap();
    let open: Vec<&str> = journal.lines().filter(|line| !line.contains("run_ended")).collect();
    fs::write(scene.run(0).join("journal.jsonl"), open.join("\n") + "\n").unwrap();
    let output = scene.retrial(&["runs", "--flat", "--outcome", "running"]);
    assert!(output.out.contains(&ids([0])[0]), "{}", output.out);
    let output = scene.retrial(&["runs", "remove", "--yes", "--recipe", "llama2"]);
    assert_eq!(output.code, 3);
    assert!(output.err.contains("retrial stop"), "{}", output.err);
    assert_eq!(scene.listed(&[]), ids([0]));
}

#[test]
fn a_run_with_a_possibly_running_container_is_not_removed() {
    let scene = Scene::new(0..1);
    let journal = fs::read_to_string(scene.run(0).join("journal.jsonl")).unwrap();
    let open: Vec<&str> = journal
        .lines()
        .filter(|line| !line.contains("run_ended") && !line.contains("container_removed"))
        .collect();
    fs::write(scene.run(0).join("journal.jsonl"), open.join("\n") + "\n").unwrap();
    let output = scene.retrial(&["runs", "remove", "--yes", "last"]);
    assert_eq!(output.code, 3);
    assert!(output.err.contains("the engine cannot be queried"), "{}", output.err);
    assert_eq!(scene.listed(&[]), ids([0]));
    let output = scene.retrial(&["runs", "remove", "--yes", "--force", "last"]);
    assert_eq!(output.code, 0, "{}", output.err);
}
