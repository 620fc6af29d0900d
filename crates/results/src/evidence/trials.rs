//! The trials of one measurement, once all are read: every path from files to a verdict ends here.

use std::collections::BTreeSet;
use std::path::Path;

use super::identity::copies::reject_copies;
use super::result_path::trial_number;
use crate::verdict::{Evidence, RuleCheck, StepOutcome, TrialEvidence};
use retrial_document::measures::format::join_first;
use retrial_recipe::model::Trials;

/// The most missing trials that a text names.
const MAX_NAMED_TRIALS: usize = 5;
/// The largest number of a trial that is missed.
const MAX_TRIAL_NUMBER: u32 = 1000;

/// Adds what a warm-up gave. It is not judged, but one that failed is no warm-up.
pub(crate) fn add_warmup(evidence: &mut Evidence, trials: Vec<TrialEvidence>) {
    let (finished, failed): (Vec<_>, Vec<_>) =
        trials.into_iter().partition(|trial| trial.outcome == StepOutcome::Finished);
    evidence.warmups.extend(finished);
    evidence.trials.extend(failed);
}

/// Completes the evidence of a measurement: says which trials are missing, numbers them, rejects copies among
/// them, and says after how many of them it was analysed.
pub(crate) fn complete_evidence(evidence: &mut Evidence) {
    note_missing_trials(evidence);
    // A step that trained several times gave as many trials.
    let several = |pair: &[TrialEvidence]| pair[0].trial == pair[1].trial;
    if evidence.trials.windows(2).any(several) {
        for (number, trial) in (1..).zip(&mut evidence.trials) {
            trial.trial = number;
        }
    }
    reject_copies(evidence);
    let judged = u32::try_from(evidence.trials.len()).unwrap_or(u32::MAX);
    evidence.stages = analysis_stages(evidence.plan.trials, judged);
}

/// Notes the trials that are planned, and those between the others, that are not there. Somebody may have left
/// them out for their figures.
fn note_missing_trials(evidence: &mut Evidence) {
    let planned = evidence.plan.trials.min;
    let there = u32::try_from(evidence.trials.len()).unwrap_or(u32::MAX);
    let names = evidence.trials.iter().map(|trial| parse_trial_name(&trial.path));
    let missing = match names.collect::<Option<Vec<_>>>() {
        Some(names) => missing_trial_names(&names, planned, evidence.plan.warmup),
        None => Vec::new(),
    };
    // Of trials without numbers only the count is known.
    let count = u32::try_from(missing.len()).unwrap_or(u32::MAX).max(planned.saturating_sub(there));
    if count == 0 || there == 0 {
        return;
    }
    let names = match missing.as_slice() {
        [] => String::new(),
        names => format!(": {}", join_first(names, MAX_NAMED_TRIALS)),
    };
    let verb = if count == 1 { "is" } else { "are" };
    let all = there.saturating_add(count);
    let missing = format!("{count} of {all} trials {verb} not among these results{names}");
    let required = "all trials: none may be left out";
    evidence.checks.push(RuleCheck::warning("trials", missing.clone(), required));
    evidence.missing_trials = Some(missing);
}

/// Returns the number in the name of a trial's folder, `run_2`, or training log, `result_2.txt`, and the words around
/// it.
fn parse_trial_name(path: &str) -> Option<(String, u32, &'static str)> {
    let name = Path::new(path).file_name()?.to_str()?;
    let log = name.strip_prefix("result_").and_then(|rest| rest.strip_suffix(".txt"));
    if let Some(number) = log.and_then(|number| number.parse().ok()) {
        return Some(("result_".to_owned(), number, ".txt"));
    }
    let number = trial_number(name)?;
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    Some((stem.to_owned(), number, ""))
}

/// Returns the names of the trials that are missing among numbered ones, of which so many are planned after the
/// warm-ups; none where several have the same number.
fn missing_trial_names(
    names: &[(String, u32, &'static str)],
    planned: u32,
    warmup: u32,
) -> Vec<String> {
    let numbers: BTreeSet<u32> = names.iter().map(|(_, number, _)| *number).collect();
    let (Some((stem, _, end)), Some(&lowest), Some(&highest)) =
        (names.first(), numbers.first(), numbers.last())
    else {
        return Vec::new();
    };
    let is_series = numbers.len() == names.len() && names.iter().all(|name| name.0 == *stem);
    if !is_series {
        return Vec::new();
    }
    // Some count from 0, and results that have all the number of a warm-up count from 1.
    let begin = match lowest {
        0 => 0,
        lowest if lowest <= warmup => 1,
        _ => warmup + 1,
    };
    let end_of_plan = begin.saturating_add(planned.saturating_sub(1));
    // Numbers far apart are no series of trials.
    let last = highest.max(end_of_plan).min(begin.saturating_add(MAX_TRIAL_NUMBER));
    let missing = (begin..=last).filter(|number| !numbers.contains(number));
    missing.map(|number| format!("{stem}{number}{end}")).collect()
}

/// Returns the numbers of trials after which the evidence may have been analysed, of which there are `judged`
/// now: the recipe's stages, and every number that is none of them. After the last stage the
/// number of interim analyses is unknown, so every further trial counts as one analysis.
fn analysis_stages(trials: Trials, judged: u32) -> Vec<u32> {
    let mut stages = trials.analysis_stages();
    if trials.min < trials.max && judged > 0 {
        let last = trials.max;
        let further = if judged > last { last + 1 } else { judged }..=judged;
        stages.extend(further.filter(|count| !trials.analysis_stages().contains(count)));
        stages.sort_unstable();
    }
    stages
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::verdict::tests::build::{official, own, source};
    use crate::verdict::{Outcome, RunContext, judge};

    #[rstest]
    #[case::fixed(3, 3, 5, &[3])]
    #[case::first_stage(3, 8, 3, &[3, 5, 8])]
    #[case::last_stage(3, 8, 8, &[3, 5, 8])]
    #[case::between_stages(3, 8, 4, &[3, 4, 5, 8])]
    #[case::before_the_first(3, 8, 2, &[2, 3, 5, 8])]
    #[case::after_the_last(3, 8, 10, &[3, 5, 8, 9, 10])]
    #[case::nothing_judged(3, 8, 0, &[3, 5, 8])]
    fn unplanned_numbers_of_trials_count_as_analyses(
        #[case] min: u32,
        #[case] max: u32,
        #[case] judged: u32,
        #[case] expected: &[u32],
    ) {
        assert_eq!(analysis_stages(Trials { min, max }, judged), expected);
    }

    #[rstest]
    #[case::all(&["run_1", "run_2", "run_3"], 3, 0, None)]
    #[case::more_than_planned(&["run_1", "run_2"], 1, 0, None)]
    #[case::after_a_warm_up(&["run_2", "run_3"], 2, 1, None)]
    #[case::numbered_without_a_warm_up(&["run_1"], 1, 1, None)]
    #[case::counted_from_zero(&["run_0", "run_1"], 2, 0, None)]
    #[case::one_folder(&["out"], 1, 0, None)]
    #[case::runs_of_one_log(&["run_1/run 1 of the log", "run_1/run 2 of the log"], 1, 0, None)]
    #[case::in_the_middle(&["run_1", "run_3"], 3, 0, Some("1 of 3 trials is not among these results: run_2"))]
    #[case::at_the_end(&["run_1", "run_2"], 3, 0, Some("1 of 3 trials is not among these results: run_3"))]
    #[case::a_gap_among_more_than_planned(&["run_1", "run_4"], 1, 0, Some("2 of 4 trials are not among these results: run_2, run_3"))]
    #[case::the_first_after_a_warm_up(&["run_3"], 1, 1, Some("1 of 2 trials is not among these results: run_2"))]
    #[case::of_logs(&["out/result_0.txt", "out/result_2.txt"], 1, 0, Some("1 of 3 trials is not among these results: result_1.txt"))]
    #[case::without_numbers(&["out"], 3, 0, Some("2 of 3 trials are not among these results"))]
    fn trials_that_are_not_there_are_named(
        #[case] paths: &[&str],
        #[case] planned: u32,
        #[case] warmup: u32,
        #[case] missing: Option<&str>,
    ) {
        let values = vec![101.0; paths.len()];
        let mut evidence = own("gemm", "tflops", "TFLOP/s", &values);
        for (trial, path) in evidence.trials.iter_mut().zip(paths) {
            (*path).clone_into(&mut trial.path);
        }
        evidence.plan.trials = Trials { min: planned, max: planned };
        evidence.plan.warmup = warmup;
        complete_evidence(&mut evidence);
        assert_eq!(evidence.missing_trials.as_deref(), missing);
        let expected = if missing.is_some() { Outcome::Inconclusive } else { Outcome::Reproduced };
        let mut source = source();
        source.noise = Some(0.01);
        evidence.plan.figures = vec![("tflops".to_owned(), source)];
        let evidence = evidence.expecting("tflops", official(100.0));
        let verdict = judge(&RunContext::default(), &[evidence]);
        assert_eq!(verdict.outcome, expected, "{}", verdict.sentence());
        assert!(missing.is_none_or(|missing| verdict.sentence().contains(missing)));
    }

    /// One who judges a folder after 3, 5 and 8 trials, and stops when the verdict decides, is wrong no more
    /// often than a run: the truth on the margin, seeded, 4,000 folders.
    #[test]
    fn a_folder_judged_after_each_stage_keeps_its_error() {
        let mut state: u64 = 2026;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (f64::from(u32::try_from(state >> 32).unwrap()) + 0.5) / 4_294_967_296.0
        };
        let mut reproduced = 0_u32;
        for _ in 0..4_000 {
            let values: Vec<f64> = (0..8)
                .map(|_| {
                    let radius = (-2.0 * uniform().ln()).sqrt();
                    95.0 * (0.018 * radius * (std::f64::consts::TAU * uniform()).cos()).exp()
                })
                .collect();
            let decided = [3, 5, 8].into_iter().find_map(|trials| {
                let mut folder = own("gemm", "tflops", "TFLOP/s", &values[..trials])
                    .with_source("tflops", source())
                    .expecting("tflops", official(100.0));
                folder.plan.trials = Trials { min: 3, max: 8 };
                complete_evidence(&mut folder);
                let outcome = judge(&RunContext::default(), &[folder]).outcome;
                (outcome != Outcome::Inconclusive).then_some(outcome)
            });
            reproduced += u32::from(decided == Some(Outcome::Reproduced));
        }
        let share = f64::from(reproduced) / 4_000.0;
        assert!((0.01..=0.05).contains(&share), "{share}");
    }
}
