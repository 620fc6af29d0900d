//! Invalid and failed come before everything else.

use rstest::rstest;

use super::build::*;
use crate::verdict::{Evidence, Outcome, RuleCheck, StatedValidity, StepOutcome, Verdict, judge};
use retrial_mlperf::loadgen::{ResultStatus, RunSettings};
use retrial_recipe::model::Mode;

pub(super) fn verdict(evidence: Evidence) -> Verdict {
    judge(&context(), &[evidence.expecting(TOKENS, official(100.0))])
}

fn reason(text: &str) -> String {
    text.to_owned()
}

#[rstest]
#[case(StepOutcome::Failed { reason: reason("no GPU"), code: Some(3) }, Outcome::Failed, 4, "the step failed: no GPU")]
#[case(StepOutcome::Failed { reason: reason("out of memory"), code: None }, Outcome::Failed, 4, "out of memory")]
#[case(StepOutcome::TimedOut { reason: reason("after 2 h") }, Outcome::Failed, 4, "ran out of time: after 2 h")]
#[case(StepOutcome::NotRun { reason: reason("setup failed") }, Outcome::Failed, 4, "did not run: setup failed")]
#[case(StepOutcome::NoNewResult { reason: reason("the summary is from before") }, Outcome::Invalid, 1, "no new result")]
fn step_outcomes_decide_the_verdict(
    #[case] step: StepOutcome,
    #[case] expected: Outcome,
    #[case] code: u8,
    #[case] fragment: &str,
) {
    let mut evidence = offline(&[100.0, 100.0]);
    evidence.trials[1].outcome = step;
    let verdict = verdict(evidence);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (expected, code));
    assert!(verdict.sentence().contains(fragment), "{}", verdict.sentence());
    assert!(verdict.sentence().contains("trial 2: "), "{}", verdict.sentence());
    assert!(!verdict.results[0].valid);
    assert!(verdict.results[0].trials[0].valid && !verdict.results[0].trials[1].valid);
    let broken: Vec<_> = verdict.results[0].rules.iter().filter(|rule| !rule.passed).collect();
    assert_eq!((broken.len(), broken[0].trial), (1, Some(2)));
}

#[test]
fn a_declared_figure_that_matched_nothing_is_invalid() {
    let mut evidence = own("case", "speed", "items/s", &[42.5, 42.5])
        .with_figure("latency", 3.0, "ms")
        .with_source("speed", source())
        .with_source("latency", source());
    let verdict = judge(&context(), std::slice::from_ref(&evidence));
    assert_eq!(verdict.outcome, Outcome::Measured);
    let sentence = &verdict.results[0].sentence;
    assert!(sentence.contains("speed: 42.5 items/s; latency: 3 ms; nothing"), "{sentence}");
    evidence.trials[1].figures.remove("latency");
    let why = ("latency".to_owned(), "no line matches".to_owned());
    evidence.trials[1].missing.extend([why]);
    let verdict = judge(&context(), &[evidence]);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (Outcome::Invalid, 1));
    let sentence = &verdict.sentence();
    assert!(sentence.contains("trial 2: latency is missing: no line matches"), "{sentence}");
    let rule = verdict.results[0].rules.iter().find(|rule| !rule.passed);
    assert_eq!(rule.unwrap().rule, "latency");
}

#[test]
fn a_missing_figure_is_never_a_pass() {
    let mut evidence = offline(&[100.0]);
    evidence.trials[0].figures.clear();
    let verdict = verdict(evidence);
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert!(verdict.sentence().contains("tokens_per_second is missing"), "{}", verdict.sentence());
    assert_eq!(verdict.results[0].judgements[0].outcome, Outcome::Invalid);
}

#[rstest]
#[case(Mode::Performance, StatedValidity::NotStated)]
#[case(Mode::Performance, StatedValidity::Valid)]
#[case(Mode::Accuracy, StatedValidity::Valid)]
#[case(Mode::Compliance, StatedValidity::NotStated)]
fn a_result_without_figures_is_invalid(#[case] mode: Mode, #[case] validity: StatedValidity) {
    let mut evidence = own("case", "x", "", &[f64::NAN]);
    evidence.plan.mode = mode;
    evidence.trials[0].validity = validity;
    assert_eq!(judge(&context(), &[evidence]).outcome, Outcome::Invalid);
}

#[test]
fn a_compliance_test_can_have_no_figures() {
    let mut evidence = own("Offline", "x", "", &[f64::NAN]);
    evidence.plan.mode = Mode::Compliance;
    evidence.trials[0].validity = StatedValidity::Valid;
    assert_eq!(judge(&context(), &[evidence]).outcome, Outcome::Measured);
}

#[test]
fn an_invalid_loadgen_result_is_invalid() {
    let mut evidence = offline(&[100.0]);
    evidence.trials[0].validity =
        StatedValidity::Invalid(vec![reason("Min duration satisfied : NO")]);
    let verdict = verdict(evidence);
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert_eq!(
        verdict.sentence(),
        "Offline performance: LoadGen says INVALID (Min duration satisfied : NO)."
    );
}

/// LoadGen's logs say themselves who says what: an accuracy run has no word VALID.
#[rstest]
#[case(Mode::Accuracy, None, "LoadGen counted 1 error in the detail log", "LoadGen's logs")]
#[case(
    Mode::Performance,
    Some(ResultStatus::Invalid),
    "LoadGen's result is INVALID",
    "LoadGen's result"
)]
#[case(Mode::Performance, Some(ResultStatus::Valid), "the two logs disagree", "LoadGen's result")]
fn the_reasons_of_loadgens_logs_stand_alone(
    #[case] mode: Mode,
    #[case] result: Option<ResultStatus>,
    #[case] text: &str,
    #[case] rule: &str,
) {
    let mut evidence = offline(&[100.0]);
    evidence.plan.mode = mode;
    evidence.trials[0].validity = StatedValidity::Invalid(vec![reason(text)]);
    evidence.trials[0].run_settings = Some(RunSettings { result, ..RunSettings::default() });
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.sentence(), format!("Offline {mode}: {text}."));
    let violated = verdict.results[0].rules.iter().find(|check| !check.passed);
    assert_eq!(violated.unwrap().rule, rule);
}

#[test]
fn a_performance_summary_must_state_valid() {
    let mut evidence = offline(&[100.0]);
    evidence.trials[0].validity = StatedValidity::NotStated;
    assert_eq!(verdict(evidence.clone()).outcome, Outcome::Invalid);
    // Other suites have no such word.
    evidence.plan.loadgen = false;
    assert_ne!(verdict(evidence).outcome, Outcome::Invalid);
}

#[test]
fn an_empty_run_does_not_pass() {
    assert_eq!(judge(&context(), &[]).outcome, Outcome::Invalid);
    let verdict = judge(&context(), &[offline(&[])]);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (Outcome::Failed, 4));
}

/// failed > invalid > not reproduced > inconclusive > reproduced > measured, with their exit codes.
#[test]
fn precedence_over_scenarios() {
    let mut failed = offline(&[100.0]);
    failed.trials[0].outcome = StepOutcome::TimedOut { reason: reason("after 2 h") };
    let mut invalid = offline(&[100.0]);
    invalid.trials[0].validity = StatedValidity::Invalid(Vec::new());
    let ranked = [
        (offline(&[100.0]), Outcome::Measured, 0),
        (offline(&[100.0]).expecting(TOKENS, official(100.0)), Outcome::Reproduced, 0),
        (offline(&[95.2]).expecting(TOKENS, official(100.0)), Outcome::Inconclusive, 5),
        (offline(&[50.0]).expecting(TOKENS, official(100.0)), Outcome::NotReproduced, 1),
        (invalid, Outcome::Invalid, 1),
        (failed, Outcome::Failed, 4),
    ];
    for (position, (evidence, outcome, code)) in ranked.iter().enumerate() {
        for (other, ..) in &ranked[..=position] {
            let verdict = judge(&context(), &[other.clone(), evidence.clone()]);
            assert_eq!((verdict.outcome, verdict.exit_code.code()), (*outcome, *code));
        }
    }
}

#[test]
fn all_trials_are_used_and_outliers_are_shown() {
    let evidence = offline(&[100.0, 100.2, 99.9, 100.1, 60.0]).expecting(TOKENS, official(100.0));
    let result = &judge(&context(), &[evidence]).results[0];
    assert_eq!(result.trials.len(), 5);
    assert_eq!(result.trials[4].outlier_in, [TOKENS]);
    assert_eq!(result.judgements[0].outliers, [5]);
    assert_eq!(result.judgements[0].slow, [5]);
    assert_eq!(result.judgements[0].measured.as_ref(), result.figures.get(TOKENS));
    let fragment =
        "median of 5 trials, noise 0.1 %, trial 5 is 40 % slower than the median, which is judged";
    assert!(result.sentence.contains(fragment), "{}", result.sentence);
    assert!(result.trials[0].outlier_in.is_empty());
    // Two of five are not rare, and a fast one is not slow: they count in the mean.
    let others = [[100.0, 100.2, 61.0, 100.1, 60.0], [100.0, 100.2, 99.9, 100.1, 160.0]];
    for values in others {
        let evidence = offline(&values).expecting(TOKENS, official(100.0));
        let result = &judge(&context(), &[evidence]).results[0];
        assert!(result.judgements[0].slow.is_empty());
        assert_eq!(result.outcome, Outcome::Inconclusive);
    }
}

/// What was checked where the files are belongs to the trial that it was found in.
#[test]
fn a_check_of_one_trial_names_the_trial() {
    let mut evidence = offline(&[100.0, 100.5, 101.0]);
    let check = RuleCheck::violation("mode", "AccuracyOnly", "PerformanceOnly");
    evidence.checks.push(check.for_trial(Some(2)));
    let result = judge(&context(), &[evidence]).results.remove(0);
    let valid: Vec<bool> = result.trials.iter().map(|trial| trial.valid).collect();
    assert_eq!(valid, [true, false, true]);
    let fragment = "trial 2: mode: AccuracyOnly; required PerformanceOnly";
    assert!(result.sentence.contains(fragment), "{}", result.sentence);
}

#[rstest]
#[case(100.0, Outcome::Inconclusive, 5, "the figure agrees (1.000), validity cannot be shown")]
#[case(80.0, Outcome::NotReproduced, 1, "")]
fn a_log_excerpt_only_shows_a_figure(
    #[case] value: f64,
    #[case] expected: Outcome,
    #[case] code: u8,
    #[case] fragment: &str,
) {
    let mut evidence = offline(&[value]);
    evidence.trials[0].excerpt = true;
    let verdict = verdict(evidence);
    assert_eq!((verdict.outcome, verdict.exit_code.code()), (expected, code));
    assert!(verdict.sentence().contains(fragment), "{}", verdict.sentence());
}

#[test]
fn an_excerpt_without_a_published_figure_is_not_measured() {
    let mut evidence = offline(&[100.0]);
    evidence.trials[0].excerpt = true;
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(verdict.sentence().contains("validity cannot be shown"), "{}", verdict.sentence());
}
