//! `examples/cluster` on the lab's cluster: the real `LoadGen` on a head, and workers on three nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::cluster::Cluster;
use serde_json::Value;

const RETRIAL: &str = env!("CARGO_BIN_EXE_retrial");

/// A test's own directory in the shared one, and its own port for the head.
struct Place {
    cluster: Cluster,
    directory: PathBuf,
    port: u16,
}

impl Place {
    fn new(port: u16) -> Self {
        let cluster = Cluster::shared();
        let directory = cluster.directory.join(format!("shared/example-{port}"));
        let sites = directory.join("retrial/sites");
        std::fs::create_dir_all(&sites).unwrap();
        // Other tests use the nodes, too.
        let site = "schema: 1\nscheduler: slurm\nexclusive: false\n";
        std::fs::write(sites.join("lab.yaml"), site).unwrap();
        Self { cluster, directory, port }
    }

    /// Runs the example on a machine.
    fn run(&self, machine: &[&str], options: &[&str]) -> Output {
        let example = self.cluster.lab(&["example", "cluster"]);
        let home = self.directory.join("home");
        let port = format!("port={}", self.port);
        let home = home.to_str().unwrap();
        Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/cluster"))
            .args(machine)
            .args([RETRIAL, "--home", home, "run", &example, "--set", &port])
            .args(["--output", "json"])
            .args(options)
            .env("RETRIAL_CLUSTER", &self.cluster.directory)
            .env("XDG_CONFIG_HOME", &self.directory)
            .output()
            .unwrap()
    }

    fn nothing_is_left(&self) {
        for node in ["n1", "n2", "n3"] {
            let run = r#"{{.Label "io.retrial.path"}}"#;
            let runs = ["node", node, "docker", "ps", "-a", "--format", run];
            let runs = self.cluster.lab(&runs);
            let own = self.directory.to_str().unwrap();
            assert!(!runs.contains(own), "{runs} left on {node}");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// What the run came to, for each result.
fn outcomes(output: &Output) -> Vec<String> {
    let problem = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{problem}");
    let events = String::from_utf8_lossy(&output.stdout);
    let verdict: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    let results = verdict["results"].as_array().unwrap();
    let outcome = |result: &Value| result["outcome"].as_str().unwrap().to_owned();
    results.iter().map(outcome).collect()
}

/// One command on the login node.
#[test]
#[ignore = "needs root and the lab"]
fn published_figures_are_reproduced_in_a_three_node_job() {
    let place = Place::new(12345);
    let output = place.run(&["in"], &["--site", "lab"]);
    assert_eq!(outcomes(&output), ["reproduced", "measured", "reproduced"]);
    place.nothing_is_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn published_accuracy_is_reproduced_on_three_nodes_by_ssh() {
    let place = Place::new(12346);
    let options = ["--nodes", "ssh:n2,n3", "--mode", "accuracy"];
    let output = place.run(&["node", "n1"], &options);
    assert_eq!(outcomes(&output), ["reproduced"]);
    place.nothing_is_left();
}

/// The shell plan, run by a shell on each node; they meet in the shared directory.
#[test]
#[ignore = "needs root and the lab"]
fn the_script_of_a_plan_reproduces_the_accuracy_on_three_nodes() {
    let place = Place::new(12347);
    let example = place.cluster.lab(&["example", "cluster"]);
    let directory = place.directory.to_str().unwrap();
    let plan = format!(
        "{RETRIAL} plan {example} --set port={} --mode accuracy --format shell >{directory}/plan.sh",
        place.port
    );
    place.cluster.lab(&["node", "n1", "sh", "-c", &plan]);
    std::fs::create_dir(place.directory.join("meet")).unwrap();
    let program = Path::new(RETRIAL).parent().unwrap().display();
    let start = |(node, role): (&str, &str)| -> Child {
        let script = format!(
            "mkdir {directory}/{node} && cd {directory}/{node} && \
             PATH={program}:$PATH MEET={directory}/meet exec sh ../plan.sh {role} 10.77.0.11"
        );
        Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/cluster"))
            .args(["node", node, "sh", "-c", &script])
            .env("RETRIAL_CLUSTER", &place.cluster.directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let roles = [("n1", "head"), ("n2", "worker"), ("n3", "worker")];
    let machines: Vec<Child> = roles.into_iter().map(start).collect();
    let mut pages = Vec::new();
    for machine in machines {
        let output = machine.wait_with_output().unwrap();
        let problem = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{problem}");
        pages.push(String::from_utf8(output.stdout).unwrap());
    }
    assert!(pages[0].contains("The published figure holds."), "{}", pages[0]);
    assert!(!pages[1].contains("reproduced"), "{}", pages[1]);
    for node in ["n1", "n2", "n3"] {
        let named = ["node", node, "docker", "ps", "-aq", "--filter", "name=^/cluster"];
        assert_eq!(place.cluster.lab(&named), "", "left on {node}");
    }
}
