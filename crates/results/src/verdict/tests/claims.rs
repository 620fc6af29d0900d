//! What a recipe may claim besides 'not worse': equivalent, better.

use rstest::rstest;

use super::build::*;
use crate::verdict::{Judgement, MoreTrials, Outcome, QualifierKind, Verdict, judge};
use retrial_recipe::model::{Claim, Expectation, ExpectationKind};

fn judged(claim: Claim, margin: Option<f64>, values: &[f64]) -> Verdict {
    let expectation = Expectation { margin, claim, ..official(100.0) };
    judge(&context(), &[offline(values).expecting(TOKENS, expectation)])
}

fn judgement(verdict: &Verdict) -> &Judgement {
    &verdict.results[0].judgements[0]
}

#[rstest]
#[case(Claim::Equivalent, &[100.0, 100.5, 99.5], Outcome::Reproduced, "at most 0.8 % away (95 %), 5 % either way allowed")]
#[case(Claim::Equivalent, &[110.0, 110.5, 109.5], Outcome::NotReproduced, "at least 9.2 % above (95 %), 5 % either way allowed")]
#[case(Claim::Equivalent, &[90.0, 90.5, 89.5], Outcome::NotReproduced, "at least 9.2 % below (95 %), 5 % either way allowed")]
#[case(Claim::Equivalent, &[104.0, 106.0, 103.0], Outcome::Inconclusive, "% above (90 %), 5 % either way allowed")]
#[case(Claim::Better, &[102.0, 102.5, 101.5], Outcome::Reproduced, "at worst 1.2 % above (95 %), better required")]
#[case(Claim::Better, &[98.0, 98.5, 97.5], Outcome::NotReproduced, "at best 1.2 % below (95 %), better required")]
#[case(Claim::Better, &[100.0, 102.5, 101.5], Outcome::Inconclusive, "between ")]
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
    assert!(judgement.sentence.contains(fragment), "{fragment}: {}", judgement.sentence);
}

#[test]
fn better_by_a_margin() {
    let by = |margin| judged(Claim::Better, Some(margin), &[110.0, 110.5, 109.5]);
    assert_eq!(by(0.05).outcome, Outcome::Reproduced);
    assert!(judgement(&by(0.05)).sentence.contains("better by 5 % required"));
    assert_eq!(by(0.15).outcome, Outcome::NotReproduced);
}

/// A run's own margin says how much worse may pass, nothing of what is better.
#[test]
fn the_margin_of_the_run_does_not_apply_to_better_claims() {
    assert!(judgement(&judged(Claim::Better, None, &[101.0])).margin.abs() < 1e-12);
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
    let below = judged(Claim::Equivalent, None, &[100.0 / 1.045, 100.0 / 1.055, 100.0 / 1.035]);
    let more_trials = judgement(&above).more_trials;
    assert!(matches!(more_trials, Some(MoreTrials::About(_))), "{more_trials:?}");
    assert_eq!(more_trials, judgement(&below).more_trials);
}

/// A figure whose noise nobody knows needs more trials, counted as `--trials` counts them.
#[test]
fn one_trial_of_unknown_noise_says_what_would_decide_it() {
    let own = own("case", "speed", "items/s", &[100.2])
        .with_source("speed", source())
        .expecting("speed", official(100.0));
    let verdict = judge(&context(), &[own]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert_eq!(
        &*verdict.results[0].sentence,
        "100.2 items/s, 100.2 % of the published figure; 5 % allowed. One trial cannot show this: \
         measure two more (`--trials 3`), or state `noise:` in the recipe."
    );
}

#[rstest]
#[case(ExpectationKind::Official, None, "the published figure")]
#[case(ExpectationKind::Guide, Some("a guide"), "the guide's figure")]
#[case(ExpectationKind::ThirdParty, None, "a third party's figure")]
#[case(ExpectationKind::ThirdParty, Some("SemiAnalysis"), "the figure of SemiAnalysis")]
fn the_publisher_is_named(
    #[case] kind: ExpectationKind,
    #[case] source: Option<&str>,
    #[case] name: &str,
) {
    let expectation = Expectation { kind, source: source.map(str::to_owned), ..official(100.0) };
    let verdict = judge(&context(), &[offline(&[100.0]).expecting(TOKENS, expectation)]);
    let sentence = &verdict.results[0].sentence;
    assert!(sentence.contains(&format!("100.0 % of {name}; ")), "{sentence}");
}
