//! The trials of several runs as one sample.

use std::slice;

use super::RunEvidence;
use retrial_results::evidence::identity::copies::reject_copies_of_run;
use retrial_results::verdict::qualifier::merge_qualifiers;
use retrial_results::verdict::{Evidence, RunContext};

/// Runs' evidence by benchmark, each scenario's trials one after the other. A trial is numbered as
/// its run's turn; where a run has several, they are counted on.
pub(super) fn pool_runs(runs: &[RunEvidence]) -> Vec<(RunContext, Vec<Evidence>)> {
    let mut sorted: Vec<&RunEvidence> = runs.iter().collect();
    sorted.sort_by_key(|run| run.trial);
    let mut groups: Vec<(RunContext, Vec<Evidence>)> = Vec::new();
    for run in sorted {
        let Ok((context, evidence)) = &run.evidence else {
            continue;
        };
        let benchmark = &context.submission.benchmark;
        let is_of_benchmark =
            |(pooled, _): &(RunContext, _)| pooled.submission.benchmark == *benchmark;
        let at = groups.iter().position(is_of_benchmark).unwrap_or_else(|| {
            groups.push((context.clone(), Vec::new()));
            groups.len() - 1
        });
        let (pooled, all) = &mut groups[at];
        merge_qualifiers(&mut pooled.qualifiers, context.qualifiers.iter().cloned());
        merge_qualifiers(&mut pooled.execution, context.execution.iter().cloned());
        for warning in &context.warnings {
            if !pooled.warnings.contains(warning) {
                pooled.warnings.push(warning.clone());
            }
        }
        for more in evidence {
            pool_evidence(all, more, run);
        }
    }
    groups
}

fn pool_evidence(all: &mut Vec<Evidence>, more: &Evidence, run: &RunEvidence) {
    let same = |earlier: &&mut Evidence| {
        earlier.plan.mode == more.plan.mode && earlier.plan.scenario == more.plan.scenario
    };
    let mut renumbered = more.clone();
    let several = renumbered.trials.len() > 1;
    let before = all.iter_mut().find(same);
    let last =
        before.as_ref().and_then(|earlier| earlier.trials.iter().map(|trial| trial.trial).max());
    let first = last.map_or(1, |last| last + 1);
    for (next, trial) in (first..).zip(&mut renumbered.trials) {
        trial.trial = if several { next } else { run.trial };
        trial.path = format!("{}/{}", run.run, trial.path);
    }
    for warmup in &mut renumbered.warmups {
        warmup.trial = run.trial;
        warmup.path = format!("{}/{}", run.run, warmup.path);
    }
    for check in &mut renumbered.checks {
        check.trial = check.trial.map(|_| run.trial);
    }
    // How many trials there would be was decided before the first of them.
    renumbered.stages.clear();
    match before {
        None => all.push(renumbered),
        Some(earlier) => {
            reject_copies_of_run(slice::from_mut(&mut renumbered), slice::from_ref(earlier));
            for check in renumbered.checks {
                // A check that is the same for every run is reported once.
                if !earlier.checks.contains(&check) {
                    earlier.checks.push(check);
                }
            }
            earlier.trials.extend(renumbered.trials);
            earlier.warmups.extend(renumbered.warmups);
        }
    }
}
