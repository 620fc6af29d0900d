//! Charts of a verdict's results: what was measured beside what was published, and latencies.

use std::collections::BTreeMap;

use super::{Bar, Bars, Chart, Kind, Lines, Origin, Ratio, Ratios, Series, file_name};
use crate::report::document::clean;
use crate::results::verdict::{Bounds, Judgement, Outcome, ResultVerdict, Verdict, number};
use retrial_recipe::model::{ExpectationKind, Mode};

/// More figures of one result are one chart of ratios, not a chart each.
const FEW: usize = 3;
/// More rows of a chart nobody reads.
const ROWS: usize = 40;

/// The charts of one result.
#[must_use]
pub fn of_result(verdict: &Verdict, result: &ResultVerdict) -> Vec<Chart> {
    let mut charts = Vec::new();
    let judged: Vec<&Judgement> = result.judgements.iter().collect();
    if judged.len() > FEW {
        charts.extend(ratios(verdict, result, &judged));
    } else {
        charts.extend(judged.iter().filter_map(|one| bars(verdict, result, one)));
    }
    if judged.is_empty() {
        charts.extend(measured(result));
    }
    if result.mode == Mode::Performance {
        charts.extend(latencies(result));
    }
    charts
}

fn named(result: &ResultVerdict, what: &str) -> (String, String) {
    let title = clean(&format!("{} {}: {what}", result.scenario, result.mode));
    let name = file_name(&format!("{} {title}", result.benchmark));
    (title, name)
}

/// `95 % interval`, which is two one-sided bounds: so it says.
fn whiskers(confidence: f64) -> String {
    format!("bounds, each at {} confidence", number::percent(confidence))
}

/// One judged figure beside everything that was published of it.
fn bars(verdict: &Verdict, result: &ResultVerdict, judgement: &Judgement) -> Option<Chart> {
    let measured = judgement.measured.as_ref()?;
    let decides = judgement.references.iter().find(|one| one.decides)?;
    let mut all = vec![Bar {
        label: "measured".to_owned(),
        value: measured.value,
        interval: interval(judgement, measured.value, decides.value),
        trials: trials(result, &judgement.figure),
        origin: Origin::Measured,
    }];
    for reference in &judgement.references {
        let source = reference.source.as_deref().map_or(String::new(), clean);
        let kind = match reference.kind {
            ExpectationKind::Official => "published",
            ExpectationKind::Guide => "vendor's guide",
            ExpectationKind::ThirdParty => "third party",
        };
        all.push(Bar {
            label: match source.as_str() {
                "" => kind.to_owned(),
                source => format!("{kind} ({source})"),
            },
            value: reference.value,
            interval: None,
            trials: Vec::new(),
            origin: if reference.decides {
                Origin::Published
            } else {
                Origin::Other
            },
        });
    }
    all.truncate(ROWS);
    let (title, name) = named(result, &judgement.figure);
    Some(Chart {
        title,
        name,
        description: judgement.sentence.clone(),
        kind: Kind::Bars(Bars {
            unit: measured.unit.clone(),
            bars: all,
            mark: Some((decides.value, "published value".to_owned())),
            whiskers: whiskers(verdict.confidence),
        }),
    })
}

/// The bounds of the ratio as bounds of the figure. Whichever way the figure goes, above 1 is
/// better: which of the two quotients the ratio is tells the way.
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

/// What each trial gave, where there are several.
fn trials(result: &ResultVerdict, figure: &str) -> Vec<f64> {
    let values: Vec<f64> = result
        .trials
        .iter()
        .filter_map(|trial| {
            let mut figures = trial.figures.iter();
            figures.find(|(name, _)| name.eq_ignore_ascii_case(figure))
        })
        .map(|(_, figure)| figure.value)
        .collect();
    if values.len() > 1 { values } else { Vec::new() }
}

fn ratios(verdict: &Verdict, result: &ResultVerdict, judged: &[&Judgement]) -> Option<Chart> {
    let row = |judgement: &&Judgement| {
        Some(Ratio {
            label: clean(&judgement.figure),
            value: judgement.ratio?,
            interval: judgement.bounds.and_then(usable),
            least: Some(1.0 - judgement.margin),
            word: String::new(),
            bad: judgement.outcome > Outcome::Inconclusive,
        })
    };
    let mut rows: Vec<Ratio> = judged.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    // Of very many, the worst are shown, and it is said.
    let count = rows.len();
    let mut what = "compared with the published figures".to_owned();
    if count > ROWS {
        rows.sort_by(|one, other| one.value.total_cmp(&other.value));
        rows.truncate(ROWS);
        what = format!("the lowest {ROWS} of {count} figures, compared with the published ones");
    }
    let (title, name) = named(result, &what);
    Some(Chart {
        title,
        name,
        description: result.sentence.clone(),
        kind: Kind::Ratios(Ratios {
            of: "what was published".to_owned(),
            rows,
            whiskers: whiskers(verdict.confidence),
        }),
    })
}

pub(super) fn usable(bounds: Bounds) -> Option<(f64, f64)> {
    let is_usable = bounds.upper > bounds.lower && bounds.lower.is_finite() && bounds.upper < 1e3;
    is_usable.then_some((bounds.lower, bounds.upper))
}

/// Nothing was published: the trials, where there are several.
fn measured(result: &ResultVerdict) -> Option<Chart> {
    let name = result.deciding.as_ref()?;
    let figure = result.figures.get(name)?;
    let trials = trials(result, name);
    if trials.is_empty() {
        return None;
    }
    let together = format!("{} trials together", trials.len());
    let all = vec![Bar {
        label: together,
        value: figure.value,
        interval: None,
        trials,
        origin: Origin::Measured,
    }];
    let (title, file) = named(result, name);
    Some(Chart {
        title,
        name: file,
        description: result.sentence.clone(),
        kind: Kind::Bars(Bars {
            unit: figure.unit.clone(),
            bars: all,
            ..Bars::default()
        }),
    })
}

/// Latencies by percentile, a chart for each kind: those to the first token are of another size
/// than those between tokens.
fn latencies(result: &ResultVerdict) -> Vec<Chart> {
    let kinds = [
        ("latency", "latency"),
        ("query_latency", "latency of a query"),
        ("ttft", "time to first token"),
        ("tpot", "time per output token"),
    ];
    let charts = kinds.into_iter().filter_map(|(stem, what)| {
        let percentiles = percentiles(result, stem);
        if percentiles.len() < 3 {
            return None;
        }
        let (title, name) = named(result, what);
        let values: Vec<String> = percentiles
            .iter()
            .map(|one| format!("{}: {}", one.label, number::figure(one.value, &one.unit)))
            .collect();
        let points = (0_u32..).zip(&percentiles);
        Some(Chart {
            title,
            name,
            description: values.join(", "),
            kind: Kind::Lines(Lines {
                over: "percentile of the queries".to_owned(),
                places: percentiles.iter().map(|one| one.label.clone()).collect(),
                unit: percentiles[0].unit.clone(),
                from_zero: true,
                series: vec![Series {
                    name: if result.trials.len() > 1 {
                        format!(
                            "mean of {} trials, from lowest to highest",
                            result.trials.len()
                        )
                    } else {
                        what.to_owned()
                    },
                    points: points
                        .map(|(at, one)| (f64::from(at), Some(one.value)))
                        .collect(),
                    band: if result.trials.len() > 1 {
                        percentiles.iter().map(|one| one.range).collect()
                    } else {
                        Vec::new()
                    },
                    marked: true,
                }],
                ..Lines::default()
            }),
        })
    });
    charts.collect()
}

struct Percentile {
    of: f64,
    label: String,
    value: f64,
    unit: String,
    range: (f64, f64),
}

/// `latency_p99_9_ns` is the 99.9th percentile of `latency`.
fn percentiles(result: &ResultVerdict, stem: &str) -> Vec<Percentile> {
    let read = |name: &str| -> Option<f64> {
        let digits = name.strip_prefix(stem)?.strip_prefix("_p")?;
        let digits = digits.strip_suffix("_ns")?;
        digits.replace('_', ".").parse().ok()
    };
    let ranges = |name: &str| {
        let values = result.trials.iter();
        let values = values.filter_map(|trial| Some(trial.figures.get(name)?.value));
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let figures: &BTreeMap<_, _> = &result.figures;
    let mut found: Vec<Percentile> = figures
        .iter()
        .filter(|(_, figure)| figure.value.is_finite())
        .filter_map(|(name, figure)| {
            let of = read(name)?;
            Some(Percentile {
                of,
                label: format!("p{of}"),
                value: figure.value,
                unit: figure.unit.clone(),
                range: ranges(name),
            })
        })
        .collect();
    found.sort_by(|one, other| one.of.total_cmp(&other.of));
    found
}
