//! Tables stay intact, whatever they contain.

use proptest::prelude::*;

use super::*;
use crate::ReportedVerdict;
use crate::content::{DetailLevel, comparison, verdict};
use retrial_results::verdict::comparison::{
    ComparisonOptions, ComparisonSubject, Fact, FactGroup, compare_subjects,
};
use retrial_results::verdict::tests::build::*;
use retrial_results::verdict::{Evidence, Qualifier, QualifierKind, RunContext, judge};

fn mlperf() -> RunContext {
    let mut context = context();
    context.submission.suite = "mlperf-inference".to_owned();
    context.submission.round = Some("v6.0".to_owned());
    context.qualifiers = vec![Qualifier::new(QualifierKind::UnpinnedImage, "it may move")];
    context
}

fn page(evidence: &[Evidence]) -> String {
    let verdict = judge(&mlperf(), evidence);
    render_markdown(&verdict::verdicts_document(&[ReportedVerdict::new("/runs/one", &verdict)]))
}

#[test]
fn a_verdict_is_rendered_with_all_its_figures() {
    let good = offline(&[100.0]).expecting(TOKENS, official(100.0));
    let mut open = offline(&[95.05]).expecting(TOKENS, official(100.0));
    open.plan.scenario = "Server".into();
    insta::assert_snapshot!(page(&[good, open, accuracy("Offline", "rouge1", 44.4)]));
}

#[test]
fn a_comparison_is_rendered_with_its_differences() {
    let subject = |name: &str, values: &[f64]| {
        let kernel = Fact::new(FactGroup::Host, "kernel", format!("6.1 of {name}"));
        ComparisonSubject::from_evidence(name, &[(mlperf(), vec![offline(values)])], vec![kernel])
    };
    let subjects =
        [subject("before", &[100.0, 101.0, 99.0]), subject("after", &[110.0, 111.0, 109.0])];
    let comparison = compare_subjects(&subjects, &ComparisonOptions::default());
    let document = comparison::comparisons_document(&[comparison], DetailLevel::Brief);
    insta::assert_snapshot!(render_markdown(&document));
}

#[test]
fn code_spans_can_contain_backticks() {
    assert_eq!(render_code("a`b"), "`` a`b ``");
    assert_eq!(render_code("plain"), "`plain`");
}

proptest! {
    /// Every row has as many cells as the header, and no markup gets in.
    #[test]
    fn any_name_is_escaped(scenario in ".*", figure in ".*", source in ".*") {
        let mut published = official(100.0);
        published.source = Some(source);
        let text = page(&[own(&scenario, &figure, "", &[1.0]).expecting(&figure, published)]);
        let cells = |line: &str| line.replace(r"\\", "").replace(r"\|", "").matches('|').count();
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        prop_assert!(table.iter().all(|line| cells(line) == cells(table[0])), "{text}");
        prop_assert!(!text.contains('<'));
    }
}
