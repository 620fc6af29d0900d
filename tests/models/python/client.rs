//! The Python client, with a cache of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::hub::Hub;
use crate::support::needs::find_python;

/// The client with a cache of its own.
pub struct Client {
    python: PathBuf,
    endpoint: String,
    pub home: tempfile::TempDir,
}

impl Client {
    /// A client of this hub.
    pub fn new(hub: &Hub) -> Self {
        Self {
            python: find_python(&[]),
            endpoint: hub.endpoint().to_owned(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, program: &Path, environment: &[(&str, &str)]) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path())
            .env("HF_HOME", self.home.path())
            .env("HF_ENDPOINT", &self.endpoint)
            .env("HF_HUB_DISABLE_PROGRESS_BARS", "1")
            .env("HF_HUB_DISABLE_TELEMETRY", "1")
            .env("NO_COLOR", "1")
            .envs(environment.iter().copied());
        command
    }

    /// Runs a script after the usual imports; returns its output.
    pub fn script(&self, environment: &[(&str, &str)], text: &str) -> String {
        let text = format!(
            "from huggingface_hub import *\nfrom huggingface_hub.errors import *\n\ndef refused(kind, call):\n    try:\n        call()\n    except kind as error:\n        return str(error)\n    raise AssertionError(f'no {{kind}}')\n\n{text}"
        );
        let mut command = self.command(&self.python, environment);
        let output = command.args(["-c", &text]).output().unwrap();
        good(&output)
    }

    /// `hf` with these words.
    pub fn hf(&self, environment: &[(&str, &str)], words: &[&str]) -> Output {
        let mut command = self.command(&self.python.with_file_name("hf"), environment);
        command.args(words).output().unwrap()
    }

    /// A file of the cache.
    pub fn cached(&self, repository: &str, commit: &str, file: &str) -> Vec<u8> {
        let name = format!("models--{}", repository.replace('/', "--"));
        let path = self.home.path().join("hub").join(name);
        std::fs::read(path.join("snapshots").join(commit).join(file)).unwrap()
    }
}

/// What a command printed; it must have succeeded.
pub fn good(output: &Output) -> String {
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    String::from_utf8(output.stdout.clone()).unwrap()
}
