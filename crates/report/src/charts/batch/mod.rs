//! Charts of a batch: a row for each claim, for each cell's published figures and for its difference to
//! the baseline; columns of the figures themselves.

mod figure_columns;
mod trial_order;

use std::fmt::Display;

use itertools::{Itertools as _, join};

use super::comparison::{difference_row, interval_label, trial_ratios};
use super::sweep::sweep_charts;
use super::verdict::{self, drawable_bounds, drawable_edges, ratio_rows, ratios_to_published};
use super::{Chart, ChartKind, RatioChart, RatioRow, search, truncation_note};
use crate::figure_title::figure_title;
use retrial_batch::verdict::{BatchVerdict, CellVerdict};
use retrial_mlperf::figures::find_known_figure;
use retrial_recipe::model::{Better, Mode};
use retrial_results::verdict::Reference;
use retrial_results::verdict::claim::{ClaimOutcome, ClaimPart, Statistic};
use retrial_stats::AcceptanceRegion;

/// The most bars or rows of a chart: the table has them all.
const MAX_CHART_ROWS: usize = 24;

/// The charts of a batch: those that decide first, then by benchmark and scenario. Absolute values are
/// drawn once.
pub fn batch_charts(batch: &BatchVerdict) -> Vec<Chart> {
    let figures = batch_figures(batch);
    let figure_charts = figures.iter().flat_map(|figure| {
        [
            figure_columns::column_chart(figure),
            figure.ratio_chart(),
            trial_order::trial_order_chart(figure),
        ]
    });
    let search_chart = batch.search.as_ref().and_then(search::search_chart);
    let first = [search_chart, claims_chart(batch), cells_chart(batch)].into_iter().flatten();
    let cells = batch.all_results();
    let verdicts = cells.filter_map(|cell| Some((cell.name.as_str(), cell.verdict.as_ref()?)));
    let curves = sweep_charts(&verdicts.collect_vec());
    first.chain(curves).chain(figure_charts.flatten()).collect()
}

/// A row for each part of each claim.
fn claims_chart(batch: &BatchVerdict) -> Option<Chart> {
    let parts = batch.claims.iter().flat_map(|claim| {
        let parts = claim.parts.iter();
        parts.filter_map(|part| claim_ratio(&claim.claim, part))
    });
    let ratios = RatioChart {
        reference: "the other side of each claim".to_owned(),
        whiskers: verdict::bounds_label(batch.confidence),
        edge: "required".to_owned(),
        rows: parts.take(MAX_CHART_ROWS).collect(),
    };
    let description = join(batch.claims.iter().map(|claim| &claim.sentence), " ");
    ratios.into_chart("", "The ratio of each claim", &description)
}

/// Right is better: a gap is drawn as how many times as large it was.
fn claim_ratio(claim: &str, part: &ClaimPart) -> Option<RatioRow> {
    let is_gap = part.statistic == Statistic::Gap;
    let (ratio, bounds) = (part.ratio?, part.bounds.and_then(drawable_bounds));
    let (value, interval) = if is_gap {
        let interval = bounds.map(|(lower, upper)| (upper.recip(), lower.recip()));
        (ratio.recip(), interval)
    } else {
        (ratio, bounds)
    };
    let required_claim = part.required.claim;
    let region = required_claim.map(|claim| AcceptanceRegion::new(claim, part.required.margin));
    let cells = match part.of.as_str() {
        "" => String::new(),
        cells => format!(" ({cells})"),
    };
    let baseline_side = part.baseline.as_ref();
    let baseline = baseline_side.filter(|_| part.statistic == Statistic::Value);
    Some(RatioRow {
        label: format!("{claim}{cells}: {} {}", part.scenario, figure_title(&part.figure)),
        value: Some(value).filter(|value| value.is_finite())?,
        interval: interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite()),
        edges: region.map(drawable_edges).unwrap_or_default(),
        trials: baseline.map_or_else(Vec::new, |baseline| {
            trial_ratios(&part.candidate, baseline, part.better, part.paired)
        }),
        other_published: Vec::new(),
        word: part.outcome.word().to_owned(),
        bad: part.outcome == ClaimOutcome::Contradicted,
    })
}

/// A row for each published figure of each cell; the title has the figure if it is the same in all.
fn cells_chart(batch: &BatchVerdict) -> Option<Chart> {
    let measured = batch.cells.iter().filter_map(|cell| Some((cell, cell.verdict.as_ref()?)));
    let labelled_rows = measured.flat_map(|(cell, verdict)| {
        let rows = verdict.results.iter().flat_map(ratio_rows);
        rows.map(move |row| (cell.name.as_str(), row))
    });
    let all: Vec<(&str, RatioRow)> = labelled_rows.collect();
    let common_figure = all.iter().map(|(_, row)| &row.label).all_equal_value();
    let figure = common_figure.ok().cloned();
    let some = truncation_note(MAX_CHART_ROWS, all.len(), "");
    let ratios = all.into_iter().take(MAX_CHART_ROWS).map(|(cell, row)| RatioRow {
        label: match figure {
            Some(_) => cell.to_owned(),
            None => format!("{cell}: {}", row.label),
        },
        ..row
    });
    let subject = figure.as_deref().unwrap_or("Figures");
    let title = format!("{subject} of each cell, relative to the published value{some}");
    ratios_to_published(ratios.collect(), batch.confidence).into_chart("", &title, &batch.sentence)
}

/// A figure that cells of a batch have.
struct BatchFigure<'a> {
    batch: &'a BatchVerdict,
    benchmark: &'a str,
    scenario: &'a str,
    figure: &'a str,
    unit: &'a str,
}

/// A figure of one cell, with its trials and the published value.
struct CellFigure {
    value: f64,
    trials: Vec<f64>,
    published: Option<f64>,
}

fn batch_figures<'a>(batch: &'a BatchVerdict) -> Vec<BatchFigure<'a>> {
    let verdicts = batch.cells.iter().filter_map(|cell| cell.verdict.as_ref());
    let results = verdicts.flat_map(|verdict| &verdict.results);
    // Those of a sweep's points are curves.
    let measured =
        results.filter(|result| result.mode == Mode::Performance && result.point.is_none());
    let figures = measured.filter_map(|result| {
        let (figure, value) = result.deciding_figure()?;
        Some(BatchFigure {
            batch,
            benchmark: &result.benchmark,
            scenario: &result.scenario,
            figure,
            unit: &value.unit,
        })
    });
    let key =
        |figure: &BatchFigure<'a>| (figure.benchmark, figure.scenario, figure.figure, figure.unit);
    figures.unique_by(key).collect()
}

impl BatchFigure<'_> {
    /// A chart that is described by its first values.
    fn new_chart<T: Display>(
        &self,
        detail: &str,
        values: impl IntoIterator<Item = T>,
        kind: ChartKind,
    ) -> Chart {
        let cells = self.batch.cells.iter();
        let mut verdicts = cells.filter_map(|cell| cell.verdict.as_ref());
        let several = verdicts.any(|verdict| verdict.submission.benchmark != self.benchmark);
        let (name, title) = if several { ("", self.benchmark) } else { (self.benchmark, "") };
        let title = format!("{title} {}: {}{detail}", self.scenario, figure_title(self.figure));
        let values = join(values.into_iter().take(MAX_CHART_ROWS), "; ");
        Chart::new(name, title.trim_start(), &values, kind)
    }

    fn matches_result(&self, mode: Mode, benchmark: &str, scenario: &str) -> bool {
        (mode, benchmark, scenario) == (Mode::Performance, self.benchmark, self.scenario)
    }

    fn figure_in_cell(&self, cell: &CellVerdict) -> Option<CellFigure> {
        self.figure_of(cell, self.benchmark)
    }

    /// The figure of another host, which may call the only benchmark of a batch otherwise.
    fn figure_of_other(&self, other: &CellVerdict) -> Option<CellFigure> {
        let name_of =
            |cell: &CellVerdict| Some(cell.verdict.as_ref()?.submission.benchmark.clone());
        let benchmark_of = |cells: &[CellVerdict]| {
            let mut names = cells.iter().filter_map(name_of);
            names.all_equal_value().is_ok()
        };
        let is_only = benchmark_of(&self.batch.cells) && benchmark_of(&self.batch.external_results);
        let only = name_of(other).filter(|_| is_only);
        let own = self.figure_of(other, self.benchmark);
        own.or_else(|| self.figure_of(other, &only?))
    }

    fn figure_of(&self, cell: &CellVerdict, benchmark: &str) -> Option<CellFigure> {
        let mut results = cell.verdict.as_ref()?.results.iter();
        let result = results.find(|result| {
            result.mode == Mode::Performance
                && result.benchmark == benchmark
                && result.scenario == *self.scenario
                && !result.violates_rule()
        })?;
        let value = result.figures.get(self.figure)?;
        if value.unit != self.unit {
            return None;
        }
        let value = value.value;
        let result_trials = result.trials.iter();
        let trials = result_trials.filter_map(|trial| Some(trial.figures.get(self.figure)?.value));
        let decides = Reference::find_deciding(&result.references);
        Some(CellFigure {
            value,
            trials: trials.collect(),
            published: decides.map(|reference| reference.value),
        })
    }

    /// Which direction is better; empty if nobody says so.
    fn direction(&self) -> &'static str {
        let differences = self.batch.cells.iter().flat_map(|cell| &cell.differences);
        let mut differences = differences.filter(|difference| difference.figure == self.figure);
        let stated = differences.next().map(|difference| difference.better);
        let known = || find_known_figure(self.figure)?.better;
        match stated.or_else(known) {
            Some(Better::Higher) => "higher is better",
            Some(Better::Lower) => "lower is better",
            None => "",
        }
    }

    fn ratio_chart(&self) -> Option<Chart> {
        let cells = self.batch.cells.iter();
        let all = cells.flat_map(|cell| cell.differences.iter().map(move |figure| (cell, figure)));
        let differences = all.filter(|(_, figure)| {
            self.matches_result(figure.mode, &figure.benchmark, &figure.scenario)
                && figure.figure == self.figure
        });
        let differences = differences.collect_vec();
        let mut baselines = differences.iter().map(|(_, figure)| &figure.baseline.subject);
        let baseline = baselines.all_equal_value();
        let compared = differences.iter();
        let rows = compared.filter_map(|(cell, figure)| difference_row(cell.name.clone(), figure));
        let rows = rows.take(MAX_CHART_ROWS).collect_vec();
        let sentences = differences.iter().map(|(_, figure)| &figure.sentence);
        let has_rows = !rows.is_empty();
        let ratios = RatioChart {
            reference: baseline.map_or("the baseline of each".to_owned(), String::clone),
            rows,
            whiskers: interval_label(self.batch.confidence),
            ..RatioChart::default()
        };
        let detail = ", compared with the baseline";
        has_rows.then(|| self.new_chart(detail, sentences, ChartKind::Ratios(ratios)))
    }
}
