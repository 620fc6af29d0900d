//! The evidence in `LoadGen`'s logs of a trial.

use super::folder::{DETAIL, SUMMARY};
use crate::verdict::{Evidence, FigureValue, RuleCheck, StatedValidity, TrialEvidence};
use retrial_mlperf::check::Rule;
use retrial_mlperf::compliance::Test;
use retrial_mlperf::loadgen::{self, LoadgenRun, TestScenario, ValidityReport};
use retrial_mlperf::other_suite::OtherSuite;
use retrial_recipe::model::Mode;

/// The error that LoadGen reports where it finds `audit.config`, which each test needs.
const AUDIT_CONFIG: &str = "Multiple conf files are used";

/// Adds the contents of `LoadGen`'s logs to a trial: figures under their own names and under those that
/// the recipe expects, validity, and what was asked for.
pub fn add_loadgen_evidence(run: &LoadgenRun, evidence: &mut Evidence, trial: &mut TrialEvidence) {
    let all = run.figures();
    let value = |figure: &retrial_readings::Figure| {
        FigureValue::new(figure.value, figure.unit.clone()).with_half_digit(figure.half_digit)
    };
    trial.figures.extend(all.iter().map(|(name, figure)| (name.to_string(), value(figure))));
    for name in evidence.required_figures() {
        if let Some(figure) = run.resolve_figure(name) {
            trial.figures.insert(name.clone(), value(&figure));
        }
    }
    if let (Some(scenario), Mode::Performance) = (run.scenario(), evidence.plan.mode) {
        let tokens =
            all.keys().any(|name| name.as_ref() == loadgen::published_metric(scenario, true));
        let metric = evidence.plan.rules.as_ref().map(|rules| rules.metric.figure.as_str());
        let metric = metric
            .filter(|name| all.contains_key(*name))
            .unwrap_or_else(|| loadgen::published_metric(scenario, tokens));
        evidence.published_metric = Some(metric.to_owned());
    }
    let audited =
        (evidence.plan.mode == Mode::Compliance).then(|| drop_audit_config_error(run.clone()));
    let run = audited.as_ref().unwrap_or(run);
    // What is not known to be valid is not valid.
    let ValidityReport { reasons, stated_in, .. } = run.validity();
    trial.invalid_in = stated_in;
    trial.validity =
        if reasons.is_empty() { StatedValidity::Valid } else { StatedValidity::Invalid(reasons) };
    if evidence.plan.mode == Mode::Compliance && !is_speed_compared(&trial.path) {
        if let StatedValidity::Invalid(reasons) = &trial.validity {
            let required = "VALID, except in tests of answers";
            let check = RuleCheck::warning(loadgen::validity_rule(), reasons.join("; "), required);
            evidence.checks.push(check);
        }
        trial.validity = StatedValidity::NotStated;
    }
    trial.run_settings = Some(run.run_settings());
    trial.excerpt = run.is_excerpt();
    let mut checks = run.check_detail_log();
    let is_ruled = evidence.plan.rules.is_some() || evidence.unknown_rules.is_some();
    let other = OtherSuite::from_run(run).filter(|_| is_ruled);
    checks.extend(other.map(|suite| {
        let required = "MLPerf Inference, by whose rules it is judged";
        RuleCheck::violation("suite", suite.to_string(), required)
    }));
    if evidence.plan.mode != Mode::Accuracy {
        checks.extend(run.check_consistency());
    }
    let loadgen_checks = checks.into_iter();
    evidence.checks.extend(loadgen_checks.map(|check| check.for_trial(Some(trial.trial))));
}

/// Returns a failed check where the logs are of another mode or scenario than their folder; properties
/// that they do not state are skipped. LoadGen calls an Interactive run Server.
pub(crate) fn check_mode_and_scenario(
    run: &LoadgenRun,
    mode: loadgen::TestMode,
    scenario: Option<TestScenario>,
) -> Vec<RuleCheck> {
    let other_mode = run.mode().filter(|actual| *actual != mode);
    let other_mode = other_mode.map(|actual| {
        let rule = Rule::of_entries("mode", ["effective_test_mode"]);
        RuleCheck::violation(rule, actual.to_string(), mode.to_string())
    });
    let other_scenario = run.scenario().zip(scenario).and_then(|(actual, scenario)| {
        let logged = scenario.to_logged();
        let is_other = actual != logged && actual != scenario;
        let rule = Rule::of_entries("scenario", ["effective_scenario"]);
        is_other.then(|| RuleCheck::violation(rule, actual.to_string(), logged.word()))
    });
    other_mode.into_iter().chain(other_scenario).collect()
}

/// Logs of another mode or scenario than that of an accuracy run are reported with their path: MLCommons'
/// checker takes them, and five folders of v5.1 have them.
pub fn warn_of_other_kind(run: &LoadgenRun, scenario: Option<TestScenario>) -> Vec<RuleCheck> {
    let file = if run.detail.is_some() { DETAIL } else { SUMMARY };
    let checks = check_mode_and_scenario(run, loadgen::TestMode::Accuracy, scenario);
    checks
        .into_iter()
        .map(|check| {
            let rule = format!("{} of accuracy/{file}", check.rule);
            let required = format!("{}; the official checker does not check this", check.required);
            RuleCheck {
                stated_in: check.stated_in,
                ..RuleCheck::warning(rule, check.measured, required)
            }
        })
        .collect()
}

/// Returns whether the speed of a test's run is compared with the submitted one. The others run a few
/// queries to look at the answers, and LoadGen calls most of them INVALID for being short.
pub(crate) fn is_speed_compared(path: &str) -> bool {
    let mut tests = path.split('/').filter_map(|part| part.parse::<Test>().ok());
    tests.all(|test| matches!(test, Test::Test01 | Test::Test04 | Test::Test05))
}

/// Leaves the error out that every run with an `audit.config` has.
fn drop_audit_config_error(mut run: LoadgenRun) -> LoadgenRun {
    let Some(detail) = &mut run.detail else {
        return run;
    };
    let before = detail.error_messages.len();
    detail.error_messages.retain(|message| !message.contains(AUDIT_CONFIG));
    let omitted = (before - detail.error_messages.len()) as u64;
    detail.errors = detail.errors.saturating_sub(omitted);
    detail.num_errors = detail.num_errors.map(|count| count.saturating_sub(omitted));
    if let Some(errors) = run.summary.as_mut().and_then(|summary| summary.errors.as_mut()) {
        *errors = errors.saturating_sub(omitted);
    }
    run
}

/// Names the log that figures come from where the other one, from which MLCommons publishes, is
/// missing.
pub fn warn_of_missing_detail_log(run: &LoadgenRun) -> Option<RuleCheck> {
    let is_summary = run.detail.is_none() && run.summary.is_some();
    let measured = "missing; figures are those printed in the summary";
    is_summary.then(|| {
        RuleCheck::warning(DETAIL, measured, "the detail log, whose figures MLCommons publishes")
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_mlperf::loadgen::{LoadgenDetail, ResultStatus};

    fn run(mode: loadgen::TestMode, scenario: TestScenario) -> LoadgenRun {
        LoadgenRun {
            summary: None,
            detail: Some(LoadgenDetail {
                mode: Some(mode),
                scenario: Some(scenario),
                result: Some(ResultStatus::Invalid),
                ..LoadgenDetail::default()
            }),
        }
    }

    #[rstest]
    #[case(TestScenario::Server, TestScenario::Server, &[])]
    #[case(TestScenario::Server, TestScenario::Interactive, &[])]
    #[case(TestScenario::Server, TestScenario::Offline, &["scenario"])]
    fn logs_of_another_mode_or_scenario_are_invalid(
        #[case] logged: TestScenario,
        #[case] measured: TestScenario,
        #[case] wrong: &[&str],
    ) {
        let violated = |mode| {
            let run = run(mode, logged);
            let failed = check_mode_and_scenario(&run, loadgen::TestMode::Accuracy, Some(measured))
                .into_iter();
            failed.map(|check| check.rule).collect::<Vec<_>>()
        };
        assert_eq!(violated(loadgen::TestMode::Accuracy), wrong);
        assert_eq!(violated(loadgen::TestMode::Performance).len(), wrong.len() + 1);
    }

    #[rstest]
    #[case("results/8xMI355X/gpt-oss-120b/Offline/TEST07/performance/run_1", true)]
    #[case("results/8xMI355X/gpt-oss-120b/Offline/TEST01/performance/run_1", false)]
    #[case("results/Offline/compliance/run_1", false)]
    fn a_short_compliance_test_is_only_a_warning(#[case] path: &str, #[case] is_warning: bool) {
        let mut evidence = Evidence::new("Offline", Mode::Compliance);
        let mut trial = TrialEvidence::new_finished(1, path);
        let run = run(loadgen::TestMode::Performance, TestScenario::Offline);
        add_loadgen_evidence(&run, &mut evidence, &mut trial);
        let warned = evidence.checks.iter().any(|check| check.warning);
        assert_eq!(warned, is_warning);
        let is_invalid = matches!(trial.validity, StatedValidity::Invalid(_));
        assert_eq!(is_invalid, !is_warning);
    }
}
