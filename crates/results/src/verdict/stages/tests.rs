//! Stages, and that looking several times does not pass more than one in twenty.

use retrial_recipe::model::Trials;
use rstest::rstest;

use super::*;
use crate::verdict::{FigureValue, Outcome, StepOutcome, TrialEvidence, judge};
use retrial_recipe::model::{Claim, Expectation, ExpectationKind, Mode};

#[rstest]
#[case(1, 1, &[1])]
#[case(3, 3, &[3])]
#[case(3, 8, &[3, 5, 8])]
#[case(1, 3, &[1, 3])]
#[case(2, 5, &[2, 4, 5])]
#[case(5, 2, &[5])]
#[case(0, 0, &[1])]
#[case(1, 100, &[1, 3, 5, 100])]
fn stages(#[case] min: u32, #[case] max: u32, #[case] expected: &[u32]) {
    assert_eq!(Trials { min, max }.analysis_stages(), expected);
}

fn evidence(values: &[f64]) -> Evidence {
    let mut evidence = Evidence::new("gemm", Mode::Performance);
    evidence.stages = vec![3, 5, 8];
    let published = Expectation {
        value: 100.0,
        kind: ExpectationKind::Official,
        source: None,
        sigma: None,
        noise: None,
        margin: None,
        claim: Claim::NotWorse,
    };
    evidence.plan.expect = vec![("tokens_per_second".to_owned(), vec![published])];
    evidence.trials = (1..)
        .zip(values)
        .map(|(number, value)| {
            let mut trial = TrialEvidence::new_finished(number, format!("run_{number}"));
            trial
                .figures
                .insert("tokens_per_second".to_owned(), FigureValue::new(*value, "tokens/s"));
            trial
        })
        .collect();
    evidence
}

fn decision(values: &[f64], stage: usize) -> StageDecision {
    decide_stage(&RunContext::default(), &evidence(values), stage)
}

#[test]
fn stages_stop_when_the_evidence_decides() {
    assert!(matches!(decision(&[100.0, 100.1, 99.9], 0), StageDecision::Stop { .. }));
    assert!(matches!(decision(&[80.0, 80.1, 79.9], 0), StageDecision::Stop { .. }));
}

#[test]
fn stages_continue_until_decided_or_the_last_stage() {
    let vague = [93.0, 96.0, 99.0, 93.0, 97.0, 96.0, 92.0, 98.0];
    assert!(matches!(decision(&vague[..3], 0), StageDecision::Continue { .. }));
    assert!(matches!(decision(&vague[..5], 1), StageDecision::Continue { .. }));
    let StageDecision::Stop { reason } = decision(&vague, 2) else {
        unreachable!("eight trials are all that there are");
    };
    assert!(reason.contains("last stage"), "{reason}");
}

#[test]
fn stages_stop_when_more_trials_cannot_help() {
    let mut broken = evidence(&[93.0, 96.0, 99.0]);
    broken.trials[1].outcome = StepOutcome::TimedOut { reason: "after 2 h".to_owned() };
    assert!(matches!(decide_stage(&RunContext::default(), &broken, 0), StageDecision::Stop { .. }));
    let mut unpublished = evidence(&[93.0, 96.0, 99.0]);
    unpublished.plan.expect.clear();
    assert!(matches!(
        decide_stage(&RunContext::default(), &unpublished, 0),
        StageDecision::Stop { .. }
    ));
}

/// The verdict must state what stopped a scenario, also among other figures.
#[test]
fn the_stop_reason_matches_the_verdict() {
    let bad = evidence(&[90.0, 90.5, 89.5]);
    let good = evidence(&[100.0, 100.5, 99.5]);
    let context = RunContext { published_figures: 3, ..RunContext::default() };
    let StageDecision::Stop { reason } = decide_stage(&context, &bad, 0) else {
        unreachable!("10 % under, with a noise of half a percent");
    };
    assert!(reason.contains("worse"), "{reason}");
    let verdict = judge(&context, &[bad, good.clone(), good]);
    assert_eq!(verdict.results[0].outcome, Outcome::NotReproduced);
    assert_eq!(verdict.results[1].outcome, Outcome::Reproduced);
}

/// Stages 3, 5, 8 with the truth on the margin: seeded, 4,000 runs.
#[test]
fn interim_analyses_do_not_inflate_the_error_rate() {
    let mut state: u64 = 2026;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
        for (stage, trials) in [3, 5, 8].into_iter().enumerate() {
            let so_far = evidence(&values[..trials]);
            if matches!(
                decide_stage(&RunContext::default(), &so_far, stage),
                StageDecision::Stop { .. }
            ) {
                let verdict = judge(&RunContext::default(), &[so_far]);
                reproduced += u32::from(verdict.outcome == Outcome::Reproduced);
                break;
            }
        }
    }
    let share = f64::from(reproduced) / 4_000.0;
    assert!(share <= 0.05, "{share}");
    assert!(share >= 0.01, "the error is there to be used: {share}");
}
