//! A batch at its end: its cells with their figures next to the baseline's, its claims, and what
//! was left out.

use super::grid::{Cell, columns, wrap, wrapped};
use super::style::Paint;
use super::{NARROWEST, WIDEST, line_of};
use crate::batch::verdict::{
    BatchVerdict, CellDifference, CellVerdict, ClaimOutcome, ClaimVerdict,
};
use crate::recipe::model::Mode;
use crate::report::words::{clean, symbol};
use crate::verdict::{FigureValue, ResultVerdict, number};

/// Stands where there is nothing to say.
const NOTHING: &str = "–";
/// So many combinations that were left out are named.
const LEFT_OUT: usize = 12;

/// The tables of a batch's verdict; `evidence` is where its files lie.
#[must_use]
pub fn batch(verdict: &BatchVerdict, evidence: &str, width: u16, color: bool) -> String {
    let paint = Paint { color };
    let width = usize::from(width).clamp(NARROWEST, WIDEST);
    let mut text = String::from("\n");
    for line in wrap(&clean(&verdict.title), width, 0) {
        line_of(&mut text, &paint.bold(&line));
    }
    text.push('\n');
    text += &cells(verdict, width, paint);
    text.push('\n');
    for cell in &verdict.cells {
        for run in &cell.runs {
            if let Some(because) = &run.lost {
                let line = format!(
                    "! {} trial {}: {}",
                    clean(&cell.name),
                    run.trial,
                    clean(because)
                );
                text += &wrapped(&line, width, 2);
            }
        }
    }
    for claim in &verdict.claims {
        text += &claimed(claim, width, paint);
    }
    if !verdict.claims.is_empty() {
        text.push('\n');
    }
    for left in verdict.left_out.iter().take(LEFT_OUT) {
        let line = format!(
            "– {}: left out, {}",
            clean(&left.name),
            clean(&left.because)
        );
        text += &wrapped(&line, width, 2);
    }
    if verdict.left_out.len() > LEFT_OUT {
        let more = verdict.left_out.len() - LEFT_OUT;
        line_of(&mut text, &format!("– and {more} more were left out"));
    }
    for note in &verdict.notes {
        text += &wrapped(&format!("• {}", clean(note)), width, 2);
    }
    for (number, line) in wrap(&clean(&verdict.sentence), width, 0).iter().enumerate() {
        let line = if number == 0 {
            paint.bold(line)
        } else {
            line.clone()
        };
        line_of(&mut text, &line);
    }
    line_of(&mut text, &format!("  evidence: {}", clean(evidence)));
    if let Some(notice) = &verdict.notice {
        text.push('\n');
        for line in wrap(&clean(notice), width, 0) {
            line_of(&mut text, &paint.dim(&line));
        }
    }
    text
}

/// One line for each performance figure of each cell.
fn cells(verdict: &BatchVerdict, width: usize, paint: Paint) -> String {
    let at = format!("at {}", number::percent(verdict.confidence));
    let header = [
        ("cell", ""),
        ("scenario", ""),
        ("measured", ""),
        ("runs", ""),
        ("ratio", "to baseline"),
        (&*at, ""),
        ("", ""),
    ];
    let rows: Vec<Vec<Cell>> = verdict.cells.iter().flat_map(of_cell).collect();
    columns(&header, &rows, width, paint).unwrap_or_else(|| {
        let lines = verdict.cells.iter().flat_map(of_cell_narrow);
        lines.map(|line| wrapped(&line, width, 4)).collect()
    })
}

/// What is told of a figure of a cell.
struct Told {
    scenario: String,
    measured: String,
    ratio: String,
    interval: String,
    change: String,
}

fn told(cell: &CellVerdict) -> Vec<Told> {
    let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
    let results = results.filter(|result| result.mode == Mode::Performance);
    results
        .filter_map(|result| {
            let (name, figure) = deciding(result)?;
            let difference = cell.differences.iter().find(|difference| {
                difference.mode == result.mode
                    && difference.scenario == result.scenario
                    && difference.benchmark == result.benchmark
                    && difference.figure == name
            });
            Some(Told {
                scenario: clean(&result.scenario),
                measured: number::figure(figure.value, &figure.unit),
                ratio: ratio(difference, cell),
                interval: interval(difference),
                change: difference
                    .map(|difference| difference.change.to_string())
                    .unwrap_or_default(),
            })
        })
        .collect()
}

fn deciding(result: &ResultVerdict) -> Option<(&str, &FigureValue)> {
    let name = result.deciding.as_deref()?;
    result.figures.get(name).map(|figure| (name, figure))
}

fn ratio(difference: Option<&CellDifference>, cell: &CellVerdict) -> String {
    if cell.is_baseline {
        return "baseline".to_owned();
    }
    let ratio = difference.and_then(|difference| difference.ratio);
    ratio.map_or(NOTHING.to_owned(), number::ratio)
}

fn interval(difference: Option<&CellDifference>) -> String {
    let interval = difference.and_then(|difference| difference.interval);
    interval.map_or(String::new(), |interval| {
        format!(
            "{}–{}",
            number::ratio(interval.lower),
            number::ratio(interval.upper)
        )
    })
}

/// How many runs gave evidence, of those that were asked for.
fn runs(cell: &CellVerdict) -> String {
    let with = cell.runs.iter().filter(|run| run.lost.is_none()).count();
    if with == cell.asked as usize {
        with.to_string()
    } else {
        format!("{with} of {}", cell.asked)
    }
}

fn outcome(cell: &CellVerdict) -> String {
    cell.outcome.map_or(NOTHING.to_owned(), |outcome| {
        format!("{} {outcome}", symbol(outcome))
    })
}

fn of_cell(cell: &CellVerdict) -> Vec<Vec<Cell>> {
    let told = told(cell);
    let one = |text: String| Cell::of([text]);
    if told.is_empty() {
        return vec![vec![
            one(clean(&cell.name)),
            one(NOTHING.to_owned()),
            one(NOTHING.to_owned()),
            one(runs(cell)),
            one(NOTHING.to_owned()),
            one(String::new()),
            one(outcome(cell)),
        ]];
    }
    let mut rows = Vec::new();
    for (position, told) in told.into_iter().enumerate() {
        let (name, number) = if position == 0 {
            (clean(&cell.name), runs(cell))
        } else {
            (String::new(), String::new())
        };
        let said = if told.change.is_empty() {
            outcome(cell)
        } else {
            format!("{}, {}", outcome(cell), told.change)
        };
        rows.push(vec![
            one(name),
            one(told.scenario),
            one(told.measured),
            one(number),
            one(told.ratio),
            one(told.interval),
            one(said),
        ]);
    }
    rows
}

fn of_cell_narrow(cell: &CellVerdict) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: {}, runs {}",
        clean(&cell.name),
        outcome(cell),
        runs(cell)
    )];
    for told in told(cell) {
        lines.push(format!(
            "  {} {}, ratio {} {} {}",
            told.scenario, told.measured, told.ratio, told.interval, told.change
        ));
    }
    lines
}

fn claimed(claim: &ClaimVerdict, width: usize, paint: Paint) -> String {
    let (mark, code) = match claim.outcome {
        ClaimOutcome::Supported => ("✓", "32"),
        ClaimOutcome::Contradicted => ("✗", "31"),
        ClaimOutcome::NotDecided => ("?", "33"),
    };
    let line = format!(
        "{mark} {}: {}. {}",
        clean(&claim.claim),
        claim.outcome,
        clean(&claim.sentence)
    );
    let mut text = String::new();
    for (number, line) in wrap(&line, width, 2).into_iter().enumerate() {
        let line = match line.strip_prefix(mark) {
            Some(rest) if number == 0 => format!("{}{rest}", paint.with(code, mark)),
            _ => line,
        };
        line_of(&mut text, &line);
    }
    text
}
