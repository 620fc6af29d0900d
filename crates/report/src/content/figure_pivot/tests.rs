use super::*;
use crate::content::verdict::verdict_document;
use crate::terminal::{Terminal, render_terminal};
use crate::{ReportedVerdict, markdown};
use retrial_recipe::model::{Better, Expectation, ExpectationKind, FigureSource, ReferenceFigures};
use retrial_results::verdict::tests::build::*;
use retrial_results::verdict::{Evidence, judge};

fn guide(value: f64) -> Expectation {
    Expectation { kind: ExpectationKind::Guide, noise: Some(0.01), ..official(value) }
}

fn table(unit: &str, label: Option<&str>, better: Better) -> FigureSource {
    FigureSource {
        by: vec!["shape".to_owned()],
        unit: Some(unit.to_owned()),
        label: label.map(str::to_owned),
        better,
        ..source()
    }
}

fn plain(unit: &str) -> FigureSource {
    FigureSource { unit: Some(unit.to_owned()), ..source() }
}

/// A table of two figures by shape, in the order in which it was published; a third that is for reference.
fn by_shape() -> Evidence {
    let mut evidence = own("fp16", "ms[16k]", "ms", &[8.6])
        .with_figure("ms[8k]", 1.04, "ms")
        .with_figure("tflops[16k]", 1020.0, "TFLOPS")
        .with_figure("tflops[8k]", 900.0, "TFLOPS")
        .with_figure("efficiency[8k]", 78.2, "%")
        .with_source("ms", table("ms", Some("Time (ms)"), Better::Lower))
        .with_source("tflops", table("TFLOPS", None, Better::Higher))
        .with_source("efficiency", table("%", None, Better::Higher))
        .expecting("ms[8k]", guide(1.044))
        .expecting("ms[16k]", guide(8.6))
        .expecting("tflops[8k]", guide(1053.0))
        .expecting("tflops[16k]", guide(1020.0));
    evidence.plan.references = Some(ReferenceFigures {
        kind: ExpectationKind::Guide,
        source: None,
        values: vec![("efficiency[8k]".to_owned(), 78.0)],
    });
    evidence
}

fn of_size(scenario: &str, tokens: f64) -> Evidence {
    own(scenario, "speed", "tokens/s", &[tokens])
        .with_figure("memory", 9.7, "GB")
        .with_source("speed", plain("tokens/s"))
        .with_source("memory", plain("GB"))
        .expecting("speed", guide(1000.0))
}

/// Returns the lines of tables in the Markdown of the verdict on evidence.
fn table_lines(evidence: &[Evidence]) -> String {
    let verdict = judge(&context_of_other_suite(), evidence);
    let document = verdict_document(&ReportedVerdict::new("", &verdict));
    let text = markdown::render_markdown(&document);
    text.lines().filter(|line| line.starts_with('|')).join("\n")
}

#[test]
fn entries_of_tables_are_rows_with_published_values_next_to_them() {
    insta::assert_snapshot!(table_lines(&[by_shape()]), @r"
    | shape | Time (ms) | published | ratio | tflops | published | ratio | efficiency (%) | published | outcome |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | 8k | 1.04 | 1.044 | 1.004 | 900 | 1,053 | 0.855 | 78.2 | 78 | ✗ not reproduced |
    | 16k | 8.6 | 8.6 | 1.000 | 1,020 | 1,020 | 1.000 | – |  | ✓ reproduced |
    ");
}

#[test]
fn scenarios_with_the_same_figures_are_rows() {
    let sizes = [of_size("small", 1001.0), of_size("large", 800.0)];
    insta::assert_snapshot!(table_lines(&sizes), @r"
    | scenario | speed (tokens/s) | published | ratio | memory (GB) | outcome |
    | --- | --- | --- | --- | --- | --- |
    | small | 1,001 | 1,000 | 1.001 | 9.7 | ✓ reproduced |
    | large | 800 | 1,000 | 0.800 | 9.7 | ✗ not reproduced |
    ");
}

#[test]
fn points_without_published_figures_show_the_rate_and_medians() {
    let points = [1.0, 4.0].map(|value| {
        let mut evidence =
            own(&format!("serving-{value}"), "output_throughput", "tokens/s", &[99.0 * value])
                .with_source("output_throughput", plain("tokens/s"));
        for name in ["ttft_mean", "ttft_p50", "ttft_p99", "tpot_mean", "tpot_p50", "tpot_p99"] {
            evidence = evidence.with_figure(name, 20.0, "ms").with_source(name, plain("ms"));
        }
        let (sweep, axis) = ("serving".to_owned(), "concurrency".to_owned());
        evidence.plan.point = Some(SweepPoint { sweep, axis, value });
        evidence
    });
    let verdict = judge(&context_of_other_suite(), &points);
    let document = verdict_document(&ReportedVerdict::new("", &verdict));
    let terminal = Terminal { width: 100, unicode: true, color: false };
    let text = render_terminal(&document, terminal);
    let table = text.lines().skip_while(|line| !line.starts_with("concurrency")).take(4).join("\n");
    insta::assert_snapshot!(table, @r"
    concurrency  output_throughput (tokens/s)  ttft_p50 (ms)  tpot_p50 (ms)  outcome
    ───────────────────────────────────────────────────────────────────────────────────
    1            99                            20             20             • measured
    4            396                           20             20             • measured
    ");
}

/// The second at 4 is 2 % above the first, whose server was not warm.
#[test]
fn a_point_that_is_measured_twice_shows_what_warming_up_changes() {
    let points = [(16.0, [900.0, 909.0]), (4.0, [300.0, 306.0])].map(|(value, trials)| {
        let mut evidence =
            own(&format!("serving-{value}"), "output_throughput", "tokens/s", &trials)
                .with_source("output_throughput", plain("tokens/s"))
                .expecting("output_throughput", guide(trials[0]));
        let (sweep, axis) = ("serving".to_owned(), "concurrency".to_owned());
        evidence.plan.point = Some(SweepPoint { sweep, axis, value });
        evidence
    });
    insta::assert_snapshot!(table_lines(&points), @r"
    | concurrency | output_throughput (tokens/s) | published | ratio | later / 1st trial | outcome |
    | --- | --- | --- | --- | --- | --- |
    | 4 | 302.985 | 300 | 1.010 | 1.020 | ✓ reproduced |
    | 16 | 904.489 | 900 | 1.005 | 1.010 | ✓ reproduced |
    ");
}

#[test]
fn a_scenario_with_figures_of_its_own_is_no_row() {
    let lone = own("other", "loss", "", &[2.0])
        .with_source("loss", plain(""))
        .expecting("loss", guide(2.0));
    let verdict = judge(&context_of_other_suite(), &[of_size("small", 1001.0), lone]);
    assert!(pivot_tables(&verdict).is_empty());
}
