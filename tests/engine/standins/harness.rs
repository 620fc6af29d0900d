//! Shared by the tests with stand-ins: the engine that has them, a run, its result.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::needs::claim_simulated_gpus;

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// An engine of the lab's that has the stand-ins, on a machine with the device nodes; one test at a time has it.
pub struct Engine {
    pub url: String,
    _turn: fs::File,
}

pub fn engine() -> Engine {
    let turn = claim_simulated_gpus();
    let built = Command::new(root().join("tests/standins/build")).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let url = String::from_utf8(built.stdout).unwrap().trim().to_owned();
    Engine { url, _turn: turn }
}

pub struct Ran {
    pub output: Output,
    pub home: tempfile::TempDir,
}

impl Ran {
    pub fn code(&self) -> i32 {
        self.output.status.code().unwrap()
    }

    pub fn verdict(&self) -> Value {
        let runs = self.home.path().join("runs");
        let run = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path());
        let verdict = run.map(|run| run.join("verdict.json")).find(|file| file.exists());
        serde_json::from_str(&fs::read_to_string(verdict.unwrap()).unwrap()).unwrap()
    }

    pub fn text(&self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&self.output.stdout) + &text(&self.output.stderr)
    }
}

/// `retrial run` on a planted host, a directory of tests/fixtures/hosts.
pub fn run_on(engine: &Engine, host: &str, recipe: &str, arguments: &[&str]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["run", recipe, "--engine", &engine.url, "--root"])
        .arg(root().join("tests/fixtures/hosts").join(host))
        .args(arguments)
        .env("RETRIAL_HOME", home.path())
        .env("RETRIAL_CACHE", home.path().join("cache"))
        .env("HF_TOKEN", "hf_of_a_stand_in")
        .output()
        .unwrap();
    Ran { output, home }
}

/// A run's expected values in a stand-in's file.
pub struct Described {
    pub recipe: String,
    pub results: usize,
    force: bool,
    settings: Vec<String>,
    skip: Vec<String>,
    /// Directories that the recipe is given, with content or empty.
    _directories: tempfile::TempDir,
}

impl Described {
    pub fn read(standin: &str) -> Self {
        let own = root().join("tests/standins").join(standin);
        let directories = tempfile::tempdir().unwrap();
        let (mut recipe, mut results, mut force) = (String::new(), 0, false);
        let (mut settings, mut skip) = (Vec::new(), Vec::new());
        for line in fs::read_to_string(own.join("standin")).unwrap().lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["recipe", name] => name.clone_into(&mut recipe),
                ["results", count] => results = count.parse().unwrap(),
                ["set", setting] => settings.push(setting.to_owned()),
                // On the planted host of another GPU.
                ["force"] => force = true,
                ["skip", step] => skip.push(step.to_owned()),
                ["directory", param, ref content @ ..] => {
                    let path = directories.path().join(param);
                    fs::create_dir(&path).unwrap();
                    for content in content {
                        let files =
                            format!("cp -r {}/. {}", own.join(content).display(), path.display());
                        assert!(
                            Command::new("sh").args(["-c", &files]).status().unwrap().success()
                        );
                    }
                    settings.push(format!("{param}={}", path.display()));
                }
                _ => {}
            }
        }
        Self { recipe, results, force, settings, skip, _directories: directories }
    }

    pub fn arguments(&self) -> Vec<&str> {
        let settings = self.settings.iter().flat_map(|item| ["--set", item]);
        let skip = self.skip.iter().flat_map(|item| ["--skip", item]);
        let force = self.force.then_some("--force");
        settings.chain(skip).chain(force).collect()
    }
}

/// Scenario, mode and outcome of each result.
pub fn outcomes(verdict: &Value) -> Vec<(String, String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = verdict["results"].as_array().unwrap();
    results
        .iter()
        .map(|item| (word(&item["scenario"]), word(&item["mode"]), word(&item["outcome"])))
        .collect()
}
