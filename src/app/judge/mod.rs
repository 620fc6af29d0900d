//! Verdicts on existing results: submission trees, a part of one, and other folders.
//! No engine is needed.

mod basis;
mod folders;
mod other_system;
mod reference;
mod trees;

use std::path::{Path, PathBuf};

pub use self::trees::SuiteTrees;

use self::basis::JudgeInputs;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, JudgeRequest};
use crate::app::terminal;
use retrial_results::evidence::other_suite::OtherSuiteResult;
use retrial_results::evidence::training;
use retrial_results::evidence::tree::{self, TreeFault};
use retrial_results::verdict::{self, Evidence, ExitCode, RuleCheck, RunContext, Verdict};

/// Results that are judged together.
pub struct ResultSet {
    /// The folder that contains them.
    pub path: PathBuf,
    /// The submission, qualifiers and warnings that all of them have.
    pub context: RunContext,
    /// The evidence in their files.
    pub evidence: Vec<Evidence>,
}

/// A verdict on results of a folder.
pub struct JudgedResults {
    /// The folder's path, as the user named the directory that it is in.
    pub path: String,
    /// The verdict on all results of the folder.
    pub verdict: Verdict,
    /// Rules of a benchmark as a whole, in addition to those of its results.
    pub rules: Vec<RuleCheck>,
}

/// Finds the submission trees in a directory. None if there are none, or if a recipe determines how
/// results are judged.
pub fn find_trees(directory: &Path, request: &JudgeRequest) -> Result<Option<SuiteTrees>, Failure> {
    if request.recipe.is_some() {
        return Ok(None);
    }
    let trees = SuiteTrees::find(directory).map_err(|error| {
        Failure::host(format!("failed to read {}: {error}", directory.display()))
    })?;
    match trees {
        Some(SuiteTrees::Inference(trees)) => {
            let our_trees = trees
                .reject_other_suites()
                .map_err(|other| other_suite_failure(&other))?;
            Ok(Some(SuiteTrees::Inference(our_trees)))
        }
        trees => Ok(trees),
    }
}

/// Returns the failure of results of a suite that is not judged.
fn other_suite_failure(other: &OtherSuiteResult) -> Failure {
    Failure::usage(other.to_string())
}

/// Reads the rules, and the published figures that results are compared with.
fn read_basis(request: &JudgeRequest) -> Result<JudgeInputs<'_>, Failure> {
    let mut basis = JudgeInputs::read(request)?;
    basis.published = reference::read_reference(&basis)?;
    Ok(basis)
}

/// The evidence of every result in or below a directory.
pub fn gather_results(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<ResultSet>, Failure> {
    let Some(trees) = find_trees(directory, request)? else {
        return folders::gather_folders(global, directory, &read_basis(request)?);
    };
    let basis = read_basis(request)?;
    let trees = match trees {
        SuiteTrees::Inference(trees) => trees,
        SuiteTrees::Training(trees) => {
            let context = basis.training_context(&trees)?;
            let gathered = trees.results.iter().map(|result| {
                let (context, evidence) = training::gather_evidence(result, &context);
                ResultSet {
                    path: result.root.join(result.relative_path()),
                    context,
                    evidence: vec![evidence],
                }
            });
            return Ok(gathered.collect());
        }
    };
    let (context, _) = basis.inference_context(&trees);
    let gathered = trees.benchmarks.iter().map(|benchmark| {
        let places = benchmark.scenarios.iter();
        let evidence =
            places.flat_map(|place| tree::gather::gather_place(place, &context).evidence);
        ResultSet {
            path: benchmark.submitter.root.join(benchmark.relative_path()),
            context: tree::judge::benchmark_context(benchmark, &context),
            evidence: evidence.collect(),
        }
    });
    Ok(gathered.collect())
}

/// The verdicts on every result in or below a directory.
pub fn judge_results_below(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<JudgedResults>, Failure> {
    if let Some(trees) = find_trees(directory, request)? {
        let mut all = Vec::new();
        judge_trees(&trees, request, |judged| {
            all.push(JudgedResults {
                path: judged.benchmark.path,
                verdict: judged.verdict,
                rules: judged.benchmark.rules,
            });
        })?;
        return Ok(all);
    }
    let gathered = folders::gather_folders(global, directory, &read_basis(request)?)?.into_iter();
    let verdicts = gathered.map(|one| JudgedResults {
        path: one.path.display().to_string(),
        verdict: verdict::judge(&one.context, &one.evidence),
        rules: Vec::new(),
    });
    let judged: Vec<JudgedResults> = verdicts.collect();
    let compared = judged.iter().any(|one| is_compared(&one.verdict));
    reference::refuse_unused(request, compared)?;
    Ok(judged)
}

/// Judges the benchmarks of submission trees, and passes on each verdict in its order. Returns the
/// faults of the tree itself with the exit code.
pub fn judge_trees(
    trees: &SuiteTrees,
    request: &JudgeRequest,
    mut each: impl FnMut(tree::JudgedBenchmark),
) -> Result<(ExitCode, Vec<TreeFault>), Failure> {
    let mut compared = false;
    let ended = trees.judge(&read_basis(request)?, terminal::note_error, |judged| {
        compared |= is_compared(&judged.verdict);
        each(judged);
    })?;
    reference::refuse_unused(request, compared)?;
    Ok(ended)
}

/// Returns whether any result was compared with a published figure.
fn is_compared(verdict: &Verdict) -> bool {
    let mut results = verdict.results.iter();
    results.any(|result| !result.references.is_empty() || !result.judgements.is_empty())
}
