//! Which of several figures decide, and what becomes of those without a reference.

use super::build::*;
use super::comparison::{outcome, sentence};
use crate::verdict::{Outcome, UNKNOWN_DIRECTION, judge};
use retrial_recipe::model::{Expectation, ExpectationKind, ReferenceFigures};

#[test]
fn the_official_result_decides_and_others_are_shown() {
    let kind = |kind, value| Expectation { kind, ..official(value) };
    let evidence = offline(&[100.0])
        .expecting(TOKENS, kind(ExpectationKind::ThirdParty, 93.0))
        .expecting(TOKENS, kind(ExpectationKind::Guide, 98.0))
        .expecting(TOKENS, official(100.0));
    let verdict = judge(&context(), &[evidence]);
    let decides: Vec<bool> =
        verdict.results[0].references.iter().map(|reference| reference.decides).collect();
    assert_eq!(decides, [false, false, true]);
    assert_eq!(
        sentence(&verdict),
        "100 tokens/s, 100.0 % of the published figure; at worst 0.5 % below (95 %), 5 % allowed. \
         One trial, assumed noise 0.3 %."
    );
}

/// Far worse than the figures for reference, and without one of them: nothing depends on it.
#[test]
fn figures_for_reference_are_shown_and_decide_nothing() {
    let mut evidence = offline(&[100.0])
        .with_figure("latency_p99_ns", 9e9, "ns")
        .expecting(TOKENS, official(100.0));
    let alone = judge(&context(), &[evidence.clone()]);
    evidence.plan.references = Some(ReferenceFigures {
        kind: ExpectationKind::Guide,
        source: Some("the guide".to_owned()),
        values: vec![("latency_p99_ns".to_owned(), 1e9), ("ttft_p99_ns".to_owned(), 2e6)],
    });
    let mut verdict = judge(&context(), &[evidence]);
    let shown = std::mem::take(&mut verdict.results[0].unjudged);
    assert_eq!(verdict, alone);
    let values = shown.iter().map(|reference| {
        let measured = reference.measured.as_ref();
        (measured.map(ToString::to_string), reference.published.to_string())
    });
    let expected = [(Some("9 s".to_owned()), "1 s".to_owned()), (None, "2 ms".to_owned())];
    assert!(values.eq(expected), "{shown:?}");
}

#[test]
fn not_reproduced_is_corrected_for_all_figures() {
    // Alone its upper bound is just under the margin; among twenty figures that is chance.
    let alone = offline(&[94.4]).expecting(TOKENS, official(100.0));
    assert_eq!(outcome(alone.clone()), Outcome::NotReproduced);
    let mut all = vec![alone];
    for number in 0..19 {
        let mut good = offline(&[100.0]).expecting(TOKENS, official(100.0));
        good.plan.scenario = format!("case {number}").into();
        all.push(good);
    }
    let verdict = judge(&context(), &all);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(sentence(&verdict).contains("Holm"), "{}", sentence(&verdict));
    // What is far off stays so, and one that is invalid takes no part.
    all[1] = offline(&[80.0]).expecting(TOKENS, official(100.0));
    let verdict = judge(&context(), &all);
    assert_eq!(verdict.outcome, Outcome::NotReproduced);
    assert_eq!(verdict.headline, "1 of 20 published figures does not hold.");
}

#[test]
fn results_that_cannot_be_judged_are_counted_among_the_results() {
    let mut unknown = offline(&[100.0]);
    unknown.unknown_rules = Some("no rules of it are known".to_owned());
    let known = offline(&[100.0]).expecting(TOKENS, official(100.0));
    let verdict = judge(&context(), &[known, unknown]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert_eq!(verdict.headline, "1 of 2 results is undecided.");
}

/// `latency` in a name says nothing; a recipe that defines the figure does.
#[test]
fn a_figure_whose_direction_nobody_defines_is_undecided() {
    let figure = "latency_hiding_factor";
    let evidence = own("gemm", figure, "s", &[1.0]).expecting(figure, official(1.0));
    let mut undefined = evidence.clone();
    undefined.plan.figures.clear();
    let verdict = judge(&context_of_other_suite(), &[undefined]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    let judgement = &verdict.results[0].judgements[0];
    assert_eq!(judgement.ratio, None);
    assert!(judgement.sentence.contains(UNKNOWN_DIRECTION), "{}", judgement.sentence);
    let defined = evidence.with_source(figure, source());
    let verdict = judge(&context_of_other_suite(), &[defined]);
    assert_eq!(verdict.results[0].judgements[0].ratio, Some(1.0));
}

#[test]
fn the_worst_figure_decides_a_result() {
    let evidence = offline(&[100.0])
        .with_figure("samples_per_second", 50.0, "samples/s")
        .expecting(TOKENS, official(100.0))
        .expecting("samples_per_second", official(100.0));
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::NotReproduced);
    assert_eq!(verdict.results[0].deciding.as_deref(), Some("samples_per_second"));
    assert_eq!(verdict.results[0].judgements.len(), 2);
}

#[test]
fn a_result_without_reference_is_measured() {
    let verdict = judge(&context(), &[offline(&[100.0, 102.0])]);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (Outcome::Measured, 0));
    assert_eq!(verdict.results[0].deciding.as_deref(), Some(TOKENS));
    let mean = verdict.results[0].figures[TOKENS].value;
    assert!((mean - 100.995).abs() < 1e-3, "{mean}");
}
