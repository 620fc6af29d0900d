//! Charts of a verdict's results: ratios to the published figures, figures without one, and latencies.

use itertools::{Itertools as _, join};

use super::sweep::sweep_charts;
use super::{
    Bar, BarChart, Chart, ChartKind, LineChart, LineSeries, RatioChart, RatioRow, SeriesStyle,
    value_range,
};
use crate::figure_title::{LATENCY_KINDS, figure_title};
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::{
    Bounds, Judgement, Outcome, Reference, ResultVerdict, UnjudgedReference, Verdict, number,
};
use retrial_stats::AcceptanceRegion;

const MAX_CHART_ROWS: usize = 40;

/// The charts of a verdict. The first is the one that decides: the ratio of each judged figure to the
/// published one. Bars are for figures that nothing was published of.
pub fn verdict_charts(verdict: &Verdict) -> Vec<Chart> {
    let results = || verdict.results.iter();
    let latencies =
        results().filter(|result| result.mode == Mode::Performance).flat_map(|result| {
            let latencies = LATENCY_KINDS.iter();
            latencies.filter_map(move |(stem, name)| percentile_chart(result, stem, name))
        });
    let unpublished =
        results().filter(|result| result.judgements.is_empty() && result.point.is_none());
    let charts = ratios_chart(verdict).into_iter().chain(sweep_charts(&[("measured", verdict)]));
    let charts = charts.chain(unpublished.filter_map(unpublished_chart));
    charts.chain(latencies).collect()
}

fn result_chart(result: &ResultVerdict, name: &str, description: &str, kind: ChartKind) -> Chart {
    let title = format!("{} {}: {name}", result.scenario, result.mode);
    Chart::new(&result.benchmark, &title, description, kind)
}

/// Two one-sided bounds are not a two-sided interval.
pub(super) fn bounds_label(confidence: f64) -> String {
    format!("bounds at {} confidence each", number::format_percent(confidence))
}

/// A row for each judged figure: throughput, latency and accuracy alike.
fn ratios_chart(verdict: &Verdict) -> Option<Chart> {
    let results = verdict.results.iter();
    let mut rows: Vec<RatioRow> = results.flat_map(ratio_rows).collect();
    let count = rows.len();
    let title = if count > MAX_CHART_ROWS {
        rows.sort_by(|left, right| left.value.total_cmp(&right.value));
        rows.truncate(MAX_CHART_ROWS);
        format!("The lowest {MAX_CHART_ROWS} of {count} figures, relative to the published ones")
    } else {
        "Measured figures, relative to the published ones".to_owned()
    };
    let ratios = ratios_to_published(rows, verdict.confidence);
    ratios.into_chart(&verdict.submission.benchmark, &title, &verdict.sentence())
}

/// Ratios to published figures. The legend has the margin if all have the same one.
pub(super) fn ratios_to_published(rows: Vec<RatioRow>, confidence: f64) -> RatioChart {
    let mut least = rows.iter().filter_map(|row| row.edges.first().copied());
    let margin = least.all_equal_value().ok().filter(|edge| *edge <= 1.0);
    RatioChart {
        reference: "published".to_owned(),
        rows,
        whiskers: bounds_label(confidence),
        edge: margin.map_or("margin".to_owned(), |edge| {
            format!("margin {}", number::format_percent(1.0 - edge))
        }),
    }
}

/// A row for each judged figure of a result.
pub(super) fn ratio_rows(result: &ResultVerdict) -> Vec<RatioRow> {
    let mode = match result.mode {
        Mode::Performance => String::new(),
        mode => format!("{mode} "),
    };
    let rows = result.judgements.iter().filter_map(|judgement| {
        let outcome = result.outcome_of(judgement);
        let ratio = judgement.ratio?;
        // Each has the ratio of the measured figure to it.
        let others = judgement.references.iter().filter(|reference| !reference.decides);
        let relative = others.filter_map(|reference| Some(ratio / reference.ratio?));
        Some(RatioRow {
            label: format!("{} {mode}{}", result.scenario, figure_title(&judgement.figure)),
            value: ratio,
            interval: judgement.bounds.and_then(drawable_bounds),
            edges: drawable_edges(AcceptanceRegion::new(judgement.claim, judgement.margin)),
            trials: trial_ratios(result, judgement).unwrap_or_default(),
            other_published: relative.filter(|ratio| ratio.is_finite()).collect(),
            word: outcome.word().to_owned(),
            bad: outcome > Outcome::Inconclusive,
        })
    });
    rows.collect()
}

/// The edges of a region that can be drawn.
pub(super) fn drawable_edges(region: AcceptanceRegion) -> Vec<f64> {
    let (low, high) = region.edges();
    let is_drawn = |edge: &f64| edge.is_finite() && *edge > 0.0;
    [low, high].into_iter().filter(is_drawn).collect()
}

/// The ratio of each trial to the published figure, if there are several.
fn trial_ratios(result: &ResultVerdict, judgement: &Judgement) -> Option<Vec<f64>> {
    let published = Reference::find_deciding(&judgement.references)?.value;
    let better = judgement.better?;
    let factor = judgement.normalised_by.unwrap_or(1.0);
    let trials = result.figure_of_each_trial(&judgement.figure).into_iter();
    let ratios = trials.map(|trial| {
        let quotient = trial * factor / published;
        if better == Better::Higher { quotient } else { quotient.recip() }
    });
    Some(ratios.filter(|ratio| ratio.is_finite()).collect())
}

/// Bounds that can be drawn.
pub(super) fn drawable_bounds(bounds: Bounds) -> Option<(f64, f64)> {
    let is_usable = bounds.upper > bounds.lower && bounds.lower.is_finite() && bounds.upper < 1e3;
    is_usable.then_some((bounds.lower, bounds.upper))
}

/// The trials of a figure without a published one, if there are several.
fn unpublished_chart(result: &ResultVerdict) -> Option<Chart> {
    let (name, figure) = result.deciding_figure()?;
    let trials = result.figure_of_each_trial(name);
    if trials.is_empty() {
        return None;
    }
    let label = format!("{} trials together", trials.len());
    let bar = Bar::new(label, figure.value);
    let bars = BarChart {
        unit: figure.unit.clone(),
        bars: vec![Bar { trials, ..bar }],
        ..BarChart::default()
    };
    Some(result_chart(result, &figure_title(name), &result.sentence, ChartKind::Bars(bars)))
}

/// A latency by percentile: `latency_p99_9_ns` is the 99.9th of `latency`.
fn percentile_chart(result: &ResultVerdict, stem: &str, name: &str) -> Option<Chart> {
    let percentile = |name: &str| -> Option<f64> {
        let digits = name.strip_prefix(stem)?.strip_prefix("_p")?;
        digits.strip_suffix("_ns")?.replace('_', ".").parse().ok()
    };
    let figures = result.figures.iter().filter(|(_, figure)| figure.value.is_finite());
    let unsorted = figures.filter_map(|(name, figure)| Some((percentile(name)?, name, figure)));
    let sorted = unsorted.sorted_by(|(left, ..), (right, ..)| left.total_cmp(right));
    let percentiles = sorted.collect_vec();
    if percentiles.len() < 3 {
        return None;
    }
    let categories: Vec<String> =
        percentiles.iter().map(|(percent, ..)| format!("p{percent}")).collect();
    let labelled = percentiles.iter().zip(&categories);
    let described_points =
        labelled.map(|((_, _, figure), category)| format!("{category}: {figure}"));
    let described = join(described_points, ", ");
    let published = published_percentiles(result, percentiles.iter().map(|(_, name, _)| *name));
    let trials = |name: &String| {
        let trials = result.trials.iter();
        value_range(trials.filter_map(|trial| Some(trial.figures.get(name)?.value)))
    };
    let several = result.trials.len() > 1;
    let bands = percentiles.iter().filter(|_| several);
    let points = (0_u32..).zip(&percentiles);
    let series = LineSeries {
        name: if several {
            format!("mean of {} trials", result.trials.len())
        } else {
            name.to_owned()
        },
        band: bands.map(|(_, name, _)| trials(name)).collect(),
        points: points.map(|(at, (_, _, figure))| (f64::from(at), Some(figure.value))).collect(),
        style: SeriesStyle::MarkedLine,
        ..LineSeries::default()
    };
    let lines = LineChart {
        axis_name: "percentile of the queries".to_owned(),
        categories,
        unit: percentiles[0].2.unit.clone(),
        from_zero: true,
        series: [series].into_iter().chain(published).collect(),
        whiskers: "lowest and highest trial",
        ..LineChart::default()
    };
    Some(result_chart(result, name, &described, ChartKind::Lines(lines)))
}

/// What was published of these latencies for reference, as a guide's own run: a line next to the measured one.
fn published_percentiles<'a>(
    result: &ResultVerdict,
    names: impl Iterator<Item = &'a String>,
) -> Option<LineSeries> {
    let points = (0_u32..).zip(names).map(|(at, name)| {
        let mut references = result.unjudged.iter();
        (f64::from(at), references.find(|reference| reference.figure.eq_ignore_ascii_case(name)))
    });
    let points = points.collect_vec();
    let first = points.iter().find_map(|(_, reference)| *reference)?;
    let value = |reference: &UnjudgedReference| reference.published.value;
    Some(LineSeries {
        name: first.kind.label().to_owned(),
        points: points.iter().map(|(at, reference)| (*at, reference.map(value))).collect(),
        style: SeriesStyle::MarkedLine,
        ..LineSeries::default()
    })
}
