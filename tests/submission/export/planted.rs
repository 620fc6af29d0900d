//! Runs without an engine: their plan is made by the tool, their journal says that every step ended
//! well, and what the steps left is planted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::logs::{Run, Seeds};

pub const BEGAN: &str = "2026-11-21T12:00:00Z";

const RECIPE: &str = "\
schema: 1
title: Llama 2 70B
submission: { suite: mlperf-inference, round: ROUND, division: closed, submitter: AMD, benchmark: llama2-70b-99 }
image: example.com/llama2:1
requires: { gpus: { vendor: amd, models: [MI355X], count: 8 } }
scenarios:
  offline: &all
    performance: { trials: TRIALS, run: bench, results: '/results/${{ scenario }}/performance/${{ trial }}' }
    accuracy: { run: bench, check: score, results: '/results/${{ scenario }}/accuracy' }
    compliance: { run: audit, check: verify, results: '/results/${{ scenario }}/TEST06', figures: { passed: { pattern: '([0-9]) passed' } } }
  server: *all
";

/// A home with planted runs.
pub struct Home {
    pub directory: tempfile::TempDir,
    pub round: &'static str,
}

/// What one planted run has.
pub struct Planted<'a> {
    pub id: &'a str,
    /// `offline,server`
    pub scenarios: &'a str,
    /// `performance,accuracy`
    pub modes: &'a str,
    /// Tokens a second of each trial.
    pub trials: &'a [f64],
    pub valid: bool,
    pub host: &'a str,
}

impl Planted<'_> {
    /// All scenarios and modes, one trial.
    pub const WHOLE: Planted<'static> = Planted {
        id: "whole",
        scenarios: "offline,server",
        modes: "performance,accuracy,compliance",
        trials: &[1000.0],
        valid: true,
        host: "mi355x-8",
    };
}

impl Home {
    pub fn new(round: &'static str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory, round }
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    fn seeds(&self) -> Seeds {
        match self.round {
            "v5.1" => super::logs::V5_1,
            _ => super::logs::V6_0,
        }
    }

    /// The tool, in the home.
    pub fn retrial(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(arguments)
            .current_dir(self.directory.path())
            .env("RETRIAL_HOME", self.directory.path())
            .output()
            .unwrap()
    }

    /// `retrial export` in JSON, and its exit code.
    pub fn export(&self, arguments: &[&str]) -> (Value, i32) {
        let mut all = vec!["export", "--output", "json"];
        all.extend(arguments);
        let output = self.retrial(&all);
        let text = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let value = serde_json::from_str(&text).unwrap_or(Value::String(stderr));
        (value, output.status.code().unwrap())
    }

    pub fn plant(&self, planted: &Planted<'_>) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts");
        let root = root.join(planted.host).display().to_string();
        let recipe = RECIPE
            .replace("ROUND", self.round)
            .replace("TRIALS", &planted.trials.len().to_string());
        fs::write(self.path("recipe.yaml"), recipe).unwrap();
        let output = self.retrial(&[
            "plan",
            "./recipe.yaml",
            "--format",
            "json",
            "--root",
            &root,
            "--scenario",
            planted.scenarios,
            "--mode",
            planted.modes,
            "-q",
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let plan: Value = serde_json::from_slice(&output.stdout).expect(&stderr);
        let run = self.path("runs").join(planted.id);
        fs::create_dir_all(&run).unwrap();
        let host = retrial_host::probe_host(Path::new(&root));
        let engine = json!({ "product": "Docker Engine", "version": "28.5.1" });
        let write = |name: &str, text: String| fs::write(run.join(name), text).unwrap();
        write("plan.json", plan.to_string());
        write("recipe.yaml", "schema: 1\n".to_owned());
        write("host.json", json!({ "host": host, "engine": engine }).to_string());
        write("journal.jsonl", journal(&plan));
        for step in plan["steps"].as_array().unwrap() {
            let number = step["number"].as_u64().unwrap();
            let steps = run.join(format!("steps/{number:02}-{}", step["name"].as_str().unwrap()));
            fs::create_dir_all(&steps).unwrap();
            fs::write(steps.join("output.log"), "3 passed\n").unwrap();
        }
        for measured in plan["measurements"].as_array().unwrap() {
            let scenario = measured["scenario"].as_str().unwrap();
            let mode = measured["mode"].as_str().unwrap();
            let trials = if mode == "performance" { planted.trials } else { &planted.trials[..1] };
            for (number, rate) in (1..).zip(trials) {
                let folder = run.join(format!("results/{scenario}/{mode}/run_{number}"));
                self.leave(&folder, scenario, mode, *rate, planted.valid);
            }
        }
    }

    fn leave(&self, folder: &Path, scenario: &str, mode: &str, rate: f64, valid: bool) {
        fs::create_dir_all(folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        if mode == "compliance" {
            fs::create_dir(folder.join("accuracy")).unwrap();
            write(
                "verify_accuracy.txt",
                "First token check pass: True\nEOS check pass: True\nSample length check pass: True\nTEST06 verification complete\n",
            );
            write("accuracy/mlperf_log_accuracy.json", "[]");
            return;
        }
        let log = Run {
            scenario: if scenario == "Offline" { "Offline" } else { "Server" },
            accuracy: mode == "accuracy",
            tokens_per_second: rate,
            valid,
            seeds: self.seeds(),
        };
        write("mlperf_log_detail.txt", &log.detail(BEGAN));
        write("mlperf_log_summary.txt", &log.summary());
        write("mlperf_log_trace.json", "[]");
        if mode == "accuracy" {
            write("mlperf_log_accuracy.json", &Run::answers());
            write("accuracy.txt", Run::accuracy_text());
        }
    }
}

/// Every step began and ended when the logs were written.
fn journal(plan: &Value) -> String {
    let mut lines = Vec::new();
    let mut say = |mut event: Value| {
        event["time"] = json!(BEGAN);
        event["node"] = json!("main");
        lines.push(event.to_string());
    };
    say(
        json!({ "event": "run_started", "run": "planted", "steps": 1, "pid": 1, "completed_steps": [], "tool": "0" }),
    );
    say(
        json!({ "event": "image", "id": "sha256:0f", "digests": ["example.com/llama2@sha256:0f1e"], "size": 1 }),
    );
    for step in plan["steps"].as_array().unwrap() {
        let number = &step["number"];
        say(json!({ "event": "step_started", "step": number, "summary": "it" }));
        say(
            json!({ "event": "step_ended", "step": number, "end": "done", "exit_code": 0, "seconds": 0.0 }),
        );
    }
    say(json!({ "event": "run_ended", "exit_code": 0 }));
    lines.join("\n") + "\n"
}
