//! The release binary, a home of its own for its runs, and the engine if one answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;
use retrial_store::journal::Journal;
use retrial_store::journal::{Event, EventKind};
use tempfile::TempDir;

/// The image that both sides run.
pub const IMAGE: &str = "debian:bookworm-slim";

/// The program under test, built in the bench profile (release).
pub const RETRIAL: &str = env!("CARGO_BIN_EXE_retrial");

/// Whether `docker` finds an engine that has the image; prints it if not.
pub fn engine_has_image() -> bool {
    let found =
        Command::new("docker").args(["image", "inspect", "--format", "{{.Id}}", IMAGE]).output();
    let reason = match found {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("docker: {error}"),
    };
    println!("skipped: no engine with {IMAGE} ({reason}); `make lab` brings one up");
    false
}

/// Runs a command to its end, silently; it must succeed.
pub fn must(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Docker's command line with these words, silently.
pub fn docker(words: &[&str]) {
    must(Command::new("docker").args(words));
}

/// A home for runs, and recipes in it, on the disk where runs usually lie.
pub struct World {
    directory: TempDir,
}

impl World {
    /// An empty one.
    pub fn new() -> Self {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = tempfile::Builder::new().prefix("bench").tempdir_in(parent);
        Self { directory: directory.unwrap() }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a recipe of one measurement, `run` as its command; gives its path.
    pub fn recipe(&self, name: &str, run: &str, rest: &str) -> PathBuf {
        let path = self.path().join(name).join("recipe.yaml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!(
            "schema: 1\ntitle: bench of {name}\nsubmission: {{ suite: bench, round: v1, division: open, submitter: nobody, system: any, benchmark: {name} }}\nimage: {IMAGE}\nscenarios:\n  {name}:\n    performance:\n      run: {}\n{rest}",
            serde_json::to_string(run).unwrap()
        );
        fs::write(&path, text).unwrap();
        path
    }

    /// `retrial run` of a recipe, its runs in this home.
    pub fn retrial_run(&self, recipe: &Path) -> Command {
        let mut command = Command::new(RETRIAL);
        command.arg("run").arg(recipe).arg("--home").arg(self.path());
        command
    }

    /// The latest run's journal.
    pub fn journal(&self) -> Vec<Event> {
        let mut runs: Vec<PathBuf> = fs::read_dir(self.path().join("runs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        runs.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        Journal::read(&runs.last().unwrap().join("journal.jsonl")).unwrap()
    }

    /// Removes all runs.
    pub fn clear(&self) {
        let _ = fs::remove_dir_all(self.path().join("runs"));
    }
}

/// When the named step began.
pub fn started(journal: &[Event], step: &str) -> Timestamp {
    let started = |event: &&Event| {
        event.name.as_deref() == Some(step) && matches!(event.what, EventKind::StepStarted { .. })
    };
    journal.iter().find(started).unwrap().time
}

/// When the named step ended.
pub fn ended(journal: &[Event], step: &str) -> Timestamp {
    let ended = |event: &&Event| {
        event.name.as_deref() == Some(step) && matches!(event.what, EventKind::StepEnded { .. })
    };
    journal.iter().find(ended).unwrap().time
}

/// From one time to another, seconds.
pub fn between(from: Timestamp, to: Timestamp) -> f64 {
    (to - from).total(jiff::Unit::Second).unwrap()
}

/// The most memory that a command ever had in use, bytes, as it was last seen before its end.
pub fn peak_memory_of(command: &mut Command) -> u64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak_memory_in(&status).unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    most
}

fn peak_memory_in(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}
