//! An engine that a test may break.

use std::process::{Command, Stdio};

use super::program::read_all;

/// An engine of the test's own, which it may break.
pub struct PrivateEngine {
    name: String,
    pub url: String,
}

impl PrivateEngine {
    /// Starts one.
    pub fn start(name: &str) -> Self {
        Self::start_with(name, &[])
    }

    /// Starts one through a program (`unshare …`).
    pub fn start_with(name: &str, through: &[&str]) -> Self {
        let name = format!("{name}-{}", std::process::id());
        let mut engine = Self { name, url: String::new() };
        engine.url = engine.script("start", through);
        engine.docker(&["pull", "-q", "debian:bookworm-slim"]);
        engine
    }

    fn script(&self, action: &str, through: &[&str]) -> String {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/engine");
        let mut words: Vec<&str> = through.to_vec();
        words.extend([script, action, &self.name]);
        let errors = tempfile::tempfile().unwrap();
        let output = Command::new(words[0])
            .args(&words[1..])
            .stderr(errors.try_clone().unwrap())
            .output()
            .unwrap();
        assert!(output.status.success(), "engine {action} {}: {}", self.name, read_all(&errors));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Ends the daemon and starts it again; containers live on.
    pub fn restart(&self) {
        self.script("restart", &[]);
    }

    /// Ends the daemon as a crash would; containers live on.
    pub fn kill(&self) {
        self.script("kill", &[]);
    }

    /// Ends the daemon as its service manager would; containers live on.
    pub fn end(&self) {
        self.script("end", &[]);
    }

    /// Brings one back that was killed or ended.
    pub fn start_again(&self) {
        self.script("start", &[]);
    }

    fn docker(&self, arguments: &[&str]) {
        let status = Command::new("docker")
            .args(["-H", &self.url])
            .args(arguments)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "docker {arguments:?}");
    }
}

impl Drop for PrivateEngine {
    fn drop(&mut self) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/engine");
        let _ = Command::new(script).args(["remove", &self.name]).output();
    }
}
