//! Verdicts on results that are already there: submission trees, a part of one, and other folders.
//! No engine is needed.

mod basis;
mod folders;
mod loose_results;
mod other_system;
mod own_results;
mod reference;
mod training_tree;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use self::basis::Basis;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, JudgeRequest};
use crate::app::terminal;
use crate::results::evidence::training::{self, TrainingTrees};
use crate::results::evidence::tree::{self, Fault, SubmissionTrees};
use crate::results::verdict::{self, Context, Evidence, ExitCode, RuleCheck, Verdict};

/// How many benchmarks all cores read before the first is shown, in their order: enough that no
/// core waits long for the slowest, and so few that a tree of any size takes little memory.
const TOGETHER: usize = 64;

/// Results that are judged together.
pub struct Gathered {
    /// Their folder.
    pub path: PathBuf,
    /// What holds for all of them.
    pub context: Context,
    /// What their files say.
    pub evidence: Vec<Evidence>,
}

/// A verdict on results of a folder.
pub struct Judged {
    /// The folder.
    pub path: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Rules of a benchmark as a whole, besides those of its results.
    pub rules: Vec<RuleCheck>,
}

/// The submission trees of a directory: all are of one suite.
pub enum Trees {
    /// `MLPerf Inference`
    Inference(SubmissionTrees),
    /// `MLPerf Training`
    Training(TrainingTrees),
}

/// Finds the submission trees in a directory. None where there is none, or where a recipe says how
/// results are judged.
pub fn trees(directory: &Path, request: &JudgeRequest) -> Result<Option<Trees>, Failure> {
    if request.recipe.is_some() {
        return Ok(None);
    }
    let inference = || Ok(tree::find(directory)?.map(Trees::Inference));
    let training = || Ok(training::find(directory)?.map(Trees::Training));
    let found = inference().and_then(|found| found.map_or_else(training, |found| Ok(Some(found))));
    found.map_err(|error: std::io::Error| {
        Failure::host(format!("failed to read {}: {error}", directory.display()))
    })
}

/// The evidence of every result in or below a directory.
pub fn gather(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<Gathered>, Failure> {
    let Some(found) = trees(directory, request)? else {
        return folders::gather(global, directory, request);
    };
    let basis = Basis::read(request)?;
    let found = match found {
        Trees::Inference(found) => found,
        Trees::Training(found) => {
            let by = basis.training_context(&found)?;
            let gathered = found.results.iter().map(|result| {
                let (context, evidence) = training::evidence(result, &by);
                Gathered {
                    path: result.root.join(result.relative()),
                    context,
                    evidence: vec![evidence],
                }
            });
            return Ok(gathered.collect());
        }
    };
    let (context, _) = basis.context(&found);
    let gathered = found.benchmarks.iter().map(|benchmark| {
        let places = benchmark.scenarios.iter();
        let evidence = places.flat_map(|place| tree::gather::gather(place, &context).evidence);
        Gathered {
            path: benchmark.submitter.root.join(benchmark.relative()),
            context: tree::judge::context(benchmark, &context),
            evidence: evidence.collect(),
        }
    });
    Ok(gathered.collect())
}

/// The verdicts on every result in or below a directory.
pub fn judged(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<Judged>, Failure> {
    if let Some(found) = trees(directory, request)? {
        let mut all = Vec::new();
        judge_trees(&found, request, |judged| {
            all.push(Judged {
                path: judged.benchmark.path,
                verdict: judged.verdict,
                rules: judged.benchmark.rules,
            });
        })?;
        return Ok(all);
    }
    let gathered = folders::gather(global, directory, request)?.into_iter();
    let judged = gathered.map(|one| Judged {
        path: one.path.display().to_string(),
        verdict: verdict::judge(&one.context, &one.evidence),
        rules: Vec::new(),
    });
    let judged: Vec<Judged> = judged.collect();
    let compared = judged.iter().any(|one| is_compared(&one.verdict));
    reference::refuse_unused(request, compared)?;
    Ok(judged)
}

/// Judges the benchmarks of submission trees, and passes on each verdict in its order. Returns the
/// faults of the tree itself with the exit code.
pub fn judge_trees(
    found: &Trees,
    request: &JudgeRequest,
    mut each: impl FnMut(tree::Judged),
) -> Result<(ExitCode, Vec<Fault>), Failure> {
    let basis = Basis::read(request)?;
    let mut compared = false;
    let mut each = |judged: tree::Judged| {
        compared |= is_compared(&judged.verdict);
        each(judged);
    };
    let ended = match found {
        Trees::Inference(found) => judge_inference(&basis, found, &mut each),
        Trees::Training(found) => basis.judge_training(found, &mut each)?,
    };
    reference::refuse_unused(request, compared)?;
    Ok(ended)
}

fn judge_inference(
    basis: &Basis<'_>,
    found: &SubmissionTrees,
    each: &mut dyn FnMut(tree::Judged),
) -> (ExitCode, Vec<Fault>) {
    let (context, mixed) = basis.context(found);
    if context.round.is_none() {
        terminal::note(
            "no log has the seeds of a known round: only LoadGen's own rules are checked\n  \
             choose a round: --round v5.1    add its rules: --rules FILE",
        );
    }
    let faults: Vec<Fault> = mixed.into_iter().chain(found.faults.clone()).collect();
    let mut exit = exit_of_faults(&faults);
    for benchmarks in found.benchmarks.chunks(TOGETHER) {
        let judged: Vec<tree::Judged> = benchmarks
            .par_iter()
            .map(|benchmark| tree::judge(benchmark, &context))
            .collect();
        for judged in judged {
            exit = ExitCode::first([exit, exit_of_judged(&judged)]);
            each(judged);
        }
    }
    (exit, faults)
}

fn exit_of_judged(judged: &tree::Judged) -> ExitCode {
    let own = exit_of(judged.benchmark.rules.iter().all(|rule| rule.passed));
    ExitCode::first([own, judged.verdict.exit_code])
}

fn exit_of_faults(faults: &[Fault]) -> ExitCode {
    exit_of(!faults.iter().any(|fault| fault.is_violation))
}

/// Whether any result was compared with a published figure.
fn is_compared(verdict: &Verdict) -> bool {
    let mut results = verdict.results.iter();
    results.any(|result| !result.references.is_empty() || !result.judgements.is_empty())
}

fn exit_of(passed: bool) -> ExitCode {
    if passed {
        ExitCode::Success
    } else {
        ExitCode::NotReproduced
    }
}
