//! Where a result lies in a tree, and what that says of it.
//!
//! `MLCommons` lays results out as `closed/AMD/results/SYSTEM/BENCHMARK/Offline/performance/run_1`.
//! Results of one system and benchmark are judged together: speed counts with its own accuracy.

use std::path::{Component, Path, PathBuf};

use super::tree::is_test;
use retrial_recipe::model::Submission;

const SCENARIOS: [&str; 5] = [
    "Offline",
    "Server",
    "Interactive",
    "SingleStream",
    "MultiStream",
];
const MODES: [&str; 3] = ["performance", "accuracy", "compliance"];

/// What a result's path says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPath {
    /// What is judged together lies below this.
    pub group: PathBuf,
    /// The scenario, where a folder has its name. An Interactive result's own log says `Server`.
    pub scenario: Option<String>,
    /// The mode, where a folder has its name.
    pub mode: Option<&'static str>,
    /// Other trials of the same lie beside it: `run_1`, `run_2`.
    pub is_trial: bool,
}

impl ResultPath {
    /// Reads a path.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let mut names: Vec<String> = names(path);
        let is_trial = names.last().is_some_and(|name| is_trial(name)) && names.pop().is_some();
        let mode = names
            .last()
            .and_then(|name| MODES.into_iter().find(|mode| mode == name));
        if mode.is_some() {
            names.pop();
        }
        // `TEST01/performance/run_1` is a test of the audit, whatever it ran.
        let is_test = names.last().is_some_and(|name| is_test(name)) && names.pop().is_some();
        let scenario = names.last().and_then(|name| {
            let name = folded(name);
            let known = SCENARIOS.iter().find(|known| folded(known) == name)?;
            Some((*known).to_owned())
        });
        if scenario.is_some() {
            names.pop();
        }
        let taken = path.components().count()
            - usize::from(is_trial)
            - usize::from(mode.is_some())
            - usize::from(is_test)
            - usize::from(scenario.is_some());
        let mode = if is_test { Some("compliance") } else { mode };
        Self {
            group: path.components().take(taken).collect(),
            scenario,
            mode,
            is_trial,
        }
    }

    /// What was submitted, as far as the path tells.
    #[must_use]
    pub fn submission(&self) -> Submission {
        let names = names(&self.group);
        let from_end = |back: usize| names.len().checked_sub(back).map(|at| names[at].as_str());
        if let [
            Some(division @ ("closed" | "open")),
            Some(submitter),
            Some("results"),
            Some(system),
            Some(benchmark),
        ] = [5, 4, 3, 2, 1].map(from_end)
        {
            return Submission {
                division: Some(division.to_owned()),
                submitter: Some(submitter.to_owned()),
                system: Some(system.to_owned()),
                benchmark: benchmark.to_owned(),
                ..Submission::default()
            };
        }
        Submission {
            benchmark: from_end(1).unwrap_or("results").to_owned(),
            ..Submission::default()
        }
    }
}

fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], "")
}

/// `run_1`, `trial-2`, `3`.
fn is_trial(name: &str) -> bool {
    let rest = name.trim_end_matches(|one: char| one.is_ascii_digit());
    rest.len() < name.len()
        && matches!(
            rest,
            "" | "run" | "run_" | "run-" | "trial" | "trial_" | "trial-"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_tree_tells_system_and_benchmark() {
        let place = ResultPath::of(Path::new(
            "/t/closed/AMD/results/8xMI300X/llama2-70b-99/Offline/performance/run_1",
        ));
        assert_eq!(place.scenario.as_deref(), Some("Offline"));
        assert_eq!(place.mode, Some("performance"));
        assert!(place.is_trial);
        let submission = place.submission();
        assert_eq!(submission.submitter.as_deref(), Some("AMD"));
        assert_eq!(submission.division.as_deref(), Some("closed"));
        assert_eq!(submission.system.as_deref(), Some("8xMI300X"));
        assert_eq!(submission.benchmark, "llama2-70b-99");
        let accuracy = ResultPath::of(Path::new(
            "/t/closed/AMD/results/8xMI300X/llama2-70b-99/Offline/accuracy",
        ));
        assert_eq!(accuracy.group, place.group);
        assert!(!accuracy.is_trial);
    }

    #[test]
    fn folders_of_other_names_are_results_of_their_own() {
        let one = ResultPath::of(Path::new("/lg/conf/llama2-70b_server"));
        let other = ResultPath::of(Path::new("/lg/conf/gpt-oss-120b_server"));
        assert_ne!(one.group, other.group);
        assert_eq!(one.submission().benchmark, "llama2-70b_server");
        assert_eq!(
            ResultPath::of(Path::new("/lg/single-stream/accuracy"))
                .scenario
                .as_deref(),
            Some("SingleStream")
        );
    }
}
