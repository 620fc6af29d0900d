//! Trees of training results.

use std::collections::HashMap;

use rayon::prelude::*;

use super::basis::Basis;
use super::{TOGETHER, exit_of_faults, exit_of_judged};
use crate::app::failure::Failure;
use crate::results::evidence::training::{
    self, JudgedTraining, RunKey, TrainingContext, TrainingTrees,
};
use crate::results::evidence::tree::{Fault, Judged};
use crate::results::verdict::ExitCode;
use retrial_mlperf::training::{TrainingRound, rounds};

impl Basis<'_> {
    /// What training results are judged by: the round that is named, else the one that their paths,
    /// benchmarks and dates tell.
    pub fn training_context(&self, found: &TrainingTrees) -> Result<TrainingContext<'_>, Failure> {
        let request = self.request;
        let round = match &request.round {
            Some(name) => named(name),
            None => training::round_of(found),
        };
        let round = round.ok_or_else(|| {
            let known = known_rounds();
            Failure::usage(match &request.round {
                Some(name) => format!("no rules of MLPerf Training {name}; there are {known}"),
                None => format!(
                    "neither the path nor benchmarks and dates of the logs tell the round\n  \
                     choose one: --round ROUND ({known})"
                ),
            })
        })?;
        Ok(TrainingContext {
            round,
            benchmark: request.benchmark.as_deref(),
            division: request.division.as_deref(),
            published: self.published.as_ref(),
            rules: &self.rules,
        })
    }

    /// Judges training results, and passes on each verdict in its order.
    pub(super) fn judge_training(
        &self,
        found: &TrainingTrees,
        each: &mut dyn FnMut(Judged),
    ) -> Result<(ExitCode, Vec<Fault>), Failure> {
        let by = self.training_context(found)?;
        let mut faults = found.faults.clone();
        let mut exit = exit_of_faults(&faults);
        let mut runs: HashMap<RunKey, String> = HashMap::new();
        for results in found.results.chunks(TOGETHER) {
            let judged: Vec<JudgedTraining> = results
                .par_iter()
                .map(|result| training::judge(result, &by))
                .collect();
            for JudgedTraining {
                judged,
                remarks,
                runs: own,
            } in judged
            {
                faults.extend(remarks);
                faults.extend(used_twice(&mut runs, &own, &judged.benchmark.path));
                exit = ExitCode::first([exit, exit_of_judged(&judged)]);
                each(judged);
            }
        }
        Ok((exit, faults))
    }
}

/// `v5.0, v5.1, v6.0`
pub fn known_rounds() -> String {
    let known: Vec<&str> = rounds().iter().map(|round| round.round.as_str()).collect();
    known.join(", ")
}

fn named(name: &str) -> Option<&'static TrainingRound> {
    let bare = |name: &str| name.trim_start_matches(['v', 'V']).to_owned();
    rounds()
        .iter()
        .find(|round| bare(&round.round) == bare(name))
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
        actual: format!("{} of its runs are those of {other}", others.len()),
        required: "runs of its own".to_owned(),
        is_violation: false,
    })
}
