//! Verdicts on results that are already there: submission trees, a part of one, and other folders.
//! No engine is needed.

mod basis;
mod folders;
mod loose_results;
mod other_system;
mod reference;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use self::basis::Basis;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, JudgeRequest};
use crate::app::terminal;
use crate::results::evidence::tree::{self, SubmissionTrees};
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

/// Finds the submission trees in a directory. None where there is none, or where a recipe says how
/// results are judged.
pub fn trees(directory: &Path, request: &JudgeRequest) -> Result<Option<SubmissionTrees>, Failure> {
    if request.recipe.is_some() {
        return Ok(None);
    }
    tree::find(directory)
        .map_err(|error| Failure::host(format!("failed to read {}: {error}", directory.display())))
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
    let context = basis.context(&found);
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

/// Judges the benchmarks of submission trees, and passes on each verdict in its order.
pub fn judge_trees(
    found: &SubmissionTrees,
    request: &JudgeRequest,
    mut each: impl FnMut(tree::Judged),
) -> Result<ExitCode, Failure> {
    let basis = Basis::read(request)?;
    let context = basis.context(found);
    if context.round.is_none() {
        terminal::note(
            "no log has the seeds of a known round: only LoadGen's own rules are checked\n  \
             choose a round: --round v5.1    add its rules: --rules FILE",
        );
    }
    let is_violated = found.faults.iter().any(|fault| fault.is_violation);
    let mut compared = false;
    let mut exit = exit_of(!is_violated);
    for benchmarks in found.benchmarks.chunks(TOGETHER) {
        let judged: Vec<tree::Judged> = benchmarks
            .par_iter()
            .map(|benchmark| tree::judge(benchmark, &context))
            .collect();
        for judged in judged {
            let own = exit_of(judged.benchmark.rules.iter().all(|rule| rule.passed));
            exit = ExitCode::first([exit, own, judged.verdict.exit_code]);
            compared |= is_compared(&judged.verdict);
            each(judged);
        }
    }
    reference::refuse_unused(request, compared)?;
    Ok(exit)
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
