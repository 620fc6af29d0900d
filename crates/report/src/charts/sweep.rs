//! Charts of sweeps: each published figure over the points, and of a server the throughput over the speed of one user.

use itertools::{Itertools as _, join};

use super::{Chart, ChartKind, LineChart, LineSeries, MAX_SERIES, SeriesStyle, truncation_note};
use crate::figure_title::figure_title;
use retrial_recipe::model::{Better, SweepPoint};
use retrial_results::verdict::{FigureValue, Judgement, Reference, ResultVerdict, Verdict, number};
use retrial_stats::AcceptanceRegion;

/// More published figures than this are in the tables only.
const MAX_FIGURES: usize = 4;
/// Tokens of all answers by the duration, or with those of prompts where these are published; and seconds for each token
/// of one, by the names of every client.
const THROUGHPUTS: [&str; 2] = ["output_throughput", "total_throughput"];
const TIME_PER_TOKEN: &str = "tpot_p50";

/// The points of one sweep, in their order, as each side measured them: a run, or the cells of a batch.
struct Curve<'a> {
    name: &'a str,
    axis: &'a str,
    points: Vec<f64>,
    sides: Vec<Side<'a>>,
    /// A remark of the titles if there are more sides.
    truncation: String,
}

struct Side<'a> {
    name: &'a str,
    results: Vec<(f64, &'a ResultVerdict)>,
}

/// A figure at a point: measured, and published with what is required of it.
#[derive(Clone)]
struct CurvePoint {
    at: f64,
    measured: Option<FigureValue>,
    published: Option<(f64, (f64, f64))>,
}

/// The charts of the sweeps of two points or more: a line for each verdict, by its name.
pub(super) fn sweep_charts(verdicts: &[(&str, &Verdict)]) -> Vec<Chart> {
    let swept = verdicts.iter().flat_map(|(name, verdict)| {
        let results = verdict.results.iter();
        results.filter_map(|result| Some((*name, result.point.as_ref()?, result)))
    });
    let swept = swept.collect_vec();
    let key = |point: &'_ SweepPoint, result: &ResultVerdict| {
        (result.benchmark.clone(), point.sweep.clone(), point.axis.clone())
    };
    let by_sweep = swept.iter().into_group_map_by(|(_, point, result)| key(point, result));
    let sweeps = swept.iter().map(|(_, point, result)| key(point, result)).unique();
    let curves = sweeps.filter_map(|sweep| Curve::new(by_sweep.get(&sweep)?));
    curves.flat_map(|curve| curve.frontier().into_iter().chain(curve.figures())).collect()
}

impl<'a> Curve<'a> {
    /// The results of one sweep by their sides; none of fewer than two points.
    fn new(results: &[&(&'a str, &'a SweepPoint, &'a ResultVerdict)]) -> Option<Self> {
        let (_, first, _) = results.first()?;
        let points = results.iter().map(|(_, point, _)| point.value);
        let points = points.sorted_by(f64::total_cmp).dedup().collect_vec();
        let names = results.iter().map(|(name, ..)| *name).unique();
        let sides = names.map(|name| {
            let of_side = results.iter().filter(|(other, ..)| *other == name);
            Side {
                name,
                results: of_side.map(|(_, point, result)| (point.value, *result)).collect(),
            }
        });
        let mut sides = sides.collect_vec();
        let truncation = truncation_note(sides.len().min(MAX_SERIES), sides.len(), " lines");
        sides.truncate(MAX_SERIES);
        let (name, axis) = (first.sweep.as_str(), first.axis.as_str());
        (points.len() > 1).then_some(Self { name, axis, points, sides, truncation })
    }

    /// A chart of each figure that is published at some point; where none is, of the one by which results are shown.
    fn figures(&self) -> Vec<Chart> {
        let results =
            || self.sides.iter().flat_map(|side| &side.results).map(|(_, result)| *result);
        let judged = results().flat_map(|result| &result.judgements);
        let mut names: Vec<&str> = judged.map(|judgement| &*judgement.figure).unique().collect();
        if names.is_empty() {
            names.extend(results().find_map(|result| result.deciding.as_deref()));
        }
        names.into_iter().take(MAX_FIGURES).filter_map(|name| self.figure(name)).collect()
    }

    fn figure(&self, name: &str) -> Option<Chart> {
        let sides = self.sides_with(name);
        let mut measured = sides.iter().flat_map(|(_, points)| points);
        let unit = measured.find_map(|point| point.measured.as_ref())?.unit.clone();
        let numbered =
            |points: &[CurvePoint]| (0_u32..).map(f64::from).zip(points.to_vec()).collect_vec();
        let lines = sides.iter().map(|(name, points)| LineSeries {
            name: (*name).to_owned(),
            points: numbered(points)
                .into_iter()
                .map(|(x, point)| (x, point.measured.map(|figure| figure.value)))
                .collect(),
            style: SeriesStyle::MarkedLine,
            ..LineSeries::default()
        });
        let published = numbered(&common_published(&sides));
        let published = published
            .into_iter()
            .filter_map(|(x, point)| point.published.map(|(value, band)| ((x, Some(value)), band)));
        let (published, bands): (Vec<_>, Vec<_>) = published.unzip();
        let published = (!published.is_empty()).then(|| LineSeries {
            name: "published".to_owned(),
            points: published,
            band: bands,
            style: SeriesStyle::Markers,
            ..LineSeries::default()
        });
        let described = sides.iter().map(|(name, points)| describe(name, points, sides.len()));
        let chart = LineChart {
            axis_name: self.axis.to_owned(),
            categories: self.points.iter().map(ToString::to_string).collect(),
            unit,
            from_zero: true,
            series: lines.chain(published).collect(),
            whiskers: "published, up to the margin",
            ..LineChart::default()
        };
        Some(self.chart(&figure_title(name), &join(described, "; "), chart))
    }

    /// The throughput over the speed of one user, each point with its place on the sweep's axis.
    fn frontier(&self) -> Option<Chart> {
        let is_published = |name: &&str| {
            let sides = self.sides_with(name);
            sides.iter().flat_map(|(_, points)| points).any(|point| point.published.is_some())
        };
        let throughput = THROUGHPUTS.into_iter().find(is_published).unwrap_or(THROUGHPUTS[0]);
        let (rates, times) = (self.sides_with(throughput), self.sides_with(TIME_PER_TOKEN));
        let mut measured = rates.iter().flat_map(|(_, points)| points);
        let unit = measured.find_map(|point| point.measured.as_ref())?.unit.clone();
        let lines = rates.iter().zip(&times).map(|((name, rates), (_, times))| {
            let points = rates.iter().zip(times).filter_map(|(rate, time)| {
                let time = time.measured.as_ref()?;
                let speed = tokens_per_second(time.value, &time.unit)?;
                Some((rate.at, speed, rate.measured.as_ref()?.value))
            });
            (*name, SeriesStyle::MarkedLine, points.collect_vec())
        });
        let both = common_published(&rates).into_iter().zip(common_published(&times));
        let published = both.filter_map(|(rate, time)| {
            let unit = &time.measured.as_ref()?.unit;
            let (of_rate, of_time) = (rate.published?.0, time.published?.0);
            Some((rate.at, tokens_per_second(of_time, unit)?, of_rate))
        });
        // Between published points nothing is known, and no line is drawn.
        let published = ("published", SeriesStyle::Markers, published.collect_vec());
        let series =
            lines.chain([published]).filter(|(.., points)| !points.is_empty()).collect_vec();
        let described = series.iter().map(|(name, _, points)| {
            let points = points.iter().map(|(at, x, y)| {
                format!("{at}: {} at {}", number::format_grouped(*y), number::format_grouped(*x))
            });
            format!("{name} {}", join(points, ", "))
        });
        let description = join(described, "; ");
        let series = series.into_iter().map(|(name, style, points)| LineSeries {
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

    /// A figure at each of the points, of each side.
    fn sides_with(&self, name: &str) -> Vec<(&'a str, Vec<CurvePoint>)> {
        let point_of = |side: &Side<'_>, at: f64| {
            let result = side
                .results
                .iter()
                .find(|(known, _)| known.total_cmp(&at).is_eq())
                .map(|(_, result)| result);
            let judgement = result.and_then(|result| {
                result.judgements.iter().find(|judgement| judgement.figure == name)
            });
            let measured = match judgement {
                Some(judgement) => judgement.measured.clone(),
                None => result.and_then(|result| result.figures.get(name).cloned()),
            };
            CurvePoint {
                at,
                measured: measured.filter(|figure| figure.value.is_finite()),
                published: judgement.and_then(published_with_margin),
            }
        };
        let sides = self
            .sides
            .iter()
            .map(|side| (side.name, self.points.iter().map(|at| point_of(side, *at)).collect()));
        sides.collect()
    }

    fn chart(&self, name: &str, description: &str, lines: LineChart) -> Chart {
        let first = self.sides.first().and_then(|side| side.results.first());
        let benchmark = first.map_or("", |(_, result)| &result.benchmark);
        let title = format!("{}: {name}{}", self.name, self.truncation);
        Chart::new(benchmark, &title, description, ChartKind::Lines(lines))
    }
}

/// The points, each with what was published of it if the sides that state it agree.
fn common_published(sides: &[(&str, Vec<CurvePoint>)]) -> Vec<CurvePoint> {
    let count = sides.first().map_or(0, |(_, points)| points.len());
    let common = (0..count).filter_map(|at| {
        let points = || sides.iter().filter_map(|(_, points)| points.get(at));
        let published = points().filter_map(|point| point.published).all_equal_value();
        Some(CurvePoint {
            at: points().next()?.at,
            measured: points().find_map(|point| point.measured.clone()),
            published: published.ok(),
        })
    });
    common.collect()
}

/// `1: 88.9 tokens/s, published 88; 4: 322.4 tokens/s`, of one of several sides after its name.
fn describe(side: &str, points: &[CurvePoint], sides: usize) -> String {
    let points = points.iter().map(|point| {
        let measured = point.measured.as_ref().map_or("no figure".to_owned(), ToString::to_string);
        let published = point
            .published
            .map(|(value, _)| format!(", published {}", number::format_grouped(value)));
        format!("{}: {measured}{}", point.at, published.unwrap_or_default())
    });
    let points = join(points, "; ");
    if sides > 1 { format!("{side}: {points}") } else { points }
}

/// The published value, and the values between the edges of the claim; an open one ends at the published value.
fn published_with_margin(judgement: &Judgement) -> Option<(f64, (f64, f64))> {
    let published = Reference::find_deciding(&judgement.references)?.value;
    let better = judgement.better?;
    let (low, high) = AcceptanceRegion::new(judgement.claim, judgement.margin).edges();
    let value_at = |edge: f64| {
        let edge = if edge.is_finite() && edge > 0.0 { edge } else { 1.0 };
        if better == Better::Higher { published * edge } else { published / edge }
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

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_results::verdict::judge;
    use retrial_results::verdict::tests::build::{context, official, own, source};

    /// A curve of two points, of which `rate` is published, with the time per token that follows from it.
    fn curve(rates: [f64; 2], published: f64) -> Verdict {
        let evidence = [1.0, 4.0].into_iter().zip(rates).map(|(value, rate)| {
            let name = format!("serving-{value}");
            let mut evidence = own(&name, "output_throughput", "tokens/s", &[rate])
                .with_source("output_throughput", source())
                .with_figure("tpot_p50", 1000.0 * value / rate, "ms")
                .expecting("output_throughput", official(published * value));
            let (sweep, axis) = ("serving".to_owned(), "concurrency".to_owned());
            evidence.plan.point = Some(SweepPoint { sweep, axis, value });
            evidence
        });
        judge(&context(), &evidence.collect_vec())
    }

    #[test]
    fn each_side_is_a_line_and_what_was_published_for_all_is_drawn_once() {
        let (one, two) = (curve([100.0, 400.0], 101.0), curve([100.0, 320.0], 101.0));
        let charts = sweep_charts(&[("7.0", &one), ("7.2", &two)]);
        let described =
            charts.iter().map(|chart| format!("{}: {}", chart.title, chart.description));
        insta::assert_snapshot!(join(described, "\n"), @r"
        serving: throughput over the speed of one user: 7.0 1: 100 at 100, 4: 400 at 100; 7.2 1: 100 at 100, 4: 320 at 80
        serving: output_throughput: 7.0: 1: 100 tokens/s, published 101; 4: 400 tokens/s, published 404; 7.2: 1: 100 tokens/s, published 101; 4: 320 tokens/s, published 404
        ");
        let other = curve([100.0, 320.0], 90.0);
        let ChartKind::Lines(lines) = &sweep_charts(&[("7.0", &one), ("7.2", &other)])[1].kind
        else {
            panic!("no lines");
        };
        let names = lines.series.iter().map(|series| series.name.as_str()).collect_vec();
        assert_eq!(names, ["7.0", "7.2"]);
        // A cell without a point does not hide what was published of it.
        let mut partial = curve([100.0, 400.0], 101.0);
        partial.results.truncate(1);
        let ChartKind::Lines(lines) = &sweep_charts(&[("7.0", &one), ("7.1", &partial)])[1].kind
        else {
            panic!("no lines");
        };
        assert_eq!(lines.series[2].points, [(0.0, Some(101.0)), (1.0, Some(404.0))]);
        let many = ["1", "2", "3", "4", "5", "6", "7"].map(|name| (name, &one));
        let charts = sweep_charts(&many);
        assert!(charts[1].title.ends_with(", the first 6 of 7 lines"), "{}", charts[1].title);
        let single = curve([100.0, 400.0], 101.0);
        assert_eq!(sweep_charts(&[("measured", &single)]).len(), 2);
    }
}
