//! A batch: its claims, its cells with their figures compared with the baseline's, what was not run.

use super::figures::{NOTHING, at, interval, ratio, unverified_word};
use super::marks;
use super::verdict::notice;
use super::{Detail, details, figures, verdict as of_cell};
use crate::batch::verdict::{BatchVerdict, CellVerdict, ClaimOutcome, ClaimPart};
use crate::format;
use crate::report::document::{
    Block, Cell, Column, Conclusion, Document, Item, Line, Section, Table, Text,
};
use crate::report::{Entry, charts};
use crate::results::verdict::comparison::ComparedFigure;
use crate::results::verdict::{FigureValue, Outcome, ResultVerdict, number};
use retrial_recipe::model::Mode;

/// More rows are in the JSON and the CSV.
const ROWS: usize = 2000;
/// Cells that were not run, in brief.
const FEW: usize = 12;

/// A batch by itself, with a section for each of these cells; `evidence` is where its files lie.
#[must_use]
pub fn document(batch: &BatchVerdict, evidence: &str, cells: &[Entry<'_>]) -> Document {
    let mut blocks = blocks(batch, evidence, Detail::Brief);
    blocks.extend(of_cell::documents(cells).blocks);
    Document {
        title: batch.title.as_str().into(),
        blocks,
        ..Document::default()
    }
}

pub(super) fn blocks(batch: &BatchVerdict, evidence: &str, detail: Detail) -> Vec<Block> {
    let full = detail == Detail::Full;
    let mut blocks = vec![Block::Conclusion(conclusion(batch, evidence))];
    let mut add = |title: &str, inner: Vec<Block>| {
        if !inner.is_empty() {
            blocks.push(Section::block(title, inner));
        }
    };
    let claims = batch.claims.iter().map(|claim| {
        let text = format!("{}: {}. {}", claim.claim, claim.outcome, claim.sentence);
        let source = claim
            .source
            .iter()
            .map(|source| ("claimed in".into(), source.into()));
        Item {
            details: source.collect(),
            ..Item::new(text).marked(claim.outcome.into())
        }
    });
    let mut claims: Vec<Block> = Block::list(claims).into_iter().collect();
    if full && !claims.is_empty() {
        claims.push(Block::Table(parts(batch)));
    }
    add("Claims", claims);
    if full {
        add(
            "Charts",
            Block::charts(charts::of_batch(batch)).into_iter().collect(),
        );
    }
    let lost = batch.cells.iter().flat_map(|cell| {
        let lost = cell
            .runs
            .iter()
            .filter_map(|run| Some((run.trial, run.lost.as_ref()?)));
        lost.map(|(trial, because)| {
            Item::new(format!("{} trial {trial}: {because}", cell.name)).marked(marks::BAD)
        })
    });
    let mut cells = if full {
        let outcomes = batch.cells.iter().filter_map(|cell| cell.outcome);
        let count = format::count(batch.cells.len(), "cell");
        let said = format!("{count}: {}.", details::counts(outcomes));
        vec![Block::paragraph(said), Block::Table(every_figure(batch))]
    } else {
        vec![Block::Table(in_brief(batch))]
    };
    cells.extend(Block::list(lost));
    add("Cells", cells);
    if full {
        add("Compared with the baseline", differences(batch));
    }
    add("Not run", not_run(batch, full));
    let notes = batch.notes.iter().map(Item::new);
    add(
        "How it was measured",
        Block::list(notes).into_iter().collect(),
    );
    blocks.extend(notice(batch.notice.as_deref()));
    blocks
}

/// The claims decide, where every cell has its figures.
fn conclusion(batch: &BatchVerdict, evidence: &str) -> Conclusion {
    let claimed = batch.claims.iter().map(|claim| claim.outcome).max();
    let cells_stand = matches!(batch.outcome, Some(Outcome::Reproduced | Outcome::Measured));
    let (mark, word) = match (claimed.filter(|_| cells_stand), batch.outcome) {
        (Some(outcome), _) => {
            let word = match outcome {
                ClaimOutcome::Supported => "every claim is supported",
                ClaimOutcome::NotDecided => "not every claim is decided",
                ClaimOutcome::Contradicted => "a claim is contradicted",
            };
            (Some(outcome.into()), word)
        }
        (None, Some(outcome)) => (Some(outcome.into()), outcome.word()),
        (None, None) => (None, "nothing was run"),
    };
    let place = (Line::from("evidence"), Text::code(evidence));
    Conclusion {
        mark,
        word: word.into(),
        sentence: batch.sentence.as_str().into(),
        remarks: Some(place)
            .filter(|_| !evidence.is_empty())
            .into_iter()
            .collect(),
        ..Conclusion::default()
    }
}

/// What each claim rests on.
fn parts(batch: &BatchVerdict) -> Table {
    let columns = vec![
        Column::head("claim"),
        Column::text("of"),
        Column::text("scenario"),
        Column::text("figure"),
        Column::number("ratio"),
        Column::text(format!("bounds, each {}", at(batch.confidence))),
        Column::status("result"),
    ];
    let row = |claim: &str, part: &ClaimPart| {
        let baseline = part.baseline.as_ref();
        let against = baseline.map_or(String::new(), |side| format!(" : {}", side.subject));
        let of = format!("{} {}{against}", part.of, part.candidate.subject);
        vec![
            claim.into(),
            of.trim().into(),
            format!("{} {}", part.scenario, part.mode).into(),
            part.figure.as_str().into(),
            ratio(part.ratio).into(),
            interval(part.bounds).into(),
            Cell::status(part.outcome.into(), part.outcome.word()),
        ]
    };
    let parts = batch.claims.iter().flat_map(|claim| {
        let parts = claim.parts.iter();
        parts.map(move |part| row(&claim.claim, part))
    });
    Table::new("Evidence of each claim", columns, parts.take(ROWS))
}

/// One row for each performance figure of each cell.
fn in_brief(batch: &BatchVerdict) -> Table {
    let columns = vec![
        Column::head("cell"),
        Column::text("scenario").under(0),
        Column::number("measured").noted(unverified_word(batch.notice.is_some())),
        Column::number("runs"),
        Column::number("ratio").noted("to baseline"),
        Column::text(at(batch.confidence)).under(4),
        Column::status("outcome"),
        Column::status("change"),
    ];
    let rows = batch.cells.iter().flat_map(|cell| {
        let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
        let results = results.filter(|result| result.mode == Mode::Performance);
        let told = results.filter_map(|result| Some((result, deciding(result)?)));
        let told = told.map(|(result, (name, figure))| {
            let difference = difference(cell, result, name);
            vec![
                cell.name.as_str().into(),
                result.scenario.as_str().into(),
                number::figure(figure.value, &figure.unit).into(),
                runs(cell).into(),
                if cell.is_baseline {
                    "baseline".into()
                } else {
                    ratio(difference.and_then(|one| one.ratio)).into()
                },
                interval(difference.and_then(|one| one.interval)).into(),
                outcome(cell),
                difference
                    .map(|one| marks::change(one.change))
                    .unwrap_or_default(),
            ]
        });
        let mut rows: Vec<Vec<Cell>> = told.collect();
        if rows.is_empty() {
            let mut row = vec![cell.name.as_str().into(), NOTHING.into(), NOTHING.into()];
            row.extend([runs(cell).into(), NOTHING.into(), Cell::default()]);
            row.extend([outcome(cell), Cell::default()]);
            rows.push(row);
        }
        rows
    });
    Table::new("Cells", columns, rows)
}

fn deciding(result: &ResultVerdict) -> Option<(&str, &FigureValue)> {
    let name = result.deciding.as_deref()?;
    result.figures.get(name).map(|figure| (name, figure))
}

fn difference<'a>(
    cell: &'a CellVerdict,
    result: &ResultVerdict,
    figure: &str,
) -> Option<&'a ComparedFigure> {
    cell.differences.iter().find(|difference| {
        difference.mode == result.mode
            && difference.scenario == result.scenario
            && difference.benchmark == result.benchmark
            && difference.figure == figure
    })
}

/// How many runs gave evidence, of those that were asked for.
fn runs(cell: &CellVerdict) -> String {
    let with = cell.runs.iter().filter(|run| run.lost.is_none()).count();
    if with == cell.trials as usize {
        return with.to_string();
    }
    format!("{with} of {}", cell.trials)
}

fn outcome(cell: &CellVerdict) -> Cell {
    cell.outcome.map_or(NOTHING.into(), marks::outcome)
}

/// Every figure of every cell, all its trials together.
fn every_figure(batch: &BatchVerdict) -> Table {
    let mut columns = vec![Column::head("cell")];
    columns.extend(figures::columns(batch.notice.is_some(), batch.confidence));
    let measured: Vec<&str> = batch
        .cells
        .iter()
        .filter(|cell| cell.verdict.is_some())
        .map(|cell| cell.name.as_str())
        .collect();
    let rows = batch.cells.iter().flat_map(|cell| {
        // Only what was measured has a section.
        let section = measured.iter().position(|name| *name == cell.name);
        let link = section.map(|at| format!("#s{at}"));
        let name = Cell::from(cell.name.as_str()).linked(link);
        let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
        let rows = results.flat_map(figures::of).map(|row| {
            std::iter::once(name.clone())
                .chain(figures::cells(row))
                .collect()
        });
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        if rows.is_empty() {
            let mut row = vec![name, cell.sentence.as_str().into()];
            row.resize(columns_of_figures(), Cell::default());
            rows.push(row);
        }
        rows
    });
    let rows: Vec<Vec<Cell>> = rows.take(ROWS).collect();
    Table::new(
        "Figures of each cell, all its trials together",
        columns,
        rows,
    )
}

/// The columns of [`every_figure`].
fn columns_of_figures() -> usize {
    figures::columns(false, 0.95).len() + 1
}

fn differences(batch: &BatchVerdict) -> Vec<Block> {
    let all = batch.cells.iter().flat_map(|cell| {
        let differences = cell.differences.iter();
        differences.map(move |one| (cell, one))
    });
    let all: Vec<_> = all.take(ROWS).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::head("cell"),
        Column::text("baseline"),
        Column::text("scenario"),
        Column::text("figure"),
        Column::number("of the baseline"),
        Column::number("measured"),
        Column::number("ratio"),
        Column::text(format!("interval {}", at(batch.confidence))),
        Column::status("result"),
    ];
    let rows = all.iter().map(|(cell, one)| {
        let shown = |value: Option<f64>| {
            let like = one.baseline.value.or(value).unwrap_or_default();
            let shown = value.map(|value| number::figure_like(value, &one.unit, like));
            shown.map_or(NOTHING.into(), Cell::from)
        };
        vec![
            cell.name.as_str().into(),
            one.baseline.subject.as_str().into(),
            format!("{} {}", one.scenario, one.mode).into(),
            one.figure.as_str().into(),
            shown(one.baseline.value),
            shown(one.candidate.value),
            ratio(one.ratio).into(),
            interval(one.interval).into(),
            marks::change(one.change),
        ]
    });
    let caption = "Each figure of each cell compared with its baseline's";
    let mut blocks = vec![Block::Table(Table::new(caption, columns, rows))];
    let shown = all.iter().filter(|(_, one)| one.change.is_difference());
    blocks.extend(Block::list(shown.map(|(cell, one)| {
        let (scenario, mode, sentence) = (&one.scenario, one.mode, &one.sentence);
        let text = format!("{}: {scenario} {mode}: {sentence}", cell.name);
        Item::new(text).marked(one.change.into())
    })));
    blocks
}

fn not_run(batch: &BatchVerdict, full: bool) -> Vec<Block> {
    let most = if full { ROWS } else { FEW };
    let skipped = batch.left_out.iter().take(most);
    let skipped = skipped.map(|one| Item::keyed(&one.name, one.reason.to_string()));
    let mut blocks: Vec<Block> = Block::list(skipped).into_iter().collect();
    let more = batch.left_out.len().saturating_sub(most);
    if more > 0 {
        blocks.push(Block::paragraph(format!("{more} more were not run.")));
    }
    blocks
}
