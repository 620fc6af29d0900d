//! Qualifiers of an outcome.

use rstest::rstest;

use super::build::*;
use crate::verdict::{
    Evidence, Outcome, Qualifier, QualifierKind, RunContext, StatedValidity, StepOutcome, Verdict,
    judge,
};
use retrial_mlperf::loadgen::RunSettings;
use retrial_recipe::model::{Claim, Expectation, Limit};

/// Of a suite whose recipe states the noise of a trial.
fn calm_context() -> RunContext {
    let mut context = context_of_other_suite();
    context.rules.noise = Some(0.003);
    context
}

fn kinds(verdict: &Verdict) -> Vec<QualifierKind> {
    verdict.qualifiers.iter().map(|qualifier| qualifier.kind).collect()
}

#[rstest]
#[case(105.0, false)]
#[case(105.1, true)]
fn results_above_the_margin_exceed_published(#[case] value: f64, #[case] above: bool) {
    let verdict = judge(&calm_context(), &[offline(&[value]).expecting(TOKENS, official(100.0))]);
    assert_eq!(verdict.outcome, Outcome::Reproduced);
    assert_eq!(kinds(&verdict).contains(&QualifierKind::ExceedsPublished), above);
}

fn server(target: Option<f64>, published: Option<f64>) -> Evidence {
    let mut evidence = loadgen("Server", "completed_tokens_per_second", "tokens/s", &[100.0])
        .expecting("completed_tokens_per_second", official(100.0));
    evidence.plan.target_qps = published;
    if let Some(target) = target {
        let mut run_settings = RunSettings::default();
        run_settings.settings.target_qps = Some(target);
        evidence.trials[0].run_settings = Some(run_settings);
    }
    evidence
}

#[rstest]
#[case(Some(69.0), Some(69.0), false)]
// LoadGen prints six digits.
#[case(Some(0.333_333), Some(1.0 / 3.0), false)]
#[case(Some(70.0), Some(69.0), true)]
#[case(Some(f64::NAN), Some(69.0), true)]
#[case(None, Some(69.0), false)]
#[case(Some(70.0), None, false)]
fn another_target_rate_is_modified(
    #[case] target: Option<f64>,
    #[case] published: Option<f64>,
    #[case] modified: bool,
) {
    let verdict = judge(&calm_context(), &[server(target, published)]);
    assert_eq!(kinds(&verdict).contains(&QualifierKind::Modified), modified);
    assert_eq!(verdict.exit_code.code(), 0, "a qualifier changes no outcome");
}

#[test]
fn the_target_rate_of_offline_is_ignored() {
    let mut evidence = server(Some(70.0), Some(69.0));
    evidence.plan.scenario = "Offline".into();
    assert!(kinds(&judge(&calm_context(), &[evidence])).is_empty());
}

#[test]
fn runner_qualifiers_appear_once_on_run_and_result() {
    let mut context = calm_context();
    context.rules.reimplemented = true;
    context.qualifiers = vec![
        Qualifier::new(QualifierKind::UnpinnedImage, "rocm/amd-mlperf:6.0 is a tag"),
        Qualifier::new(QualifierKind::OtherHardware, "MI300X, published on MI355X"),
        Qualifier::new(QualifierKind::Modified, "--set batch=4"),
    ];
    let evidence = offline(&[100.0]).expecting(TOKENS, official(100.0));
    let verdict = judge(&context, &[evidence.clone(), evidence]);
    let expected = [
        QualifierKind::Modified,
        QualifierKind::OtherHardware,
        QualifierKind::Reimplemented,
        QualifierKind::UnpinnedImage,
    ];
    assert_eq!(kinds(&verdict), expected);
    assert_eq!(verdict.results[0].qualifiers.len(), 4);
}

#[test]
fn qualifiers_are_serialized_as_words() {
    let mut context = calm_context();
    context.qualifiers = vec![Qualifier::new(QualifierKind::OtherHardware, "MI300X")];
    let json = serde_json::to_value(judge(&context, &[offline(&[100.0])])).unwrap();
    assert_eq!(json["qualifiers"][0]["kind"], "other hardware");
    assert_eq!(json["exit_code"], 0);
    assert_eq!(json["outcome"], "measured");
    assert_eq!(json["results"][0]["figures"][TOKENS]["unit"], "tokens/s");
    assert_eq!(json["results"][0]["mode"], "performance");
}

#[rstest]
#[case(149.0, &[], Claim::NotWorse, Outcome::Reproduced)]
#[case(151.0, &[], Claim::NotWorse, Outcome::Inconclusive)]
#[case(151.0, &[QualifierKind::Modified], Claim::NotWorse, Outcome::Reproduced)]
#[case(151.0, &[QualifierKind::OtherHardware], Claim::NotWorse, Outcome::Reproduced)]
#[case(151.0, &[QualifierKind::UnpinnedImage], Claim::NotWorse, Outcome::Inconclusive)]
#[case(151.0, &[], Claim::Better, Outcome::Reproduced)]
fn far_better_than_published_needs_an_explanation(
    #[case] value: f64,
    #[case] qualifiers: &[QualifierKind],
    #[case] claim: Claim,
    #[case] outcome: Outcome,
) {
    let qualifiers = qualifiers.iter();
    let context = RunContext {
        qualifiers: qualifiers.map(|kind| Qualifier::new(*kind, "a reason")).collect(),
        ..calm_context()
    };
    let expected = Expectation { claim, ..official(100.0) };
    let evidence = offline(&[value]).expecting(TOKENS, expected);
    let verdict = judge(&context, &[evidence]);
    assert_eq!(verdict.outcome, outcome, "{}", verdict.sentence());
}

fn smoke_test_context() -> RunContext {
    let mut context = context();
    let change = retrial_plan::SMOKE_TEST_CHANGE.to_owned();
    context.execution = vec![Qualifier::from_change(change)];
    context
}

#[rstest]
#[case(100.0)]
#[case(1.0)]
#[case(1e6)]
fn a_smoke_test_is_compared_with_nothing(#[case] value: f64) {
    let mut evidence = offline(&[value]).expecting(TOKENS, official(100.0));
    // Too short, as LoadGen says.
    let reason = "min duration not satisfied".to_owned();
    evidence.trials[0].validity = StatedValidity::Invalid(vec![reason]);
    let whole = judge(&context(), std::slice::from_ref(&evidence));
    assert_eq!(whole.outcome, Outcome::Invalid);
    let verdict = judge(&smoke_test_context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Measured);
    assert_eq!(kinds(&verdict), [QualifierKind::SmokeTest]);
    assert_eq!(verdict.exit_code.code(), 0);
    let result = &verdict.results[0];
    assert_eq!((result.ratio, result.judgements.len()), (None, 0));
    let value = result.figures[TOKENS].clone();
    let expected =
        format!("{TOKENS}: {value}; smoke test: not comparable with the published figure.");
    assert_eq!(&*result.sentence, expected);
}

/// Limits are those of a run of full length, and yet a figure is to be there.
#[test]
fn a_smoke_test_keeps_no_limits_and_needs_a_figure() {
    let limit = Limit { min: Some(1000.0), ..Limit::default() };
    let mut evidence = offline(&[1.0]).limited(TOKENS, limit);
    let judge_trial = |evidence: &Evidence| {
        let verdict = judge(&smoke_test_context(), std::slice::from_ref(evidence));
        verdict.outcome
    };
    assert_eq!(judge_trial(&evidence), Outcome::Measured);
    evidence.trials[0].figures.clear();
    assert_eq!(judge_trial(&evidence), Outcome::Invalid);
}

#[test]
fn a_smoke_test_without_its_figure_shows_a_fault() {
    let mut evidence = offline(&[100.0]).expecting(TOKENS, official(100.0));
    evidence.trials[0].figures.clear();
    let verdict = judge(&smoke_test_context(), &[evidence.clone()]);
    assert_eq!(verdict.outcome, Outcome::Invalid);
    evidence.trials[0].outcome = StepOutcome::TimedOut { reason: "after 1 h".to_owned() };
    let verdict = judge(&smoke_test_context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Failed);
}

/// What the command line excluded limits the verdict on the recipe, and no figure of it.
#[test]
fn a_run_of_a_part_is_a_verdict_in_part() {
    let plan = retrial_plan::Plan {
        excluded: ["Server performance", "Server accuracy", "a 1", "a 2"].map(str::to_owned).into(),
        ..retrial_plan::Plan::default()
    };
    let part = RunContext::from(&plan).part;
    let reason = part.as_ref().map(|part| part.reason.as_str());
    assert_eq!(reason, Some("without Server performance, Server accuracy, a 1 and 1 more"));
    let verdict = judge(&RunContext { part, ..calm_context() }, &[offline(&[100.0])]);
    assert!(kinds(&verdict).contains(&QualifierKind::InPart));
    assert!(verdict.results[0].qualifiers.iter().all(|one| one.kind != QualifierKind::InPart));
    let smoke_test = retrial_plan::Plan { smoke_test: true, ..plan };
    assert_eq!(RunContext::from(&smoke_test).part, None);
}
