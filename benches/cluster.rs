//! What Retrial adds to a job of twelve nodes: a run whose steps do nothing, by `retrial run --site`, against
//! a script for `sbatch --wait` that does the same by `srun` and `docker`.
//!
//! The target is 1.2 times the script. What Slurm needs to start a job is in both; the time in the job, from
//! its script's first command to the end of the run, is shown as well.
#![expect(clippy::unwrap_used, reason = "benches")]

#[path = "../tests/support/mod.rs"]
mod needed;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use needed::cluster::Cluster;
use retrial_store::journal::{Event, Journal};
use support::paired::{self, Pairs, timed};
use support::world::{IMAGE, RETRIAL, must};

const PAIRS: usize = 7;
const NODES: usize = 12;

const RECIPE: &str = r#"
schema: 1
title: Nothing on twelve nodes
submission: { suite: benches, benchmark: nothing, sources: [https://example.org/results] }
image: debian:bookworm-slim
nodes: { count: 12 }
setup:
  one: { run: 'true' }
  two: { run: 'true' }
services:
  worker:
    on: all
    scope: run
    run: 'echo works; exec sleep infinity'
    ready: { log: 'works', timeout: 1m }
    stop: { timeout: 10s }
scenarios:
  nothing:
    performance:
      needs: [worker]
      run: 'echo "done: 1"'
      figures: { done: { pattern: 'done: ([0-9]+)', unit: times, noise: 1% } }
"#;

/// The same by hand: each step on all nodes is an `srun`.
const SCRIPT: &str = r#"#!/bin/bash
#SBATCH --nodes=12 --ntasks-per-node=1 --exclusive --time=10:00
set -e
date +%s.%N
export image=IMAGE name=plain-$SLURM_JOB_ID out=$PWD/out-$SLURM_JOB_ID
mkdir $out
all() { srun --overlap --ntasks-per-node=1 bash -c "$1"; }
all 'docker image inspect $image >/dev/null 2>&1 || docker pull -q $image'
all 'docker run -d --init --name $name $image sleep infinity >/dev/null'
all 'docker exec $name true >$out/one-$SLURMD_NODENAME.log 2>&1'
all 'docker exec $name true >$out/two-$SLURMD_NODENAME.log 2>&1'
all 'docker exec $name sh -c "echo \$\$ >/pid; echo works; exec sleep infinity" >$out/worker-$SLURMD_NODENAME.log 2>&1 || true' &
worker=$!
until [ "$(grep -ls works $out/worker-*.log | wc -l)" = 12 ]; do sleep 0.1; done
docker exec $name echo 'done: 1' >$out/measured.log
all 'docker exec $name sh -c "kill \$(cat /pid)"'
wait $worker
all 'docker rm -f $name >/dev/null'
grep -q done: $out/measured.log
date +%s.%N
"#;

fn main() {
    let nodes = NODES.to_string();
    let cluster = Cluster::own("bench", &["--nodes", &nodes, "--gpus", "0"]);
    let shared = cluster.directory.join("shared");
    let sites = shared.join("config/retrial/sites");
    fs::create_dir_all(&sites).unwrap();
    // The nodes' clock when the job begins, into the job's output.
    let site = "schema: 1\nscheduler: slurm\ntime_limit: 10m\nprolog: date +%s.%N\n";
    fs::write(sites.join("lab.yaml"), site).unwrap();
    fs::write(shared.join("nothing.yaml"), RECIPE).unwrap();
    fs::write(shared.join("plain.sh"), SCRIPT.replace("IMAGE", IMAGE)).unwrap();
    for node in 1..=NODES {
        cluster.lab(&["node", &format!("n{node}"), "docker", "pull", "-q", IMAGE]);
    }
    let home = shared.join("home");
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    println!("a run that does nothing on {NODES} nodes  ({})", paired::machine());
    let pairs = Pairs::run(
        PAIRS,
        || {
            let words = ["run", "./nothing.yaml", "--site", "lab"];
            let mut command = on_login(&cluster, &shared);
            command.arg(RETRIAL).arg("--home").arg(&home).args(words);
            let wall = timed(|| must(&mut command));
            ours.push(took(&home.join("runs")));
            wall
        },
        || {
            let output = shared.join("plain.out");
            let mut command = on_login(&cluster, &shared);
            command.args(["sbatch", "--wait", "-o", "plain.out", "plain.sh"]);
            let wall = timed(|| must(&mut command));
            let times = times(&output);
            plain.push(times[1] - times[0]);
            wall
        },
    );
    let mut in_job = Pairs::default();
    for (ours, plain) in ours.iter().zip(&plain).skip(1) {
        in_job.push(*ours, *plain);
    }
    pairs.report("retrial run --site", "sbatch --wait, srun, docker", Some(1.2));
    in_job.report("  of it in the job", "  of it in the job", Some(1.2));
    println!("  afterwards: {}", paired::machine());
}

/// A command on the login node, in the shared directory.
fn on_login(cluster: &Cluster, shared: &Path) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/cluster"));
    command
        .arg("in")
        .current_dir(shared)
        .env("RETRIAL_CLUSTER", &cluster.directory)
        .env("XDG_CONFIG_HOME", shared.join("config"));
    command
}

/// Seconds from the job script's first command to the end of a run, which is removed.
fn took(runs: &Path) -> f64 {
    let run = only_entry(runs, "");
    let output = only_entry(&run, "slurm-");
    let journal: Vec<Event> = Journal::read(&run.join("journal.jsonl")).unwrap();
    let ended = journal.last().unwrap().time;
    let started = times(&output)[0];
    fs::remove_dir_all(run).unwrap();
    ended.as_duration().as_secs_f64() - started
}

/// The lines of a file that are times, seconds.
fn times(path: &Path) -> Vec<f64> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The one entry of a directory whose name begins so.
fn only_entry(directory: &Path, name: &str) -> PathBuf {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut named =
        entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(name));
    let (found, other) = (named.next().unwrap(), named.next());
    assert_eq!(other, None);
    found
}
