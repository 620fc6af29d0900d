//! Charts of a batch: every cell's figure, how each stands to its baseline, and lines over releases.

mod over;

use super::of_verdict::usable;
use super::{Bar, Bars, Chart, Kind, Origin, Ratio, Ratios, file_name};
use crate::batch::verdict::{BatchVerdict, CellVerdict};
use crate::report::document::clean;
use crate::results::verdict::comparison::Change;
use crate::results::verdict::{ResultVerdict, number};
use retrial_recipe::model::Mode;

/// More bars or rows of a chart nobody reads: the table has them all.
const ROWS: usize = 24;

/// The charts of a batch, by benchmark and scenario.
#[must_use]
pub fn of_batch(batch: &BatchVerdict) -> Vec<Chart> {
    let mut charts = Vec::new();
    for shown in figures(batch) {
        charts.extend(ratios(batch, &shown));
        charts.extend(bars(batch, &shown));
        charts.extend(over::lines(batch, &shown));
    }
    charts
}

/// A figure that cells have.
#[derive(PartialEq)]
struct Shown {
    benchmark: String,
    scenario: String,
    figure: String,
    unit: String,
}

impl Shown {
    fn of(result: &ResultVerdict) -> Option<Self> {
        let figure = result.deciding.clone()?;
        Some(Self {
            benchmark: result.benchmark.clone(),
            scenario: result.scenario.clone(),
            unit: result.figures.get(&figure)?.unit.clone(),
            figure,
        })
    }

    fn title(&self, batch: &BatchVerdict, what: &str) -> String {
        let mut benchmarks = batch.cells.iter().filter_map(|cell| cell.verdict.as_ref());
        let several = benchmarks.any(|one| one.submission.benchmark != self.benchmark);
        let benchmark = if several {
            format!("{} ", self.benchmark)
        } else {
            String::new()
        };
        clean(&format!(
            "{benchmark}{}: {}{what}",
            self.scenario, self.figure
        ))
    }

    fn chart(&self, batch: &BatchVerdict, what: &str, values: &[String], kind: Kind) -> Chart {
        let title = self.title(batch, what);
        Chart {
            name: file_name(&format!("{} {title}", self.benchmark)),
            title,
            description: values.join("; "),
            kind,
        }
    }

    /// What a cell gave: the value, the trials, what was published.
    fn in_cell(&self, cell: &CellVerdict) -> Option<Given> {
        let results = &cell.verdict.as_ref()?.results;
        let mut results = results.iter().filter(|one| one.mode == Mode::Performance);
        let result = results.find(|one| {
            one.benchmark == self.benchmark && one.scenario == self.scenario && one.valid
        })?;
        let figure = result.figures.get(&self.figure)?;
        let trials = result.trials.iter();
        let trials = trials.filter_map(|trial| Some(trial.figures.get(&self.figure)?.value));
        let decides = result.references.iter().find(|one| one.decides);
        Some(Given {
            value: figure.value,
            trials: trials.collect(),
            published: decides.map(|one| one.value),
        })
    }
}

struct Given {
    value: f64,
    trials: Vec<f64>,
    published: Option<f64>,
}

fn figures(batch: &BatchVerdict) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let verdicts = batch.cells.iter().filter_map(|cell| cell.verdict.as_ref());
    let results = verdicts.flat_map(|verdict| &verdict.results);
    for result in results.filter(|result| result.mode == Mode::Performance) {
        if let Some(shown) = Shown::of(result).filter(|shown| !found.contains(shown)) {
            found.push(shown);
        }
    }
    found
}

fn bars(batch: &BatchVerdict, shown: &Shown) -> Option<Chart> {
    let given: Vec<(&CellVerdict, Given)> = batch
        .cells
        .iter()
        .filter_map(|cell| Some((cell, shown.in_cell(cell)?)))
        .collect();
    if given.is_empty() {
        return None;
    }
    let values: Vec<String> = given
        .iter()
        .map(|(cell, given)| {
            format!(
                "{}: {}",
                cell.name,
                number::figure(given.value, &shown.unit)
            )
        })
        .take(ROWS)
        .collect();
    let mut all = Vec::new();
    let count = given.len();
    let published = common(given.iter().map(|(_, given)| given.published));
    for (cell, given) in given {
        if all.len() + 2 > ROWS {
            break;
        }
        all.push(Bar {
            label: if cell.is_baseline {
                format!("{} (baseline)", cell.name)
            } else {
                cell.name.clone()
            },
            value: given.value,
            interval: None,
            trials: if given.trials.len() > 1 {
                given.trials
            } else {
                Vec::new()
            },
            origin: Origin::Measured,
        });
        let own = given.published.filter(|_| published.is_none());
        all.extend(own.map(|value| Bar {
            label: format!("{}, published", cell.name),
            value,
            interval: None,
            trials: Vec::new(),
            origin: Origin::Published,
        }));
    }
    let measured = all
        .iter()
        .filter(|bar| bar.origin == Origin::Measured)
        .count();
    let what = if measured < count {
        format!(", the first {measured} of {count} cells")
    } else {
        String::new()
    };
    all.extend(published.map(|value| Bar {
        label: "published".to_owned(),
        value,
        interval: None,
        trials: Vec::new(),
        origin: Origin::Published,
    }));
    let bars = Bars {
        unit: shown.unit.clone(),
        bars: all,
        mark: published.map(|value| (value, "published value".to_owned())),
        ..Bars::default()
    };
    Some(shown.chart(batch, &what, &values, Kind::Bars(bars)))
}

/// What all cells have in common, if they do.
fn common(mut values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let first = values.next()??;
    let same = |value: Option<f64>| value.is_some_and(|value| value.to_bits() == first.to_bits());
    values.all(same).then_some(first)
}

fn ratios(batch: &BatchVerdict, shown: &Shown) -> Option<Chart> {
    let differences = batch.cells.iter().flat_map(|cell| {
        let all = cell.differences.iter();
        all.map(move |difference| (cell, difference))
    });
    let of_figure: Vec<_> = differences
        .filter(|(_, one)| {
            one.mode == Mode::Performance
                && one.benchmark == shown.benchmark
                && one.scenario == shown.scenario
                && one.figure == shown.figure
        })
        .collect();
    let mut baselines: Vec<&str> = Vec::new();
    for (_, one) in &of_figure {
        if !baselines.contains(&one.baseline.subject.as_str()) {
            baselines.push(&one.baseline.subject);
        }
    }
    let of = match baselines.as_slice() {
        [] => return None,
        [one] => clean(one),
        _ => "the baseline of each".to_owned(),
    };
    let rows: Vec<Ratio> = of_figure
        .iter()
        .filter_map(|(cell, one)| {
            Some(Ratio {
                label: clean(&cell.name),
                value: one.ratio?,
                interval: one.interval.and_then(usable),
                least: None,
                word: one.change.word().to_owned(),
                bad: matches!(one.change, Change::Slower | Change::Worse),
            })
        })
        .take(ROWS)
        .collect();
    if rows.is_empty() {
        return None;
    }
    let values: Vec<String> = of_figure
        .iter()
        .map(|(_, one)| one.sentence.clone())
        .collect();
    let ratios = Ratios {
        of,
        rows,
        whiskers: format!("interval at {}", number::percent(batch.confidence)),
    };
    Some(shown.chart(
        batch,
        ", compared with the baseline",
        &values[..values.len().min(ROWS)],
        Kind::Ratios(ratios),
    ))
}
