use jiff::Timestamp;

use std::collections::BTreeMap;

use super::*;
use crate::terminal::{Terminal, render_terminal};
use retrial_history::{DecidingFigure, RunState};
use retrial_plan::step::BatchPosition;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{Outcome, QualifierKind};

fn row(number: i64, host: &str) -> RunSummary {
    let started = Timestamp::from_second(1_795_256_000 + number * 3600).unwrap();
    RunSummary {
        id: format!("20261121-1{number}0000-resnet50-0f1e"),
        title: "ResNet-50 on the CPU".to_owned(),
        host: host.to_owned(),
        variant: [("rocm".to_owned(), format!("7.{number}.1"))].into(),
        started: Some(started),
        ended: Some(started + jiff::SignedDuration::from_secs(75)),
        run_state: RunState::Ended,
        outcome: Some(Outcome::Reproduced),
        deciding: Some(DecidingFigure {
            scenario: "Offline".into(),
            mode: Mode::Performance,
            figure: "samples_per_second".to_owned(),
            value: Some(1234.5),
            unit: "samples/s".to_owned(),
            ratio: Some(0.98),
            is_of_single_trial: false,
        }),
        ..RunSummary::default()
    }
}

fn rendered(rows: &[RunSummary], width: u16) -> String {
    let terminal = Terminal { width, color: false, unicode: true };
    render_terminal(&runs_document(rows, &TimeZone::UTC), terminal)
}

#[test]
fn columns_are_dropped_to_fit_the_width() {
    let mut rows = [row(0, "node-a"), row(1, "node-b")];
    rows[1].outcome = None;
    rows[1].deciding = None;
    rows[1].reason = Some("the registry does not answer".to_owned());
    let heads = |width: u16| -> Vec<String> {
        let text = rendered(&rows, width);
        let wide = text.lines().map(unicode_width::UnicodeWidthStr::width).max();
        assert!(wide.is_none_or(|wide| wide <= usize::from(width)), "{text}");
        let head = text.lines().next().unwrap_or_default().to_owned();
        head.split_whitespace().map(str::to_owned).collect()
    };
    let all = [
        "run",
        "outcome",
        "benchmark",
        "variant",
        "figure",
        "started",
        "ratio",
        "duration",
        "host",
    ];
    assert_eq!(heads(200), all);
    assert_eq!(
        heads(140),
        ["run", "outcome", "benchmark", "variant", "figure", "started", "ratio", "host"]
    );
    assert_eq!(heads(120), ["run", "outcome", "variant", "figure", "started", "ratio"]);
    assert_eq!(heads(100), ["run", "outcome", "figure", "started", "ratio"]);
    assert_eq!(heads(80), ["run", "outcome", "started", "ratio"]);
    assert_eq!(heads(60), ["run", "outcome", "ratio"]);
}

/// `MLCommons`' guidelines require it next to each score, and a narrow table has the ratio alone.
#[test]
fn ratios_of_mlperf_are_unverified_at_every_width() {
    let mut mlperf = row(0, "node-a");
    mlperf.submission.suite = "mlperf-inference".to_owned();
    for width in [60, 80, 140] {
        let text = rendered(&[mlperf.clone(), mlperf.clone()], width);
        let column = text.lines().next().and_then(|head| head.find("ratio")).unwrap();
        let notes = text.lines().nth(1).unwrap_or_default();
        let note = notes.get(column..).unwrap_or_default();
        assert!(note.starts_with("unverified"), "{text}");
    }
}

#[test]
fn equal_or_empty_columns_are_omitted() {
    let text = rendered(&[row(0, "node-a"), row(1, "node-a")], 200);
    assert!(!text.contains("host") && !text.contains("node-a"), "{text}");
    assert!(!text.contains("Offline"), "{text}");
}

#[test]
fn rows_are_sanitized() {
    let mut rows = [row(0, "node-a"), row(1, "b")];
    rows[0].title = "\u{1b}[31mred\nnext".to_owned();
    rows[0].host = "\u{7}".to_owned();
    let text = rendered(&rows, 200);
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    assert_eq!(text.lines().count(), 5);
}

#[test]
fn the_runs_of_a_batch_are_one_row() {
    let mut rows = [0, 1, 2, 3].map(|number| row(number, "node-a"));
    for (trial, run) in (1..).zip(&mut rows[..3]) {
        run.batch = Some(BatchPosition {
            id: "20261121-100000-releases-77aa".to_owned(),
            cell: "rocm=7.1.1".to_owned(),
            trial,
        });
    }
    rows[1].outcome = None;
    let terminal = Terminal { width: 200, color: false, unicode: true };
    let render = |planned: &[(&str, usize)]| {
        let planned = planned.iter().map(|(id, runs)| ((*id).to_owned(), *runs)).collect();
        render_terminal(&grouped_runs_document(&rows, &planned, &TimeZone::UTC), terminal)
    };
    let text = render(&[]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    let batch = lines[2].split_whitespace().collect::<Vec<_>>().join(" ");
    let expected =
        "20261121-100000-releases-77aa 3 runs: 1 failed, 2 reproduced ResNet-50 on the CPU";
    assert!(batch.starts_with(expected), "{text}");
    assert!(lines[3].starts_with(&rows[3].id), "{text}");
    let unfinished = render(&[("20261121-100000-releases-77aa", 6)]);
    assert!(unfinished.contains("3 of 6 runs: 1 failed, 2 reproduced"), "{unfinished}");
}

#[test]
fn a_retried_run_of_a_batch_counts_once() {
    let mut rows = [0, 1, 2].map(|number| row(number, "node-a"));
    for (trial, run) in [1, 1, 2].into_iter().zip(&mut rows) {
        run.batch = Some(BatchPosition {
            id: "20261121-100000-releases-77aa".to_owned(),
            cell: "rocm=7.1.1".to_owned(),
            trial,
        });
    }
    rows[0].outcome = None;
    let terminal = Terminal { width: 200, color: false, unicode: true };
    let text =
        render_terminal(&grouped_runs_document(&rows, &BTreeMap::new(), &TimeZone::UTC), terminal);
    assert!(text.contains("2 runs: 2 reproduced; 1 retry"), "{text}");
}

#[test]
fn a_long_outcome_is_wrapped_before_the_start_is_omitted() {
    let mut rows = [row(0, "node-a"), row(1, "node-a")];
    rows[0].qualifiers = vec![
        QualifierKind::Modified,
        QualifierKind::OtherHardware,
        QualifierKind::PerformanceOnly,
        QualifierKind::UnpinnedImage,
    ];
    for width in [80, 100, 120] {
        let text = rendered(&rows, width);
        let head = text.lines().next().unwrap_or_default();
        assert!(head.contains("started"), "{text}");
        assert!(!text.contains('…') && text.contains("unpinned"), "{text}");
    }
}
