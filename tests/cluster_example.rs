//! `examples/cluster` on the lab's cluster: the real `LoadGen` on a head, and workers on three nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "support/cluster.rs"]
mod cluster;

use std::process::Output;

use cluster::Cluster;
use serde_json::Value;

/// Runs the example from the first node, over ssh. Each test has a port and a home of its own.
fn run(cluster: &Cluster, port: u16, options: &[&str]) -> Output {
    let example = cluster.lab(&["example", "cluster"]);
    let home = cluster.directory.join(format!("shared/example-{port}"));
    let port = format!("port={port}");
    let run = [
        "node",
        "n1",
        env!("CARGO_BIN_EXE_retrial"),
        "--home",
        home.to_str().unwrap(),
        "run",
        &example,
        "--nodes",
        "ssh:n2,n3",
        "--set",
        &port,
    ];
    let output = cluster.script(&[&run[..], options].concat());
    std::fs::remove_dir_all(home).unwrap();
    for node in ["n1", "n2", "n3"] {
        let filter = "name=-cluster-";
        let left = ["node", node, "docker", "ps", "-aq", "--filter", filter];
        assert_eq!(cluster.lab(&left), "", "left on {node}");
    }
    output
}

#[test]
fn the_published_figures_hold_on_three_nodes() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let output = run(&cluster, 12345, &["--output", "json"]);
    let problem = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{problem}");
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let outcomes: Vec<&str> = verdict["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["reproduced", "measured", "reproduced"]);
}
