//! Submission trees: found in a directory, and judged benchmark by benchmark.

use std::io;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;
use rayon::prelude::*;

use super::ResultSet;
use super::basis::JudgeBasis;
use super::error::JudgeError;
use crate::evidence::identity::SharedRuns;
use crate::evidence::training::{self, TrainingTrees};
use crate::evidence::tree::gather::gather_place;
use crate::evidence::tree::judge::benchmark_context;
use crate::evidence::tree::published::ROUND_TABLE;
use crate::evidence::tree::{self, JudgedBenchmark, SubmissionTrees, TreeFault};
use crate::verdict::ExitCode;
use retrial_document::ErrorText;

/// How many benchmarks all cores read before the first is shown, in their order: enough that no
/// core waits long for the slowest, and so few that a tree of any size takes little memory.
const MAX_BENCHMARKS_AT_ONCE: usize = 64;

/// The submission trees of a directory: all are of one suite.
pub enum SuiteTrees {
    /// `MLPerf Inference`
    Inference(SubmissionTrees),
    /// `MLPerf Training`
    Training(TrainingTrees),
}

impl SuiteTrees {
    /// Finds the submission trees in a directory; none if there are none.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn find(directory: &Path) -> io::Result<Option<Self>> {
        Ok(match tree::find_submission_trees(directory)? {
            Some(trees) => Some(Self::Inference(trees)),
            None => training::find_training_trees(directory)?.map(Self::Training),
        })
    }

    /// Returns the tables of published results in the roots of the trees.
    pub fn round_tables(&self) -> Vec<PathBuf> {
        let roots: Vec<&PathBuf> = match self {
            Self::Inference(trees) => trees.roots.iter().collect(),
            Self::Training(trees) => trees.results.iter().map(|result| &result.root).collect(),
        };
        let tables = roots.into_iter().unique().map(|root| root.join(ROUND_TABLE));
        tables.filter(|table| table.is_file()).collect()
    }

    /// Judges every benchmark, and passes on each verdict in its order. Returns the faults of the tree
    /// itself with the exit code. If only `LoadGen`'s own rules are checked, `note` says so first.
    ///
    /// # Errors
    /// If the round of training results is not known.
    pub fn judge(
        &self,
        basis: &JudgeBasis,
        note: impl FnOnce(&ErrorText),
        mut each: impl FnMut(JudgedBenchmark),
    ) -> Result<(ExitCode, Vec<TreeFault>), JudgeError> {
        let mut exits = Vec::new();
        let mut each = |judged: JudgedBenchmark| {
            exits.push(judged.verdict.exit_code);
            each(judged);
        };
        let faults = match self {
            Self::Inference(trees) => judge_inference(trees, basis, note, &mut each),
            Self::Training(trees) => judge_training(trees, basis, &mut each)?,
        };
        let is_violated = faults.iter().any(|fault| fault.is_violation);
        exits.push(ExitCode::NotReproduced.success_if(!is_violated));
        Ok((ExitCode::first_applicable(exits), faults))
    }

    /// The evidence of every result, grouped for judging.
    ///
    /// # Errors
    /// If the round of training results is not known.
    pub fn gather(&self, basis: &JudgeBasis) -> Result<Vec<ResultSet>, JudgeError> {
        Ok(match self {
            Self::Inference(trees) => gather_inference(trees, basis),
            Self::Training(trees) => gather_training(trees, basis)?,
        })
    }
}

fn gather_inference(trees: &SubmissionTrees, basis: &JudgeBasis) -> Vec<ResultSet> {
    let (context, _) = basis.inference_context(trees);
    let gathered = trees.benchmarks.iter().map(|benchmark| {
        let places = benchmark.scenarios.iter();
        let evidence = places.flat_map(|place| gather_place(place, &context).evidence);
        ResultSet {
            path: benchmark.submitter.root.join(benchmark.relative_path()),
            context: benchmark_context(benchmark, &context),
            evidence: evidence.collect(),
        }
    });
    gathered.collect()
}

fn gather_training(
    trees: &TrainingTrees,
    basis: &JudgeBasis,
) -> Result<Vec<ResultSet>, JudgeError> {
    let context = basis.training_context(trees)?;
    let gathered = trees.results.iter().map(|result| {
        let (context, evidence) = training::gather_evidence(result, &context);
        ResultSet {
            path: result.root.join(result.relative_path()),
            context,
            evidence: vec![evidence],
        }
    });
    Ok(gathered.collect())
}

/// Judges on all cores, and passes on the verdicts in order.
fn judge_each<T: Sync, J: Send>(
    all: &[T],
    judge: impl Fn(&T) -> J + Sync,
    mut each: impl FnMut(J),
) {
    for chunk in all.chunks(MAX_BENCHMARKS_AT_ONCE) {
        let judged: Vec<J> = chunk.par_iter().map(&judge).collect();
        judged.into_iter().for_each(&mut each);
    }
}

fn judge_inference(
    trees: &SubmissionTrees,
    basis: &JudgeBasis,
    note: impl FnOnce(&ErrorText),
    each: &mut dyn FnMut(JudgedBenchmark),
) -> Vec<TreeFault> {
    let (context, mixed) = basis.inference_context(trees);
    if context.round.is_none() {
        note(
            &ErrorText::new(
                "no log has the seeds of a known round: only LoadGen's own rules are checked",
            )
            .with_help("choose a round: --round v5.1    add its rules: --rules FILE"),
        );
    }
    let mut faults: Vec<TreeFault> = mixed.into_iter().chain(trees.faults.clone()).collect();
    let mut shared = SharedRuns::default();
    let judge = |benchmark: &_| tree::judge_benchmark(benchmark, &context);
    judge_each(&trees.benchmarks, judge, |judged| {
        shared.add_runs(&judged.owner, &judged.runs);
        each(judged);
    });
    faults.extend(shared.remarks());
    faults
}

fn judge_training(
    trees: &TrainingTrees,
    basis: &JudgeBasis,
    each: &mut dyn FnMut(JudgedBenchmark),
) -> Result<Vec<TreeFault>, JudgeError> {
    let context = basis.training_context(trees)?;
    let mut faults = trees.faults.clone();
    let mut shared = SharedRuns::default();
    let judge = |result: &_| training::judge_training_result(result, &context);
    judge_each(&trees.results, judge, |outcome| {
        faults.extend(outcome.remarks);
        shared.add_runs(&outcome.judged.owner, &outcome.judged.runs);
        each(outcome.judged);
    });
    faults.extend(shared.remarks());
    Ok(faults)
}
