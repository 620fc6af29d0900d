//! Submission trees: found in a directory, and judged benchmark by benchmark.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rayon::prelude::*;

use super::basis::Basis;
use crate::app::failure::Failure;
use crate::app::terminal;
use crate::results::evidence::training::{self, RunKey, TrainingTrees};
use crate::results::evidence::tree::{self, Fault, Judged, SubmissionTrees};
use crate::results::verdict::ExitCode;

/// How many benchmarks all cores read before the first is shown, in their order: enough that no
/// core waits long for the slowest, and so few that a tree of any size takes little memory.
const TOGETHER: usize = 64;

/// The submission trees of a directory: all are of one suite.
pub enum Trees {
    /// `MLPerf Inference`
    Inference(SubmissionTrees),
    /// `MLPerf Training`
    Training(TrainingTrees),
}

impl Trees {
    /// Finds the submission trees in a directory; none where there is none.
    pub fn find(directory: &Path) -> io::Result<Option<Self>> {
        Ok(match tree::find(directory)? {
            Some(found) => Some(Self::Inference(found)),
            None => training::find(directory)?.map(Self::Training),
        })
    }

    /// Judges every benchmark, and passes on each verdict in its order. Returns the faults of the tree
    /// itself with the exit code.
    pub(super) fn judge(
        &self,
        basis: &Basis<'_>,
        mut each: impl FnMut(Judged),
    ) -> Result<(ExitCode, Vec<Fault>), Failure> {
        let mut exits = Vec::new();
        let mut each = |judged: Judged| {
            exits.push(judged.verdict.exit_code);
            let is_passed = judged.benchmark.rules.iter().all(|rule| rule.passed);
            exits.push(ExitCode::NotReproduced.unless(is_passed));
            each(judged);
        };
        let faults = match self {
            Self::Inference(found) => judge_inference(found, basis, &mut each),
            Self::Training(found) => judge_training(found, basis, &mut each)?,
        };
        let is_violated = faults.iter().any(|fault| fault.is_violation);
        exits.push(ExitCode::NotReproduced.unless(!is_violated));
        Ok((ExitCode::first(exits), faults))
    }
}

/// Judges on all cores, and passes on what comes of it in its order.
fn judge_each<T: Sync, J: Send>(
    all: &[T],
    judge: impl Fn(&T) -> J + Sync,
    mut each: impl FnMut(J),
) {
    for together in all.chunks(TOGETHER) {
        let judged: Vec<J> = together.par_iter().map(&judge).collect();
        judged.into_iter().for_each(&mut each);
    }
}

fn judge_inference(
    found: &SubmissionTrees,
    basis: &Basis<'_>,
    each: &mut dyn FnMut(Judged),
) -> Vec<Fault> {
    let (context, mixed) = basis.context(found);
    if context.round.is_none() {
        terminal::note(
            "no log has the seeds of a known round: only LoadGen's own rules are checked\n  \
             choose a round: --round v5.1    add its rules: --rules FILE",
        );
    }
    let judge = |benchmark: &_| tree::judge(benchmark, &context);
    judge_each(&found.benchmarks, judge, each);
    mixed.into_iter().chain(found.faults.clone()).collect()
}

fn judge_training(
    found: &TrainingTrees,
    basis: &Basis<'_>,
    each: &mut dyn FnMut(Judged),
) -> Result<Vec<Fault>, Failure> {
    let context = basis.training_context(found)?;
    let mut faults = found.faults.clone();
    let mut runs: HashMap<RunKey, String> = HashMap::new();
    let judge = |result: &_| training::judge(result, &context);
    judge_each(&found.results, judge, |one| {
        faults.extend(one.remarks);
        faults.extend(used_twice(&mut runs, &one.runs, &one.judged.benchmark.path));
        each(one.judged);
    });
    Ok(faults)
}

/// Results of two systems that have logs of the same runs.
fn used_twice(runs: &mut HashMap<RunKey, String>, own: &[RunKey], path: &str) -> Option<Fault> {
    let shared = own
        .iter()
        .filter_map(|run| runs.get(run))
        .filter(|other| *other != path);
    let others: Vec<String> = shared.cloned().collect();
    for run in own {
        runs.entry(*run).or_insert_with(|| path.to_owned());
    }
    let other = others.first()?;
    Some(Fault {
        path: path.to_owned(),
        actual: format!("{} of its runs are also in {other}", others.len()),
        required: "runs that no other result has".to_owned(),
        is_violation: false,
    })
}
