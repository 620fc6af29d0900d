//! The lab's Slurm cluster (`tests/lab/cluster`) is one: what tests of several nodes rely on.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::cluster::Cluster;
use crate::support::copy::copy;
use crate::support::needs::lab_directory;
use crate::support::wait::wait_until;

const IMAGE: &str = "10.77.0.1:5000/retrial-lab/busybox:1";

#[test]
#[ignore = "needs root and the lab"]
fn nodes_see_a_checkout_below_tmp() {
    let checkout = tempfile::tempdir_in("/tmp").unwrap();
    let other = tempfile::tempdir_in("/tmp").unwrap();
    let scripts = checkout.path().join("tests/lab");
    copy(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab")), &scripts);
    let directory = lab_directory().join(format!("cluster-below-tmp-{}", std::process::id()));
    let cluster = |arguments: &[&str]| {
        let mut command = Command::new(scripts.join("cluster"));
        command.args(arguments).env("RETRIAL_CLUSTER", &directory);
        let output = command.output().unwrap();
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {problem}");
        String::from_utf8(output.stdout).unwrap()
    };
    cluster(&["up", "--nodes", "1", "--gpus", "0"]);
    let listing = cluster(&["node", "n1", "ls", "-A", "/tmp", scripts.to_str().unwrap()]);
    cluster(&["down", "--wipe"]);
    assert!(listing.contains("cluster-machine"), "{listing}");
    // The rest of this machine's /tmp is not there. What the node's own engine writes may be.
    let name = |directory: &tempfile::TempDir| {
        directory.path().file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert!(listing.contains(&name(&checkout)), "{listing}");
    assert!(!listing.contains(&name(&other)), "{listing}");
}

#[test]
#[ignore = "needs root and the lab"]
fn slurm_runs_on_every_node_and_records_accounting() {
    let cluster = Cluster::shared();
    assert_eq!(cluster.job("hostname"), ["0: n1", "1: n2", "2: n3"]);
    let sbatch = ["in", "sbatch", "--parsable", "--wait", "-o", "/dev/null"];
    let job = cluster.lab(&[&sbatch[..], &["--wrap", "true"]].concat());
    let accounts = ["in", "sacct", "-X", "-n", "-P", "-o", "State", "-j", &job];
    // The controller updates the database a moment later.
    wait_until("the job is accounted for", || cluster.lab(&accounts) == "COMPLETED");
    let gpus = "echo $ROCR_VISIBLE_DEVICES";
    let srun = ["in", "srun", "--gpus-per-node=2", "sh", "-c", gpus];
    assert_eq!(cluster.lab(&srun), "0,1");
}

#[test]
#[ignore = "needs root and the lab"]
fn each_node_has_its_own_engine_processes_and_tmp() {
    let cluster = Cluster::shared();
    let engines = cluster.job("docker info --format '{{.ID}}'");
    let different: BTreeSet<&str> = engines.iter().map(|line| &line[3..]).collect();
    assert_eq!(different.len(), 3, "{engines:?}");
    let ran = cluster.job(&format!(
        "docker pull -q {IMAGE} >/dev/null &&
         docker run --rm --privileged --network host {IMAGE} hostname"
    ));
    assert_eq!(ran, ["0: n1", "1: n2", "2: n3"]);
    // The registry replaces Docker Hub, too.
    let base = "debian:bookworm-slim";
    cluster.lab(&["node", "n1", "docker", "pull", "-q", base]);

    let mark = format!("mark-{}", std::process::id());
    let shared = cluster.directory.join("shared").join(&mark);
    let shared = shared.to_str().unwrap();
    cluster.lab(&["node", "n1", "touch", &format!("/tmp/{mark}"), shared]);
    let listing = cluster.job(&format!("ls /tmp/{mark} {shared} 2>/dev/null || true"));
    assert_eq!(
        listing,
        [
            format!("0: /tmp/{mark}"),
            format!("0: {shared}"),
            format!("1: {shared}"),
            format!("2: {shared}")
        ]
    );
    std::fs::remove_file(shared).unwrap();
    // A process of this machine's, which is none of a node's.
    let pid = std::process::id().to_string();
    assert!(!cluster.script(&["node", "n1", "kill", "-0", &pid]).status.success());
}

#[test]
#[ignore = "needs root and the lab"]
fn ssh_reaches_nodes_from_the_login_node_and_from_nodes() {
    let cluster = Cluster::shared();
    assert_eq!(cluster.lab(&["in", "ssh", "n2", "hostname"]), "n2");
    assert_eq!(cluster.lab(&["node", "n3", "ssh", "n1", "hostname"]), "n1");
    let config = cluster.directory.join("etc/ssh_config");
    let ssh = ["in", "ssh", "-F", config.to_str().unwrap(), "10.77.0.12"];
    let sinfo = [&ssh[..], &["sinfo", "-h", "-o", "%D"]].concat();
    assert_eq!(cluster.lab(&sinfo), "3");
}

#[test]
#[ignore = "needs root and the lab"]
fn a_killed_node_restarts_with_its_simulated_host() {
    let options = [
        "--nodes",
        "2",
        "--gpus-last",
        "7",
        "--hosts",
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/mi355x-8"),
    ];
    let cluster = Cluster::own("killed", &options);
    let node = |command: &[&str]| cluster.lab(&[&["node", "n2"], command].concat());
    node(&["docker", "pull", "-q", IMAGE]);
    let run = ["docker", "run", "-d", "--name", "left", IMAGE, "sleep", "999"];
    node(&run);
    cluster.lab(&["kill", "n2"]);
    assert!(!cluster.script(&["node", "n2", "true"]).status.success());

    cluster.lab(&[&["up"], &options[..]].concat());
    let state = ["docker", "inspect", "-f", "{{.State.Status}}", "left"];
    assert_eq!(node(&state), "exited");
    let doctor = [
        env!("CARGO_BIN_EXE_retrial"),
        "--root",
        "/run/retrial-host",
        "doctor",
        "--output",
        "json",
    ];
    let checks: Value = serde_json::from_str(&node(&doctor)).unwrap();
    let checks = checks["checks"].as_array().unwrap();
    let gpus = checks.iter().find(|check| check["name"] == "gpus").unwrap();
    assert_eq!(gpus["actual"], "7 x MI355X");

    cluster.lab(&["down"]);
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(cluster.directory.to_str().unwrap()), "{mounts}");
}
