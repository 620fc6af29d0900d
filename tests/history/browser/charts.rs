//! Charts of extreme data: long labels, one point, equal values, very small and very large numbers, values below zero.

use retrial_report::charts::{
    Bar, BarChart, Chart, ChartKind, Column, ColumnChart, ColumnSeries, DotChart, LineChart,
    LineSeries, RatioChart, RatioRow, ReferenceLine, SeriesStyle, VerdictChart,
};
use retrial_report::document::{Block, Document};
use retrial_report::html::render_html;
use retrial_results::verdict::Outcome;

const LONG: &str = "Server accuracy, a scenario with a very long name on registry.example.com:5000/ml/pytorch-training:v25.6 \
     next to another one";
/// Values of one chart each.
const VALUES: [&[f64]; 8] = [
    &[103_480.0],
    &[42.0, 42.0, 42.0],
    &[0.999_98, 1.000_02, 1.000_01],
    &[3.1e-9, 4.7e-9, 8.8e-9, 1.2e-8],
    &[4.1e14, 7.3e14, 9.99e14],
    &[0.004, 1.0, 260.0],
    &[-12.5, -3.0, 4.0, 7.5],
    &[-0.031, -0.029, -0.030],
];

fn chart(title: String, kind: ChartKind) -> Chart {
    Chart { name: "chart".to_owned(), description: title.clone(), title, kind }
}

fn label(at: usize) -> String {
    if at.is_multiple_of(2) { LONG.to_owned() } else { format!("row {at}") }
}

fn ratios(values: &[f64]) -> ChartKind {
    let rows = values.iter().enumerate().map(|(at, value)| RatioRow {
        label: label(at),
        value: value.abs(),
        interval: Some((value.abs() * 0.98, value.abs() * 1.01)),
        edges: vec![0.95, 1.05],
        trials: vec![value.abs() * 0.99, value.abs()],
        other_published: vec![value.abs() * 0.9],
        word: "not reproduced".to_owned(),
        bad: at == 1,
    });
    ChartKind::Ratios(RatioChart {
        reference: "published".to_owned(),
        rows: rows.collect(),
        whiskers: "bounds at 95 % confidence each".to_owned(),
        edge: "margin 5 %".to_owned(),
    })
}

fn bars(values: &[f64]) -> ChartKind {
    let bars = values.iter().enumerate().map(|(at, value)| Bar {
        label: label(at),
        value: *value,
        interval: Some((value * 0.97, value * 1.02)),
        trials: vec![*value, value * 0.99],
    });
    ChartKind::Bars(BarChart {
        unit: "tokens/s".to_owned(),
        bars: bars.collect(),
        whiskers: "lowest and highest run".to_owned(),
    })
}

/// Columns as high as their published figure and as other hosts' figures.
fn columns(values: &[f64], count: usize) -> ChartKind {
    let column = |value: f64| {
        Some(Column {
            value: value.abs(),
            range: Some((value.abs() * 0.99, value.abs() * 1.01)),
            published: Some(value.abs() * 1.03),
        })
    };
    let series = (0..count).map(|at| ColumnSeries {
        name: if at == 0 { LONG.to_owned() } else { format!("series {at}") },
        columns: values.iter().map(|value| column(*value)).collect(),
    });
    let references = values.iter().take(2).map(|value| ReferenceLine {
        name: "another host with a long name".to_owned(),
        value: value.abs() * 1.02,
    });
    let groups = (0..values.len()).map(label);
    ChartKind::Columns(ColumnChart {
        axis_name: "gpu".to_owned(),
        groups: groups.collect(),
        series: series.collect(),
        references: references.collect(),
        unit: "tokens/s".to_owned(),
        direction: "higher is better",
        whiskers: "lowest and highest trial",
    })
}

fn lines(values: &[f64]) -> ChartKind {
    let points = (0_u32..).zip(values).map(|(at, value)| (f64::from(at), Some(*value)));
    let band = values.iter().map(|value| (value - value.abs() * 0.01, value + value.abs() * 0.01));
    ChartKind::Lines(LineChart {
        axis_name: "release".to_owned(),
        categories: (0..values.len()).map(|at| format!("rocm/amd-mlperf:release_{at}")).collect(),
        unit: "ms".to_owned(),
        series: vec![LineSeries {
            name: LONG.to_owned(),
            points: points.collect(),
            band: band.collect(),
            style: SeriesStyle::MarkedLine,
            ..LineSeries::default()
        }],
        whiskers: "lowest and highest run",
        ..LineChart::default()
    })
}

fn dots(values: &[f64]) -> ChartKind {
    let trials = values.iter().flat_map(|value| [*value, *value, value * 1.001]);
    ChartKind::Dots(DotChart {
        axis_name: "release".to_owned(),
        categories: vec!["6.4.1".to_owned(), "7.0.0".to_owned(), "7.1.1".to_owned()],
        unit: "tokens/s".to_owned(),
        dots: trials.enumerate().map(|(at, value)| (at % 3, value)).collect(),
        change: Some((0, 1)),
    })
}

fn verdicts() -> ChartKind {
    let verdicts = vec![Some(Outcome::NotReproduced), None, Some(Outcome::Reproduced)];
    ChartKind::Verdicts(VerdictChart {
        axis_name: "image".to_owned(),
        categories: (0..3).map(|at| format!("amd-mlperf:mi355x_inference_{at}")).collect(),
        rows: vec![(LONG.to_owned(), verdicts)],
    })
}

/// A page of all of them.
pub fn page() -> String {
    let mut charts = vec![chart("verdicts".to_owned(), verdicts())];
    for (at, values) in VALUES.into_iter().enumerate() {
        let kinds = [
            ("ratios", ratios(values)),
            ("bars", bars(values)),
            ("columns", columns(values, 1)),
            ("narrow columns", columns(values, 6)),
            ("lines", lines(values)),
            ("dots", dots(values)),
        ];
        charts.extend(kinds.map(|(name, kind)| chart(format!("{name} {at}"), kind)));
    }
    render_html(&Document::new("Charts", [Block::Charts(charts)]))
}
