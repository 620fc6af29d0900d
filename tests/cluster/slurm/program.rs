//! The program, as a user of a login host runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::wait::wait_until;
use serde_json::Value;

/// A recipe with two measurements of some seconds each.
pub fn recipe(seconds: u32) -> String {
    let case = |name: &str, answer: u32| {
        format!(
            "  {name}:\n    performance:\n      run: 'sleep {seconds}; echo answer: {answer} items/s'\n      \
             figures: {{ answer: {{ pattern: 'answer: ([0-9]+)', unit: items/s, noise: 1% }} }}\n      \
             expect: {{ answer: {{ value: {answer}, kind: official, source: row {answer} }} }}\n"
        )
    };
    format!(
        "schema: 1\ntitle: A little one\nsubmission: {{ suite: mine, benchmark: little, sources: [https://example.org/] }}\n\
         image: debian:bookworm-slim\nscenarios:\n{}{}",
        case("one", 42),
        case("two", 43)
    )
}

/// A recipe with a parameter by which its figure differs; it sleeps so many seconds.
pub fn sizes(seconds: u32) -> String {
    format!(
        "schema: 1\ntitle: Two sizes\nsubmission: {{ suite: mine, benchmark: size }}\nimage: debian:bookworm-slim\n\
         params: {{ size: {{ type: enum, values: [small, large], default: small }} }}\n\
         scenarios:\n  size:\n    performance:\n      \
         run: 'sleep {seconds}; case ${{{{ params.size }}}} in small) echo speed: 100;; *) echo speed: 120;; esac'\n      \
         figures: {{ speed: {{ pattern: 'speed: ([0-9]+)', unit: items/s, noise: 1% }} }}\n"
    )
}

/// A user with a home, a site and a recipe.
pub struct User {
    pub directory: PathBuf,
    /// Comes before the program: a command of the cluster, or nothing.
    pub before: Vec<String>,
    pub env: Vec<(String, String)>,
}

impl User {
    /// A user in a directory.
    pub fn at(directory: &Path, site: &str, recipe: &str) -> Self {
        let user = Self { directory: directory.to_owned(), before: Vec::new(), env: Vec::new() };
        user.site(site);
        std::fs::write(directory.join("mine.yaml"), recipe).unwrap();
        user
    }

    /// Writes the site file.
    pub fn site(&self, text: &str) {
        let sites = self.directory.join("config/retrial/sites");
        std::fs::create_dir_all(&sites).unwrap();
        let text = format!("schema: 1\nscheduler: slurm\n{text}");
        std::fs::write(sites.join("lab.yaml"), text).unwrap();
    }

    /// The program with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_retrial").to_owned();
        let mut words = self.before.clone();
        words.push(program);
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(arguments)
            .current_dir(&self.directory)
            .env("XDG_CONFIG_HOME", self.directory.join("config"))
            .env("XDG_CACHE_HOME", self.directory.join("cache"))
            .env("RETRIAL_HOME", self.directory.join("home"))
            .env_remove("DOCKER_HOST")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn retrial(&self, arguments: &[&str]) -> Done {
        Done::new(&self.command(arguments).output().unwrap())
    }

    /// `run ./mine.yaml --site lab`
    pub fn run(&self, arguments: &[&str]) -> Done {
        self.retrial(&[&["run", "./mine.yaml", "--site", "lab"], arguments].concat())
    }

    /// The directory of the only run.
    pub fn the_run(&self) -> PathBuf {
        let runs = std::fs::read_dir(self.directory.join("home/runs")).unwrap();
        let runs: Vec<PathBuf> = runs.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    /// `batch ./mine.yaml --site lab` with three trials of two cells
    pub fn batch(&self, arguments: &[&str]) -> Done {
        let batch = ["batch", "./mine.yaml", "--site", "lab", "--trials", "3"];
        self.retrial(&[&batch[..], &["--vary", "size=small,large"], arguments].concat())
    }

    /// The directory of the only batch.
    pub fn the_batch(&self) -> PathBuf {
        let batches = std::fs::read_dir(self.directory.join("home/batches")).unwrap();
        let batches: Vec<PathBuf> = batches.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(batches.len(), 1, "{batches:?}");
        batches[0].clone()
    }

    /// Its id.
    pub fn batch_id(&self) -> String {
        let name = self.the_batch();
        name.file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The entries of a journal in its directory.
    pub fn of_batch(&self, name: &str) -> Vec<Value> {
        entries(&self.the_batch().join(name))
    }

    /// Its id.
    pub fn id(&self) -> String {
        let name = self.the_run();
        name.file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The entries of a journal of its.
    pub fn journal(&self, name: &str) -> Vec<Value> {
        entries(&self.the_run().join(name))
    }

    /// Waits until its journal has an event.
    pub fn wait_for(&self, event: &str) {
        wait_until(&format!("there is an event {event}"), || {
            let runs = self.directory.join("home/runs");
            runs.exists()
                && std::fs::read_dir(runs).unwrap().next().is_some()
                && self.journal("journal.jsonl").iter().any(|entry| entry["event"] == event)
        });
    }
}

/// The entries of a journal; none if it is not there.
pub fn entries(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let entries = text.lines().map(serde_json::from_str);
    entries.filter_map(Result::ok).collect()
}

/// How it ended.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub output: String,
}

impl Done {
    pub fn new(output: &Output) -> Self {
        let printed = [&output.stdout[..], &output.stderr].concat();
        Self { code: output.status.code(), output: String::from_utf8_lossy(&printed).into_owned() }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.output);
        self
    }

    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert!(self.output.contains(text), "not printed: {text}\n{}", self.output);
        self
    }

    #[track_caller]
    pub fn does_not_print(self, text: &str) -> Self {
        assert!(!self.output.contains(text), "printed: {text}\n{}", self.output);
        self
    }
}
