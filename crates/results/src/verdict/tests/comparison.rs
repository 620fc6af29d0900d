//! Reproduced, not reproduced, inconclusive, measured.

use rstest::rstest;

use super::build::*;
use crate::verdict::{
    Evidence, MoreTrials, Noise, NoiseBasis, Outcome, StatedValidity, Verdict, judge,
};
use retrial_recipe::model::{Aggregate, Better, Expectation, FigureSource, JudgeRules};

pub(super) fn outcome(evidence: Evidence) -> Outcome {
    judge(&context(), &[evidence]).outcome
}

pub(super) fn sentence(verdict: &Verdict) -> &str {
    &verdict.results[0].sentence
}

/// One trial, assumed noise 0.31 %: the margin of 5 % is cleared by 1.645 × 0.31 % or not.
#[rstest]
#[case(103_480.0, Outcome::Reproduced, 0)]
#[case(101_000.0, Outcome::Reproduced, 0)]
#[case(98_900.0, Outcome::Reproduced, 0)]
#[case(98_700.0, Outcome::Inconclusive, 5)]
#[case(98_306.0, Outcome::Inconclusive, 5)]
#[case(97_900.0, Outcome::Inconclusive, 5)]
#[case(97_700.0, Outcome::NotReproduced, 1)]
#[case(50_000.0, Outcome::NotReproduced, 1)]
#[case(150_000.0, Outcome::Reproduced, 0)]
fn one_trial(#[case] value: f64, #[case] expected: Outcome, #[case] code: u8) {
    let verdict = judge(&context(), &[offline(&[value]).expecting(TOKENS, official(103_480.0))]);
    assert_eq!(verdict.outcome, expected, "{}", sentence(&verdict));
    assert_eq!(verdict.exit_code.code(), code);
    assert!(sentence(&verdict).contains("One trial, assumed noise 0.3 %"));
}

#[test]
fn the_sentence_states_the_bound_that_was_achieved() {
    let verdict =
        judge(&context(), &[offline(&[101_000.0]).expecting(TOKENS, official(103_480.0))]);
    assert_eq!(
        sentence(&verdict),
        "101,000 tokens/s, 97.6 % of the published figure; at worst 2.9 % below (95 %), 5 % allowed. \
         One trial, assumed noise 0.3 %."
    );
    assert_eq!(
        verdict.results[0].judgements[0].noise_basis,
        Some(NoiseBasis::Published("16 published pairs of llama2-70b Offline".to_owned()))
    );
}

#[rstest]
#[case(&[100.0, 101.0, 99.0], Outcome::Reproduced)]
#[case(&[94.0, 94.1, 93.9], Outcome::NotReproduced)]
#[case(&[96.0, 94.0, 98.0], Outcome::Inconclusive)]
// Two trials that differ by 2 %, more than the assumed noise allows, need a third.
#[case(&[99.0, 101.0], Outcome::Inconclusive)]
#[case(&[89.0, 91.0], Outcome::Inconclusive)]
#[case(&[100.0, 100.1], Outcome::Reproduced)]
// The same figure each time: no spread, and no division by it.
#[case(&[100.0, 100.0, 100.0], Outcome::Reproduced)]
#[case(&[94.9, 94.9, 94.9], Outcome::NotReproduced)]
// Of two that is chance: they have the assumed noise.
#[case(&[94.9, 94.9], Outcome::Inconclusive)]
fn several_trials(#[case] values: &[f64], #[case] expected: Outcome) {
    assert_eq!(outcome(offline(values).expecting(TOKENS, official(100.0))), expected);
}

/// Noise 0: the figure itself is compared, and the margin belongs to those that hold.
#[rstest]
#[case(100.0, 0.05, Outcome::Reproduced)]
#[case(95.0, 0.05, Outcome::Reproduced)]
#[case(94.999_999, 0.05, Outcome::NotReproduced)]
#[case(98.0, 0.02, Outcome::Reproduced)]
#[case(97.999_999, 0.02, Outcome::NotReproduced)]
#[case(100.0, 0.0, Outcome::Reproduced)]
#[case(99.999_999, 0.0, Outcome::NotReproduced)]
// A negative margin asks for more than was published.
#[case(104.0, -0.05, Outcome::NotReproduced)]
#[case(105.0, -0.05, Outcome::Reproduced)]
fn deterministic(#[case] value: f64, #[case] margin: f64, #[case] expected: Outcome) {
    let expectation = Expectation { noise: Some(0.0), margin: Some(margin), ..official(100.0) };
    let verdict = judge(&context(), &[offline(&[value]).expecting(TOKENS, expectation)]);
    assert_eq!(verdict.outcome, expected, "{}", sentence(&verdict));
}

#[rstest]
#[case(27.384, Outcome::Reproduced, "100.0 % of the published figure; at worst 0.")]
#[case(20.0, Outcome::Reproduced, "73.0 % of the published figure; at worst 36.0 % better")]
#[case(40.0, Outcome::NotReproduced, "146.1 % of the published figure; at best 31.1 % worse")]
fn lower_latency_is_better(
    #[case] seconds: f64,
    #[case] expected: Outcome,
    #[case] fragment: &str,
) {
    let figure = "early_stopping_latency_ns";
    let evidence = loadgen("SingleStream", figure, "ns", &[seconds * 1e9]);
    let verdict = judge(&context(), &[evidence.expecting(figure, official(27_384_519_297.0))]);
    assert_eq!(verdict.outcome, expected);
    let ratio = verdict.results[0].ratio.unwrap();
    assert_eq!(ratio > 1.0, seconds < 27.384_519, "above 1 is better: {ratio}");
    assert!(sentence(&verdict).contains(fragment), "{}", sentence(&verdict));
}

#[test]
fn one_trial_without_assumed_noise_is_inconclusive() {
    let evidence = own("gemm", "tflops", "TFLOP/s", &[1500.0])
        .with_source("tflops", source())
        .expecting("tflops", official(1500.0));
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    let judgement = &verdict.results[0].judgements[0];
    assert_eq!(judgement.noise, Noise::Unknown);
    assert_eq!(judgement.more_trials, Some(MoreTrials::AtLeast(2)));
    assert!(judgement.sentence.contains("One trial cannot show this"), "{}", judgement.sentence);
}

#[rstest]
#[case(Some(0.01), None, None)]
#[case(None, Some(0.01), None)]
#[case(None, None, Some(0.01))]
fn noise_is_read_from_expectation_figure_or_recipe(
    #[case] expectation: Option<f64>,
    #[case] figure: Option<f64>,
    #[case] recipe: Option<f64>,
) {
    let mut context = context();
    context.rules.noise = recipe;
    let published = Expectation { noise: expectation, ..official(1500.0) };
    let meta = FigureSource { noise: figure, ..source() };
    let evidence = own("gemm", "tflops", "TFLOP/s", &[1500.0])
        .with_source("tflops", meta)
        .expecting("tflops", published);
    let verdict = judge(&context, &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Reproduced);
    assert_eq!(verdict.results[0].noise, Some(Noise::Assumed(0.01)));
}

/// 2 % on the same SKU, 5 % elsewhere, the recipe's own before both, the figure's before all.
#[rstest]
#[case(false, None, None, 0.05)]
#[case(true, None, None, 0.02)]
#[case(true, Some(0.03), None, 0.03)]
#[case(true, Some(0.03), Some(0.1), 0.1)]
#[case(false, Some(f64::NAN), Some(2.0), 0.05)]
fn margins(
    #[case] same_sku: bool,
    #[case] recipe: Option<f64>,
    #[case] figure: Option<f64>,
    #[case] expected: f64,
) {
    let mut context = context();
    context.same_sku = same_sku;
    context.rules.margin = recipe;
    let published = Expectation { margin: figure, ..official(100.0) };
    let verdict = judge(&context, &[offline(&[100.0]).expecting(TOKENS, published)]);
    assert!((verdict.results[0].margin.unwrap() - expected).abs() < 1e-12);
}

#[test]
fn a_declared_deviation_of_the_reference_widens_the_bounds() {
    let with = |sigma| {
        let published = Expectation { sigma, ..official(100.0) };
        judge(&context(), &[offline(&[97.0]).expecting(TOKENS, published)])
    };
    assert_eq!(with(None).outcome, Outcome::Reproduced);
    let vague = with(Some(0.02));
    assert_eq!(vague.outcome, Outcome::Inconclusive);
    assert!(sentence(&vague).contains("published with a deviation of 2 %"), "{}", sentence(&vague));
    assert!(sentence(&vague).contains("No number of trials would decide"), "{}", sentence(&vague));
}

/// Training judges the aggregate of its runs, never one.
#[rstest]
#[case(&[30.0], Outcome::Inconclusive)]
#[case(&[30.0, 30.1], Outcome::Inconclusive)]
#[case(&[30.0, 30.1, 29.9], Outcome::Reproduced)]
#[case(&[30.0, 30.1, 29.9, 30.05], Outcome::Reproduced)]
// The slowest is dropped, and so is the fastest.
#[case(&[30.0, 30.1, 29.9, 30.05, 29.95, 45.0], Outcome::Reproduced)]
#[case(&[33.0, 33.1, 32.9, 33.05, 32.95, 20.0], Outcome::NotReproduced)]
fn olympic(#[case] minutes: &[f64], #[case] expected: Outcome) {
    let meta = FigureSource {
        better: Better::Lower,
        aggregate: Aggregate::Olympic,
        noise: Some(0.001),
        unit: Some("min".to_owned()),
        ..source()
    };
    let evidence = own("training", "time_to_train", "", minutes)
        .with_source("time_to_train", meta)
        .expecting("time_to_train", official(30.0));
    assert_eq!(outcome(evidence), expected);
}

#[rstest]
// The sign test's bound of five is the lowest, unless that is a rare slow one.
#[case(&[100.0, 100.5, 99.5, 100.2, 60.0], Outcome::Reproduced)]
#[case(&[100.0, 61.0, 99.5, 100.2, 60.0], Outcome::Inconclusive)]
#[case(&[100.0, 100.5, 99.5, 100.2, 99.0, 98.5, 101.0, 60.0], Outcome::Reproduced)]
#[case(&[90.0, 91.0, 89.0, 90.5, 90.2], Outcome::NotReproduced)]
#[case(&[100.0, 100.1, 99.9], Outcome::Reproduced)]
fn median(#[case] values: &[f64], #[case] expected: Outcome) {
    let meta = FigureSource { aggregate: Aggregate::Median, ..source() };
    let evidence = own("gemm", "tflops", "TFLOP/s", values)
        .with_source("tflops", meta)
        .expecting("tflops", official(100.0));
    assert_eq!(outcome(evidence), expected);
}

#[test]
fn headline_and_detail_of_a_verdict_are_fields() {
    let verdict = judge(&context(), &[offline(&[80.0]).expecting(TOKENS, official(100.0))]);
    assert_eq!(verdict.headline, "The published figure does not hold.");
    let reason = format!("Offline performance: {}", verdict.results[0].sentence);
    assert_eq!(verdict.detail, reason);
    let mut invalid = offline(&[80.0]);
    invalid.trials[0].validity = StatedValidity::Invalid(vec!["too short. By far".to_owned()]);
    let verdict = judge(&context(), &[invalid]);
    assert_eq!(verdict.headline, "");
    assert!(verdict.detail.contains("too short. By far"), "{}", verdict.detail);
}

#[rstest]
#[case(0.95, 0.95)]
#[case(0.99, 0.99)]
#[case(f64::NAN, 0.95)]
#[case(3.0, 0.95)]
fn confidence(#[case] requested: f64, #[case] used: f64) {
    let mut context = context();
    context.rules = JudgeRules { confidence: requested, ..JudgeRules::default() };
    let verdict = judge(&context, &[offline(&[100.0]).expecting(TOKENS, official(100.0))]);
    assert!((verdict.confidence - used).abs() < 1e-12);
}

#[test]
fn stages_split_the_error() {
    let fixed = offline(&[97.0]).expecting(TOKENS, official(100.0));
    let staged = fixed.clone().looked_at_after(&[1, 3, 5]);
    let lower = |evidence| judge(&context(), &[evidence]).results[0].bounds.unwrap().lower;
    assert!(lower(staged.clone()) < lower(fixed));
    let verdict = judge(&context(), &[staged]);
    assert!((verdict.results[0].judgements[0].confidence - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
    assert!(sentence(&verdict).contains("the error split between 3 interim analyses"));
}
