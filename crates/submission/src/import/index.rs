//! The results of a submission tree with their figures, from the round's table if the tree has it,
//! else from the summaries of the logs. Quick, since nothing is judged.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use retrial_mlperf::ScenarioName;
use retrial_mlperf::rounds::{Round, Rounds};
use retrial_results::evidence::other_suite::{self, OtherSuiteResult};
use retrial_results::evidence::tree::accelerators::{Accelerators, count_machines};
use retrial_results::evidence::tree::published::{ROUND_TABLE, TableError};
use retrial_results::evidence::tree::{
    self, PublishedFigures, ScenarioFolder, SubmissionTrees, SubmittedBenchmark, published_figure,
    read_description,
};

/// The suite of all submission trees that are imported.
pub(super) const SUITE: &str = "mlperf-inference";

/// An error of importing a tree or a result.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The directory cannot be read.
    #[error("failed to read {path}: {source}", path = path.display())]
    Read {
        /// The directory that cannot be read.
        path: PathBuf,
        source: std::io::Error,
    },
    /// It has no results of `MLPerf Inference`.
    #[error(
        "{path} has no results of MLPerf Inference: a tree has them in \
         closed/SUBMITTER/results/SYSTEM/BENCHMARK/SCENARIO",
        path = path.display()
    )]
    NoTree {
        /// The directory, which should be a submission tree.
        path: PathBuf,
    },
    #[error(transparent)]
    OtherSuite(#[from] OtherSuiteResult),
    /// The table cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No log of a result has a figure.
    #[error("{path}: none of its logs has a figure")]
    NoFigure {
        /// The result's path below the tree's root.
        path: String,
    },
}

#[derive(Debug)]
pub struct ResultsIndex<'a> {
    /// Benchmarks with their paths.
    trees: SubmissionTrees,
    /// The round's rules, if they are known.
    pub round: Option<&'a Round>,
    /// The round's name, even if its rules are not known.
    pub round_name: Option<String>,
    /// The round's table of published results, if the tree has one.
    pub published: Option<PublishedFigures>,
}

/// A benchmark on a system, from which a recipe is made.
#[derive(Debug, Clone)]
pub struct ImportableResult<'i> {
    /// The benchmark, with the paths of its results.
    pub benchmark: &'i SubmittedBenchmark,
    /// Its ids in the round: `6.0-0020`. A system has one for all its benchmarks.
    pub ids: Vec<String>,
    pub system: SystemDescription,
    /// The published figures, by scenario.
    pub figures: Vec<ImportableFigure>,
    /// The URL of a page about it.
    pub details: Option<String>,
}

/// The published figure of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportableFigure {
    /// The scenario of its folder or its row.
    pub scenario: ScenarioName,
    /// The figure and its unit; none if neither the table nor a log has one.
    pub value: Option<(f64, String)>,
}

impl<'a> ResultsIndex<'a> {
    /// Finds the results of a tree, or of any folder of one.
    ///
    /// # Errors
    /// The directory cannot be read or is not a tree, or its table is invalid.
    pub fn open(directory: &Path, rounds: &'a Rounds) -> Result<Self, ImportError> {
        let trees = tree::find_submission_trees(directory)
            .map_err(|source| ImportError::Read { path: directory.to_owned(), source })?;
        let no_tree = || match other_suite::find_other_suite(directory) {
            Some(other) => other.into(),
            None => ImportError::NoTree { path: directory.to_owned() },
        };
        let our_trees = trees.map(SubmissionTrees::reject_other_suites).transpose()?;
        let trees = our_trees.filter(|trees| !trees.benchmarks.is_empty()).ok_or_else(no_tree)?;
        let tables = trees.roots.iter().map(|root| root.join(ROUND_TABLE));
        let table = tables.into_iter().find(|table| table.is_file());
        let published = table.map(|table| PublishedFigures::from_file(&table)).transpose()?;
        let rows = published.iter().flat_map(|published| &published.rows);
        let named = rows.into_iter().find_map(|row| row.round.clone());
        let round = match &named {
            Some(name) => rounds.get(SUITE, name),
            None => tree::round_of(&trees, rounds).map(|round| round.round),
        };
        Ok(Self {
            round_name: named.or_else(|| Some(round?.round.clone())),
            trees,
            round,
            published,
        })
    }

    /// Returns every benchmark on every system, in the order of their paths.
    pub fn entries(&self) -> Vec<ImportableResult<'_>> {
        let benchmarks = self.trees.benchmarks.par_iter();
        benchmarks.map(|benchmark| self.read_entry(benchmark)).collect()
    }

    fn read_entry<'i>(&'i self, benchmark: &'i SubmittedBenchmark) -> ImportableResult<'i> {
        let submitter = &benchmark.submitter;
        let folder = submitter.root.join(submitter.relative_path());
        let mut entry = ImportableResult {
            benchmark,
            ids: Vec::new(),
            details: None,
            system: SystemDescription::read(&folder, &benchmark.system),
            figures: Vec::new(),
        };
        for place in &benchmark.scenarios {
            let row = self.published.as_ref().and_then(|table| table.row_of_place(place));
            if let Some(row) = row {
                let new = row.id.iter().filter(|id| !entry.ids.contains(id));
                let new_ids: Vec<String> = new.cloned().collect();
                entry.ids.extend(new_ids);
                entry.details = entry.details.or_else(|| row.details.clone());
            }
            let value = row.map(|row| (row.value, row.unit.clone()));
            entry.figures.push(ImportableFigure {
                scenario: place.scenario_name(),
                value: value.or_else(|| self.logged_figure(place)),
            });
        }
        entry
    }

    fn logged_figure(&self, place: &ScenarioFolder) -> Option<(f64, String)> {
        let figure = published_figure(place, self.round)?;
        Some((figure.value, figure.unit.into_owned()))
    }

    /// Returns the name that the round has for a benchmark.
    pub fn official_name<'n>(&'n self, benchmark: &'n SubmittedBenchmark) -> &'n str {
        tree::find_official_name(&benchmark.submitter, &benchmark.name, self.round)
    }
}

#[derive(Debug, Clone, Default)]
pub struct SystemDescription {
    pub name: Option<String>,
    /// The number of machines.
    pub nodes: u32,
    /// Its accelerators; none if the description names none.
    pub accelerators: Option<Accelerators>,
}

impl SystemDescription {
    fn read(submitter: &Path, system: &str) -> Self {
        let described = read_description(submitter, system).unwrap_or_default();
        let name = described.get("system_name").and_then(|name| name.as_str());
        Self {
            name: name.map(str::to_owned),
            nodes: count_machines(&described),
            accelerators: Accelerators::from_description(&described),
        }
    }
}
