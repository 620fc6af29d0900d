//! A host that is planted as a tree of files. A stand-in: no AMD GPU was here.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A planted host.
pub struct Host(pub TempDir);

impl Host {
    /// A host with these GPUs: `8xMI355X`.
    pub fn new(gpus: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let plant = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/plant");
        let status = Command::new(plant).arg(directory.path()).args(gpus).status();
        assert!(status.unwrap().success());
        Self(directory)
    }

    /// A file of it.
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Writes a file of it.
    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// The program on it, without an engine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let root = self.0.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
        command
            .args(["--root", root.to_str().unwrap()])
            .args(arguments)
            .env("RETRIAL_HOME", root.join("home"))
            .env("RETRIAL_CACHE", root.join("cache"))
            .env("HF_HUB_OFFLINE", "1")
            .env("DOCKER_HOST", "unix:///nowhere.sock")
            .current_dir(root);
        command
    }

    pub fn retrial(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The same, with its JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.retrial(&[arguments, &["--output", "json"]].concat());
        let problems = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {problems}"))
    }

    /// State and finding of a check of `doctor`.
    pub fn check(&self, name: &str) -> (String, String) {
        let checks = self.json(&["doctor"]);
        let checks = checks["checks"].as_array().unwrap().clone();
        let check = checks.iter().find(|check| check["name"] == name);
        let check = check.unwrap_or_else(|| panic!("no check {name}"));
        let text = |key: &str| check[key].as_str().unwrap().to_owned();
        (text("state"), text("actual"))
    }
}
