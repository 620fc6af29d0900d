//! Charts of a batch: a row for each claim, for each cell's published figures and for its difference to
//! the baseline; lines over releases, or else bars.

mod over;

use std::fmt::Display;

use itertools::{Itertools as _, join};

use super::of_comparison::{row, trial_ratios, whiskers};
use super::of_verdict::{self, edges, published, rows, usable};
use super::{
    Bar, BarChart, Chart, ChartKind, FigureOrigin, RatioChart, RatioRow, cut_to, of_search,
};
use retrial_batch::verdict::{BatchVerdict, CellVerdict, ClaimOutcome, ClaimPart, Statistic};
use retrial_recipe::model::Mode;
use retrial_results::verdict::{Reference, number};
use retrial_stats::AcceptanceRegion;

/// The most bars or rows of a chart: the table has them all.
const ROWS: usize = 24;

/// The charts of a batch: those that decide first, then by benchmark and scenario. Absolute values are
/// drawn once, over releases if there are some.
pub fn of_batch(batch: &BatchVerdict) -> Vec<Chart> {
    let figures = figures(batch);
    let absolute = |figure: &BatchFigure<'_>| over::lines(figure).or_else(|| figure.bars());
    let figures = figures.iter();
    let of_figures = figures.flat_map(|figure| [figure.ratios(), absolute(figure)]);
    let of_search = batch.search.as_ref().and_then(of_search::chart);
    let first = [of_search, claims(batch), cells(batch)].into_iter();
    first.chain(of_figures).flatten().collect()
}

/// A row for each part of each claim.
fn claims(batch: &BatchVerdict) -> Option<Chart> {
    let parts = batch.claims.iter().flat_map(|claim| {
        let parts = claim.parts.iter();
        parts.filter_map(|part| claimed(&claim.claim, part))
    });
    let ratios = RatioChart {
        reference: "the other side of each claim".to_owned(),
        whiskers: of_verdict::whiskers(batch.confidence),
        edge: "required".to_owned(),
        rows: parts.take(ROWS).collect(),
    };
    let description = join(batch.claims.iter().map(|claim| &claim.sentence), " ");
    ratios.chart("", "The ratio of each claim", &description)
}

/// Right is better: a gap is drawn as how many times as large it was.
fn claimed(claim: &str, part: &ClaimPart) -> Option<RatioRow> {
    let is_gap = part.statistic == Statistic::Gap;
    let (ratio, bounds) = (part.ratio?, part.bounds.and_then(usable));
    let (value, interval) = if is_gap {
        let interval = bounds.map(|(lower, upper)| (upper.recip(), lower.recip()));
        (ratio.recip(), interval)
    } else {
        (ratio, bounds)
    };
    let region = part.required.claim;
    let region = region.map(|claim| AcceptanceRegion::new(claim, part.required.margin));
    let cells = match part.of.as_str() {
        "" => String::new(),
        cells => format!(" ({cells})"),
    };
    let baseline = part.baseline.as_ref();
    let baseline = baseline.filter(|_| part.statistic == Statistic::Value);
    Some(RatioRow {
        label: format!("{claim}{cells}: {} {}", part.scenario, part.figure),
        value: Some(value).filter(|value| value.is_finite())?,
        interval: interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite()),
        edges: region.map(edges).unwrap_or_default(),
        trials: baseline.map_or_else(Vec::new, |baseline| {
            trial_ratios(&part.candidate, baseline, part.better, part.paired)
        }),
        word: part.outcome.word().to_owned(),
        bad: part.outcome == ClaimOutcome::Contradicted,
    })
}

/// A row for each published figure of each cell; the title has the figure if it is the same in all.
fn cells(batch: &BatchVerdict) -> Option<Chart> {
    let measured = batch.cells.iter();
    let measured = measured.filter_map(|cell| Some((cell, cell.verdict.as_ref()?)));
    let all = measured.flat_map(|(cell, verdict)| {
        let rows = verdict.results.iter().flat_map(rows);
        rows.map(move |row| (cell.name.as_str(), row))
    });
    let all: Vec<(&str, RatioRow)> = all.collect();
    let figure = all.iter().map(|(_, row)| &row.label).all_equal_value();
    let figure = figure.ok().cloned();
    let some = cut_to(ROWS, all.len(), "");
    let ratios = all.into_iter().take(ROWS).map(|(cell, row)| RatioRow {
        label: match figure {
            Some(_) => cell.to_owned(),
            None => format!("{cell}: {}", row.label),
        },
        ..row
    });
    let subject = figure.as_deref().unwrap_or("Figures");
    let title = format!("{subject} of each cell, relative to the published value{some}");
    published(ratios.collect(), batch.confidence).chart("", &title, &batch.sentence)
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

fn figures<'a>(batch: &'a BatchVerdict) -> Vec<BatchFigure<'a>> {
    let verdicts = batch.cells.iter().filter_map(|cell| cell.verdict.as_ref());
    let results = verdicts.flat_map(|verdict| &verdict.results);
    let measured = results.filter(|result| result.mode == Mode::Performance);
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
    let key = |figure: &BatchFigure<'a>| {
        (
            figure.benchmark,
            figure.scenario,
            figure.figure,
            figure.unit,
        )
    };
    figures.unique_by(key).collect()
}

impl BatchFigure<'_> {
    /// A chart that is described by its first values.
    fn chart<T: Display>(
        &self,
        detail: &str,
        values: impl IntoIterator<Item = T>,
        kind: ChartKind,
    ) -> Chart {
        let cells = self.batch.cells.iter();
        let mut verdicts = cells.filter_map(|cell| cell.verdict.as_ref());
        let several = verdicts.any(|verdict| verdict.submission.benchmark != self.benchmark);
        let benchmark = if several { self.benchmark } else { "" };
        let title = format!("{benchmark} {}: {}{detail}", self.scenario, self.figure);
        let values = join(values.into_iter().take(ROWS), "; ");
        Chart::new(self.benchmark, title.trim_start(), &values, kind)
    }

    fn is_of(&self, mode: Mode, benchmark: &str, scenario: &str) -> bool {
        (mode, benchmark, scenario) == (Mode::Performance, self.benchmark, self.scenario)
    }

    fn in_cell(&self, cell: &CellVerdict) -> Option<CellFigure> {
        let mut results = cell.verdict.as_ref()?.results.iter();
        let result = results.find(|result| {
            self.is_of(result.mode, &result.benchmark, &result.scenario) && result.valid
        })?;
        let value = result.figures.get(self.figure)?.value;
        let trials = result.trials.iter();
        let trials = trials.filter_map(|trial| Some(trial.figures.get(self.figure)?.value));
        let decides = Reference::find_deciding(&result.references);
        Some(CellFigure {
            value,
            trials: trials.collect(),
            published: decides.map(|reference| reference.value),
        })
    }

    fn bars(&self) -> Option<Chart> {
        let cells = self.batch.cells.iter();
        let cells = cells.filter_map(|cell| Some((cell, self.in_cell(cell)?)));
        let cells: Vec<(&CellVerdict, CellFigure)> = cells.collect();
        let text = |(cell, figure): &(&CellVerdict, CellFigure)| {
            format!(
                "{}: {}",
                cell.name,
                number::format_figure(figure.value, self.unit)
            )
        };
        let values = cells.iter().map(text);
        let mut published = cells.iter().map(|(_, figure)| figure.published);
        let published = published.all_equal_value().ok().flatten();
        let count = cells.len();
        let mut measured = 0;
        let mut bars = Vec::new();
        for (cell, figure) in &cells {
            if bars.len() + 2 > ROWS {
                break;
            }
            measured += 1;
            let role = if cell.is_baseline { " (baseline)" } else { "" };
            let label = format!("{}{role}", cell.name);
            let several = Some(&figure.trials).filter(|trials| trials.len() > 1);
            bars.push(Bar {
                trials: several.cloned().unwrap_or_default(),
                ..Bar::new(label, figure.value, FigureOrigin::Measured)
            });
            let own = figure.published.filter(|_| published.is_none());
            let label = format!("{}, published", cell.name);
            bars.extend(own.map(|value| Bar::new(label, value, FigureOrigin::Published)));
        }
        bars.extend(published.map(|value| Bar::new("published", value, FigureOrigin::Published)));
        let detail = cut_to(measured, count, " cells");
        let bars = BarChart {
            unit: self.unit.to_owned(),
            bars,
            ..BarChart::default()
        };
        (count > 0).then(|| self.chart(&detail, values, ChartKind::Bars(bars)))
    }

    fn ratios(&self) -> Option<Chart> {
        let cells = self.batch.cells.iter();
        let all = cells.flat_map(|cell| cell.differences.iter().map(move |figure| (cell, figure)));
        let of_figure = all.filter(|(_, figure)| {
            self.is_of(figure.mode, &figure.benchmark, &figure.scenario)
                && figure.figure == self.figure
        });
        let of_figure = of_figure.collect_vec();
        let mut baselines = of_figure.iter().map(|(_, figure)| &figure.baseline.subject);
        let baseline = baselines.all_equal_value();
        let rows = of_figure.iter();
        let rows = rows.filter_map(|(cell, figure)| row(cell.name.clone(), figure));
        let rows = rows.take(ROWS).collect_vec();
        let sentences = of_figure.iter().map(|(_, figure)| &figure.sentence);
        let has_rows = !rows.is_empty();
        let ratios = RatioChart {
            reference: baseline.map_or("the baseline of each".to_owned(), String::clone),
            rows,
            whiskers: whiskers(self.batch.confidence),
            ..RatioChart::default()
        };
        let detail = ", compared with the baseline";
        has_rows.then(|| self.chart(detail, sentences, ChartKind::Ratios(ratios)))
    }
}
