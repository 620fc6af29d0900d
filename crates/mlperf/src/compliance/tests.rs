//! The tests' scripts' outputs, as published, and with planted faults.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::accuracy::parse_accuracy;
use retrial_readings::Limit;

const ANSWERS: &str = "Verifying accuracy. This might take a while...\nReading accuracy mode results...\n\
    num_acc_log_entries = 50000\nnum_perf_log_entries = 4176\nnum_perf_log_data_mismatch = 0\nTEST PASS\n\n";
const SCORES: &str =
    "Verifying performance.\nreference score = 240030.57\ntest score = 220828.65\nTEST PASS\n";
const TOKENS: &str = "First token check pass: Skipped\nEOS check pass: True\nSample length check pass: True\nTEST06 verification complete\n";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn within(test: Test) -> TestRequirements {
    TestRequirements {
        scenario: Some(TestScenario::Offline),
        deltas: vec![("acc".to_owned(), 0.01)],
        ..requirements(test, share(Some(0.1), None))
    }
}

fn requirements(test: Test, rules: ComplianceTest) -> TestRequirements {
    TestRequirements { rules, ..TestRequirements::new(test, None, false) }
}

fn share(within: Option<f64>, above: Option<f64>) -> ComplianceTest {
    ComplianceTest { within, above, ..ComplianceTest::default() }
}

fn whole() -> ComplianceFiles {
    ComplianceFiles {
        verify_accuracy: Ok(ANSWERS.to_owned()),
        verify_performance: Ok(SCORES.to_owned()),
        performance: Some(names(&["mlperf_log_detail.txt", "mlperf_log_summary.txt"])),
        ..ComplianceFiles::default()
    }
}

/// Returns the failed checks, as `rule: measured`.
fn failures(requirements: &TestRequirements, files: &ComplianceFiles) -> Vec<String> {
    let result = check_test(requirements, files);
    assert!(!result.checks.is_empty());
    let all = result.checks.into_iter().chain(result.log_checks);
    let failures = all.filter(|check| !check.passed);
    failures.map(|check| format!("{}: {}", check.rule, check.measured)).collect()
}

#[test]
fn test01_checks_answers_and_performance() {
    let requirements = within(Test::Test01);
    assert!(failures(&requirements, &whole()).is_empty());
    assert_eq!(
        failures(&TestRequirements { always_logs: true, ..requirements.clone() }, &whole()),
        ["accuracy: missing"]
    );
    let slow =
        ComplianceFiles { verify_performance: Ok(SCORES.replace("220828", "200000")), ..whole() };
    assert_eq!(failures(&requirements, &slow), ["TEST01 score: 200000.65 of 240030.57"]);
    let differing = ComplianceFiles {
        verify_accuracy: Ok(ANSWERS.replace("mismatch = 0", "mismatch = 7")),
        ..whole()
    };
    assert_eq!(
        failures(&requirements, &differing),
        ["TEST01 answers that differ: num_perf_log_data_mismatch = 7"]
    );
    assert_eq!(failures(&requirements, &ComplianceFiles::default()).len(), 3);
}

#[rstest]
#[case("accuracy=75.900%", "accuracy=75.500%", &[])]
#[case("accuracy=75.900%", "accuracy=74.500%", &["TEST01 acc: 75.9 and 74.5: 1.879 %"])]
#[case("accuracy=75.900%", "accuracy=0.0%", &["TEST01 acc: 75.9 and 0: inf %"])]
#[case("mAP=1%", "accuracy=75.9%", &["TEST01 acc: no acc in baseline_accuracy.txt"])]
fn different_answers_must_be_as_accurate(
    #[case] baseline: &str,
    #[case] tested: &str,
    #[case] wrong: &[&str],
) {
    let files = ComplianceFiles {
        verify_accuracy: Ok(ANSWERS
            .replace("PASS", "FAIL")
            .replace("mismatch = 0", "mismatch = 7")),
        accuracy: Some(names(&[
            "accuracy.txt",
            "baseline_accuracy.txt",
            "compliance_accuracy.txt",
            "mlperf_log_accuracy.json",
        ])),
        baseline: Ok(parse_accuracy(baseline.as_bytes())),
        compliance: Ok(parse_accuracy(tested.as_bytes())),
        ..whole()
    };
    assert_eq!(failures(&within(Test::Test01), &files), wrong);
}

/// Without them nothing shows that the answers, which differ, are as accurate.
#[test]
fn a_failed_test_requires_both_accuracies() {
    let files = ComplianceFiles {
        verify_accuracy: Ok(ANSWERS.replace("PASS", "FAIL")),
        accuracy: Some(names(&["accuracy.txt", "mlperf_log_accuracy.json"])),
        ..whole()
    };
    let failures = failures(&within(Test::Test01), &files);
    assert_eq!(failures.len(), 3, "{failures:?}");
    assert!(failures[0].starts_with("TEST01 answers: TEST FAIL"), "{failures:?}");
    assert!(failures[1].starts_with("accuracy/"), "{failures:?}");
}

#[test]
fn a_faster_test_run_fails_and_a_slower_one_passes() {
    let requirements = TestRequirements { rules: share(None, Some(0.1)), ..within(Test::Test04) };
    let tested = |score: &str| {
        let files = ComplianceFiles {
            verify_performance: Ok(SCORES.replace("220828.65", score)),
            ..whole()
        };
        failures(&requirements, &files)
    };
    assert!(tested("1.5").is_empty());
    assert_eq!(tested("264033.7"), ["TEST04 score: 264033.7 of 240030.57"]);
    let short =
        TestRequirements { scenario: Some(TestScenario::SingleStream), ..requirements.clone() };
    let files = ComplianceFiles {
        verify_performance: Ok("reference score = 1000.0\ntest score = 1190\nTEST PASS".into()),
        ..whole()
    };
    assert!(failures(&short, &files).is_empty());
    assert_eq!(failures(&requirements, &files).len(), 1);
}

#[rstest]
#[case(TestScenario::Offline, TOKENS.to_owned(), 0)]
#[case(TestScenario::Server, TOKENS.replace("Skipped", "True").replace('\n', "\r\n"), 0)]
#[case(TestScenario::Server, TOKENS.to_owned(), 1)]
#[case(TestScenario::Offline, TOKENS.replace("True", "False"), 2)]
#[case(TestScenario::Offline, "First token check pass: Skipped\nEOS che".to_owned(), 2)]
#[case(TestScenario::Offline, format!("{TOKENS}{}", TOKENS.replace("True", "False")), 2)]
fn test06_checks_tokens(
    #[case] scenario: TestScenario,
    #[case] text: String,
    #[case] wrong: usize,
) {
    let requirements = TestRequirements {
        scenario: Some(scenario),
        ..TestRequirements::new(Test::Test06, None, false)
    };
    let files = ComplianceFiles { verify_accuracy: Ok(text), ..ComplianceFiles::default() };
    assert_eq!(failures(&requirements, &files).len(), wrong);
    assert_eq!(
        failures(&requirements, &ComplianceFiles::default()),
        ["TEST06: verify_accuracy.txt: it is missing"]
    );
}

#[test]
fn thresholds_come_from_the_round_not_from_the_file() {
    let limit = |min, max| vec![("figure".to_owned(), Limit { min, max, below: None })];
    let score = |text: &str| {
        let limits = limit(Some(60.698), None);
        let rules = ComplianceTest { limits, ..ComplianceTest::default() };
        let requirements = requirements(Test::Test07, rules);
        failures(
            &requirements,
            &ComplianceFiles { verify_accuracy: Ok(text.to_owned()), ..ComplianceFiles::default() },
        )
    };
    assert!(score("Accuracy score: 62.727\nAccuracy threshold: 60.698\nAccuracy check pass: True\nTEST PASS\n").is_empty());
    assert_eq!(
        score("Accuracy score: 52.7\nAccuracy threshold: 50\nTEST PASS\n"),
        ["TEST07 score: 52.7"]
    );
    assert_eq!(
        score("Error: Could not parse accuracy score\nTEST FAIL\n"),
        ["TEST07 accuracy: TEST FAIL"]
    );
    let length = |text: &str| {
        let limits = limit(Some(1150.38), Some(1406.02));
        let rules = ComplianceTest { limits, ..ComplianceTest::default() };
        let requirements = requirements(Test::Test09, rules);
        failures(
            &requirements,
            &ComplianceFiles {
                verify_output_len: Ok(text.to_owned()),
                ..ComplianceFiles::default()
            },
        )
    };
    assert!(
        length("Mean output tokens: 1373.08\nMin threshold: 1150.38\n\nTEST PASS\n").is_empty()
    );
    assert_eq!(
        length("Mean output tokens: 1100\nTEST PASS\n"),
        ["TEST09 mean output tokens: 1100"]
    );
    let entropy = |text: &str| {
        let requirements = requirements(Test::Test08, share(Some(0.001), None));
        failures(
            &requirements,
            &ComplianceFiles { verify_accuracy: Ok(text.to_owned()), ..ComplianceFiles::default() },
        )
    };
    assert!(entropy("num_matched = 4039\nnum_unmatched = 0\nnum_ne_mismatch = 0\ntolerance = 0.10%\n\nTEST PASS\nTEST08 verification complete").is_empty());
    assert_eq!(entropy("num_unmatched = 3\ntolerance = 5.00%\nTEST PASS\n").len(), 2);
}

#[test]
fn test_names_are_parsed() {
    for test in Test::ALL {
        assert_eq!(test.word().to_lowercase().parse(), Ok(test));
    }
    assert!("TEST02".parse::<Test>().is_err());
}

fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        2 => "\\PC{0,20}",
        3 => prop::sample::select(vec!["TEST PASS", "TEST FAIL", "reference score = ", "test score = ", "num_ne_mismatch = ", "Mean output tokens: ", "1e308", "-0", "nan", "\r\n", "\n", "EOS check pass: True"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(pieces, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_checked_and_the_pass_line_is_required(text in hostile()) {
        for test in Test::ALL {
            let files = ComplianceFiles {
                verify_accuracy: Ok(text.clone()),
                verify_performance: Ok(text.clone()),
                verify_output_len: Ok(text.clone()),
                ..whole()
            };
            let files = ComplianceFiles { verify_accuracy: Ok(text.clone()), ..files };
            let result = check_test(&TestRequirements { rules: share(Some(0.1), Some(0.1)), ..within(test) }, &files);
            prop_assert!(!result.checks.is_empty());
            if !text.contains("TEST PASS") && !text.contains("check pass: True") && test != Test::Test01 {
                prop_assert!(!result.has_passed());
            }
        }
    }
}
