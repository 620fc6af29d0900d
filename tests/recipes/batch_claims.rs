//! Claims of a batch whose scenarios failed, judged from its directories as `retrial judge` finds them.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

const RECIPE: &str = "schema: 1
title: A case in two sizes
submission: { suite: example, benchmark: size }
image: debian:bookworm-slim
params:
  size: { type: enum, values: [small, large], default: small }
scenarios:
  first:
    performance:
      run: bench first ${{ params.size }}
      figures:
        speed: { pattern: 'speed: ([0-9.]+)', unit: items/s, noise: 1% }
        other: { pattern: 'other: ([0-9.]+)', unit: items/s, noise: 1% }
  second:
    performance:
      run: bench second ${{ params.size }}
      figures:
        speed: { pattern: 'speed: ([0-9.]+)', unit: items/s, noise: 1% }
        other: { pattern: 'other: ([0-9.]+)', unit: items/s, noise: 1% }
";
const BATCH: &str = "20260401-060000-size-0001";
const TIME: &str = "2026-04-01T06:00:00Z";

/// What went wrong in the second scenario of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Its command failed in every trial.
    Failed,
    /// Its output lacks the first figure in every trial.
    WithoutFigure,
    /// The host failed before any run.
    Lost,
}

/// A home with a batch that nobody ran.
struct Planted {
    home: TempDir,
}

impl Planted {
    fn new(claim: &str, small: Fault, large: Fault) -> Self {
        let planted = Self { home: tempfile::tempdir().unwrap() };
        fs::write(planted.home.path().join("recipe.yaml"), RECIPE).unwrap();
        let vary = ["--vary", "size=small,large", "--trials", "3", "--claim", claim];
        let plan = planted.plan(&vary)["plan"].clone();
        let mut events = event(
            json!({ "event": "batch_started", "batch": BATCH, "trial_runs": 6, "pid": 1, "tool": "0" }),
        );
        let trial_runs = plan["schedule"]["trial_runs"].as_array().unwrap();
        for (number, trial_run) in (1..).zip(trial_runs) {
            let cell =
                &plan["cells"][usize::try_from(trial_run["cell"].as_u64().unwrap()).unwrap()];
            let size = cell["axes"]["size"].as_str().unwrap();
            let fault = if size == "small" { small } else { large };
            events += &planted.trial_run(number, trial_run, cell, fault);
        }
        events += &event(json!({ "event": "batch_ended", "exit_code": 0 }));
        planted.write(&format!("batches/{BATCH}/batch.json"), &plan.to_string());
        planted.write(&format!("batches/{BATCH}/journal.jsonl"), &events);
        planted
    }

    /// Plants a run, and returns what the batch's journal says of it.
    fn trial_run(&self, number: u32, trial_run: &Value, cell: &Value, fault: Fault) -> String {
        let run = format!("20260401-06000{number}-size-000{number}");
        let mut events = event(json!({
            "event": "trial_run_started", "trial_run": number, "run": run,
            "cell": cell["name"], "trial": trial_run["trial"], "attempt": 1,
        }));
        let exit_code = if fault == Fault::Lost { 3 } else { 0 };
        events += &event(json!({
            "event": "trial_run_ended", "trial_run": number, "exit_code": exit_code, "run": run,
            "outcome": null, "figures": [], "seconds": 1.0,
        }));
        let size = cell["axes"]["size"].as_str().unwrap();
        let plan = self.plan(&["--set", &format!("size={size}")]);
        let mut journal = event(json!({
            "node": "n", "event": "run_started", "run": run, "steps": 6, "pid": 1,
            "completed_steps": [], "tool": "0",
        }));
        for step in plan["steps"].as_array().unwrap() {
            let name = step["name"].as_str().unwrap();
            let fault = if name.starts_with("second") { fault } else { Fault::None };
            let mut end = json!({
                "node": "n", "step": step["number"], "name": name, "event": "step_ended",
                "end": "done", "exit_code": 0, "seconds": 1.0,
            });
            if fault == Fault::Failed {
                end["end"] = json!("failed");
                end["exit_code"] = json!(9);
                end["fault"] = json!("command");
                end["reason"] = json!("exit code 9");
                end["last_lines"] = json!([]);
                end["advice"] = json!("");
            }
            journal += &event(end);
            let value = if size == "small" { 100.0 } else { 120.0 } + 0.1 * f64::from(number);
            let mut output = format!("other: {value}\n");
            if fault == Fault::None {
                let _ = writeln!(output, "speed: {value}");
            }
            let folder = format!("{:02}-{name}", step["number"].as_u64().unwrap());
            self.write(&format!("runs/{run}/steps/{folder}/output.log"), &output);
        }
        self.write(&format!("runs/{run}/plan.json"), &plan.to_string());
        self.write(&format!("runs/{run}/journal.jsonl"), &journal);
        events
    }

    fn plan(&self, words: &[&str]) -> Value {
        let all = [&["plan", "-q", "./recipe.yaml", "--output", "json"], words].concat();
        let planned = self.retrial(&all);
        let stderr = String::from_utf8_lossy(&planned.stderr);
        serde_json::from_slice(&planned.stdout).unwrap_or_else(|_| panic!("{stderr}"))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// No engine is asked.
    fn retrial(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(words)
            .current_dir(self.home.path())
            .env("RETRIAL_HOME", self.home.path())
            .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
            .output()
            .unwrap()
    }

    fn judge(&self) -> Value {
        let judged = self.retrial(&["judge", BATCH, "--output", "json"]);
        let stderr = String::from_utf8_lossy(&judged.stderr);
        serde_json::from_slice(&judged.stdout).unwrap_or_else(|_| panic!("{stderr}"))
    }
}

fn event(mut event: Value) -> String {
    event["time"] = json!(TIME);
    format!("{event}\n")
}

#[rstest]
#[case::whole(Fault::None, Fault::None, "supported", "")]
#[case::failed_baseline(Fault::Failed, Fault::None, "not decided", "size=small failed: ")]
#[case::failed_candidate(Fault::None, Fault::Failed, "not decided", "size=large failed: ")]
#[case::failed_both(Fault::Failed, Fault::Failed, "not decided", "; size=small failed: ")]
#[case::without_figure(Fault::WithoutFigure, Fault::None, "not decided", "speed is missing")]
#[case::without_figures(
    Fault::WithoutFigure,
    Fault::WithoutFigure,
    "not decided",
    "size=large is invalid: "
)]
#[case::lost(Fault::None, Fault::Lost, "not decided", "size=large has no result (trial 1: ")]
fn a_claim_over_every_scenario_needs_every_planned_one(
    #[case] small: Fault,
    #[case] large: Fault,
    #[case] expected: &str,
    #[case] reason: &str,
) {
    let planted = Planted::new("large is faster than small", small, large);
    let verdict = planted.judge();
    let claim = &verdict["claims"][0];
    assert_eq!(claim["outcome"], expected, "{claim:#}");
    let sentence = claim["sentence"].as_str().unwrap();
    assert!(sentence.contains(reason), "{sentence}");
    let parts = claim["parts"].as_array().unwrap();
    let figures: Vec<&Value> = parts.iter().map(|part| &part["figure"]).collect();
    if large != Fault::Lost {
        assert_eq!(figures, ["speed", "speed"]);
        // In one scenario alone it is decided as ever.
        let planted = Planted::new("large is faster than small in first", small, large);
        assert_eq!(planted.judge()["claims"][0]["outcome"], "supported");
    }
}

/// A cell's table has a row for the scenario that failed.
#[test]
fn a_failed_scenario_is_in_the_table_of_cells() {
    let planted = Planted::new("large is faster than small", Fault::Failed, Fault::None);
    let judged = planted.retrial(&["judge", BATCH]);
    let text = String::from_utf8_lossy(&judged.stdout);
    let cells = text.split("Cells").nth(1).unwrap();
    let words = cells.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let rows = words.filter(|words| words.get(1) == Some(&"second"));
    assert_eq!(rows.count(), 2, "{text}");
    assert_eq!(judged.status.code(), Some(4));
}
