//! Accuracy: its own rules, and what it does to performance.

use rstest::rstest;

use super::build::*;
use crate::verdict::{Evidence, Outcome, QualifierKind, RunContext, StepOutcome, Verdict, judge};
use retrial_recipe::model::{Expectation, Limit, Submission};

fn target(min: f64) -> Limit {
    Limit { min: Some(min), ..Limit::default() }
}

fn speed() -> Evidence {
    offline(&[100.0]).expecting(TOKENS, official(100.0))
}

fn mlperf() -> RunContext {
    RunContext {
        submission: Submission {
            suite: "mlperf-inference".to_owned(),
            round: Some("v6.0".to_owned()),
            division: Some(retrial_mlperf::Division::Closed),
            benchmark: "llama2-70b-99".to_owned(),
            ..Submission::default()
        },
        accuracy_scenarios: vec!["Offline".into()],
        ..RunContext::default()
    }
}

fn performance_only(verdict: &Verdict) -> bool {
    verdict.qualifiers.iter().any(|qualifier| qualifier.kind == QualifierKind::PerformanceOnly)
}

#[rstest]
#[case(false, Outcome::Reproduced, 0)]
#[case(true, Outcome::Inconclusive, 5)]
fn performance_without_accuracy(
    #[case] require_accuracy: bool,
    #[case] outcome: Outcome,
    #[case] code: u8,
) {
    let context = RunContext { require_accuracy, ..mlperf() };
    let verdict = judge(&context, &[speed()]);
    assert_eq!(verdict.outcome, outcome);
    assert!(performance_only(&verdict));
    assert_eq!(verdict.exit_code.code(), code);
    let says_why = verdict.sentence().contains("--require-accuracy");
    assert_eq!(says_why, require_accuracy, "{}", verdict.sentence());
}

#[rstest]
#[case(false)]
#[case(true)]
fn performance_with_accuracy(#[case] require_accuracy: bool) {
    let context = RunContext { require_accuracy, ..mlperf() };
    let right = accuracy("Offline", "rouge1", 44.46).limited("rouge1", target(43.987));
    let verdict = judge(&context, &[speed(), right]);
    assert_eq!(verdict.outcome, Outcome::Reproduced);
    assert!(!performance_only(&verdict));
    assert_eq!(verdict.exit_code.code(), 0);
}

#[test]
fn accuracy_of_another_scenario_does_not_count_in_mlperf() {
    let other = accuracy("Server", "rouge1", 44.46).limited("rouge1", target(43.987));
    assert!(performance_only(&judge(&mlperf(), &[speed(), other])));
}

#[rstest]
#[case("rouge1", "ROUGE1")]
#[case("ROUGE1", "rouge1")]
fn figure_names_are_case_insensitive(#[case] printed: &str, #[case] name: &str) {
    let outcome = |value| {
        let evidence = accuracy("Offline", printed, value).limited(name, target(43.987));
        judge(&mlperf(), &[speed(), evidence]).outcome
    };
    assert_eq!(outcome(44.46), Outcome::Reproduced);
    assert_eq!(outcome(43.0), Outcome::Invalid);
}

#[test]
fn a_custom_suite_can_share_one_accuracy_scenario() {
    let mut context = context_of_other_suite();
    context.accuracy_scenarios = vec!["digits".into()];
    assert!(performance_only(&judge(&context, &[speed()])));
    let right = accuracy("digits", "accuracy", 0.97).limited("accuracy", target(0.9));
    assert!(!performance_only(&judge(&context, &[speed(), right])));
    // A benchmark without an accuracy lacks none, unless one is required.
    context.accuracy_scenarios.clear();
    assert!(!performance_only(&judge(&context, &[speed()])));
    context.require_accuracy = true;
    let verdict = judge(&context, &[speed()]);
    assert!(performance_only(&verdict));
    assert_eq!(verdict.exit_code.code(), 5);
}

#[test]
fn accuracy_without_a_target_does_not_count() {
    let unjudged = accuracy("Offline", "rouge1", 12.0);
    let verdict = judge(&mlperf(), &[speed(), unjudged]);
    assert!(performance_only(&verdict));
}

#[test]
fn accuracy_below_its_target_invalidates_performance() {
    let wrong = accuracy("Offline", "rouge1", 43.0).limited("rouge1", target(43.987));
    let verdict = judge(&mlperf(), &[speed(), wrong]);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (Outcome::Invalid, 1));
    let outcomes: Vec<Outcome> = verdict.results.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Outcome::Invalid, Outcome::Invalid]);
    assert!(verdict.results[0].sentence.contains("rouge1 is 43; required at least 43.987"));
}

#[test]
fn accuracy_that_failed_to_run_leaves_performance_only() {
    let mut broken = accuracy("Offline", "rouge1", 44.0).limited("rouge1", target(43.987));
    broken.trials[0].outcome =
        StepOutcome::Failed { reason: "no such file".to_owned(), code: Some(1) };
    let verdict = judge(&mlperf(), &[speed(), broken]);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (Outcome::Failed, 4));
    assert!(performance_only(&verdict));
}

/// Accuracy is compared as it is printed; its margin is 1 %, as `MLPerf`'s targets have it.
#[rstest]
#[case(44.5, None, Outcome::Reproduced)]
#[case(44.06, None, Outcome::Reproduced)]
#[case(44.05, None, Outcome::Invalid)]
#[case(44.05, Some(0.02), Outcome::Reproduced)]
#[case(44.49, Some(0.0), Outcome::Invalid)]
fn accuracy_is_compared_with_published_accuracy(
    #[case] value: f64,
    #[case] margin: Option<f64>,
    #[case] expected: Outcome,
) {
    let published = Expectation { margin, ..official(44.5) };
    let verdict =
        judge(&mlperf(), &[accuracy("Offline", "rouge1", value).expecting("rouge1", published)]);
    assert_eq!(verdict.outcome, expected, "{}", verdict.sentence());
}

#[test]
fn only_mlperf_results_have_the_notice() {
    let notice = judge(&mlperf(), &[speed()]).notice.unwrap();
    assert!(notice.starts_with("Unverified MLPerf v6.0 Inference Closed llama2-70b-99"));
    assert_eq!(judge(&context_of_other_suite(), &[speed()]).notice, None);
}
