//! Charts of sweeps: each published figure over the points, and of a server the throughput over the speed of one user.

use itertools::{Itertools as _, join};

use super::{Chart, ChartKind, LineChart, LineSeries, SeriesStyle};
use crate::figure_title::figure_title;
use retrial_recipe::model::SweepPoint;
use retrial_results::verdict::{FigureValue, Judgement, Reference, ResultVerdict, Verdict, number};
use retrial_stats::AcceptanceRegion;

/// More published figures than this are in the tables only.
const MAX_FIGURES: usize = 4;
/// Tokens of all answers by the duration, or with those of prompts where these are published; and seconds for each token
/// of one, by the names of every client.
const THROUGHPUTS: [&str; 2] = ["output_throughput", "total_throughput"];
const TIME_PER_TOKEN: &str = "tpot_p50";

/// The points of one sweep, in their order.
struct Curve<'a> {
    name: &'a str,
    axis: &'a str,
    points: Vec<(f64, &'a ResultVerdict)>,
}

/// A figure at a point: measured, and published with what is required of it.
#[derive(Clone)]
struct CurvePoint {
    at: f64,
    measured: Option<FigureValue>,
    published: Option<(f64, (f64, f64))>,
}

/// The charts of a verdict's sweeps of two points or more.
pub(super) fn sweep_charts(verdict: &Verdict) -> Vec<Chart> {
    let swept = verdict.results.iter().filter_map(|result| Some((result.point.as_ref()?, result)));
    let sweeps = swept.clone().map(|(point, _)| (&point.sweep, &point.axis)).unique();
    let curves = sweeps.map(|(name, axis)| {
        let of_sweep = swept.clone().filter(|(point, _)| point.sweep == *name);
        let points = of_sweep.map(|(SweepPoint { value, .. }, result)| (*value, result));
        let points = points.sorted_by(|(left, _), (right, _)| left.total_cmp(right)).collect();
        Curve { name, axis, points }
    });
    let curves = curves.filter(|curve| curve.points.len() > 1);
    curves.flat_map(|curve| curve.frontier().into_iter().chain(curve.figures())).collect()
}

impl Curve<'_> {
    /// A chart of each figure that is published at some point; where none is, of the one by which results are shown.
    fn figures(&self) -> Vec<Chart> {
        let results = || self.points.iter().map(|(_, result)| *result);
        let judged = results().flat_map(|result| &result.judgements);
        let mut names: Vec<&str> = judged.map(|judgement| &*judgement.figure).unique().collect();
        if names.is_empty() {
            names.extend(results().find_map(|result| result.deciding.as_deref()));
        }
        names.into_iter().take(MAX_FIGURES).filter_map(|name| self.figure(name)).collect()
    }

    fn figure(&self, name: &str) -> Option<Chart> {
        let points = self.points_of(name);
        let unit = points.iter().find_map(|point| point.measured.as_ref())?.unit.clone();
        let numbered = || (0_u32..).map(f64::from).zip(&points);
        let measured = LineSeries {
            name: "measured".to_owned(),
            points: numbered()
                .map(|(x, point)| (x, point.measured.as_ref().map(|figure| figure.value)))
                .collect(),
            style: SeriesStyle::MarkedLine,
            ..LineSeries::default()
        };
        let published = numbered()
            .filter_map(|(x, point)| point.published.map(|(value, band)| ((x, Some(value)), band)));
        let (published, bands): (Vec<_>, Vec<_>) = published.unzip();
        let published = (!published.is_empty()).then(|| LineSeries {
            name: "published".to_owned(),
            points: published,
            band: bands,
            style: SeriesStyle::Markers,
            ..LineSeries::default()
        });
        let lines = LineChart {
            axis_name: self.axis.to_owned(),
            categories: points.iter().map(|point| point.at.to_string()).collect(),
            unit,
            from_zero: true,
            series: [measured].into_iter().chain(published).collect(),
            whiskers: "published, up to the margin",
            ..LineChart::default()
        };
        Some(self.chart(&figure_title(name), &describe(&points), lines))
    }

    /// The throughput over the speed of one user, each point with its place on the sweep's axis.
    fn frontier(&self) -> Option<Chart> {
        let is_published =
            |name: &&str| self.points_of(name).iter().any(|point| point.published.is_some());
        let throughput = THROUGHPUTS.into_iter().find(is_published).unwrap_or(THROUGHPUTS[0]);
        let both = self.points_of(throughput).into_iter().zip(self.points_of(TIME_PER_TOKEN));
        let both = both.collect_vec();
        let unit = both.iter().find_map(|(rate, _)| rate.measured.as_ref())?.unit.clone();
        let measured = both.iter().filter_map(|(rate, time)| {
            let time = time.measured.as_ref()?;
            Some((
                rate.at,
                tokens_per_second(time.value, &time.unit)?,
                rate.measured.as_ref()?.value,
            ))
        });
        let published = both.iter().filter_map(|(rate, time)| {
            let unit = &time.measured.as_ref()?.unit;
            let (of_rate, of_time) = (rate.published?.0, time.published?.0);
            Some((rate.at, tokens_per_second(of_time, unit)?, of_rate))
        });
        // Between published points nothing is known, and no line is drawn.
        let series = [
            ("measured", SeriesStyle::MarkedLine, measured.collect_vec()),
            ("published", SeriesStyle::Markers, published.collect_vec()),
        ];
        let described = series.iter().map(|(name, _, points)| {
            let points = points.iter().map(|(at, x, y)| {
                format!("{at}: {} at {}", number::format_grouped(*y), number::format_grouped(*x))
            });
            format!("{name} {}", join(points, ", "))
        });
        let description = join(described, "; ");
        let series = series.into_iter().filter(|(_, _, points)| !points.is_empty());
        let series = series.map(|(name, style, points)| LineSeries {
            name: name.to_owned(),
            labels: points.iter().map(|(at, ..)| at.to_string()).collect(),
            points: points.iter().map(|(_, x, y)| (*x, Some(*y))).collect(),
            style,
            ..LineSeries::default()
        });
        let series = series.collect_vec();
        if series.is_empty() {
            return None;
        }
        let lines = LineChart {
            axis_name: format!("tokens/s of one user, at each {}", self.axis),
            unit,
            from_zero: true,
            series,
            ..LineChart::default()
        };
        Some(self.chart("throughput over the speed of one user", &description, lines))
    }

    fn points_of(&self, name: &str) -> Vec<CurvePoint> {
        let points = self.points.iter().map(|(at, result)| {
            let judgement = result.judgements.iter().find(|judgement| judgement.figure == name);
            let measured = match judgement {
                Some(judgement) => judgement.measured.clone(),
                None => result.figures.get(name).cloned(),
            };
            CurvePoint {
                at: *at,
                measured: measured.filter(|figure| figure.value.is_finite()),
                published: judgement.and_then(published_with_margin),
            }
        });
        points.collect()
    }

    fn chart(&self, name: &str, description: &str, lines: LineChart) -> Chart {
        let benchmark = self.points.first().map_or("", |(_, result)| &result.benchmark);
        let title = format!("{}: {name}", self.name);
        Chart::new(benchmark, &title, description, ChartKind::Lines(lines))
    }
}

/// `1: 88.9 tokens/s, published 88; 4: 322.4 tokens/s`
fn describe(points: &[CurvePoint]) -> String {
    let points = points.iter().map(|point| {
        let measured = point.measured.as_ref().map_or("no figure".to_owned(), ToString::to_string);
        let published = point
            .published
            .map(|(value, _)| format!(", published {}", number::format_grouped(value)));
        format!("{}: {measured}{}", point.at, published.unwrap_or_default())
    });
    join(points, "; ")
}

/// The published value, and the values between the edges of the claim; an open one ends at the published value.
fn published_with_margin(judgement: &Judgement) -> Option<(f64, (f64, f64))> {
    let published = Reference::find_deciding(&judgement.references)?.value;
    let is_up = judgement.is_higher_better()?;
    let (low, high) = AcceptanceRegion::new(judgement.claim, judgement.margin).edges();
    let value_at = |edge: f64| {
        let edge = if edge.is_finite() && edge > 0.0 { edge } else { 1.0 };
        if is_up { published * edge } else { published / edge }
    };
    let (low, high) = (value_at(low), value_at(high));
    Some((published, (low.min(high), low.max(high))))
}

/// The tokens per second of one user, by the time that a token takes.
fn tokens_per_second(time: f64, unit: &str) -> Option<f64> {
    let seconds = match unit {
        "ms" => time / 1e3,
        "s" => time,
        _ => return None,
    };
    (seconds > 0.0).then(|| seconds.recip())
}
