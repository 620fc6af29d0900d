//! `retrial runs` on homes with planted runs: what is listed, what becomes of the index, and how runs
//! go and come.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod browser;
mod comparing;
mod evidence;
mod exchange;
mod forged;
mod hostile_bundle;
mod index;
mod lies;
mod listing;
#[path = "../many_runs/mod.rs"]
mod many_runs;
mod radeon;
mod removing;
mod signed;
#[path = "../support/mod.rs"]
mod support;
mod tampered;
mod website;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use many_runs::Many;
use serde_json::Value;

/// A home with planted runs.
struct Scene {
    directory: tempfile::TempDir,
}

impl Scene {
    fn new(numbers: Range<usize>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Many::new().plant(directory.path(), numbers);
        Self { directory }
    }

    fn home(&self) -> &Path {
        self.directory.path()
    }

    fn run(&self, number: usize) -> PathBuf {
        self.home().join("runs").join(Many::id(number))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
        command
            .args(arguments)
            .env("RETRIAL_HOME", self.home())
            // No engine answers here.
            .env("DOCKER_HOST", "unix:///nowhere/docker.sock");
        command
    }

    fn retrial(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::new(&self.command(arguments).output().unwrap())
    }

    /// The ids that `runs` lists, in its order.
    fn listed(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["runs", "--output", "json"];
        all.extend(arguments);
        let output = self.retrial(&all);
        assert_eq!(output.code, 0, "{}", output.err);
        let rows: Vec<Value> = serde_json::from_str(&output.out).unwrap();
        rows.iter().map(|row| row["run"].as_str().unwrap().to_owned()).collect()
    }
}

/// Output and exit code of a command.
#[derive(Debug)]
struct CommandOutput {
    out: String,
    err: String,
    code: i32,
}

impl CommandOutput {
    fn new(output: &Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap(),
        }
    }
}

/// Ids of these numbers.
fn ids(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(Many::id).collect()
}
