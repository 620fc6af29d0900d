//! What a head itself needs for very many other machines: a run with steps on all of them that do nothing,
//! where a stand-in of `ssh` starts a shell that answers as a machine would.
//!
//! Twice as many machines should need twice the time: the time of one machine more is shown for each count,
//! and the target is that a machine of a thousand costs at most 1.5 times a machine of a hundred.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use support::paired::{self, timed};
use support::world::{IMAGE, World, engine_has_image, must};

/// Machines of a run, the head included.
const COUNTS: [usize; 4] = [10, 100, 300, 1000];
/// Runs with each count, in turns.
const ROUNDS: usize = 3;
/// Steps on all machines besides those that every run has.
const STEPS: usize = 10;

/// Answers as `retrial node RUN NAME` does, for a machine whose steps are done at once. Its last argument is
/// the command line.
const SSH: &str = r#"#!/bin/sh
for line; do :; done
eval "set -- $line"
[ "$2" = node ] || exit 0
now() { date -u +%Y-%m-%dT%H:%M:%S.%NZ; }
read -r nonce <"$3/nodes/nonce"
echo "{\"reply\":\"facts\",\"tool\":\"VERSION\",\"nonce\":\"$nonce\",\"time\":\"$(now)\",\"gpus\":0,\"models\":[],\"driver\":null,\"rocm\":null}"
while read -r order; do
  case $order in
  *'"order":"clock"'*) echo "{\"reply\":\"clock\",\"time\":\"$(now)\"}" ;;
  *'"order":"begin"'*) echo '{"reply":"ready","containers_live":false}' ;;
  *'"order":"execute"'*)
    step=${order##*:}
    echo "{\"reply\":\"ended\",\"step\":${step%\}},\"end\":{\"end\":\"done\"}}"
    ;;
  *'"order":"leave"'*) exit ;;
  esac
done
"#;

fn main() {
    if !engine_has_image() {
        return;
    }
    let world = World::new();
    let programs = world.path().join("bin");
    fs::create_dir_all(&programs).unwrap();
    let ssh = programs.join("ssh");
    fs::write(&ssh, SSH.replace("VERSION", env!("CARGO_PKG_VERSION"))).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", programs.display());
    println!("a run of {STEPS} setup steps that do nothing  ({})", paired::machine());
    let mut best = [f64::INFINITY; COUNTS.len()];
    for _ in 0..ROUNDS {
        for (count, best) in COUNTS.iter().zip(&mut best) {
            let others: Vec<String> = (2..=*count).map(|node| format!("n{node}")).collect();
            let recipe = world.path().join(format!("{count}.yaml"));
            fs::write(&recipe, recipe_of(*count)).unwrap();
            let mut command = world.retrial_run(&recipe);
            command.env("PATH", &path).arg("--nodes").arg(format!("ssh:{}", others.join(",")));
            let wall = timed(|| must(&mut command));
            *best = best.min(wall);
            world.clear();
        }
    }
    report(&best);
    println!("  afterwards: {}", paired::machine());
}

fn recipe_of(count: usize) -> String {
    let mut setup = String::new();
    for step in 1..=STEPS {
        let _ = writeln!(setup, "  s{step}: {{ run: 'true' }}");
    }
    format!(
        "schema: 1
title: Nothing on {count} machines
submission: {{ suite: benches, benchmark: nothing, sources: [https://example.org/results] }}
image: {IMAGE}
nodes: {{ count: {count} }}
setup:
{setup}scenarios:
  nothing:
    performance:
      run: 'echo \"done: 1\"'
      figures: {{ done: {{ pattern: 'done: ([0-9]+)', unit: times, noise: 1% }} }}
"
    )
}

/// The least time of each count, and what one machine more costs since the count before.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn report(best: &[f64]) {
    let mut costs = Vec::new();
    for (index, (count, seconds)) in COUNTS.iter().zip(best).enumerate() {
        print!("  {count:>5} machines  {seconds:>7.2} s");
        if index > 0 {
            let cost = (seconds - best[index - 1]) / (count - COUNTS[index - 1]) as f64;
            print!("   {:.2} ms for each machine more", 1e3 * cost);
            costs.push(cost);
        }
        println!();
    }
    let growth = costs[costs.len() - 1] / costs[0];
    let word = if growth <= 1.5 { "holds" } else { "MISSED" };
    println!(
        "  a machine of the last costs {growth:.2} times one of the first; limit 1.50: {word}"
    );
}
