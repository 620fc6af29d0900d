//! What a recipe may claim besides 'not worse': equivalent, better.

use rstest::rstest;

use super::build::*;
use crate::verdict::{Judgement, MoreTrials, Outcome, QualifierKind, Verdict, judge};
use retrial_recipe::model::{Claim, Expectation};

fn judged(claim: Claim, margin: Option<f64>, values: &[f64]) -> Verdict {
    let expectation = Expectation {
        margin,
        claim,
        ..official(100.0)
    };
    judge(
        &context(),
        &[offline(values).expecting(TOKENS, expectation)],
    )
}

fn judgement(verdict: &Verdict) -> &Judgement {
    &verdict.results[0].judgements[0]
}

#[rstest]
#[case(Claim::Equivalent, &[100.0, 100.5, 99.5], Outcome::Reproduced, "at most 0.8 % from the published figure; 5 % either way is allowed")]
#[case(Claim::Equivalent, &[110.0, 110.5, 109.5], Outcome::NotReproduced, "at least 1.092 of the published figure; 0.950–1.053 is required")]
#[case(Claim::Equivalent, &[90.0, 90.5, 89.5], Outcome::NotReproduced, "at most 0.908 of the published figure; 0.950–1.053 is required")]
#[case(Claim::Equivalent, &[104.0, 106.0, 103.0], Outcome::Inconclusive, "at most 6.5 % from the published figure; 5 % either way is allowed")]
#[case(Claim::Better, &[102.0, 102.5, 101.5], Outcome::Reproduced, "better, at least 1.012 of the published figure; better is required")]
#[case(Claim::Better, &[98.0, 98.5, 97.5], Outcome::NotReproduced, "at most 0.988 of the published figure; more than 1.000 is required")]
#[case(Claim::Better, &[100.0, 102.5, 101.5], Outcome::Inconclusive, "90 % interval ")]
fn claims(
    #[case] claim: Claim,
    #[case] values: &[f64],
    #[case] expected: Outcome,
    #[case] fragment: &str,
) {
    let verdict = judged(claim, None, values);
    assert_eq!(verdict.outcome, expected);
    let judgement = judgement(&verdict);
    assert_eq!(judgement.claim, claim);
    assert!(
        judgement.sentence.contains(fragment),
        "{fragment}: {}",
        judgement.sentence
    );
}

#[test]
fn better_by_a_margin() {
    let by = |margin| judged(Claim::Better, Some(margin), &[110.0, 110.5, 109.5]);
    assert_eq!(by(0.05).outcome, Outcome::Reproduced);
    assert!(
        judgement(&by(0.05))
            .sentence
            .contains("better by 5 % is required")
    );
    assert_eq!(by(0.15).outcome, Outcome::NotReproduced);
}

/// A run's own margin says how much worse may pass, nothing of what is better.
#[test]
fn the_margin_of_the_run_does_not_apply_to_better_claims() {
    assert!(
        judgement(&judged(Claim::Better, None, &[101.0]))
            .margin
            .abs()
            < 1e-12
    );
}

#[test]
fn better_claims_do_not_flag_exceeds_published() {
    let above = |claim| {
        let verdict = judged(claim, None, &[120.0, 120.5, 119.5]);
        let mut qualifiers = verdict.qualifiers.iter();
        qualifiers.any(|qualifier| qualifier.kind == QualifierKind::ExceedsPublished)
    };
    assert!(above(Claim::NotWorse));
    assert!(!above(Claim::Better));
}

/// The nearest edge is what more trials would have to clear.
#[test]
fn more_trials_are_estimated_for_equivalence() {
    let above = judged(Claim::Equivalent, None, &[104.5, 105.5, 103.5]);
    let below = judged(
        Claim::Equivalent,
        None,
        &[100.0 / 1.045, 100.0 / 1.055, 100.0 / 1.035],
    );
    let more_trials = judgement(&above).more_trials;
    assert!(
        matches!(more_trials, Some(MoreTrials::About(_))),
        "{more_trials:?}"
    );
    assert_eq!(more_trials, judgement(&below).more_trials);
}
