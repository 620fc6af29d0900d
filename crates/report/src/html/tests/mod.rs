//! A page is well-formed, told in order, and holds whatever a container wrote as text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rstest::rstest;
use serde_json::Value;

use super::{STYLE, render_html};
use crate::ReportedVerdict;
use crate::charts::ChartKind;
use crate::content::page::{ReportPage, page_document};
use crate::content::subject::{ReportSubject, StepReport};
use crate::svg;
use retrial_batch::verdict::{BatchAxis, BatchVerdict, CellRun, CellVerdict};
use retrial_batch::{NamedValues, RunOrder};
use retrial_recipe::model::Limit;
use retrial_recipe::model::{Aggregate, Better, Mode};
use retrial_results::verdict::claim::{
    ClaimOutcome, ClaimPart, ClaimVerdict, RequiredRatio, Statistic,
};
use retrial_results::verdict::comparison::{
    Change, ComparedFigure, ComparisonOptions, ComparisonSubject as Compared, Fact, FactGroup,
    MeasuredSide, compare_subjects,
};
use retrial_results::verdict::tests::build::*;
use retrial_results::verdict::{
    Bounds, ExitCode, FigureLocation, FigureValue, MarkedLine, Outcome, Qualifier, QualifierKind,
    RunContext, Verdict, judge,
};
use retrial_store::journal::{StepEnd, StepFault};
use retrial_telemetry::{ContainerReading, GpuReading, MeasuredTrial, RowSource, TelemetryRow};

mod batch;
mod website;

/// What a hostile container would like to be markup.
const HOSTILE: &str = "</title></style><script>alert(1)</script>]]><img src=x onerror=alert(1)> \
    \" onload='x' \0\u{1b}[31m\u{202e}\u{fffe}javascript:&#60; {{ x }} مرحبا";

#[rstest]
#[case("measure two more (`--trials 3`)", "measure two more (<code class=\"s\">--trials 3</code>)")]
#[case(
    "`retrial lock ./a-long-directory/recipe.yaml`, `a<b`",
    "<code>retrial lock ./a-long-directory/recipe.yaml</code>, <code class=\"s\">a&lt;b</code>"
)]
#[case("one ` alone", "one ` alone")]
#[case("", "")]
fn commands_in_sentences_are_code(#[case] sentence: &str, #[case] markup: &str) {
    assert_eq!(super::render_prose(sentence).into_string(), markup);
}

fn mlperf() -> RunContext {
    let mut context = context();
    context.submission.suite = "mlperf-inference".to_owned();
    context.submission.round = Some("v6.0".to_owned());
    context.qualifiers = vec![Qualifier::new(QualifierKind::UnpinnedImage, "it may move")];
    context.warnings = vec!["another process uses the GPU".to_owned()];
    context
}

fn verdict() -> Verdict {
    let good = offline(&[100.0, 101.0, 99.5]).expecting(TOKENS, official(100.0));
    let mut server = loadgen("Server", "completed_tokens_per_second", "tokens/s", &[90.0])
        .expecting("completed_tokens_per_second", official(100.0));
    for percentile in ["p50", "p90", "p99", "p99_9"] {
        server = server.with_figure(&format!("latency_{percentile}_ns"), 2e9, "ns");
    }
    let limit = Limit { min: Some(45.0), ..Limit::default() };
    let short = accuracy("Offline", "rouge1", 44.4).limited("rouge1", limit);
    judge(&mlperf(), &[good, server, short])
}

fn rows() -> Vec<TelemetryRow> {
    let measured = MeasuredTrial {
        step: 3,
        scenario: "Offline".to_owned(),
        mode: "performance".to_owned(),
        trial: 1,
    };
    (0..40)
        .flat_map(|second| {
            let at = f64::from(second);
            let row = |of| TelemetryRow {
                seconds: at,
                time: jiff::Timestamp::UNIX_EPOCH,
                pause_s: 1.0,
                measured: measured.clone(),
                origin: of,
            };
            let gpu = |index: u32| RowSource::Gpu {
                index,
                pci: "0000:05:00.0".to_owned(),
                reading: GpuReading {
                    power_w: Some(700.0 + at + f64::from(index)),
                    utilization: Some(97.0),
                    ..GpuReading::default()
                },
            };
            let container = RowSource::Container(ContainerReading {
                cpu_s: Some(at * 2.0),
                memory: Some(1 << 30),
            });
            [row(gpu(0)), row(gpu(1)), row(container)]
        })
        .collect()
}

fn failed(reason: &str, last_line: &str) -> StepEnd {
    StepEnd::Failed {
        fault: StepFault::Command,
        reason: reason.to_owned(),
        exit_code: Some(1),
        last_lines: vec![last_line.to_owned()],
        advice: String::new(),
        cause: None,
    }
}

fn subject<'a>(name: &str, verdict: &'a Verdict) -> ReportSubject<'a> {
    ReportSubject {
        telemetry: rows(),
        environment: vec![Fact::new(FactGroup::Host, "kernel", "6.1")],
        commands: Some("#!/bin/sh\ndocker run it\n".to_owned()),
        steps: vec![StepReport {
            number: 3,
            name: "offline-performance".to_owned(),
            end: Some((failed("exit code 1", "the last line"), 12.0)),
            log: Some("steps/03-offline performance/output.log".to_owned()),
        }],
        ..ReportSubject::new(name, ReportedVerdict::new("/runs/one", verdict))
    }
}

fn page(subjects: Vec<ReportSubject<'_>>) -> String {
    render_html(&page_document(&ReportPage {
        made_by: "retrial 0.1.0".to_owned(),
        subjects,
        ..ReportPage::default()
    }))
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).unwrap()?;
    Some(String::from_utf8_lossy(&attribute.value).into_owned())
}

/// The elements of pages.
const ELEMENTS: [&str; 49] = [
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "a",
    "header",
    "main",
    "nav",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "p",
    "section",
    "div",
    "ul",
    "li",
    "span",
    "em",
    "small",
    "code",
    "blockquote",
    "figure",
    "figcaption",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "pre",
    "svg",
    "desc",
    "text",
    "line",
    "rect",
    "path",
    "circle",
    "pattern",
    "dl",
    "dt",
    "dd",
    "strong",
];

/// Returns whether a style sheet has a rule for a class.
fn is_styled(class: &str) -> bool {
    let names = [STYLE, svg::STYLE].into_iter().flat_map(|sheet| sheet.split('.').skip(1));
    let end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
    names.filter_map(|name| name.split(end).next()).any(|name| name == class)
}

/// Reads it as XML, which forgives nothing, and looks at what a reader's aids need.
fn check(page: &str) {
    // In HTML these have no end.
    let closed = page.split("<meta").enumerate().map(|(number, part)| match number {
        0 => part.to_owned(),
        _ => format!("<meta{}", part.replacen('>', "/>", 1)),
    });
    let closed: String = closed.collect();
    let mut reader = Reader::from_str(&closed);
    let mut ids = BTreeSet::new();
    let (mut level, mut tables, mut captions, mut drawings, mut descriptions) = (0, 0, 0, 0, 0);
    loop {
        let element = match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => element,
            _ => continue,
        };
        let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        assert!(ELEMENTS.contains(&name.as_str()), "{name}");
        for attribute in element.attributes() {
            let attribute = attribute.unwrap();
            let attribute_name = String::from_utf8_lossy(attribute.key.as_ref());
            assert!(!attribute_name.starts_with("on"), "{name}");
            assert!(!attribute_name.contains('_'), "{attribute_name}");
        }
        for class in attribute(&element, "class").iter().flat_map(|all| all.split_whitespace()) {
            assert!(is_styled(class), "{name} has the unknown class {class}");
        }
        if let Some(id) = attribute(&element, "id") {
            assert!(ids.insert(id.clone()), "{id} twice");
        }
        if let Some(to) = attribute(&element, "href") {
            assert!(to.starts_with(['#', '.', '/']), "{to}");
        }
        if let Some(digit) = name.strip_prefix('h').and_then(|rest| rest.parse::<u32>().ok()) {
            assert!(digit <= level + 1, "{name} after h{level}");
            level = digit;
        }
        match name.as_str() {
            "table" => tables += 1,
            "caption" => captions += 1,
            "th" => assert!(attribute(&element, "scope").is_some()),
            "svg" => {
                drawings += 1;
                assert_eq!(attribute(&element, "role").as_deref(), Some("img"));
            }
            "desc" => descriptions += 1,
            _ => {}
        }
    }
    assert_eq!((tables, drawings), (captions, descriptions));
    assert!(tables > 0);
}

#[test]
fn a_figure_links_the_line_of_its_log() {
    let mut verdict = verdict();
    let results = verdict.results.iter_mut();
    let judged = results.filter(|result| !result.judgements.is_empty());
    for result in judged {
        result.outcome = Outcome::Reproduced;
        let figure = result.judgements[0].figure.clone();
        let origin = FigureLocation {
            file: "steps/03-offline performance/output.log".to_owned(),
            line: Some(2),
            text: MarkedLine::from_columns("rate: 1,015 tokens/s, 3 %", (7, 11)),
            ..FigureLocation::default()
        };
        for trial in &mut result.trials {
            let value = FigureValue::new(1015.0, "tokens/s").with_origin(origin.clone());
            trial.figures.insert(figure.clone(), value);
        }
    }
    let page = page(vec![subject("one", &verdict)]);
    check(&page);
    let address = "./steps/03-offline%20performance/output.log#:~:text=rate%3A%201%2C015%20tokens%2Fs%2C%203%20%25";
    assert!(page.contains(&format!("<a href=\"{address}\">")), "{page}");
}

#[test]
fn a_page_of_one_run_has_all_its_details() {
    let verdict = verdict();
    let page = page(vec![subject("20261121-000000-one-abcd", &verdict)]);
    check(&page);
    for words in [
        "! invalid",
        "not verified by MLCommons",
        "unverified",
        "rouge1",
        "steps/03-offline%20performance/output.log",
        "docker run it",
        "the last line",
        "another process uses the GPU",
        "Power of each GPU",
        "Server performance: latency",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // The verdict comes before everything else.
    let titles = ["Trials", "Charts", "Rules"];
    let titles = titles.map(|title| format!("<h2>{title}</h2>"));
    let places = std::iter::once("<p class=\"word\">".to_owned()).chain(titles);
    assert!(places.map(|part| page.find(&part).unwrap()).is_sorted());
}

#[test]
fn several_runs_side_by_side() {
    let verdict = verdict();
    let compared = |name: &str, values: &[f64]| {
        let kernel = Fact::new(FactGroup::Host, "kernel", format!("6.1 of {name}"));
        Compared::from_evidence(name, &[(mlperf(), vec![offline(values)])], vec![kernel])
    };
    let comparison = compare_subjects(
        &[compared("before", &[100.0, 101.0, 99.0]), compared("after", &[110.0, 111.0, 109.0])],
        &ComparisonOptions::default(),
    );
    let page = render_html(&page_document(&ReportPage {
        made_by: "retrial 0.1.0".to_owned(),
        subjects: vec![subject("before", &verdict), subject("after", &verdict)],
        comparison: Some(&comparison),
        ..ReportPage::default()
    }));
    check(&page);
    for words in ["Overview", "▲ faster", "6.1 of after", "href=\"#s1\"", "2 results"] {
        assert!(page.contains(words), "{words}");
    }
}

/// Every text of a verdict, in place of what it was.
fn replaced(value: &mut Value, with: &str) {
    const FIXED: [&str; 13] = [
        "outcome",
        "kind",
        "mode",
        "claim",
        "step",
        "noise",
        "more_trials",
        "better",
        "statistic",
        "throttled_s",
        "change",
        "aggregate",
        "order",
    ];
    match value {
        Value::String(text) => with.clone_into(text),
        Value::Array(all) => all.iter_mut().for_each(|item| replaced(item, with)),
        Value::Object(all) => {
            for (name, value) in all.iter_mut() {
                if !FIXED.contains(&name.as_str()) {
                    replaced(value, with);
                }
            }
            if let Some(Value::Object(figures)) = all.get_mut("figures") {
                let named = figures.values().next().cloned();
                figures.extend(named.map(|value| (with.to_owned(), value)));
            }
        }
        _ => {}
    }
}

fn hostile(with: &str) -> String {
    let mut value = serde_json::to_value(verdict()).unwrap();
    replaced(&mut value, with);
    let verdict: Verdict = serde_json::from_value(value).unwrap();
    let rule = retrial_results::verdict::RuleCheck::violation(with, with, with);
    let subject = ReportSubject {
        entry: ReportedVerdict {
            rules: &[rule],
            command: Some(with.to_owned()),
            ..ReportedVerdict::new(with, &verdict)
        },
        environment: vec![Fact::new(FactGroup::Packages, with, with)],
        commands: Some(with.to_owned()),
        steps: vec![StepReport {
            number: 1,
            name: with.to_owned(),
            end: Some((failed(with, with), 1.0)),
            log: Some(with.to_owned()),
        }],
        ..subject(with, &verdict)
    };
    page(vec![subject.clone(), subject])
}

#[test]
fn container_output_is_escaped() {
    let page = hostile(HOSTILE);
    check(&page);
    assert!(page.contains("&lt;script&gt;"));
    assert!(!page.contains(['\0', '\u{1b}', '\u{202e}', '\u{fffe}']));
}

#[test]
fn very_long_words_are_not_truncated() {
    check(&hostile(&"x".repeat(20_000)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_is_escaped(text in "\\PC*|(.|\n){0,40}") {
        check(&hostile(&text));
    }
}
