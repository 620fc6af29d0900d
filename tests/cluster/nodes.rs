//! Runs on several machines of the lab's cluster, over ssh: what happens when a part of one fails.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::cluster::Cluster;
use crate::support::needs::make_simulated_gpus;
use crate::support::wait::wait_until;
use serde_json::Value;

const RECIPE_IMAGE: &str = "debian:bookworm-slim";
const OTHER_IMAGE: &str = "10.77.0.1:5000/retrial-lab/busybox:1";
pub const RECIPE: &str = r#"
schema: 1
title: A worker on each of three machines
submission: { suite: nodes, benchmark: workers, sources: [https://example.org/results] }
image: debian:bookworm-slim
nodes: { count: 3 }
services:
  worker:
    on: all
    run: 'echo "${{ node.name }} works for ${{ head.address }}"; (until [ -e /tmp/dead ]; do sleep 0.2; done; echo "gpu4 died") & exec sleep 1234'
    fail_on: ['gpu(?<gpu>[0-9]+) died']
    ready: { log: 'works for', timeout: 1m }
    stop: { timeout: 5s }
scenarios:
  one:
    performance:
      needs: [worker]
      run: |
        while [ ! -e /tmp/go ]; do sleep 0.2; done
        echo "rate: ${{ (nodes.count * 14) | round }} items/s"
      figures: { rate: { pattern: 'rate: ([0-9.]+)', unit: items/s, noise: 1% } }
      expect: { rate: { value: 42, kind: official, source: row 3 } }
"#;

/// A run with the first node as its head.
pub struct Head {
    cluster: Cluster,
    pub directory: PathBuf,
}

impl Head {
    pub fn new(name: &str) -> Self {
        let cluster = Cluster::shared();
        let directory = cluster.directory.join(format!("shared/nodes-{name}"));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("workers.yaml"), RECIPE).unwrap();
        Self { cluster, directory }
    }

    pub fn command(&self, home: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/cluster"));
        command
            .args(["node", "n1", env!("CARGO_BIN_EXE_retrial"), "--home"])
            .arg(home)
            .args(words)
            .env("RETRIAL_CLUSTER", &self.cluster.directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self) -> Child {
        self.start_with(&[])
    }

    fn start_with(&self, options: &[&str]) -> Child {
        let recipe = self.directory.join("workers.yaml");
        let words = ["run", recipe.to_str().unwrap(), "--nodes", "ssh:n2,n3"];
        let words = [&words, options].concat();
        self.command(&self.directory.join("home"), &words).spawn().unwrap()
    }

    pub fn run(&self) -> PathBuf {
        let runs = std::fs::read_dir(self.directory.join("home/runs"));
        let mut runs: Vec<PathBuf> = runs.unwrap().map(|run| run.unwrap().path()).collect();
        runs.sort();
        runs.pop().unwrap()
    }

    /// Waits until the measurement runs.
    fn measures(&self) {
        wait_until("it measures", || {
            let runs = self.directory.join("home/runs");
            let runs = std::fs::read_dir(runs).into_iter().flatten().flatten();
            runs.into_iter()
                .any(|run| run.path().join("control/steps/04-one-performance/pid").exists())
        });
    }

    /// Runs a command on a node, with the id of the run's container there as `$1`.
    fn in_container(&self, node: &str, command: &str) {
        let run = self.run();
        let id = run.file_name().unwrap().to_str().unwrap();
        let script = format!("set -- $(docker ps -q --filter name=retrial-{id}); {command}");
        self.cluster.lab(&["node", node, "sh", "-c", &script]);
    }

    fn verdict(&self) -> Value {
        let text = std::fs::read_to_string(self.run().join("verdict.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub fn nothing_is_left(&self) {
        let run = self.run();
        let id = run.file_name().unwrap().to_str().unwrap();
        for node in ["n1", "n2", "n3"] {
            let filter = format!("label=io.retrial.run={id}");
            let left = ["node", node, "docker", "ps", "-aq", "--filter", &filter];
            assert_eq!(self.cluster.lab(&left), "", "left on {node}");
        }
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

fn end(child: Child) -> (Option<i32>, String) {
    status_and_text(&child.wait_with_output().unwrap())
}

pub fn status_and_text(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
#[ignore = "needs root and the lab"]
fn a_dead_worker_ends_the_measurement_and_names_its_node() {
    let head = Head::new("worker");
    let run = head.start();
    head.measures();
    head.in_container("n3", "docker exec $1 sh -c 'kill -9 $(grep -l 1234 /proc/[0-9]*/cmdline | cut -d/ -f3 | grep -v self) 2>/dev/null' || true");
    let (code, text) = end(run);
    assert_eq!(code, Some(4), "{text}");
    let sentence = head.verdict()["results"][0]["sentence"].to_string();
    assert!(sentence.contains("on n3: its service worker failed"), "{sentence}");
    assert!(sentence.contains("nodes/n3/steps/"), "{sentence}");
    head.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn another_image_runs_on_all_nodes() {
    let head = Head::new("given-image");
    let run = head.start_with(&["--image", OTHER_IMAGE]);
    head.measures();
    head.in_container("n1", "docker exec $1 touch /tmp/go");
    let (code, text) = end(run);
    assert_eq!(code, Some(0), "{text}");
    let verdict = head.verdict();
    let modified = verdict["qualifiers"].as_array().unwrap().iter();
    let reasons: Vec<String> = modified.map(|one| one["reason"].to_string()).collect();
    let replaced = format!("--image {OTHER_IMAGE} (");
    let reason = reasons.iter().find(|reason| reason.contains(&replaced)).expect(&text);
    assert!(reason.contains("sha256:") && reason.contains(RECIPE_IMAGE), "{reason}");
    for node in ["n2", "n3"] {
        let journal = head.run().join(format!("nodes/{node}/journal.jsonl"));
        let journal = std::fs::read_to_string(journal).unwrap();
        assert!(journal.contains("sha256:"), "{journal}");
    }
    head.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn a_printed_worker_failure_ends_the_measurement() {
    let head = Head::new("prints");
    let run = head.start();
    head.measures();
    head.in_container("n2", "docker exec $1 touch /tmp/dead");
    let (code, text) = end(run);
    assert_eq!(code, Some(4), "{text}");
    let sentence = head.verdict()["results"][0]["sentence"].to_string();
    let reason = "on n2: its service worker failed: GPU 4: line 2 of its output matches 'gpu(?<gpu>[0-9]+) died': gpu4 died";
    assert!(sentence.contains(reason), "{sentence}");
    head.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn a_killed_head_is_resumed_while_workers_keep_running() {
    let head = Head::new("killed");
    let run = head.start();
    head.measures();
    let home = head.directory.join("home");
    let kill = format!("kill -9 $(pgrep -f '^[^ ]*retrial --home {} run')", home.display());
    head.cluster.lab(&["node", "n1", "sh", "-c", &kill]);
    let (code, text) = end(run);
    assert_eq!(code, None, "{text}");
    head.in_container("n1", "docker exec $1 touch /tmp/go");
    let resumed = head.command(&home, &["resume", "last"]).output().unwrap();
    let (code, text) = status_and_text(&resumed);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("still running, reattached"), "{text}");
    assert_eq!(head.verdict()["outcome"], "reproduced");
    let journal = std::fs::read_to_string(head.run().join("nodes/n2/journal.jsonl")).unwrap();
    assert_eq!(journal.matches("container_created").count(), 1, "{journal}");
    head.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn a_lost_node_ends_the_run_without_leftovers() {
    let head = Head::new("lost");
    let run = head.start();
    head.measures();
    let kill = format!("kill -9 $(pgrep -f '[r]etrial node {}')", head.run().display());
    head.cluster.lab(&["node", "n2", "sh", "-c", &kill]);
    let (code, text) = end(run);
    assert_eq!(code, Some(3), "{text}");
    let sentence = head.verdict()["results"][0]["sentence"].to_string();
    assert!(sentence.contains("lost contact with the machine n2"), "{sentence}");
    head.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn a_node_that_cannot_write_its_records_ends_the_run() {
    let head = Head::new("records");
    let run = head.start();
    head.measures();
    let steps = head.run().join("nodes/n3/steps");
    std::fs::remove_dir_all(&steps).unwrap();
    std::fs::write(&steps, "no directory").unwrap();
    head.in_container("n1", "docker exec $1 touch /tmp/go");
    let (code, text) = end(run);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("lost contact with the machine n3"), "{text}");
    assert!(text.contains("nodes/n3/steps: Not a directory"), "{text}");
    head.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn nodes_without_the_shared_runs_are_refused_before_start() {
    let head = Head::new("shared");
    // Each node has a /tmp of its own.
    let recipe = head.directory.join("workers.yaml");
    let words = ["run", recipe.to_str().unwrap(), "--nodes", "ssh:n2,n3"];
    let home = Path::new("/tmp/nodes-not-shared");
    let (code, text) = status_and_text(&head.command(home, &words).output().unwrap());
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("n2 does not see /tmp/nodes-not-shared/"), "{text}");
    let (code, text) = status_and_text(&head.command(home, &words[..2]).output().unwrap());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("needs 3 machines, not 1"), "{text}");
}

#[test]
#[ignore = "needs root and the lab"]
fn doctor_examines_and_compares_all_machines() {
    let head = Head::new("doctor");
    let recipe = head.directory.join("workers.yaml");
    let doctor = |home: &Path, nodes: &str| {
        let words = ["doctor", recipe.to_str().unwrap(), "--nodes", nodes];
        status_and_text(&head.command(home, &words).output().unwrap())
    };
    let shared = head.directory.join("home");
    let (code, text) = doctor(&shared, "ssh:n2,n3");
    assert_eq!(code, Some(0), "{text}");
    for node in ["n1", "n2", "n3"] {
        let row = text.lines().find(|line| line.starts_with(node));
        assert!(row.is_some_and(|row| row.contains("ready")), "{text}");
    }
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 0);

    let (code, text) = doctor(Path::new("/tmp/doctor-not-shared"), "ssh:n2,n3");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("n2 does not see /tmp/doctor-not-shared/"), "{text}");
    assert!(text.contains("not ready: 2 errors"), "{text}");

    let (code, text) = doctor(&shared, "ssh:n2,n9");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("n9: ssh:"), "{text}");
    assert!(text.contains("2 of 3 machines answered"), "{text}");

    let (code, text) = doctor(&shared, "ssh:n2");
    assert_eq!(code, Some(2), "{text}");
}

#[test]
#[ignore = "needs root and the lab"]
fn a_node_with_another_image_is_refused_or_allowed() {
    let head = Head::new("image");
    // A name that no other test uses.
    let name = "retrial-lab/tagged:1";
    for (node, image) in [("n1", RECIPE_IMAGE), ("n2", RECIPE_IMAGE), ("n3", OTHER_IMAGE)] {
        let tag = format!("docker pull -q {image} && docker tag {image} {name}");
        head.cluster.lab(&["node", node, "sh", "-c", &tag]);
    }
    let recipe = RECIPE.replace(RECIPE_IMAGE, name);
    let recipe = recipe.replace("while [ ! -e /tmp/go ]; do sleep 0.2; done", ":");
    let path = head.directory.join("workers.yaml");
    std::fs::write(&path, recipe).unwrap();
    let words = ["run", path.to_str().unwrap(), "--nodes", "ssh:n2,n3"];
    let words = [&words[..], &["--pull", "never"]].concat();
    let home = head.directory.join("home");
    let (code, text) = status_and_text(&head.command(&home, &words).output().unwrap());
    assert_eq!(code, Some(3), "{text}");
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        one_line.contains("n3 has a different image retrial-lab/tagged:1 than n1: sha256:"),
        "{text}"
    );
    head.nothing_is_left();

    // Replaced since: the resumed run looks again.
    let tag = format!("docker pull -q {RECIPE_IMAGE} && docker tag {RECIPE_IMAGE} {name}");
    head.cluster.lab(&["node", "n3", "sh", "-c", &tag]);
    let (code, text) = status_and_text(&head.command(&home, &["resume", "last"]).output().unwrap());
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(qualifiers(&head), [""; 0]);

    let tag = format!("docker tag {OTHER_IMAGE} {name}");
    head.cluster.lab(&["node", "n3", "sh", "-c", &tag]);
    let words = [&words[..], &["--force"]].concat();
    let (code, text) = status_and_text(&head.command(&home, &words).output().unwrap());
    assert_eq!(code, Some(0), "{text}");
    let [modified] = &qualifiers(&head)[..] else { panic!("{text}") };
    assert!(modified.contains("n3 has a different image"), "{modified}");
    head.nothing_is_left();
}

/// A simulated host of eight MI355X, with so many W and percent of each. `$0` is where it is copied from.
const PLANT: &str = r#"rm -rf /run/watched && cp -r "$0" /run/watched
for card in /run/watched/sys/bus/pci/devices/*/hwmon/hwmon*; do
  echo "$1"000000 >"$card/power1_input"
  echo "$2" >"$card/../../gpu_busy_percent"
done"#;

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn power_and_energy_are_sums_over_all_machines() {
    let head = Head::new("watched");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    make_simulated_gpus();
    let host = root.join("tests/fixtures/hosts/mi355x-8");
    let host = host.to_str().unwrap();
    for (node, watts, busy) in [("n1", "100", "98"), ("n2", "200", "98"), ("n3", "50", "0")] {
        let plant = ["node", node, "sh", "-c", PLANT, host, watts, busy];
        head.cluster.lab(&plant);
    }
    let gpus = "\nrequires: { gpus: { vendor: amd, models: [MI355X], count: 8 } }\nscenarios:";
    let recipe = RECIPE.replace("\nscenarios:", gpus);
    let recipe = recipe.replace("while [ ! -e /tmp/go ]; do sleep 0.2; done", "sleep 7");
    let path = head.directory.join("workers.yaml");
    std::fs::write(&path, recipe).unwrap();
    let words = ["--root", "/run/watched", "run", path.to_str().unwrap()];
    let words = [&words[..], &["--nodes", "ssh:n2,n3"]].concat();
    let home = head.directory.join("home");
    let (code, text) = status_and_text(&head.command(&home, &words).output().unwrap());
    assert_eq!(code, Some(0), "{text}");
    let telemetry = &head.verdict()["results"][0]["telemetry"];
    let number = |name: &str| telemetry[name].as_f64().unwrap_or(f64::NAN);
    assert_eq!(telemetry["machines"], 3, "{telemetry:#}");
    assert_eq!(telemetry["gpus"], 24, "{telemetry:#}");
    let watts = 8.0 * (100.0 + 200.0 + 50.0);
    assert!((number("mean_power_w") - watts).abs() < 1e-6, "{telemetry:#}");
    let energy = watts * number("seconds");
    let least = energy - watts * 2.0;
    assert!((least..=energy).contains(&number("energy_j")), "{telemetry:#}");
    assert_eq!(telemetry["idle"]["machine"], "n3", "{telemetry:#}");
    assert!(text.contains("the GPUs of n3 were idle"), "{text}");
    head.nothing_is_left();
}

/// What was modified, by the latest verdict.
fn qualifiers(head: &Head) -> Vec<String> {
    let verdict = head.verdict();
    let qualifiers = verdict["qualifiers"].as_array().unwrap().iter();
    qualifiers
        .filter(|qualifier| qualifier["kind"] == "modified")
        .map(|qualifier| qualifier["reason"].as_str().unwrap().to_owned())
        .collect()
}
