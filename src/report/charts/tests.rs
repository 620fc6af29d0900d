//! Charts say what they show, in every form.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::*;
use crate::report::svg::render as standalone;
use crate::report::terminal::{Terminal, chart::text};
use crate::results::verdict::judge;
use crate::results::verdict::tests::build::*;

const PLAIN: Terminal = Terminal {
    width: 80,
    unicode: false,
    color: false,
};

fn all() -> Vec<Chart> {
    let mut others = official(97.0);
    others.kind = retrial_recipe::model::ExpectationKind::ThirdParty;
    others.source = Some("another lab".to_owned());
    let mut offline = offline(&[100.0, 101.0, 99.5])
        .expecting(TOKENS, official(102.0))
        .expecting(TOKENS, others);
    for (percentile, value) in [("p50", 1e9), ("p90", 2e9), ("p99", 3.5e9)] {
        offline = offline.with_figure(&format!("latency_{percentile}_ns"), value, "ns");
    }
    let mut table = own("gemm", "gemm[bf16]", "TFLOPS", &[900.0]);
    for (entry, published) in [
        ("bf16", 880.0),
        ("fp8", 900.0),
        ("fp16", 700.0),
        ("fp32", 1200.0),
    ] {
        let name = format!("gemm[{entry}]");
        table = table
            .with_figure(&name, 900.0, "TFLOPS")
            .expecting(&name, official(published));
    }
    let verdict = judge(&context(), &[offline, table]);
    let results = verdict.results.iter();
    results
        .flat_map(|result| of_result(&verdict, result))
        .collect()
}

#[test]
fn in_a_terminal() {
    let width = 78;
    let signs = Terminal {
        width: 80,
        unicode: true,
        color: false,
    };
    let drawn: Vec<String> = all()
        .iter()
        .map(|chart| text(chart, width, signs))
        .collect();
    insta::assert_snapshot!(drawn.join("\n"));
}

#[test]
fn in_a_terminal_of_ascii() {
    for width in [20, 40, 60, 100, 300] {
        for chart in all() {
            let drawn = text(&chart, width, PLAIN);
            assert!(drawn.is_ascii(), "{drawn}");
            for line in drawn.lines() {
                assert!(line.len() <= width.max(72), "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_file_stands_alone() {
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

/// The bounds are told as bounds of the figure: of a ratio they are no length.
#[test]
fn whiskers_are_of_the_figure() {
    let charts = all();
    let Kind::Bars(bars) = &charts[0].kind else {
        panic!("{charts:?}");
    };
    let measured = &bars.bars[0];
    let (lower, upper) = measured.interval.unwrap();
    assert!(lower < measured.value && measured.value < upper);
    assert!((lower * upper).sqrt() - measured.value < 0.01);
    assert_eq!(measured.trials, [100.0, 101.0, 99.5]);
    assert!((bars.mark.as_ref().unwrap().0 - 102.0).abs() < 1e-9);
}

#[test]
fn names_of_files_are_plain() {
    assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
    assert_eq!(file_name("GEMM[bf16 8192] µs"), "gemm-bf16-8192-s");
    assert_eq!(file_name("\u{202e}"), "chart");
}
