//! Limits of a recipe on its figures.

use rstest::rstest;

use super::build::*;
use super::validity::verdict;
use crate::verdict::{Outcome, Verdict, judge};
use retrial_recipe::model::Limit;

#[rstest]
#[case(0.0, "0 tokens/s")]
#[case(-1.0, "-1 tokens/s")]
#[case(f64::NAN, "NaN")]
#[case(f64::INFINITY, "infinite")]
#[case(f64::NEG_INFINITY, "infinite")]
fn a_figure_without_a_ratio_is_invalid(#[case] value: f64, #[case] fragment: &str) {
    let verdict = verdict(offline(&[100.0, value]));
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert!(verdict.sentence().contains(fragment), "{}", verdict.sentence());
    let json = serde_json::to_string(&verdict).unwrap();
    let read: Verdict = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

/// Programs print -1 where they measured nothing; temperatures and differences may be below zero.
#[rstest]
#[case::a_time("ms", None, false)]
#[case::a_rate("tokens/s", None, false)]
#[case::a_temperature("°C", None, true)]
#[case::a_difference_of_times("ms", Some(-5.0), true)]
fn no_rate_or_time_below_zero_keeps_a_limit(
    #[case] unit: &str,
    #[case] min: Option<f64>,
    #[case] passes: bool,
) {
    let mut evidence = own("case", "x", unit, &[-1.0]);
    let limit = Limit { min, max: Some(450.0), below: None };
    evidence.plan.limits = vec![("x".to_owned(), limit)];
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome != Outcome::Invalid, passes, "{}", verdict.sentence());
}

#[rstest]
#[case(Limit { below: Some(450e6), ..Limit::default() }, 449e6, true)]
#[case(Limit { below: Some(450e6), ..Limit::default() }, 450e6, false)]
#[case(Limit { max: Some(450e6), ..Limit::default() }, 450e6, true)]
#[case(Limit { max: Some(450e6), ..Limit::default() }, 451e6, false)]
#[case(Limit { min: Some(450e6), ..Limit::default() }, 450e6, true)]
#[case(Limit { min: Some(450e6), ..Limit::default() }, 449e6, false)]
#[case(Limit { min: Some(1e6), max: Some(2e6), below: None }, 3e6, false)]
#[case(Limit { min: Some(1e6), ..Limit::default() }, f64::NAN, false)]
fn limits(#[case] limit: Limit, #[case] value: f64, #[case] passes: bool) {
    let evidence =
        offline(&[100.0]).with_figure("ttft_p99_ns", value, "ns").limited("ttft_p99_ns", limit);
    let verdict = verdict(evidence);
    assert_eq!(verdict.outcome == Outcome::Reproduced, passes);
    assert_eq!(verdict.outcome == Outcome::Invalid, !passes);
    let rule = verdict.results[0].rules.iter().find(|rule| rule.rule == "ttft_p99_ns").unwrap();
    assert_eq!(rule.passed, passes);
}

#[test]
fn a_violated_limit_names_measured_and_required() {
    let limit = Limit { below: Some(450e6), ..Limit::default() };
    let evidence =
        offline(&[100.0]).with_figure("ttft_p99_ns", 1e9, "ns").limited("ttft_p99_ns", limit);
    let verdict = verdict(evidence);
    assert_eq!(&*verdict.results[0].sentence, "ttft_p99_ns is 1 s; required below 450 ms.");
}

#[test]
fn a_limit_on_a_missing_figure() {
    let limit = Limit { min: Some(1.0), ..Limit::default() };
    assert_eq!(verdict(offline(&[100.0]).limited("rouge1", limit)).outcome, Outcome::Invalid);
}

/// It is published and has a limit: it is one violation nevertheless.
#[test]
fn a_missing_figure_is_reported_once() {
    let limit = Limit { min: Some(1.0), ..Limit::default() };
    let mut evidence = offline(&[100.0]).limited(TOKENS, limit);
    evidence.trials[0].figures.clear();
    let verdict = verdict(evidence);
    assert_eq!(verdict.sentence(), "Offline performance: tokens_per_second is missing.");
    let rules = verdict.results[0].rules.iter();
    assert_eq!(rules.filter(|rule| !rule.passed).count(), 1);
}
