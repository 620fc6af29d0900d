//! How long a batch of 1,000 cells takes to plan: recipes read once, resolved a thousand times, claims and all.
//!
//! The target is one second of wall time.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use support::paired::{self, Pairs, timed};
use support::world::{RETRIAL, World};

const PAIRS: usize = 21;
const LIMIT_S: f64 = 1.0;

fn main() {
    let world = World::new();
    let own = world.path().join("own.yaml");
    std::fs::write(&own, recipe()).unwrap();
    let cases = [
        ("a recipe of its own: 10 x 10 x 10 variants, 5 claims", three_axes(world.path())),
        ("a vendor's recipe: 1,000 values of a param", one_param(world.path())),
    ];
    for (label, file) in cases {
        paired::wait_for_quiet(Duration::from_mins(1));
        println!("retrial plan, 1,000 cells, {label}  ({})", paired::machine());
        let plan = || {
            timed(|| {
                let mut command = Command::new(RETRIAL);
                command.arg("plan").arg(&file).env("RETRIAL_HOME", world.path());
                command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
                quietly(&mut command);
            })
        };
        let pairs = Pairs::run(PAIRS, plan, || timed(|| quietly(&mut Command::new("true"))));
        pairs.report("retrial", "true", None);
        pairs.report_limit(LIMIT_S);
    }
}

fn recipe() -> String {
    let mut text = String::from(
        "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b }\nimage: lab/x\nvariants:\n",
    );
    for axis in ["release", "backend", "size"] {
        let _ = writeln!(text, "  {axis}:");
        for value in 0..10 {
            let _ = writeln!(
                text,
                "    {axis}-{value}: {{ container: {{ env: {{ {axis}: \"{value}\" }} }} }}"
            );
        }
    }
    text + "default: { release: release-0, backend: backend-0, size: size-0 }\n\
            scenarios: { large: { performance: { run: bench, results: /out } } }\n"
}

fn three_axes(directory: &Path) -> PathBuf {
    let mut text = String::from(
        "schema: 1\ntitle: t\nrecipe: ./own.yaml\ntrials: 5\nbaseline: { release: release-0 }\nvary:\n",
    );
    for axis in ["release", "backend", "size"] {
        let values: Vec<String> = (0..10).map(|value| format!("{axis}-{value}")).collect();
        let _ = writeln!(text, "  {axis}: [{}]", values.join(", "));
    }
    text += "claims:\n";
    for value in 1..6 {
        let _ = writeln!(text, "  - release-{value} is faster than release-0");
    }
    written(directory, "three-axes.yaml", &text)
}

fn one_param(directory: &Path) -> PathBuf {
    let values: Vec<String> = (0..1000).map(|value| format!("/results/{value}")).collect();
    let text = format!(
        "schema: 1\ntitle: t\nrecipe: mlperf-inference/v6.0/amd/llama2-70b-mi355x\ntrials: 3\nvary: {{ results: [{}] }}\n",
        values.join(", ")
    );
    written(directory, "one-param.yaml", &text)
}

fn written(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn quietly(command: &mut Command) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "{command:?}");
}
