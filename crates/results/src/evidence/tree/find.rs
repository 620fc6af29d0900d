//! Walks a submission tree: which benchmarks there are, on which systems, in which scenarios.
//! Only folders are looked at; nothing is opened but a submitter's own names of benchmarks.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use itertools::Itertools as _;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::position::{self, SubmissionPath};
use super::submission::{ScenarioFolder, SubmittedBenchmark, Submitter};
use crate::evidence::folder::{self, folder_names};
use crate::evidence::other_suite::OtherSuiteResult;
use retrial_mlperf::Division;
use retrial_mlperf::other_suite::OtherSuite;
use retrial_mlperf::rounds::SubmissionLayout;
use retrial_mlperf::submission_layout::{
    ACCURACY_FOLDER, BENCHMARK_NAMES_FILE, MEASUREMENTS_FOLDER, PERFORMANCE_FOLDER, RESULTS_FOLDER,
    SYSTEMS_FOLDER, is_test,
};
use retrial_store::{StoreError, open};

/// The largest list of names that is read.
const MAX_NAMES_BYTES: u64 = 1 << 20;

/// The submission trees in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubmissionTrees {
    /// The roots of the trees: the folders that hold the divisions.
    pub roots: Vec<PathBuf>,
    /// The benchmarks to judge, in the order of the paths.
    pub benchmarks: Vec<SubmittedBenchmark>,
    /// Faults of the tree itself.
    pub faults: Vec<TreeFault>,
    /// Results of other suites, which are not judged.
    pub other_suites: Vec<OtherSuiteResult>,
}

impl SubmissionTrees {
    /// Refuses trees that have results of other suites only.
    ///
    /// # Errors
    /// The first of them.
    pub fn reject_other_suites(self) -> Result<Self, OtherSuiteResult> {
        match self.other_suites.first() {
            Some(first) if self.benchmarks.is_empty() => Err(first.clone()),
            _ => Ok(self),
        }
    }
}

/// A fault of the tree itself, which belongs to no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TreeFault {
    /// The path below its root.
    pub path: String,
    /// The actual content.
    pub actual: String,
    /// The required content.
    pub required: String,
    /// Whether it violates a rule; else it is only a remark.
    #[serde(skip)]
    pub is_violation: bool,
}

impl TreeFault {
    /// Returns a violation at a path below the root.
    pub(crate) fn new(path: &Path, actual: impl Into<String>, required: impl Into<String>) -> Self {
        Self {
            path: path.display().to_string(),
            actual: actual.into(),
            required: required.into(),
            is_violation: true,
        }
    }
}

impl fmt::Display for TreeFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, actual, required, .. } = self;
        write!(formatter, "{path}: {actual}; required {required}")
    }
}

/// Everything in a directory, which may be a whole tree, several, or any folder of one; `None`
/// outside any submission tree.
///
/// # Errors
/// If the directory cannot be read.
pub fn find_submission_trees(directory: &Path) -> std::io::Result<Option<SubmissionTrees>> {
    let positions = position::locate(
        directory,
        &position::find_position,
        &position::is_root,
        &SubmissionPath::from_root,
    )?;
    let mut trees = SubmissionTrees::default();
    for position in &positions {
        walk_tree(position, &mut trees);
    }
    Ok((!positions.is_empty()).then_some(trees))
}

fn walk_tree(position: &SubmissionPath, trees: &mut SubmissionTrees) {
    let divisions = match position.names.division {
        Some(division) => vec![division],
        None => Division::BY_NAME.to_vec(),
    };
    let submitter_names = divisions.into_iter().flat_map(|division| {
        let at = position.root.join(division.word());
        let names = named_or_all_folders(position.names.submitter.as_ref(), &at).into_iter();
        names.map(move |name| (division, name))
    });
    let submitters: Vec<(Division, String)> = submitter_names.collect();
    let walked: Vec<SubmissionTrees> = submitters
        .par_iter()
        .map(|(division, name)| walk_submitter(position, *division, name))
        .collect();
    trees.roots.push(position.root.clone());
    for tree in walked {
        trees.benchmarks.extend(tree.benchmarks);
        trees.faults.extend(tree.faults);
        trees.other_suites.extend(tree.other_suites);
    }
}

fn walk_submitter(position: &SubmissionPath, division: Division, name: &str) -> SubmissionTrees {
    let mut trees = SubmissionTrees::default();
    let relative = Path::new(division.word()).join(name);
    let results = position.root.join(&relative).join(RESULTS_FOLDER);
    if !results.is_dir() {
        return trees;
    }
    let names = match read_benchmark_names(&position.root, &relative.join(BENCHMARK_NAMES_FILE)) {
        Ok(names) => names,
        Err(error) => {
            let required = "a JSON object of names";
            let fault =
                TreeFault::new(&relative.join(BENCHMARK_NAMES_FILE), error.to_string(), required);
            trees.faults.push(fault);
            BTreeMap::new()
        }
    };
    let submitter = Arc::new(Submitter {
        root: position.root.clone(),
        division,
        name: name.to_owned(),
        names,
        layout: find_layout(&position.root.join(&relative)),
    });
    let systems = named_or_all_folders(position.names.system.as_ref(), &results);
    for system in &systems {
        let before = trees.benchmarks.len();
        for benchmark in
            named_or_all_folders(position.names.benchmark.as_ref(), &results.join(system))
        {
            let folder = results.join(system).join(&benchmark);
            let names = named_or_all_folders(position.names.scenario.as_ref(), &folder);
            if let Some(other) = find_other_suite_result(&submitter, system, &benchmark, &names) {
                trees.faults.push(fault_of_other_suite(&other));
                trees.other_suites.push(other);
                continue;
            }
            let scenarios: Vec<ScenarioFolder> = names
                .into_iter()
                .map(|scenario| ScenarioFolder {
                    submitter: Arc::clone(&submitter),
                    system: system.clone(),
                    benchmark: benchmark.clone(),
                    folder: scenario,
                    requested_part: position.names.part.clone(),
                })
                .filter(|place| place.scenario().is_some() || holds_results(place))
                .collect();
            if !scenarios.is_empty() {
                trees.benchmarks.push(SubmittedBenchmark {
                    submitter: Arc::clone(&submitter),
                    system: system.clone(),
                    name: benchmark,
                    scenarios,
                    has_all_scenarios: position.names.scenario.is_none()
                        && position.names.part.is_none(),
                    excluded: Vec::new(),
                });
            }
        }
        if trees.benchmarks.len() == before && trees.other_suites.is_empty() {
            let path = submitter.paths().system_results(system);
            let fault = TreeFault::new(Path::new(&path), "no result", "results of a benchmark");
            trees.faults.push(fault);
        }
    }
    if position.names.system.is_none() {
        let faults = systems_without_results(&submitter.root, &submitter.relative_path(), &systems);
        trees.faults.extend(faults);
    }
    trees
}

/// Returns the layout of a submitter's folder: configurations are next to the results up to v5.1.
fn find_layout(submitter: &Path) -> SubmissionLayout {
    if submitter.join(MEASUREMENTS_FOLDER).is_dir() {
        SubmissionLayout::Separate
    } else {
        SubmissionLayout::Together
    }
}

/// Returns the suite of a benchmark's folder where that is not ours, unless the submitter says what it is.
fn find_other_suite_result(
    submitter: &Submitter,
    system: &str,
    benchmark: &str,
    folders: &[String],
) -> Option<OtherSuiteResult> {
    if submitter.names.contains_key(benchmark) {
        return None;
    }
    let own = OtherSuite::from_folder_names([system, benchmark]);
    let suite = own.or_else(|| {
        folders.iter().find_map(|folder| OtherSuite::from_folder_names([system, benchmark, folder]))
    })?;
    Some(OtherSuiteResult {
        path: submitter.paths().benchmark_results(system, benchmark).into(),
        suite,
    })
}

fn fault_of_other_suite(other: &OtherSuiteResult) -> TreeFault {
    let actual = format!("a result of {}", other.suite);
    TreeFault::new(&other.path, actual, "results of MLPerf Inference")
}

/// Returns whether a folder whose name is not a scenario contains results anyway.
fn holds_results(place: &ScenarioFolder) -> bool {
    let mut parts = folder_names(&place.results_folder()).into_iter();
    parts.any(|name| name == PERFORMANCE_FOLDER || name == ACCURACY_FOLDER || is_test(&name))
}

/// Returns the systems that a submitter's `systems` describes and that have no results.
pub(crate) fn systems_without_results(
    root: &Path,
    submitter: &Path,
    systems: &[String],
) -> Vec<TreeFault> {
    let described = submitter.join(SYSTEMS_FOLDER);
    let Ok(entries) = std::fs::read_dir(root.join(&described)) else {
        let required = "a description of each system";
        return vec![TreeFault::new(&described, "missing", required)];
    };
    let described_names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.strip_suffix(".json").map(str::to_owned)
    });
    let names = described_names.filter(|name| !systems.contains(name)).sorted();
    let faults = names.map(|name| {
        let path = described.join(format!("{name}.json"));
        TreeFault {
            is_violation: false,
            ..TreeFault::new(&path, "a system without results", format!("{RESULTS_FOLDER}/{name}"))
        }
    });
    faults.collect()
}

pub(crate) fn named_or_all_folders(name: Option<&String>, directory: &Path) -> Vec<String> {
    name.map_or_else(|| folder_names(directory), |name| vec![name.clone()])
}

/// The reason why a submitter's own names of benchmarks cannot be read.
#[derive(Debug, thiserror::Error)]
enum BenchmarkNamesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Returns the submitter's own names of benchmarks; none where there is no such file.
fn read_benchmark_names(
    root: &Path,
    relative: &Path,
) -> Result<BTreeMap<String, String>, BenchmarkNamesError> {
    match open::read_text_beneath(root, relative, MAX_NAMES_BYTES) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(error) if folder::is_not_found(&error) => Ok(BTreeMap::new()),
        Err(error) => Err(error.into()),
    }
}
