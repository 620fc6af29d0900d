//! Faults at random moments, counted: `make faults` writes the counts into docs/reliability.md.
//!
//! `RETRIAL_FAULTS` is the number of kills, of which the other kinds have a share; 40 unless it is set.
//! `RETRIAL_FAULTS_SEED` repeats a try, `RETRIAL_FAULTS_TO` is the directory of the counts.

mod host;
mod hostile;
mod kills;
mod machines;
mod owners;
mod services;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use crate::lab::{Done, Lab, PrivateEngine, case, recipe_with};

/// Kills of runs and of batches unless more are requested.
const KILLS: usize = 40;
/// The most faults of one run or batch.
const MOST_FAULTS: usize = 4;

/// Tries of one kind of fault.
struct Tally {
    kind: &'static str,
    required: usize,
    tries: usize,
    seed: u64,
    /// The seeds of those that were not survived, and why.
    lost: Vec<(u64, String)>,
}

impl Tally {
    /// So many tries as a percentage of the kills.
    fn new(kind: &'static str, share: usize) -> Self {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let kills = number("RETRIAL_FAULTS").map_or(KILLS, |kills| kills.try_into().unwrap());
        Self {
            kind,
            required: (kills * share / 100).max(1),
            tries: 0,
            seed: number("RETRIAL_FAULTS_SEED").unwrap_or_else(|| fastrand::u64(..)),
            lost: Vec::new(),
        }
    }

    /// Tries until there are as many as required; a try returns the number of its faults.
    fn run(mut self, mut attempt: impl FnMut(&mut Rng) -> usize) {
        while self.tries < self.required {
            let seed = self.seed.wrapping_add(self.tries as u64);
            let mut chance = Rng::with_seed(seed);
            match catch_unwind(AssertUnwindSafe(|| attempt(&mut chance))) {
                Ok(faults) => self.tries += faults,
                Err(panic) => {
                    self.tries += 1;
                    let text = panic.downcast_ref::<String>().cloned();
                    self.lost.push((seed, text.unwrap_or_default()));
                }
            }
        }
        let survived = self.tries - self.lost.len();
        println!("{}: {} tries, {survived} survived", self.kind, self.tries);
        if let Some(to) = std::env::var_os("RETRIAL_FAULTS_TO") {
            let row = format!("| {} | {} | {survived} |\n", self.kind, self.tries);
            let name = self.kind.replace(|letter: char| !letter.is_alphanumeric(), "-");
            fs::write(PathBuf::from(to).join(name), row).unwrap();
        }
        assert!(self.lost.is_empty(), "{}: {:#?}", self.kind, self.lost);
    }
}

/// A moment within the next so many milliseconds.
fn moment(chance: &mut Rng, milliseconds: u64) {
    std::thread::sleep(Duration::from_micros(chance.u64(..milliseconds * 1000)));
}

/// Says once who it is, and prints 20 lines in 0.4 s.
const COUNTED: &str = "echo \"uuid $(cat /proc/sys/kernel/random/uuid)\"
for i in $(seq 1 20); do echo \"line $i\"; sleep 0.02; done";

/// A run of a setup step and two measurements with results, each of which says once who it is.
fn counted(lab: Lab) -> Lab {
    let keys = "setup:\n  tool:\n    run: sleep 0.1; touch /ready";
    lab.recipe(&measured_twice(keys, "", ""))
}

/// A recipe of the measurements `first` and `second` with results. Takes further keys, keys of the first, and
/// what the second does in the end.
fn measured_twice(keys: &str, of_first: &str, in_second: &str) -> String {
    let measured = |name: &str, keys: &str, more: &str| {
        let commands = format!("{COUNTED}\nmkdir /{name}; date >/{name}/when\n{more}");
        case(name, &commands, &format!("results: /{name}\n{keys}"))
    };
    let cases = measured("first", of_first, "") + &measured("second", "", in_second);
    recipe_with(keys, &cases)
}

/// Runs that have been recorded; a run that was killed before is none.
fn recorded(lab: &Lab) -> Vec<PathBuf> {
    let mut runs = lab.runs();
    runs.retain(|run| run.join("journal.jsonl").is_file());
    runs
}

/// The arguments that continue a lab's run, or start it.
fn continuing(lab: &Lab) -> &'static [&'static str] {
    if recorded(lab).is_empty() { &["run", "./recipe.yaml"] } else { &["resume", "last"] }
}

/// Continues until the run has its verdict.
fn finish(lab: &Lab) -> Done {
    lab.retrial(continuing(lab)).expect_exit(0).prints("reproduced")
}

/// The run is complete, and nothing of it is left behind.
fn is_whole(lab: &Lab) {
    let runs = recorded(lab);
    assert_eq!(runs.len(), 1, "{runs:?}");
    let verdict = fs::read_to_string(runs[0].join("verdict.json")).unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["outcome"], "reproduced");
    let expected: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
    for name in ["first", "second"] {
        let output = the_output(&runs[0], &format!("{name}-performance"));
        let lines = output.lines().filter(|line| line.starts_with("line "));
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{name}");
        assert_eq!(output.matches("uuid ").count(), 1, "{name}: measured twice");
        let results = format!("results/{name}/performance/run_1/when");
        assert!(runs[0].join(&results).is_file(), "{results}");
    }
    assert_eq!(lab.containers(), [""; 0]);
}

/// Kills the engine or ends it, and brings it back within half a second.
fn restart(engine: &PrivateEngine, chance: &mut Rng) {
    if chance.bool() {
        engine.kill();
    } else {
        engine.end();
    }
    moment(chance, 500);
    engine.start_again();
}

/// The run continued while its engine was restarted. Before its first step it has nothing to lose, and may give
/// up at once.
fn continued(lab: &Lab, done: &Done) {
    let is_early = || {
        let mut journal = lab.journal().into_iter();
        !journal.any(|entry| entry["event"] == "step_started")
    };
    let survived = done.code == Some(0) || done.code == Some(3) && is_early();
    assert!(survived, "{done:?}");
}

/// The output of the step of that name below a directory of a run.
fn the_output(run: &Path, step: &str) -> String {
    let steps = fs::read_dir(run.join("steps")).into_iter().flatten().flatten();
    let mut steps = steps.map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.split_once('-').is_some_and(|(_, name)| name == step))
    };
    let step = steps.find(is_it).unwrap_or_else(|| panic!("no step {step}"));
    fs::read_to_string(step.join("output.log")).unwrap()
}

/// The program ended by itself, with one of its own exit codes, and did not panic.
fn ended(done: &Done) {
    assert!(done.code.is_some_and(|code| (0..=5).contains(&code) || code == 130), "{done:?}");
    assert!(!done.err.contains("panicked"), "{}", done.err);
}
