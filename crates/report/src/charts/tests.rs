//! Charts say what they show, in every form.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::*;
use crate::svg::render_svg as standalone;
use crate::terminal::{Terminal, chart::render_chart};
use retrial_results::verdict::tests::build::*;
use retrial_results::verdict::{FigureValue, UnjudgedReference, judge};

const PLAIN: Terminal = Terminal { width: 80, unicode: false, color: false };

fn all() -> Vec<Chart> {
    let mut others = official(97.0);
    others.kind = retrial_recipe::model::ExpectationKind::ThirdParty;
    others.source = Some("another lab".to_owned());
    let mut offline =
        offline(&[100.0, 101.0, 99.5]).expecting(TOKENS, official(102.0)).expecting(TOKENS, others);
    for (percentile, value) in [("p50", 1e9), ("p90", 2e9), ("p99", 3.5e9)] {
        offline = offline.with_figure(&format!("latency_{percentile}_ns"), value, "ns");
    }
    let mut table = own("gemm", "gemm[bf16]", "TFLOPS", &[900.0]).with_source("gemm", source());
    for (entry, published) in [("bf16", 880.0), ("fp8", 900.0), ("fp16", 700.0), ("fp32", 1200.0)] {
        let name = format!("gemm[{entry}]");
        table = table.with_figure(&name, 900.0, "TFLOPS").expecting(&name, official(published));
    }
    let verdict = judge(&context(), &[offline, table]);
    verdict_charts(&verdict)
}

#[test]
fn in_a_terminal() {
    let width = 78;
    let terminal = Terminal { width: 80, unicode: true, color: false };
    let drawn: Vec<String> =
        all().iter().map(|chart| render_chart(chart, width, terminal)).collect();
    insta::assert_snapshot!(drawn.join("\n"));
}

#[test]
fn in_an_ascii_terminal() {
    for width in [20, 40, 60, 100, 300] {
        for chart in all() {
            let drawn = render_chart(&chart, width, PLAIN);
            assert!(drawn.is_ascii(), "{drawn}");
            for line in drawn.lines() {
                assert!(line.len() <= width.max(72), "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_chart_file_is_self_contained() {
    for chart in all() {
        let file = standalone(&chart);
        let mut reader = Reader::from_str(&file);
        loop {
            if matches!(reader.read_event().unwrap(), Event::Eof) {
                break;
            }
        }
        assert!(file.contains("prefers-color-scheme:dark"));
        assert!(file.contains("role=\"img\"") && file.contains("<desc"));
        for number in ["NaN", "inf"] {
            assert!(!file.contains(number), "{file}");
        }
    }
}

/// The chart that decides has a row for each judged figure, with bounds, trials and margin as ratios.
#[test]
fn the_first_chart_shows_the_deciding_figures() {
    let charts = all();
    let ChartKind::Ratios(ratios) = &charts[0].kind else {
        panic!("{charts:?}");
    };
    assert_eq!(ratios.rows.len(), 5);
    assert_eq!(ratios.edge, "margin 5 %");
    let row = &ratios.rows[0];
    // Of another lab, next to the submission's own.
    assert!((row.other_published[0] - 97.0 / 102.0).abs() < 1e-9, "{row:?}");
    let (lower, upper) = row.interval.unwrap();
    assert!(lower < row.value && row.value < upper);
    assert_eq!(row.trials.len(), 3);
    assert!((row.trials[0] - 100.0 / 102.0).abs() < 1e-9);
    assert!((row.edges[0] - 0.95).abs() < 1e-9);
    assert!(!charts.iter().any(|chart| matches!(chart.kind, ChartKind::Bars(_))));
}

/// Right is better: a latency of twice the published one is at a half.
#[test]
fn lower_latency_is_better() {
    let latency = loadgen("Server", "latency_p99_ns", "ns", &[2e9, 2.2e9, 2.1e9])
        .expecting("latency_p99_ns", official(1e9));
    let verdict = judge(&context(), &[latency]);
    let ChartKind::Ratios(ratios) = &verdict_charts(&verdict)[0].kind else {
        panic!();
    };
    let row = ratios.rows.iter().find(|row| row.label.contains("latency"));
    let row = row.unwrap();
    assert!((row.trials[0] - 0.5).abs() < 1e-9, "{row:?}");
    assert!(row.value < 0.5, "{row:?}");
}

/// A percentile that was not published is a gap.
#[test]
fn published_percentiles_are_a_line_next_to_the_measured_ones() {
    let mut latency = loadgen("Server", "tokens_per_second", "tokens/s", &[100.0]);
    for (percentile, value) in [("p50", 1e9), ("p90", 2e9), ("p99", 3.5e9)] {
        latency = latency.with_figure(&format!("latency_{percentile}_ns"), value, "ns");
    }
    let mut verdict = judge(&context(), &[latency]);
    let percentile = |figure: &str, value: f64| UnjudgedReference {
        figure: figure.to_owned(),
        measured: None,
        published: FigureValue { value, ..verdict.results[0].figures["latency_p50_ns"].clone() },
        kind: retrial_recipe::model::ExpectationKind::Guide,
        source: None,
    };
    let published = vec![percentile("latency_p50_ns", 1.1e9), percentile("latency_p99_ns", 3e9)];
    verdict.results[0].unjudged = published;
    let charts = verdict_charts(&verdict);
    let lines = charts.iter().find_map(|chart| match &chart.kind {
        ChartKind::Lines(lines) => Some(lines),
        _ => None,
    });
    let [measured, guide] = lines.unwrap().series.as_slice() else { panic!("{lines:?}") };
    assert_eq!((measured.name.as_str(), guide.name.as_str()), ("latency", "guide"));
    assert_eq!(guide.points, [(0.0, Some(1.1e9)), (1.0, None), (2.0, Some(3e9))]);
}

fn sampled(seconds: f64, step: u32, memory: u64) -> retrial_telemetry::TelemetryRow {
    retrial_telemetry::TelemetryRow {
        seconds,
        time: jiff::Timestamp::UNIX_EPOCH,
        pause_s: 1.0,
        measured: retrial_telemetry::MeasuredTrial {
            step,
            scenario: "Offline".to_owned(),
            mode: "performance".to_owned(),
            trial: step,
        },
        origin: retrial_telemetry::RowSource::Container(retrial_telemetry::ContainerReading {
            cpu_s: Some(seconds),
            memory: Some(memory),
        }),
    }
}

/// Trials of less than a second have a sample or two each: points, no lines.
#[test]
fn telemetry_of_short_trials_is_drawn() {
    let rows: Vec<_> = (1..4_u32)
        .flat_map(|step| {
            let at = f64::from(step) * 10.0;
            [sampled(at, step, 1_300_000), sampled(at + 0.4, step, 1_310_000)]
        })
        .collect();
    let charts = telemetry_charts(&rows);
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(titles, ["CPUs in use", "Memory of the container"]);
    let cpus = standalone(&charts[0]);
    let categories: Vec<&str> = cpus.split("<path class=\"f1\"").skip(1).collect();
    assert!(categories.len() >= 3, "{cpus}");
    let ChartKind::Lines(memory) = &charts[1].kind else {
        panic!();
    };
    assert_eq!(memory.unit, "MiB");
    let drawn = standalone(&charts[1]);
    assert!(drawn.contains(">MiB<") && drawn.contains(">1.25<"), "{drawn}");
}

#[test]
fn file_names_are_sanitized() {
    assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
    assert_eq!(file_name("GEMM[bf16 8192] µs"), "gemm-bf16-8192-s");
    assert_eq!(file_name("\u{202e}"), "chart");
}
