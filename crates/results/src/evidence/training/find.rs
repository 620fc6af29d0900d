//! Walks a tree of training results: which benchmarks there are, on which systems.

use std::fs::FileType;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use crate::evidence::folder::entry_names;
use crate::evidence::folder::folder_names;
use crate::evidence::result_path::component_names;
use crate::evidence::tree::TreeFault;
use crate::evidence::tree::find::{named_or_all_folders, systems_without_results};
use crate::evidence::tree::position;
use retrial_mlperf::submission_layout::RESULTS_FOLDER;
use retrial_readings::natural::natural_sort_key;

/// More logs than this are no result.
const MAX_LOGS: usize = 1000;

/// The training results in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainingTrees {
    /// The results to judge, in the order of the paths.
    pub results: Vec<TrainingResult>,
    /// Faults of the tree itself.
    pub faults: Vec<TreeFault>,
}

/// A benchmark on a system: its logs are one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingResult {
    /// The folder of the submitters.
    pub root: PathBuf,
    /// The name of the submitter's folder.
    pub submitter: String,
    /// The name of the system's folder.
    pub system: String,
    /// The name of the benchmark's folder.
    pub benchmark: String,
    /// The names of its logs, in natural order.
    pub logs: Vec<String>,
}

impl TrainingResult {
    /// Returns the path of its folder, below the root.
    pub fn relative_path(&self) -> PathBuf {
        let results = Path::new(&self.submitter).join(RESULTS_FOLDER);
        results.join(&self.system).join(&self.benchmark)
    }
}

/// The part of a submitter's results that a directory is.
#[derive(Debug, Default)]
struct TrainingPath {
    submitter: PathBuf,
    system: Option<String>,
    benchmark: Option<String>,
}

/// Everything in a directory, which may be a round, a submitter, or any folder of one; `None` where
/// no training log lies where it should.
///
/// # Errors
/// If the directory cannot be read.
pub fn find_training_trees(directory: &Path) -> std::io::Result<Option<TrainingTrees>> {
    let positions = position::locate(directory, &position_within, &is_submitter, &|submitter| {
        TrainingPath { submitter, ..TrainingPath::default() }
    })?;
    let mut trees = TrainingTrees::default();
    for position in &positions {
        add_results(position, &mut trees);
    }
    Ok((!positions.is_empty()).then_some(trees))
}

/// Finds a directory that lies in a submitter's `results`: the deepest folder of that name counts.
fn position_within(directory: &Path) -> Option<TrainingPath> {
    directory.ancestors().find_map(|results| {
        let is_results = results.ends_with(RESULTS_FOLDER);
        let submitter = results.parent().filter(|folder| is_results && is_submitter(folder))?;
        let mut names = component_names(directory.strip_prefix(results).ok()?).into_iter();
        Some(TrainingPath {
            submitter: submitter.to_owned(),
            system: names.next(),
            benchmark: names.next(),
        })
    })
}

/// Returns whether a log of some run lies in `results/SYSTEM/BENCHMARK`.
fn is_submitter(directory: &Path) -> bool {
    let results = directory.join(RESULTS_FOLDER);
    folder_names(&results).iter().any(|system| {
        let system = results.join(system);
        let mut benchmarks = folder_names(&system).into_iter();
        benchmarks.any(|benchmark| !log_names(&system.join(benchmark)).is_empty())
    })
}

fn add_results(position: &TrainingPath, trees: &mut TrainingTrees) {
    let (Some(root), Some(name)) = (position.submitter.parent(), position.submitter.file_name())
    else {
        return;
    };
    let submitter = name.to_string_lossy().into_owned();
    let results = position.submitter.join(RESULTS_FOLDER);
    let systems = named_or_all_folders(position.system.as_ref(), &results);
    for system in &systems {
        let benchmarks = named_or_all_folders(position.benchmark.as_ref(), &results.join(system));
        if benchmarks.is_empty() {
            let path = Path::new(&submitter).join(RESULTS_FOLDER).join(system);
            let fault = TreeFault::new(&path, "no result", "results of a benchmark");
            trees.faults.push(fault);
        }
        trees.results.extend(benchmarks.into_iter().map(|benchmark| TrainingResult {
            root: root.to_owned(),
            submitter: submitter.clone(),
            system: system.clone(),
            logs: log_names(&results.join(system).join(&benchmark)),
            benchmark,
        }));
    }
    if position.system.is_none() {
        let faults = systems_without_results(root, Path::new(&submitter), &systems);
        trees.faults.extend(faults);
    }
}

/// Returns the names of the logs in a directory: `result_0.txt`, `result_1.txt`, ….
fn log_names(directory: &Path) -> Vec<String> {
    let names = entry_names(directory, FileType::is_file);
    let is_log = |name: &String| {
        name.starts_with("result_") && Path::new(name).extension() == Some("txt".as_ref())
    };
    let logs = names.filter(is_log).take(MAX_LOGS);
    logs.sorted_by_cached_key(|name| natural_sort_key(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        let at = |path: &str| tree.path().join("round").join(path);
        for benchmark in ["rgat", "bert"] {
            let folder = at("AMD/results/8xMI300X").join(benchmark);
            std::fs::create_dir_all(&folder).unwrap();
            for log in ["result_10.txt", "result_2.txt", "notes.txt"] {
                std::fs::write(folder.join(log), "").unwrap();
            }
        }
        std::fs::create_dir_all(at("AMD/results/empty")).unwrap();
        std::fs::create_dir_all(at("AMD/systems")).unwrap();
        std::fs::write(at("AMD/systems/spare.json"), "{}").unwrap();
        tree
    }

    #[test]
    fn results_are_found_from_any_directory_of_a_tree() {
        let tree = tree();
        let benchmarks = |path: &str| {
            let trees = find_training_trees(&tree.path().join(path)).unwrap()?;
            let names = trees.results.iter().map(|result| result.benchmark.clone());
            Some((names.collect::<Vec<_>>(), trees.faults.len()))
        };
        let both = vec!["bert".to_owned(), "rgat".to_owned()];
        assert_eq!(benchmarks(""), Some((both.clone(), 2)));
        assert_eq!(benchmarks("round"), Some((both.clone(), 2)));
        assert_eq!(benchmarks("round/AMD"), Some((both.clone(), 2)));
        assert_eq!(benchmarks("round/AMD/results"), Some((both.clone(), 2)));
        assert_eq!(benchmarks("round/AMD/results/8xMI300X"), Some((both, 0)));
        let single = benchmarks("round/AMD/results/8xMI300X/rgat");
        assert_eq!(single, Some((vec!["rgat".to_owned()], 0)));
        assert_eq!(benchmarks("round/AMD/systems"), None);
        let trees = find_training_trees(tree.path()).unwrap().unwrap();
        assert_eq!(trees.results[0].logs, ["result_2.txt", "result_10.txt"]);
        assert_eq!(trees.results[0].relative_path(), Path::new("AMD/results/8xMI300X/bert"));
    }
}
