//! A home of its own, a recipe, the real program and the real engine: reads like what a person
//! does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::terminal::terminal_command;

mod engine;
mod program;
mod recipe;

pub use engine::PrivateEngine;
pub use program::{Done, Going};
pub use recipe::{case, image, recipe, recipe_with};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// One test's home and recipe.
pub struct Lab {
    root: TempDir,
    home: PathBuf,
    environment: Vec<(String, String)>,
    engine: Option<String>,
}

impl Lab {
    /// A new home.
    pub fn new() -> Self {
        Self::with_engine(None)
    }

    /// A new home, and an engine that is not the lab's.
    pub fn with_engine(engine: Option<String>) -> Self {
        let root = tempfile::Builder::new().prefix("retrial-flow-").tempdir().unwrap();
        let home = root.path().join("home");
        let lab = Self { root, home, environment: Vec::new(), engine };
        let version = lab.docker_command(&["version"]).output();
        assert!(
            version.is_ok_and(|output| output.status.success()),
            "this test needs an engine, and none answers: `make test` starts one, tests/lab/README.md says how to by hand"
        );
        lab
    }

    /// Writes the recipe.
    pub fn recipe(self, text: &str) -> Self {
        fs::write(self.path("recipe.yaml"), text).unwrap();
        self
    }

    /// A recipe with one case, `main`, that runs these commands.
    pub fn measures(self, commands: &str) -> Self {
        let recipe = recipe(&case("main", commands, ""));
        self.recipe(&recipe)
    }

    /// Writes a file next to the recipe.
    pub fn file(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Keeps runs elsewhere.
    pub fn home(mut self, home: &Path) -> Self {
        home.clone_into(&mut self.home);
        self
    }

    /// Sets a variable of the program's environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A path next to the recipe.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The home's path.
    pub fn home_path(&self) -> &Path {
        &self.home
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.environment_of(Command::new(env!("CARGO_BIN_EXE_retrial")));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Gives a command the home, the directory and the environment of this lab.
    pub fn environment_of(&self, mut command: Command) -> Command {
        command
            .current_dir(self.root.path())
            .env("RETRIAL_HOME", &self.home)
            .env("RETRIAL_CACHE", self.path("cache"))
            .env_remove("HF_TOKEN")
            .envs(self.environment.iter().cloned());
        if let Some(engine) = &self.engine {
            command.env("DOCKER_HOST", engine);
        }
        command
    }

    /// A script beside the recipe to its end, with the tool in its path.
    pub fn script(&self, text: &str) -> Output {
        let tool = Path::new(env!("CARGO_BIN_EXE_retrial")).parent().unwrap();
        let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
        let mut sh = Command::new("sh");
        sh.args(["-c", text]).current_dir(self.root.path());
        sh.env("PATH", path).env("RETRIAL_HOME", &self.home);
        sh.output().unwrap()
    }

    /// `retrial …` to its end.
    pub fn retrial(&self, arguments: &[&str]) -> Done {
        let mut going = self.start_retrial(arguments);
        going.end()
    }

    /// `retrial run ./recipe.yaml …` to its end.
    pub fn run(&self, arguments: &[&str]) -> Done {
        self.start(arguments).end()
    }

    /// `retrial run ./recipe.yaml …`, in the background of the test.
    pub fn start(&self, arguments: &[&str]) -> Going<'_> {
        let mut all = vec!["run", "./recipe.yaml"];
        all.extend(arguments);
        self.start_retrial(&all)
    }

    /// `retrial …`, in the background of the test.
    pub fn start_retrial(&self, arguments: &[&str]) -> Going<'_> {
        let out = tempfile::tempfile().unwrap();
        let err = tempfile::tempfile().unwrap();
        let mut command = self.command(arguments);
        command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
        Going::new(self, command.spawn().unwrap(), out, err)
    }

    /// `retrial …` as a person types it in a terminal, in the background of the test.
    pub fn start_in_terminal(&self, arguments: &[&str]) -> Going<'_> {
        let out = tempfile::tempfile().unwrap();
        let err = tempfile::tempfile().unwrap();
        let mut command = self.environment_of(terminal_command(arguments));
        command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
        let child =
            command.spawn().expect("`script` plays the terminal (the package bsdutils has it)");
        Going::new(self, child, out, err)
    }

    /// `docker …` with the same engine; its standard output.
    pub fn docker(&self, arguments: &[&str]) -> String {
        let output = self.docker_command(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "docker {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Pushes an image of the lab under another name, and removes that name from the engine.
    pub fn publish(&self, name: &str, tag: &str) {
        self.docker(&["pull", "--quiet", &image(name)]);
        self.docker(&["tag", &image(name), tag]);
        self.docker(&["push", "--quiet", tag]);
        self.docker(&["rmi", tag]);
    }

    /// A command of the engine.
    pub fn docker_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("docker");
        command.args(arguments);
        if let Some(engine) = &self.engine {
            command.env("DOCKER_HOST", engine);
        }
        command
    }

    /// The directories of the runs, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let mut runs: Vec<PathBuf> = fs::read_dir(self.home.join("runs"))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect();
        runs.sort();
        runs
    }

    /// The directory of the one run.
    pub fn the_run(&self) -> PathBuf {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    /// The one run's id.
    pub fn id(&self) -> String {
        self.the_run().file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The text of a file of the one run.
    pub fn text(&self, relative: &str) -> String {
        let path = self.the_run().join(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The output of a step of the one run.
    pub fn output(&self, step: &str) -> String {
        self.text(&format!("steps/{step}/output.log"))
    }

    /// The verdict of the one run.
    pub fn verdict(&self) -> Value {
        serde_json::from_str(&self.text("verdict.json")).unwrap()
    }

    /// The journal of the one run.
    pub fn journal(&self) -> Vec<Value> {
        let runs = self.runs();
        let Some(run) = runs.first() else {
            return Vec::new();
        };
        let text = fs::read_to_string(run.join("journal.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How often something of that kind happened in a step.
    pub fn count(&self, step: &str, event: &str) -> usize {
        self.journal()
            .iter()
            .filter(|entry| entry["name"] == step && entry["event"] == event)
            .count()
    }

    /// How a step ended, the last time.
    pub fn end_of(&self, step: &str) -> Value {
        let journal = self.journal();
        let mut ends = journal
            .into_iter()
            .filter(|entry| entry["name"] == step && entry["event"] == "step_ended");
        ends.next_back().unwrap_or_else(|| panic!("{step} did not end"))
    }

    /// Waits until a condition is met.
    pub fn until(&self, condition: &str, is_met: impl Fn(&Self) -> bool) {
        let since = Instant::now();
        while !is_met(self) {
            assert!(
                since.elapsed() < PATIENCE,
                "{condition}: not so; the journal: {:#?}",
                self.journal()
            );
            std::thread::sleep(Duration::from_millis(4));
        }
    }

    /// Waits until a step has begun.
    pub fn until_begun(&self, step: &str) {
        self.until(&format!("{step} has begun"), |lab| lab.count(step, "step_started") > 0);
    }

    /// Waits until a step has printed something.
    pub fn until_printed(&self, step: &str, text: &str) {
        self.until(&format!("{step} has printed {text}"), |lab| {
            let path =
                lab.runs().first().map(|run| run.join("steps").join(step).join("output.log"));
            path.and_then(|path| fs::read_to_string(path).ok())
                .is_some_and(|output| output.contains(text))
        });
    }

    /// Containers of this home's runs, running or not: `name status` each.
    pub fn containers(&self) -> Vec<String> {
        let mut all = Vec::new();
        for run in self.runs() {
            let filter =
                format!("label=io.retrial.run={}", run.file_name().unwrap().to_str().unwrap());
            let listed = self.docker(&[
                "ps",
                "-a",
                "--filter",
                &filter,
                "--format",
                "{{.Names}} {{.State}}",
            ]);
            all.extend(listed.lines().map(str::to_owned));
        }
        all
    }

    /// The id of the one container.
    pub fn container(&self) -> String {
        let created =
            self.journal().into_iter().rfind(|entry| entry["event"] == "container_created");
        created.expect("a container was created")["id"].as_str().unwrap().to_owned()
    }

    /// Files below a directory that hold a text.
    pub fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    directories.push(entry.path());
                } else if kind.is_file() {
                    let bytes = fs::read(entry.path()).unwrap_or_default();
                    if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                        found.push(entry.path());
                    }
                }
            }
        }
        found
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("journal: {:#?}", self.journal());
        }
        for run in self.runs() {
            let filter =
                format!("label=io.retrial.run={}", run.file_name().unwrap().to_str().unwrap());
            let Ok(listed) = self.docker_command(&["ps", "-aq", "--filter", &filter]).output()
            else {
                continue;
            };
            for id in String::from_utf8_lossy(&listed.stdout).lines() {
                let _ = self.docker_command(&["rm", "-f", "-v", id]).output();
            }
        }
    }
}
