//! A run whose every file is planted, and the folders that its shell plan would have left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fastrand::Rng;
use serde_json::{Value, json};

use retrial_plan::Plan;
use retrial_plan::step::Step;

use super::contents::{self, Contents};
use crate::export::planted::BEGAN;

const RECIPE: &str = "\
schema: 1
title: every kind of figure
submission: { suite: house, benchmark: case }
image: example.com/bench@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
judge:
  invalid_if: [{ file: INVALID }, { pattern: 'checksum .* differs' }]
scenarios:
  printed:
    performance:
      trials: { min: 2, max: 4 }
      run: bench
      results: /printed
      figures:
        speed: { pattern: 'speed: (\\S+)', unit: items/s, noise: 1% }
        latency: { pattern: 'latency: (\\S+)', unit: ms, better: lower }
      expect: { speed: { value: 1000, kind: official, source: table 1 } }
      limits: { latency: { max: 10 } }
  document:
    performance:
      trials: 2
      warmup: 1
      run: bench
      results: /document
      figures: { rate: { json: $.speeds.rate, file: stats.json, unit: items/s, noise: 1% } }
      expect: { rate: { value: 1000, kind: official, source: table 2 } }
    accuracy:
      run: bench
      check: score
      results: /document
      figures: { score: { pattern: 'score: (\\S+)' } }
      limits: { score: { min: 0.5 } }
  table:
    performance:
      run: bench
      results: /table
      figures: { rate: { csv: { column: rate, where: { shape: small } }, file: table.csv, unit: items/s, noise: 1% } }
      expect: { rate: { value: 1000, kind: official, source: table 3 } }
  trained:
    performance:
      trials: 2
      run: train
      figures: { minutes: { mllog: time_to_train, target: { min: 0.5 }, noise: 2% } }
      expect: { minutes: { value: 100, kind: official, source: table 4 } }
  offline:
    performance:
      trials: 2
      run: bench
      results: /offline
      expect: { tokens_per_second: { value: 1000, kind: official, source: table 5, noise: 1% } }
    accuracy:
      run: bench
      check: score
      results: /offline
      limits: { rouge1: { min: 40 } }
";

/// A home with one run, whose steps left random contents.
pub struct Scene {
    directory: tempfile::TempDir,
    plan: Plan,
    script: String,
}

impl Scene {
    /// Plants a run of some of the scenarios.
    pub fn plant(random: &mut Rng) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("recipe.yaml"), RECIPE).unwrap();
        let mut scenarios = vec!["printed", "document", "table", "trained", "offline"];
        random.shuffle(&mut scenarios);
        scenarios.truncate(random.usize(1..=5));
        let scenarios = scenarios.join(",");
        let plan = |format: &str| {
            let arguments = ["plan", "./recipe.yaml", "-q", "--format", format, "--scenario"];
            let mut command = retrial(directory.path());
            let output = command.args(arguments).arg(&scenarios).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let json = plan("json");
        let scene =
            Self { plan: serde_json::from_str(&json).unwrap(), script: plan("shell"), directory };
        scene.leave(&json, random);
        scene
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    /// The run's directory.
    pub fn run(&self) -> PathBuf {
        self.path("runs/planted")
    }

    /// The tool, with the home of the run.
    pub fn retrial(&self) -> Command {
        retrial(self.directory.path())
    }

    /// Writes the run, and what its script would have left.
    fn leave(&self, plan: &str, random: &mut Rng) {
        let run = self.run();
        fs::create_dir_all(&run).unwrap();
        let host = retrial_host::probe_host(Path::new("/nowhere"));
        fs::write(run.join("plan.json"), plan).unwrap();
        fs::write(run.join("recipe.yaml"), RECIPE).unwrap();
        fs::write(run.join("host.json"), json!({ "host": host }).to_string()).unwrap();
        let kept = outputs_of(&self.script);
        let mut left: BTreeMap<(usize, u32), Contents> = BTreeMap::new();
        let mut journal = Journal::default();
        let needed = random.u32(2..=4);
        for step in &self.plan.steps {
            let trial = step.measurement_and_trial();
            if let Some((measurement, number)) = trial {
                let measured = &self.plan.measurements[measurement];
                if measured.key == "printed" && number > needed {
                    continue;
                }
                let contents = left.entry((measurement, number)).or_insert_with(|| {
                    contents::of(&measured.key, &measured.mode.to_string(), random)
                });
                let text = if step.checks_results() { &contents.check } else { &contents.output };
                let name = step.directory_name();
                write(&run.join("steps").join(&name).join("output.log"), text);
                for path in kept.get(&step.number).into_iter().flatten() {
                    write(&self.path("shell").join(path), text);
                }
                if step.collects_results() {
                    let place = measured.trial_directory(number);
                    let is_judged = number > measured.warmup;
                    let above = if is_judged { "results" } else { "warm-up" };
                    for root in [run.join("results"), self.path("shell").join(above)] {
                        fs::create_dir_all(root.join(&place)).unwrap();
                        for (file, text) in &contents.files {
                            write(&root.join(&place).join(file), text);
                        }
                    }
                }
            }
            journal.ended(step);
        }
        fs::write(run.join("journal.jsonl"), journal.finish()).unwrap();
    }

    /// The last command of the script, which judges.
    pub fn judge_command(&self) -> &str {
        let lines = self.script.lines();
        lines.rev().find(|line| line.starts_with("retrial judge")).unwrap()
    }

    /// Names the files of the run as the script names them.
    pub fn as_in_the_script(&self, text: &str) -> String {
        let [run, imported] = [self.run(), self.path("elsewhere/runs/planted")];
        let mut text = text.replace(&format!("{}/", run.display()), "");
        text = text.replace(&format!("{}/", imported.display()), "");
        text = text.replace("results/", "");
        for (number, paths) in outputs_of(&self.script) {
            let mut steps = self.plan.steps.iter();
            let step = steps.find(|step| step.number == number).unwrap();
            let output = format!("steps/{}/output.log", step.directory_name());
            let kept = Path::new(&paths[0]).file_name().unwrap();
            text = text.replace(&output, &kept.to_string_lossy());
        }
        text
    }
}

/// Where a script keeps the outputs of its steps, by their numbers.
fn outputs_of(script: &str) -> BTreeMap<u32, Vec<String>> {
    let mut kept: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut step = 0;
    for line in script.lines() {
        let line = line.trim_start_matches("# ");
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("logged"), Some(path)) => {
                let path = path.trim_matches('\'').to_owned();
                kept.entry(step).or_default().push(path);
            }
            (Some(number), Some(_)) => step = number.parse().unwrap_or(step),
            _ => {}
        }
    }
    kept
}

fn retrial(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
    command.current_dir(home).env("RETRIAL_HOME", home);
    command
}

/// The verdict that a command prints.
pub fn verdict(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn write(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[derive(Default)]
struct Journal {
    lines: Vec<String>,
}

impl Journal {
    fn say(&mut self, mut event: Value) {
        event["time"] = json!(BEGAN);
        event["node"] = json!("main");
        self.lines.push(event.to_string());
    }

    fn ended(&mut self, step: &Step) {
        let number = step.number;
        self.say(json!({ "event": "step_started", "step": number, "summary": "it" }));
        self.say(
            json!({ "event": "step_ended", "step": number, "end": "done", "exit_code": 0, "seconds": 0.0 }),
        );
    }

    fn finish(mut self) -> String {
        self.say(json!({ "event": "run_ended", "exit_code": 0 }));
        let started = json!({ "time": BEGAN, "node": "main", "event": "run_started", "run": "planted",
            "steps": 1, "pid": 1, "completed_steps": [], "tool": "0" });
        format!("{started}\n{}\n", self.lines.join("\n"))
    }
}
