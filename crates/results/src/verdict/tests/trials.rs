//! Trials that are not alike, that depend on their order, or that are printed coarsely.

use rstest::rstest;

use super::build::*;
use crate::verdict::{
    Evidence, MoreTrials, Noise, Outcome, Qualifier, QualifierKind, ResultVerdict, judge,
};
use retrial_stats::OrderEffect;

fn judged(evidence: Evidence) -> ResultVerdict {
    judge(&context(), &[evidence]).results.remove(0)
}

fn of(values: &[f64]) -> ResultVerdict {
    judged(offline(values).expecting(TOKENS, official(100.0)))
}

#[test]
fn falling_trials_near_the_margin_are_inconclusive() {
    let falling = of(&[97.5, 97.0, 96.5, 96.0, 95.5]);
    assert_eq!(falling.outcome, Outcome::Inconclusive, "{}", falling.sentence);
    let judgement = &falling.judgements[0];
    assert!(matches!(judgement.order, Some(OrderEffect::Trend(step)) if step < -0.004));
    assert_eq!(judgement.more_trials, Some(MoreTrials::Independent));
    let fragment = "each is about 0.5 % worse than the one before: they count as one";
    assert!(falling.sentence.contains(fragment), "{}", falling.sentence);
    assert!(falling.sentence.contains("after a pause"), "{}", falling.sentence);
    // The same trials in another order, and the same trend far from the margin.
    let mixed = of(&[96.5, 97.5, 95.5, 97.0, 96.0]);
    assert_eq!((mixed.outcome, mixed.judgements[0].order), (Outcome::Reproduced, None));
    let far = of(&[104.5, 104.0, 103.5, 103.0, 102.5]);
    assert_eq!(far.outcome, Outcome::Reproduced, "{}", far.sentence);
    assert!(far.sentence.contains("worse than the one before"));
}

#[test]
fn a_slow_first_trial_is_reported() {
    let result = of(&[97.5, 100.5, 100.6, 100.4]);
    let fragment = "trial 1 is 3 % slower than the others: a warm-up?";
    assert!(result.sentence.contains(fragment), "{}", result.sentence);
    assert!(result.judgements[0].slow_start.is_some());
    for values in [[100.5, 97.5, 100.6, 100.4], [103.5, 100.5, 100.6, 100.4]] {
        assert_eq!(of(&values).judgements[0].slow_start, None);
    }
}

#[test]
fn two_trials_use_the_assumed_noise() {
    let near = of(&[100.0, 100.2]);
    assert_eq!(near.outcome, Outcome::Reproduced);
    assert!(matches!(near.noise, Some(Noise::Assumed(_))));
    assert!(near.sentence.contains("2 trials, assumed noise 0.3 %"));
    let far = of(&[99.0, 101.0]);
    let fragment = "2 trials, further apart than the assumed noise of 0.3 % allows. Measure at least \
                one more (`--trials 3`)";
    assert!(far.sentence.contains(fragment), "{}", far.sentence);
    assert_eq!(far.bounds, None);
}

/// 94.7, printed as 95: what is printed exactly on the margin may be below it.
#[rstest]
#[case(0.5, Outcome::Inconclusive)]
#[case(0.0005, Outcome::Inconclusive)]
#[case(0.0, Outcome::Reproduced)]
fn bounds_account_for_printed_precision(#[case] half_digit: f64, #[case] expected: Outcome) {
    let mut evidence = offline(&[95.0; 3]).expecting(TOKENS, official(100.0));
    for trial in &mut evidence.trials {
        let figure = trial.figures.get_mut(TOKENS).unwrap();
        figure.half_digit = half_digit;
    }
    let result = judged(evidence);
    assert_eq!(result.outcome, expected, "{}", result.sentence);
    let finer = (half_digit > 0.0).then_some(MoreTrials::Finer);
    assert_eq!(result.judgements[0].more_trials, finer);
    // A verdict's own figures are as they were written.
    assert!(result.trials[0].figures[TOKENS].half_digit <= 0.0);
}

#[test]
fn the_spread_between_systems_is_reported_for_other_systems() {
    const SAYS: &str = "Published results of systems with the same GPUs scatter by 1.9–2.0 %";
    let evidence = || offline(&[99.0]).expecting(TOKENS, official(100.0));
    assert!(!judged(evidence()).sentence.contains(SAYS));
    let mut other = evidence();
    other.other_system = true;
    assert!(judged(other).sentence.contains(SAYS));
    let mut context = context();
    context.qualifiers = vec![Qualifier::new(QualifierKind::OtherHardware, "MI300X")];
    let result = judge(&context, &[evidence()]).results.remove(0);
    assert!(result.sentence.contains(SAYS), "{}", result.sentence);
    // Of other figures nothing was seen.
    let own = own("gemm", "tflops", "TFLOP/s", &[99.0])
        .with_source("tflops", source())
        .expecting("tflops", official(100.0));
    let result = judge(&context, &[own]).results.remove(0);
    assert!(!result.sentence.contains(SAYS), "{}", result.sentence);
}
