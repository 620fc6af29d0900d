//! What is no pass is a failure, and nothing in a name breaks the document.

use proptest::prelude::*;

use super::*;
use crate::ReportedVerdict;
use retrial_results::verdict::tests::build::*;
use retrial_results::verdict::{Evidence, Qualifier, QualifierKind, StatedValidity, judge};

fn report(evidence: &[Evidence]) -> String {
    let mut context = context();
    context.submission.suite = "mlperf-inference".to_owned();
    context.qualifiers = vec![Qualifier::new(QualifierKind::UnpinnedImage, "it may move")];
    let verdict = judge(&context, evidence);
    render_verdicts(&[ReportedVerdict::new("/runs/one", &verdict)])
}

#[test]
fn scenarios_are_suites_and_figures_are_cases() {
    let mut invalid = offline(&[100.0]).expecting(TOKENS, official(100.0));
    invalid.plan.scenario = "Interactive".into();
    invalid.trials[0].validity = StatedValidity::Invalid(vec!["too <few> samples".to_owned()]);
    let mut worse = offline(&[50.0]).expecting(TOKENS, official(100.0));
    worse.plan.scenario = "Server".into();
    let good = offline(&[100.0]).expecting(TOKENS, official(100.0));
    insta::assert_snapshot!(report(&[good, worse, invalid]));
}

#[test]
fn an_empty_verdict_does_not_pass() {
    let text = report(&[]);
    assert!(text.contains(r#"failures="1""#), "{text}");
    assert!(text.contains("There is no result to judge."), "{text}");
}

#[test]
fn rules_of_the_whole_run() {
    let verdict = judge(&context(), &[offline(&[1.0])]);
    let rule = |passed| {
        retrial_results::verdict::RuleCheck::new("scenarios", "Offline", "Offline, Server", passed)
    };
    let entry = |passed| {
        render_verdicts(&[ReportedVerdict {
            rules: &[rule(passed)],
            ..ReportedVerdict::new("", &verdict)
        }])
    };
    assert!(entry(true).contains(r#"tests="2" skipped="0" failures="0""#));
    let broken = entry(false);
    assert!(
        broken.contains(r#"message="Offline; required Offline, Server" type="invalid""#),
        "{broken}"
    );
}

proptest! {
    /// Control characters and markup of recipes and logs.
    #[test]
    fn any_name_is_escaped(scenario in ".*", figure in ".*", source in ".*") {
        let mut published = official(100.0);
        published.source = Some(source);
        let mut evidence = own(&scenario, &figure, "", &[1.0]).expecting(&figure, published);
        evidence.path = "<evil>".to_owned();
        let text = report(&[evidence]);
        let allowed = |character: char| !character.is_control() || character == '\n';
        prop_assert!(text.chars().all(allowed), "{text:?}");
        prop_assert!(text.ends_with("</testsuites>\n"));
    }
}
