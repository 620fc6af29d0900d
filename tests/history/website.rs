//! `retrial report --all --to DIR`: a website of planted runs, written again as runs come and go.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::many_runs::Many;
use serde_json::Value;

const LIST: &str = "retrial-website.json";

struct Scene(tempfile::TempDir);

impl Scene {
    fn new(runs: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Many::new().plant(&directory.path().join("home"), 0..runs);
        Self(directory)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn run(&self, number: usize) -> PathBuf {
        self.path("home/runs").join(Many::id(number))
    }

    /// `retrial` with these arguments.
    fn retrial(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retrial"))
            .current_dir(self.0.path())
            .env("RETRIAL_HOME", self.path("home"))
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Writes a website into this directory; returns the messages.
    fn website(&self, to: &str) -> String {
        let output = self.retrial(&["report", "--all", "--to", to]);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    }

    /// The problem that keeps a website from being written.
    fn refused(&self, to: &str) -> String {
        let output = self.retrial(&["report", "--all", "--to", to]);
        assert_eq!(output.stdout, b"");
        assert!(!output.status.success());
        stderr(&output)
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The files of a directory.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

/// Inodes and times of the files of a directory.
fn stamps(directory: &Path) -> BTreeMap<String, (u64, i64, i64)> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let metadata = entry.metadata().unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
        })
        .collect()
}

/// Replaces a text of a run's file.
fn replace(file: &Path, text: &str, with: &str) {
    let before = fs::read_to_string(file).unwrap();
    assert!(before.contains(text), "{}: {text}", file.display());
    fs::write(file, before.replace(text, with)).unwrap();
}

#[test]
fn only_changed_pages_are_written() {
    let scene = Scene::new(600);
    let site = scene.path("site");
    assert!(scene.website("site").contains("written, 0 unchanged, 0 removed"));
    let (first, stamped) = (files(&site), stamps(&site));
    // Nothing is touched, not even the directory's list.
    assert!(scene.website("site").contains("0 files written"));
    assert_eq!(stamps(&site), stamped);
    // The same runs give the same bytes elsewhere.
    scene.website("another");
    assert_eq!(files(&scene.path("another")), first);
    // A new run is on its submission's page and the front page, perhaps on that of its batch and in the feed.
    Many::new().plant_one(&scene.path("home"), 600);
    scene.website("site");
    let after = files(&site);
    let is_new = |name: &&String| after.get(*name) != first.get(*name);
    let changed: Vec<&String> = after.keys().filter(is_new).collect();
    assert!((2..=4).contains(&changed.len()), "{changed:?}");
    // Removed runs leave no page.
    for number in 20..=600 {
        fs::remove_dir_all(scene.run(number)).unwrap();
    }
    assert!(scene.website("site").contains("removed"));
    let left: Vec<String> = files(&site).into_keys().collect();
    assert!(left.len() < after.len(), "{left:?}");
    let listed: Value = serde_json::from_slice(&files(&site)[LIST]).unwrap();
    assert_eq!(listed["files"].as_array().unwrap().len() + 1, left.len());
}

#[test]
fn the_feed_contains_each_verdict_change() {
    let scene = Scene::new(300);
    scene.website("site");
    // The changes as `runs` has them.
    let output = scene.retrial(&["runs", "--output", "json"]);
    let runs: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let cell = |run: &Value| (run["batch"]["id"].to_string(), run["batch"]["cell"].to_string());
    let trials = |run: &Value| runs.iter().filter(|other| cell(other) == cell(run)).count();
    let mut latest: BTreeMap<String, String> = BTreeMap::new();
    let mut changes = Vec::new();
    for run in &runs {
        let Some(outcome) = run["outcome"].as_str() else {
            continue;
        };
        // Several trials of a cell are judged together.
        if outcome == "inconclusive" && run["batch"].is_object() && trials(run) > 1 {
            continue;
        }
        let series = format!("{} {}", run["variant"], run["gpus"]);
        let before = latest.insert(series, outcome.to_owned());
        if before.is_some_and(|before| before != outcome) {
            changes.push(run["run"].as_str().unwrap());
        }
    }
    assert!(changes.len() > 5);
    changes.sort_unstable();
    // The reader is Python's.
    let script = "import sys, xml.etree.ElementTree as tree
a = '{http://www.w3.org/2005/Atom}'
feed = tree.parse(sys.argv[1]).getroot()
assert feed.tag == a + 'feed' and all(feed.find(a + one) is not None for one in ('id', 'title', 'updated', 'author'))
for entry in feed.findall(a + 'entry'):
    assert entry.find(a + 'updated').text and entry.find(a + 'link').get('href')
    print(entry.find(a + 'id').text.rsplit(':', 1)[1])";
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(scene.path("site/feed.xml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut atom: Vec<&str> = text.lines().collect();
    atom.sort_unstable();
    assert_eq!(atom, changes);
    // With an address, links are absolute.
    let url = ["--url", "https://example.org/retrial"];
    let output = scene.retrial(&[&["report", "--all", "--to", "site"], &url[..]].concat());
    assert!(output.status.success());
    let atom = fs::read_to_string(scene.path("site/feed.xml")).unwrap();
    assert!(atom.contains("href=\"https://example.org/retrial/index.html\""));
}

#[test]
fn unreadable_runs_are_reported() {
    let scene = Scene::new(6);
    fs::write(scene.run(1).join("plan.json"), "{").unwrap();
    fs::write(scene.run(2).join("verdict.json"), "[1").unwrap();
    let warnings = scene.website("site");
    for number in [1, 2] {
        let line = format!("warning: run {} is skipped: ", Many::id(number));
        assert!(warnings.contains(&line), "{warnings}");
    }
    assert!(warnings.contains("of 4 runs"), "{warnings}");
    let empty = tempfile::tempdir().unwrap();
    let home = empty.path().to_str().unwrap();
    let output = scene.retrial(&["--home", home, "report", "--all", "--to", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = self::stderr(&output);
    assert!(stderr.contains("no run in") && stderr.contains("retrial run RECIPE"), "{stderr}");
    assert!(!scene.path("nothing").exists());
}

#[test]
fn run_texts_are_escaped_and_reports_are_linked() {
    let scene = Scene::new(3);
    let hostile = "<img src=x onerror=alert(1)>\\\"'&";
    replace(&scene.run(0).join("plan.json"), "Llama 2 70B, 8 x MI355X", hostile);
    replace(&scene.run(0).join("plan.json"), "llama2-70b-99", hostile);
    replace(&scene.run(0).join("host.json"), "mi355x-a", hostile);
    let id = Many::id(1);
    assert!(scene.retrial(&["report", &id]).status.success());
    scene.website("site");
    let all = files(&scene.path("site"));
    for (name, bytes) in &all {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("<img"), "{name}");
    }
    let pages = all.values().map(|bytes| String::from_utf8_lossy(bytes));
    let link = format!("href=\"./../home/runs/{id}/report.html\"");
    // On its submission's page, and on its batch's.
    assert_eq!(pages.filter(|page| page.contains(&link)).count(), 2);
}

#[test]
fn foreign_files_are_not_touched() {
    let scene = Scene::new(3);
    fs::create_dir(scene.path("other")).unwrap();
    fs::write(scene.path("other/notes.txt"), "mine").unwrap();
    assert!(scene.refused("other").contains("is not a website written by retrial"));
    assert_eq!(files(&scene.path("other")).len(), 1);
    fs::write(scene.path("plain"), "mine").unwrap();
    scene.website("site");
    fs::write(scene.path("site/robots.txt"), "mine").unwrap();
    scene.website("site");
    assert_eq!(fs::read(scene.path("site/robots.txt")).unwrap(), b"mine");
    // A file that is in the place of a new page.
    let page = files(&scene.path("site")).into_keys().find(|name| name.contains("llama")).unwrap();
    fs::remove_dir_all(scene.path("site")).unwrap();
    scene.website("site");
    let list = scene.path("site").join(LIST);
    replace(&list, &page, "another.html");
    assert!(scene.refused("site").contains("not part of this website"));
    // A list that names files elsewhere.
    replace(&list, "\"feed.xml\"", "\"../plain\"");
    assert!(scene.refused("site").contains("damaged"));
    assert_eq!(fs::read(scene.path("plain")).unwrap(), b"mine");
}

#[test]
fn a_page_is_still_a_file() {
    let scene = Scene::new(3);
    for to in ["all.html", "plain"] {
        fs::write(scene.path(to), "").unwrap();
        scene.website(to);
        assert!(fs::read_to_string(scene.path(to)).unwrap().starts_with("<!DOCTYPE html>"));
    }
    let output = scene.retrial(&["report", "--all", "--to", "site/", "--charts", "charts"]);
    assert_eq!(output.status.code(), Some(2));
}
