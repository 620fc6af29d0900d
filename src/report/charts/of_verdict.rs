//! Charts of a verdict's results: measured next to published figures, and latencies.

use super::{Bar, Bars, Chart, Kind, Lines, Origin, Ratio, Ratios, Series, extent};
use crate::report::document::clean;
use crate::results::verdict::{Bounds, Judgement, Outcome, ResultVerdict, Verdict, number};
use retrial_recipe::model::{ExpectationKind, Mode};

/// More figures of one result are one chart of ratios, not a chart each.
const FEW: usize = 3;
/// The most rows of a chart.
const ROWS: usize = 40;
/// Latencies by the stem of their figures' names: those to the first token and those between tokens
/// differ in magnitude.
const LATENCIES: [(&str, &str); 4] = [
    ("latency", "latency"),
    ("query_latency", "latency of a query"),
    ("ttft", "time to first token"),
    ("tpot", "time per output token"),
];

/// The charts of one result.
#[must_use]
pub fn of_result(verdict: &Verdict, result: &ResultVerdict) -> Vec<Chart> {
    let judged = &result.judgements;
    let mut charts: Vec<Chart> = match judged.len() {
        0 => measured(result).into_iter().collect(),
        1..=FEW => {
            let charts = judged.iter();
            charts
                .filter_map(|one| bars(verdict, result, one))
                .collect()
        }
        _ => ratios(verdict, result).into_iter().collect(),
    };
    if result.mode == Mode::Performance {
        let latencies = LATENCIES.iter();
        charts.extend(latencies.filter_map(|(stem, what)| percentiles(result, stem, what)));
    }
    charts
}

fn chart(result: &ResultVerdict, what: &str, description: &str, kind: Kind) -> Chart {
    let title = format!("{} {}: {what}", result.scenario, result.mode);
    Chart::new(&result.benchmark, &title, description, kind)
}

/// Two one-sided bounds are not a two-sided interval.
fn whiskers(verdict: &Verdict) -> String {
    format!(
        "bounds at {} confidence each",
        number::percent(verdict.confidence)
    )
}

/// One judged figure next to everything that was published of it.
fn bars(verdict: &Verdict, result: &ResultVerdict, judgement: &Judgement) -> Option<Chart> {
    let measured = judgement.measured.as_ref()?;
    let decides = judgement.references.iter().find(|one| one.decides)?;
    let mut bars = vec![Bar {
        interval: interval(judgement, measured.value, decides.value),
        trials: trials(result, &judgement.figure),
        ..Bar::new("measured", measured.value, Origin::Measured)
    }];
    bars.extend(judgement.references.iter().map(|reference| {
        let kind = match reference.kind {
            ExpectationKind::Official => "published",
            ExpectationKind::Guide => "vendor's guide",
            ExpectationKind::ThirdParty => "third party",
        };
        let source = reference.source.as_deref().map(clean);
        let label = source.filter(|source| !source.is_empty());
        let label = label.map_or(kind.to_owned(), |source| format!("{kind} ({source})"));
        let origin = if reference.decides {
            Origin::Published
        } else {
            Origin::Other
        };
        Bar::new(label, reference.value, origin)
    }));
    bars.truncate(ROWS);
    let bars = Bars {
        unit: measured.unit.clone(),
        bars,
        mark: Some((decides.value, "published value".to_owned())),
        whiskers: whiskers(verdict),
    };
    let (figure, sentence) = (&judgement.figure, &judgement.sentence);
    Some(chart(result, figure, sentence, Kind::Bars(bars)))
}

/// The bounds of the ratio as bounds of the figure. A ratio above 1 is better whichever direction the
/// figure has: the quotient that the ratio equals tells the direction.
fn interval(judgement: &Judgement, measured: f64, published: f64) -> Option<(f64, f64)> {
    let (ratio, bounds) = (judgement.ratio?, judgement.bounds?);
    if bounds.upper <= bounds.lower || bounds.lower <= 0.0 {
        return None;
    }
    let up = (measured / published - ratio).abs() <= (published / measured - ratio).abs();
    Some(if up {
        (published * bounds.lower, published * bounds.upper)
    } else {
        (published / bounds.upper, published / bounds.lower)
    })
}

/// The figure of each trial, if there are several.
fn trials(result: &ResultVerdict, figure: &str) -> Vec<f64> {
    let figures = result.trials.iter().filter_map(|trial| {
        let mut figures = trial.figures.iter();
        figures.find(|(name, _)| name.eq_ignore_ascii_case(figure))
    });
    let values: Vec<f64> = figures.map(|(_, figure)| figure.value).collect();
    if values.len() > 1 { values } else { Vec::new() }
}

fn ratios(verdict: &Verdict, result: &ResultVerdict) -> Option<Chart> {
    let rows = result.judgements.iter().filter_map(|judgement| {
        Some(Ratio {
            label: clean(&judgement.figure),
            value: judgement.ratio?,
            interval: judgement.bounds.and_then(usable),
            least: Some(1.0 - judgement.margin),
            word: String::new(),
            bad: judgement.outcome > Outcome::Inconclusive,
        })
    });
    let mut rows: Vec<Ratio> = rows.collect();
    let count = rows.len();
    let what = if count > ROWS {
        rows.sort_by(|one, other| one.value.total_cmp(&other.value));
        rows.truncate(ROWS);
        format!("the lowest {ROWS} of {count} figures, compared with the published ones")
    } else {
        "compared with the published figures".to_owned()
    };
    let ratios = Ratios {
        of: "published".to_owned(),
        rows,
        whiskers: whiskers(verdict),
    };
    (count > 0).then(|| chart(result, &what, &result.sentence, Kind::Ratios(ratios)))
}

/// Bounds that can be drawn.
pub(super) fn usable(bounds: Bounds) -> Option<(f64, f64)> {
    let is_usable = bounds.upper > bounds.lower && bounds.lower.is_finite() && bounds.upper < 1e3;
    is_usable.then_some((bounds.lower, bounds.upper))
}

/// The trials of a figure without a published one, if there are several.
fn measured(result: &ResultVerdict) -> Option<Chart> {
    let name = result.deciding.as_ref()?;
    let figure = result.figures.get(name)?;
    let trials = trials(result, name);
    if trials.is_empty() {
        return None;
    }
    let label = format!("{} trials together", trials.len());
    let bar = Bar::new(label, figure.value, Origin::Measured);
    let bars = Bars {
        unit: figure.unit.clone(),
        bars: vec![Bar { trials, ..bar }],
        ..Bars::default()
    };
    Some(chart(result, name, &result.sentence, Kind::Bars(bars)))
}

/// A latency by percentile: `latency_p99_9_ns` is the 99.9th of `latency`.
fn percentiles(result: &ResultVerdict, stem: &str, what: &str) -> Option<Chart> {
    let percentile = |name: &str| -> Option<f64> {
        let digits = name.strip_prefix(stem)?.strip_prefix("_p")?;
        digits.strip_suffix("_ns")?.replace('_', ".").parse().ok()
    };
    let figures = result.figures.iter();
    let figures = figures.filter(|(_, figure)| figure.value.is_finite());
    let mut found: Vec<_> = figures
        .filter_map(|(name, figure)| Some((percentile(name)?, name, figure)))
        .collect();
    if found.len() < 3 {
        return None;
    }
    found.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let places: Vec<String> = found.iter().map(|(of, ..)| format!("p{of}")).collect();
    let described = found.iter().zip(&places);
    let described = described.map(|((_, _, figure), place)| {
        format!("{place}: {}", number::figure(figure.value, &figure.unit))
    });
    let described: Vec<String> = described.collect();
    let trials = |name: &String| {
        let trials = result.trials.iter();
        extent(trials.filter_map(|trial| Some(trial.figures.get(name)?.value)))
    };
    let several = result.trials.len() > 1;
    let bands = found.iter().filter(|_| several);
    let points = (0_u32..).zip(&found);
    let series = Series {
        name: if several {
            format!("mean of {} trials", result.trials.len())
        } else {
            what.to_owned()
        },
        band: bands.map(|(_, name, _)| trials(name)).collect(),
        points: points
            .map(|(at, (_, _, figure))| (f64::from(at), Some(figure.value)))
            .collect(),
        marked: true,
    };
    let lines = Lines {
        over: "percentile of the queries".to_owned(),
        places,
        unit: found[0].2.unit.clone(),
        from_zero: true,
        series: vec![series],
        ..Lines::default()
    };
    Some(chart(
        result,
        what,
        &described.join(", "),
        Kind::Lines(lines),
    ))
}
