//! How a run was executed, and GPUs that did nothing.

use rstest::rstest;

use super::build::*;
use crate::verdict::{
    Evidence, ExitCode, Outcome, QualifiedOutcome, Qualifier, QualifierKind, RunContext, judge,
};
use retrial_telemetry::{IdleGpus, TelemetrySummary};

/// Eight GPUs, of which so many were idle.
fn watched(idle: u32) -> Option<TelemetrySummary> {
    let idle = (idle > 0).then(|| IdleGpus {
        machine: None,
        gpus: (0..idle).collect(),
        of: 8,
        required: 8,
    });
    Some(TelemetrySummary { samples: 10, gpus: 8, idle, ..TelemetrySummary::default() })
}

fn with_telemetry(value: f64, trials: &[Option<TelemetrySummary>]) -> Evidence {
    let values = vec![value; trials.len()];
    let mut evidence = offline(&values).expecting(TOKENS, official(100.0));
    for (trial, telemetry) in evidence.trials.iter_mut().zip(trials) {
        trial.telemetry.clone_from(telemetry);
    }
    evidence
}

#[rstest]
#[case::reproduced(100.0)]
#[case::not_reproduced(50.0)]
fn nothing_is_decided_if_all_gpus_were_idle_in_every_trial(#[case] value: f64) {
    let trials = [watched(8), watched(8), watched(8)];
    let verdict = judge(&context(), &[with_telemetry(value, &trials)]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert_eq!(verdict.exit_code, ExitCode::Inconclusive);
    let result = &verdict.results[0];
    assert_eq!(result.judgements[0].outcome, Outcome::Inconclusive);
    assert_eq!(result.judgements[0].more_trials, None);
    assert!(result.sentence.contains("were idle"), "{}", result.sentence);
    assert!(verdict.sentence().contains("were idle"), "{}", verdict.sentence());
    assert_eq!(verdict.qualifiers[0].kind, QualifierKind::IdleGpus);
}

#[test]
fn a_result_without_a_published_figure_is_undecided_too() {
    let mut evidence = offline(&[100.0]);
    evidence.trials[0].telemetry = watched(8);
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
}

#[rstest]
#[case::some_gpus(&[watched(7), watched(7), watched(7)], true)]
#[case::one_trial(&[watched(8), watched(8), watched(0)], true)]
#[case::none(&[watched(0), watched(0), watched(0)], false)]
#[case::not_watched(&[None, None, None], false)]
fn some_idle_gpus_are_a_qualifier(
    #[case] trials: &[Option<TelemetrySummary>],
    #[case] qualified: bool,
) {
    let verdict = judge(&context(), &[with_telemetry(100.0, trials)]);
    assert_eq!(verdict.outcome, Outcome::Reproduced);
    let has_idle = |one: &Qualifier| one.kind == QualifierKind::IdleGpus;
    assert_eq!(verdict.qualifiers.iter().any(has_idle), qualified);
}

#[test]
fn a_trial_that_failed_does_not_show_idle_gpus() {
    let mut evidence = with_telemetry(100.0, &[watched(8)]);
    evidence.trials[0].figures.clear();
    let verdict = judge(&context(), &[evidence]);
    let has_idle = |one: &Qualifier| one.kind == QualifierKind::IdleGpus;
    assert!(!verdict.qualifiers.iter().any(has_idle), "{verdict:?}");
}

#[test]
fn idle_gpus_of_one_machine_are_not_all() {
    let mut summary = watched(8).unwrap();
    summary.gpus = 16;
    let evidence = with_telemetry(100.0, &[Some(summary)]);
    assert_eq!(judge(&context(), &[evidence]).outcome, Outcome::Reproduced);
    let mut summary = watched(8).unwrap();
    summary.unwatched_machines.push("n2".to_owned());
    let evidence = with_telemetry(100.0, &[Some(summary)]);
    assert_eq!(judge(&context(), &[evidence]).outcome, Outcome::Reproduced);
}

#[test]
fn a_violated_rule_comes_before_idle_gpus() {
    let mut evidence = with_telemetry(100.0, &[watched(8)]);
    evidence.trials[0].validity =
        crate::verdict::StatedValidity::Invalid(vec!["too short".to_owned()]);
    assert_eq!(judge(&context(), &[evidence]).outcome, Outcome::Invalid);
}

fn skipped() -> Qualifier {
    Qualifier::new(QualifierKind::Modified, "--skip setup-lock-clocks")
}

#[test]
fn a_changed_execution_qualifies_the_run_and_each_result() {
    let context = RunContext { execution: vec![skipped()], ..context() };
    let evidence = offline(&[100.0]).expecting(TOKENS, official(100.0));
    let verdict = judge(&context, &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Reproduced);
    assert!(verdict.qualifiers.contains(&skipped()));
    assert!(verdict.results[0].qualifiers.contains(&skipped()));
    let qualified = verdict.qualified_outcome().to_string();
    assert_eq!(qualified, "reproduced (performance only, modified)");
}

/// `--set` says what else was measured; a skipped step does not.
#[test]
fn a_changed_execution_explains_no_implausible_figure() {
    let evidence = || offline(&[200.0]).expecting(TOKENS, official(100.0));
    let by_set = RunContext {
        qualifiers: vec![Qualifier::new(QualifierKind::Modified, "--set batch=8")],
        ..context()
    };
    assert_eq!(judge(&by_set, &[evidence()]).outcome, Outcome::Reproduced);
    let by_skip = RunContext { execution: vec![skipped()], ..context() };
    assert_eq!(judge(&by_skip, &[evidence()]).outcome, Outcome::Inconclusive);
}

#[test]
fn a_qualified_outcome_names_each_kind_once() {
    let kinds = [QualifierKind::UnpinnedImage, QualifierKind::Modified, QualifierKind::Modified];
    let outcome = QualifiedOutcome::from_kinds(Outcome::NotReproduced, kinds);
    assert_eq!(outcome.to_string(), "not reproduced (modified, unpinned image)");
    let plain = QualifiedOutcome::from_kinds(Outcome::Measured, []);
    assert_eq!(plain.to_string(), "measured");
}
