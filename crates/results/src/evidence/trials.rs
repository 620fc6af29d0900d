//! The trials of one measurement, once all are read: every path from files to a verdict ends here.

use super::identity::copies::reject_copies;
use crate::verdict::{Evidence, StepOutcome, TrialEvidence};
use retrial_recipe::model::Trials;

/// Adds what a warm-up gave. It is not judged, but one that failed is no warm-up.
pub(crate) fn add_warmup(evidence: &mut Evidence, trials: Vec<TrialEvidence>) {
    let (finished, failed): (Vec<_>, Vec<_>) = trials
        .into_iter()
        .partition(|trial| trial.outcome == StepOutcome::Finished);
    evidence.warmups.extend(finished);
    evidence.trials.extend(failed);
}

/// Completes the evidence of a measurement: numbers the trials, rejects copies among them, and says after
/// how many of them it was analysed.
pub(crate) fn complete(evidence: &mut Evidence) {
    // A step that trained several times gave as many trials.
    let several = |pair: &[TrialEvidence]| pair[0].trial == pair[1].trial;
    if evidence.trials.windows(2).any(several) {
        for (number, trial) in (1..).zip(&mut evidence.trials) {
            trial.trial = number;
        }
    }
    reject_copies(evidence);
    let judged = u32::try_from(evidence.trials.len()).unwrap_or(u32::MAX);
    evidence.stages = stages(evidence.plan.trials, judged);
}

/// The numbers of trials after which the evidence may have been analysed, of which there are `judged`
/// now: the recipe's stages, and every number that is none of them. After the last stage nobody
/// knows how often somebody looked, so every further trial counts as one analysis.
fn stages(trials: Trials, judged: u32) -> Vec<u32> {
    let mut stages = trials.stages();
    if trials.min < trials.max && judged > 0 {
        let last = trials.max;
        let further = if judged > last { last + 1 } else { judged }..=judged;
        stages.extend(further.filter(|count| !trials.stages().contains(count)));
        stages.sort_unstable();
    }
    stages
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::verdict::tests::build::{official, own};
    use crate::verdict::{Context, Outcome, judge};

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
        assert_eq!(stages(Trials { min, max }, judged), expected);
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
                    .expecting("tflops", official(100.0));
                folder.plan.trials = Trials { min: 3, max: 8 };
                complete(&mut folder);
                let outcome = judge(&Context::default(), &[folder]).outcome;
                (outcome != Outcome::Inconclusive).then_some(outcome)
            });
            reproduced += u32::from(decided == Some(Outcome::Reproduced));
        }
        let share = f64::from(reproduced) / 4_000.0;
        assert!((0.01..=0.05).contains(&share), "{share}");
    }
}
