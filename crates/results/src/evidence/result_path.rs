//! The path of a result in a tree, and what it tells about the result.
//!
//! `MLCommons` lays results out as `closed/AMD/results/SYSTEM/BENCHMARK/Offline/performance/run_1`.
//! Results of one system and benchmark are judged together: speed counts with its own accuracy.

use std::path::{Component, Path, PathBuf};

use retrial_mlperf::ScenarioName;
use retrial_mlperf::compliance::Test;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::submission_layout::{RESULTS_FOLDER, SubmissionNames, is_test};
use retrial_recipe::model::{Mode, Submission};

/// The properties of a result that its path contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPath {
    /// The folder of the results that are judged together.
    pub group: PathBuf,
    /// The scenario, where a folder has its name. An Interactive result's own log says `Server`.
    pub scenario: Option<ScenarioName>,
    /// The mode, where a folder has its name.
    pub mode: Option<Mode>,
    /// Other trials of the same result are next to it: `run_1`, `run_2`.
    pub is_trial: bool,
    /// The test of the audit that it is a run of, and that test's folder.
    pub test: Option<(Test, PathBuf)>,
}

impl ResultPath {
    /// Reads the properties that the names of a path's folders state.
    pub fn parse(path: &Path) -> Self {
        let mut names = component_names(path);
        let all = names.len();
        let is_trial = names.pop_if(|name| trial_number(name).is_some()).is_some();
        let mode_of = |name: &String| name.parse::<Mode>().ok();
        let mode_name = names.pop_if(|name| mode_of(name).is_some());
        let mode = mode_name.as_ref().and_then(mode_of);
        // `TEST01/performance/run_1` is a test of the audit, whatever it ran.
        let folder_of_test = path.components().count() - (all - names.len());
        let test = names.pop_if(|name| is_test(name));
        let scenario_of = |name: &String| TestScenario::from_word(&name.replace(['-', '_'], ""));
        let scenario = names.pop_if(|name| scenario_of(name).is_some());
        let depth = path.components().count() - (all - names.len());
        let first = |count| path.components().take(count).collect::<PathBuf>();
        Self {
            group: first(depth),
            scenario: scenario.as_ref().and_then(scenario_of).map(ScenarioName::from),
            mode: test.as_ref().map(|_| Mode::Compliance).or(mode),
            is_trial,
            test: test.and_then(|name| {
                let test = name.to_ascii_uppercase().parse().ok()?;
                Some((test, first(folder_of_test)))
            }),
        }
    }

    /// Returns the path of a folder with scenarios.
    pub fn from_group(group: &Path) -> Self {
        Self { group: group.to_owned(), scenario: None, mode: None, is_trial: false, test: None }
    }

    /// Returns whether it lies in a submission tree: `closed/AMD/results/SYSTEM/BENCHMARK`.
    pub fn is_submitted(&self) -> bool {
        self.submission().division.is_some()
    }

    /// Returns the submission that the path names, as far as it does.
    pub fn submission(&self) -> Submission {
        let names = component_names(&self.group);
        let own = names.last().map_or("results", String::as_str).to_owned();
        // The group of a tree's result is the benchmark's folder.
        let tree = names.len().checked_sub(5).and_then(|at| SubmissionNames::parse(&names[at..]));
        let tree = tree.filter(|tree| tree.kind.as_deref() == Some(RESULTS_FOLDER));
        let SubmissionNames { division, submitter, system, .. } = tree.unwrap_or_default();
        Submission { division, submitter, system, benchmark: own, ..Submission::default() }
    }
}

/// Returns the names of a path's folders.
pub(crate) fn component_names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// Returns the number of a trial's folder: `run_1`, `trial-2`, `3`.
pub(crate) fn trial_number(name: &str) -> Option<u32> {
    let rest = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let is_trial = matches!(rest, "" | "run" | "run_" | "run-" | "trial" | "trial_" | "trial-");
    name[rest.len()..].parse().ok().filter(|_| is_trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_mlperf::Division;

    #[test]
    fn a_submission_path_names_system_and_benchmark() {
        let place = ResultPath::parse(Path::new(
            "/t/closed/AMD/results/8xMI300X/llama2-70b-99/Offline/performance/run_1",
        ));
        assert_eq!(place.scenario.as_deref(), Some("Offline"));
        assert_eq!(place.mode, Some(Mode::Performance));
        assert!(place.is_trial);
        let submission = place.submission();
        assert_eq!(submission.submitter.as_deref(), Some("AMD"));
        assert_eq!(submission.division, Some(Division::Closed));
        assert_eq!(submission.system.as_deref(), Some("8xMI300X"));
        assert_eq!(submission.benchmark, "llama2-70b-99");
        let accuracy = ResultPath::parse(Path::new(
            "/t/closed/AMD/results/8xMI300X/llama2-70b-99/Offline/accuracy",
        ));
        assert_eq!(accuracy.group, place.group);
        assert!(!accuracy.is_trial);
        let folder = "/t/closed/AMD/results/8xMI300X/llama2-70b-99/Offline/TEST06";
        let audit = ResultPath::parse(&Path::new(folder).join("performance/run_1"));
        assert_eq!(audit.group, place.group);
        assert_eq!(audit.mode, Some(Mode::Compliance));
        assert_eq!(audit.test, Some((Test::Test06, folder.into())));
    }

    #[test]
    fn other_directories_are_separate_results() {
        let first = ResultPath::parse(Path::new("/lg/conf/llama2-70b_server"));
        let second = ResultPath::parse(Path::new("/lg/conf/gpt-oss-120b_server"));
        assert_ne!(first.group, second.group);
        assert_eq!(first.submission().benchmark, "llama2-70b_server");
        assert_eq!(
            ResultPath::parse(Path::new("/lg/single-stream/accuracy")).scenario.as_deref(),
            Some("SingleStream")
        );
    }
}
