//! The settings of an audit's run, which its `audit.config` sets and a submitted run does not have.

use super::format_count;
use crate::check::{Rule, RuleCheck};
use crate::loadgen::{Parameters, RunSettings, TestMode};
use crate::rounds::{ComplianceTest, SampleSelection};

/// Checks that a test's run had the settings of the test; settings that its logs do not state are skipped.
pub fn check_audit(test: &ComplianceTest, run: &RunSettings) -> Vec<RuleCheck> {
    let mut checks = Vec::new();
    if let Some(mode) = run.mode {
        let required = TestMode::Performance.to_string();
        let passed = mode == TestMode::Performance;
        let rule = Rule::of_entries("mode", ["effective_test_mode"]);
        checks.push(RuleCheck::new(rule, mode.to_string(), required, passed));
    }
    checks.extend(check_issue_settings(test.issue, &run.settings));
    let required = test.samples_logged.unwrap_or(0);
    checks.extend(run.settings.accuracy_log_sampling_target.map(|logged| {
        let passed = logged == required;
        let rule = sampling_rule();
        RuleCheck::new(rule, format_count(logged), format_count(required), passed)
    }));
    checks
}

/// Checks that a submitted run has none of an audit's settings. Logging some answers costs little,
/// and one published run of v5.1 does.
pub fn check_no_audit_settings(settings: &Parameters) -> Vec<RuleCheck> {
    let mut checks = check_issue_settings(None, settings);
    let logged = settings.accuracy_log_sampling_target;
    checks.extend(logged.filter(|logged| *logged > 0).map(|logged| {
        let rule = sampling_rule();
        RuleCheck::warning(rule, format_count(logged), "0, except in an audit")
    }));
    checks
}

fn sampling_rule() -> Rule {
    let key = "effective_accuracy_log_sampling_target";
    Rule::of_entries("accuracy_log_sampling_target", [key])
}

fn check_issue_settings(issue: Option<SampleSelection>, settings: &Parameters) -> Vec<RuleCheck> {
    let settings = [
        (
            Rule::of_entries("performance_issue_same", ["effective_performance_issue_same"]),
            settings.performance_issue_same,
            SampleSelection::Same,
        ),
        (
            Rule::of_entries("performance_issue_unique", ["effective_performance_issue_unique"]),
            settings.performance_issue_unique,
            SampleSelection::Unique,
        ),
    ];
    let checks = settings.into_iter().filter_map(|(rule, value, setting)| {
        let (value, required) = (value?, issue == Some(setting));
        let passed = value == required;
        let [value, required] = [value, required].map(|set| set.to_string());
        Some(RuleCheck::new(rule, value, required, passed))
    });
    checks.collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::rounds::built_in_rounds;

    fn settings(same: bool, unique: bool, logged: u64) -> RunSettings {
        RunSettings {
            mode: Some(TestMode::Performance),
            settings: Parameters {
                performance_issue_same: Some(same),
                performance_issue_unique: Some(unique),
                accuracy_log_sampling_target: Some(logged),
                ..Parameters::default()
            },
            ..RunSettings::default()
        }
    }

    fn violated(checks: &[RuleCheck]) -> Vec<&str> {
        let violated = checks.iter().filter(|check| !check.passed);
        violated.map(|check| check.rule.as_str()).collect()
    }

    #[rstest]
    #[case(None, Some(4096), settings(false, false, 4096), &[])]
    #[case(None, Some(4096), settings(false, false, 0), &["accuracy_log_sampling_target"])]
    #[case(Some(SampleSelection::Same), None, settings(true, false, 0), &[])]
    #[case(Some(SampleSelection::Same), None, settings(false, false, 0), &["performance_issue_same"])]
    #[case(Some(SampleSelection::Unique), Some(990), settings(false, true, 10_000), &["accuracy_log_sampling_target"])]
    #[case(Some(SampleSelection::Unique), Some(990), settings(true, false, 990), &["performance_issue_same", "performance_issue_unique"])]
    #[case(None, None, RunSettings { mode: Some(TestMode::Accuracy), ..RunSettings::default() }, &["mode"])]
    #[case(None, Some(4096), RunSettings::default(), &[])]
    fn settings_of_a_compliance_test_are_checked(
        #[case] issue: Option<SampleSelection>,
        #[case] samples_logged: Option<u64>,
        #[case] run: RunSettings,
        #[case] expected: &[&str],
    ) {
        let test = ComplianceTest { samples_logged, issue, ..ComplianceTest::default() };
        assert_eq!(violated(&check_audit(&test, &run)), expected);
    }

    /// MLCommons required each sample once only after v6.0: no published log of it has that.
    #[rstest]
    #[case("v6.0", &[])]
    #[case("v6.1", &["performance_issue_unique"])]
    fn repeated_samples_follow_the_rules_of_the_round(
        #[case] round: &str,
        #[case] expected: &[&str],
    ) {
        let rounds = built_in_rounds();
        let rules =
            rounds.benchmark_rules("mlperf-inference", round, "gpt-oss-120b", &"Offline".into());
        let rules = rules.unwrap();
        let (_, test) = rules.compliance.first().unwrap();
        assert_eq!(violated(&check_audit(test, &settings(false, false, 990))), expected);
    }

    #[test]
    fn settings_of_a_submitted_run_are_checked() {
        let checks = check_no_audit_settings(&settings(false, false, 256).settings);
        assert!(violated(&checks).is_empty());
        assert!(checks[2].warning);
        let checks = check_no_audit_settings(&settings(true, false, 0).settings);
        assert_eq!(violated(&checks), ["performance_issue_same"]);
    }
}
