//! No report prints an outcome without its qualifiers.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use rstest::rstest;

use super::website::{Website, WebsiteOptions};
use super::{DetailLevel, comparison, history, page, runs, subject, trials, verdict};
use crate::document::Document;
use crate::terminal::Terminal;
use crate::{ReportedVerdict, html, junit, markdown, terminal};
use retrial_history::{RunState, RunSummary};
use retrial_results::verdict::comparison::{
    ComparisonOptions as Limits, ComparisonSubject, compare_subjects,
};
use retrial_results::verdict::tests::build::*;
use retrial_results::verdict::{
    Evidence, Outcome, QualifiedOutcome, Qualifier, QualifierKind, RunContext, Verdict, judge,
};

/// A context with a qualifier of every kind.
fn qualified_context() -> RunContext {
    let every = QualifierKind::ALL.into_iter();
    let every = every.map(|kind| Qualifier::new(kind, format!("why {kind}")));
    RunContext { qualifiers: every.collect(), ..context() }
}

fn evidence() -> Evidence {
    offline(&[100.0]).expecting(TOKENS, official(100.0))
}

fn judged() -> Verdict {
    judge(&qualified_context(), &[evidence()])
}

fn all_kinds() -> String {
    QualifiedOutcome::from_kinds(Outcome::Reproduced, QualifierKind::ALL).to_string()
}

/// An outcome with all qualifiers in a cell of a page.
fn all_notes() -> String {
    let kinds = QualifierKind::ALL.map(|kind| kind.to_string());
    format!("reproduced <small class=\"note\">{}</small>", kinds.join(", "))
}

fn in_terminal(document: &Document) -> String {
    let wide = Terminal { width: 400, color: false, unicode: true };
    terminal::render_terminal(document, wide)
}

/// Two runs of one submission: the second has another verdict, with every qualifier.
fn rows() -> Vec<RunSummary> {
    let run = |id: &str, outcome: Outcome, qualifiers: &[QualifierKind]| RunSummary {
        id: id.to_owned(),
        title: "a benchmark".to_owned(),
        run_state: RunState::Ended,
        outcome: Some(outcome),
        qualifiers: qualifiers.to_vec(),
        ..RunSummary::default()
    };
    vec![
        run("one", Outcome::NotReproduced, &[]),
        run("two", Outcome::Reproduced, &QualifierKind::ALL),
    ]
}

#[rstest]
#[case::text(|entry: &ReportedVerdict<'_>| in_terminal(&verdict::verdict_document(entry)))]
#[case::markdown(|entry: &ReportedVerdict<'_>| markdown::render_markdown(&verdict::verdict_document(entry)))]
#[case::html(|entry: &ReportedVerdict<'_>| html::render_html(&verdict::verdict_document(entry)))]
#[case::junit(|entry: &ReportedVerdict<'_>| junit::render_verdicts(std::slice::from_ref(entry)))]
#[case::csv(|entry: &ReportedVerdict<'_>| trials::render_rows(entry.verdict, |_| "run".to_owned()))]
fn a_verdict_has_each_qualifier_with_its_reason(
    #[case] render: fn(&ReportedVerdict<'_>) -> String,
) {
    let verdict = judged();
    let text = render(&ReportedVerdict::new("/runs/one", &verdict));
    for kind in QualifierKind::ALL {
        assert!(text.contains(&format!("why {kind}")), "{kind}: {text}");
    }
}

#[test]
fn a_page_of_several_results_has_them_in_its_overview() {
    let verdict = judged();
    let subject =
        |name: &str| subject::ReportSubject::new(name, ReportedVerdict::new("", &verdict));
    let document = page::page_document(&page::ReportPage {
        subjects: vec![subject("one"), subject("two")],
        ..page::ReportPage::default()
    });
    let text = in_terminal(&document);
    // Paragraphs are wrapped.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!("2 {}", all_kinds());
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn lists_of_runs_have_them() {
    let rows = rows();
    let listed = in_terminal(&runs::runs_document(&rows, &TimeZone::UTC));
    assert!(listed.contains(&all_kinds()), "{listed}");
    let document = history::history_document(&history::RunsPage {
        made_by: String::new(),
        rows: &rows,
        link: &|_| None,
        zone: &TimeZone::UTC,
    });
    let text = html::render_html(&document);
    // By outcome and in the list; by group as a number.
    assert_eq!(text.matches(&all_notes()).count(), 2, "{text}");
    assert_eq!(text.matches("1 not reproduced, 1 qualified").count(), 1, "{text}");
}

/// All but those of a smoke test and of a part, which are never a submission's verdict.
#[test]
fn the_website_and_its_feed_have_them() {
    let mut rows = rows();
    let parts = [QualifierKind::SmokeTest, QualifierKind::InPart];
    rows[1].qualifiers.retain(|kind| !parts.contains(kind));
    let mut smoke_test = rows[0].clone();
    smoke_test.id = "three".to_owned();
    smoke_test.qualifiers = vec![QualifierKind::SmokeTest];
    rows.push(smoke_test);
    let kinds = QualifiedOutcome::from_kinds(Outcome::Reproduced, rows[1].qualifiers.clone());
    let words = rows[1].qualifiers.iter().map(ToString::to_string).collect::<Vec<_>>();
    let notes = format!("reproduced <small class=\"note\">{}</small>", words.join(", "));
    let options =
        WebsiteOptions { made_by: "retrial", link: &|_| None, batches: &HashMap::new(), url: None };
    let website = Website::new(&rows, &options);
    for (at, name) in website.page_names().into_iter().enumerate() {
        let page = html::render_website_page(&website.build_page(at).document, &[]);
        assert!(page.contains(&notes), "{name}: {page}");
    }
    let text = website.feed().to_atom();
    assert!(text.contains(&format!("now {kinds}")), "{text}");
    assert!(!text.contains("smoke test"), "{text}");
}

#[test]
fn a_comparison_has_those_of_each_side() {
    let groups = [(qualified_context(), vec![evidence()])];
    let plain = [(context(), vec![evidence()])];
    let subjects = [
        ComparisonSubject::from_evidence("one", &plain, Vec::new()),
        ComparisonSubject::from_evidence("two", &groups, Vec::new()),
    ];
    let comparison = compare_subjects(&subjects, &Limits::default());
    let text = in_terminal(&comparison::comparison_document(&comparison, DetailLevel::Brief));
    assert!(text.contains(&all_kinds()), "{text}");
    assert_eq!(comparison.subjects[1].qualifiers, QualifierKind::ALL);
}
