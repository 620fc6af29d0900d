//! A batch: its claims, its cells with their figures compared with the baseline's, skipped cells.

use indexmap::IndexMap;
use itertools::{Itertools as _, join};

use super::comparison::{compared_unit, format_value};
use super::figures::{NOTHING, format_interval, format_ratio, interval_column};
use super::verdict::{self as of_cell, notice_block};
use super::{DetailLevel, claims, environment, figures, marks, search};
use crate::document::{
    Block, Column, Conclusion, Document, ListItem, RowGroup, Section, StatusMark, Table, TableCell,
};
use crate::{ReportedVerdict, charts};
use retrial_batch::verdict::{BatchVerdict, CellVerdict};
use retrial_document::measures::format;
use retrial_readings::nearest::truncate_to_chars;
use retrial_readings::number::ColumnUnit;
use retrial_recipe::model::Mode;
use retrial_results::verdict::claim::ClaimOutcome;
use retrial_results::verdict::comparison::ComparedFigure;
use retrial_results::verdict::{Outcome, QualifiedOutcome, ResultVerdict, Verdict, number};

/// The most rows of a table: JSON and CSV have all.
const MAX_TABLE_ROWS: usize = 2000;
/// The longest reason in a row.
const MAX_REASON_LETTERS: usize = 160;
/// The most runs that a reason names.
const MAX_NAMED_RUNS: usize = 4;
/// The most skipped cells of a brief report.
const MAX_BRIEF_SKIPPED: usize = 12;

/// The verdicts of the cells and of other hosts' results, as far as they have one.
pub fn cell_entries(batch: &BatchVerdict) -> Vec<ReportedVerdict<'_>> {
    let measured = batch.all_results().filter_map(|cell| Some((cell, cell.verdict.as_ref()?)));
    measured.map(|(cell, verdict)| ReportedVerdict::new(cell.name.clone(), verdict)).collect()
}

/// A batch by itself, with a section for each of these cells; `evidence` is the path of its files.
pub fn batch_document(
    batch: &BatchVerdict,
    evidence: &str,
    cells: &[ReportedVerdict<'_>],
) -> Document {
    let blocks = batch_blocks(batch, evidence, DetailLevel::Brief).into_iter();
    let cells = of_cell::verdicts_document(cells).blocks;
    Document::new(&batch.title, blocks.chain(cells))
}

pub(super) fn batch_blocks(
    batch: &BatchVerdict,
    evidence: &str,
    detail: DetailLevel,
) -> Vec<Block> {
    let full = detail == DetailLevel::Full;
    let mut charts = full.then(|| charts::batch_charts(batch)).into_iter().flatten();
    let conclusion =
        Conclusion { chart: charts.next().map(Box::new), ..batch_conclusion(batch, evidence) };
    let differences = full.then(|| difference_blocks(batch)).into_iter().flatten();
    let notes = batch.notes.iter().map(ListItem::new);
    let search = batch.search.iter().flat_map(|search| search::search_blocks(search, detail));
    let stack = batch.environments.iter().flat_map(environment::stack_blocks);
    let sections = [
        Section::nonempty_block("Stack", stack),
        Section::nonempty_block("Claims", claim_blocks(batch, full)),
        Section::nonempty_block("Charts", Block::charts(charts.collect())),
        Section::nonempty_block("Cells", cell_blocks(batch, full)),
        Section::nonempty_block("Compared with the baseline", differences),
        Section::nonempty_block("Not run", skipped_blocks(batch, full)),
        Section::nonempty_block("Method", Block::list(notes)),
        notice_block(batch.notice.as_deref()),
    ];
    let conclusion = [Block::Conclusion(conclusion)].into_iter();
    let sections = sections.into_iter().flatten();
    conclusion.chain(search).chain(sections).collect()
}

fn claim_blocks(batch: &BatchVerdict, full: bool) -> impl Iterator<Item = Block> {
    let parts = full.then(|| claims::evidence_table(&batch.claims, batch.confidence));
    claims::claim_list(&batch.claims).into_iter().chain(parts.flatten())
}

fn cell_blocks(batch: &BatchVerdict, full: bool) -> Vec<Block> {
    let mut blocks = if full {
        let cells = batch.cells.iter().filter(|cell| cell.failure.is_none());
        let verdicts = cells.filter_map(|cell| cell.verdict.as_ref());
        let outcomes = marks::count_outcomes(verdicts.map(Verdict::qualified_outcome));
        let failures = batch.cells.iter().filter_map(|cell| cell.failure.as_ref());
        let count = format::format_count(batch.cells.len(), "cell");
        let failures = failures.map(ToString::to_string).counts().into_iter().sorted();
        let failures = failures.map(|(failure, count)| format!("{count} {failure}"));
        let counts =
            join(Some(outcomes).filter(|text| !text.is_empty()).into_iter().chain(failures), ", ");
        let counts = format!("{count}: {counts}.");
        vec![Block::paragraph(counts), Block::Table(figures_table(batch))]
    } else {
        Vec::from_iter(brief_table(batch))
    };
    blocks.extend(statistics_note(batch));
    let reasons = group_reasons(batch, full).into_iter().map(|(reason, names)| {
        let text = format!("{}: {reason}", format::join_first(&names, MAX_NAMED_RUNS));
        ListItem::new(text).with_mark(marks::BAD)
    });
    blocks.extend(Block::list(reasons));
    blocks
}

/// Returns why runs have no evidence and, in brief, why cells failed, each with all that it concerns: a host that
/// fails, fails them all. In full the table of figures has the cells' reasons.
fn group_reasons(batch: &BatchVerdict, full: bool) -> IndexMap<String, Vec<String>> {
    let mut by_reason: IndexMap<String, Vec<String>> = IndexMap::new();
    for cell in batch.all_results() {
        let reason = Some(failure_reason(cell)).filter(|reason| !full && !reason.is_empty());
        if let Some(reason) = reason {
            by_reason.entry(reason).or_default().push(cell.name.clone());
        }
        for run in &cell.runs {
            if let Some(reason) = &run.lost {
                let name = format!("{} trial {}", cell.name, run.trial);
                by_reason.entry(reason.clone()).or_default().push(name);
            }
        }
    }
    by_reason
}

/// The outcome of a result with its cell's qualifiers, of a cell without a result its own. The reasons for lost runs are
/// below the table.
fn outcome_cell(cell: &CellVerdict, result: Option<&ResultVerdict>) -> TableCell {
    let is_lost = cell.runs.iter().any(|run| run.lost.is_some());
    match (&cell.failure, &cell.verdict) {
        (Some(failure), _) => TableCell::status(marks::BAD, &failure.to_string()),
        (None, Some(verdict)) => {
            let kinds = verdict.qualifiers.iter().map(|qualifier| qualifier.kind);
            let outcome = result.map_or(verdict.outcome, |result| result.outcome);
            marks::outcome_cell(&QualifiedOutcome::from_kinds(outcome, kinds))
        }
        (None, None) if is_lost => TableCell::status(marks::BAD, "no result"),
        (None, None) => NOTHING.into(),
    }
}

/// Returns why a cell failed, or which claim of its recipe is not supported; empty if there is neither.
fn failure_reason(cell: &CellVerdict) -> String {
    let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
    let mut failed_results =
        results.filter(|result| !result.valid && Some(result.outcome) == cell.outcome);
    let failed = failed_results.next().map(|result| {
        let (scenario, sentence) = (&result.scenario, result.sentence.clause());
        format!("{scenario}: {sentence}")
    });
    let claims = cell.verdict.iter().flat_map(|verdict| &verdict.claims);
    let worst = claims.max_by_key(|claim| claim.outcome);
    let unsupported = worst.filter(|claim| claim.outcome != ClaimOutcome::Supported);
    let claim = || unsupported.map(|claim| format!("claim {}: {}", claim.outcome, claim.claim));
    let reason = failed.or_else(claim).unwrap_or_default();
    truncate_to_chars(&reason, MAX_REASON_LETTERS)
}

/// The claims lead; the cells' worst outcome stands beside them unless each has its figures.
fn batch_conclusion(batch: &BatchVerdict, evidence: &str) -> Conclusion {
    let claimed = batch.claims.iter().map(|claim| claim.outcome).max();
    let cells_stand = matches!(batch.outcome, Some(Outcome::Reproduced | Outcome::Measured));
    let verdicts = batch.cells.iter().filter_map(|cell| cell.verdict.as_ref());
    let qualifiers = verdicts.flat_map(|verdict| &verdict.qualifiers);
    let kinds = qualifiers.map(|qualifier| qualifier.kind);
    let (mark, word): (Option<StatusMark>, String) = match (&batch.search, claimed, batch.outcome) {
        (Some(search), ..) => {
            let word = search::outcome_word(search.outcome);
            (Some(search.outcome.into()), word.to_owned())
        }
        (None, Some(claim), Some(outcome)) if !cells_stand => {
            let qualified = QualifiedOutcome::from_kinds(outcome, kinds);
            let word = format!("{}, cells {qualified}", claims_word(claim));
            let is_contradicted = claim == ClaimOutcome::Contradicted;
            let mark = if is_contradicted { claim.into() } else { outcome.into() };
            (Some(mark), word)
        }
        (None, Some(claim), Some(_)) => (Some(claim.into()), claims_word(claim).to_owned()),
        (None, None, Some(outcome)) => {
            let qualified = QualifiedOutcome::from_kinds(outcome, kinds);
            (Some(outcome.into()), qualified.to_string())
        }
        (None, _, None) => (None, "nothing run".to_owned()),
    };
    Conclusion {
        remarks: of_cell::evidence_remark(evidence).into_iter().collect(),
        ..Conclusion::new(mark, word, &batch.sentence)
    }
}

/// The word of the claims' worst outcome.
fn claims_word(claims: ClaimOutcome) -> &'static str {
    match claims {
        ClaimOutcome::Supported => "all claims supported",
        ClaimOutcome::NotDecided => "claims not decided",
        ClaimOutcome::Contradicted => "claim contradicted",
    }
}

/// A row for each performance result of each cell, also for one without a figure. So that it is a line of 100 columns,
/// the outcomes' qualifiers are cut off, and trials and intervals are left to the full table.
fn brief_table(batch: &BatchVerdict) -> Option<Block> {
    let verdicts = batch.all_results().filter_map(|cell| cell.verdict.as_ref());
    let results = verdicts.flat_map(|verdict| &verdict.results).collect_vec();
    let deciding = results.iter().filter_map(|result| Some(result.deciding_figure()?.1));
    let unit = ColumnUnit::of(deciding.map(|figure| (figure.value, figure.unit.as_str())));
    let scenario = Column::text("scenario");
    let is_single = results.iter().map(|result| &result.scenario).all_equal();
    let scenario = if is_single { scenario.omit_at_rank(0) } else { scenario.stack_under(0) };
    let rows = batch.all_results().flat_map(|cell| {
        let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
        let results = results.filter(|result| result.mode == Mode::Performance);
        let rows = results.map(|result| {
            let deciding = result.deciding_figure();
            let figure = deciding.map(|(_, figure)| unit.format(figure.value, &figure.unit));
            let figure = figure.unwrap_or_else(|| NOTHING.to_owned());
            let difference = deciding.and_then(|(name, _)| find_difference(cell, result, name));
            (cell, &*result.scenario, figure, difference, Some(result))
        });
        let none = move |_| (cell, NOTHING, NOTHING.to_owned(), None, None);
        rows.pad_using(1, none).collect_vec()
    });
    let to_baseline = |cell: &CellVerdict, diff: Option<&ComparedFigure>| {
        if cell.is_baseline {
            return "baseline".to_owned();
        }
        format_ratio(diff.and_then(|diff| diff.ratio))
    };
    let measured =
        Column::number("measured").with_note(marks::unverified_word(batch.notice.is_some()));
    let change = |diff: &ComparedFigure| marks::change_cell(diff.change);
    let interval_of = interval_column(batch.confidence).stack_under(4).omit_at_rank(2);
    Table::builder("Cells", rows)
        .head("cell", |(cell, ..)| &cell.name)
        .column(scenario, |row| row.1)
        .column(measured, |(_, _, figure, ..)| figure.clone())
        .column(Column::number("runs").omit_at_rank(1), |(cell, ..)| format_runs(cell))
        .column(Column::number("ratio").with_note("to baseline"), |(cell, .., diff, _)| {
            to_baseline(cell, *diff)
        })
        .column(interval_of, |(.., diff, _)| format_interval(diff.and_then(|diff| diff.interval)))
        .column(Column::status("outcome").shorten_at_rank(3), |(cell, .., result)| {
            outcome_cell(cell, *result)
        })
        .status("change", |(.., diff, _)| diff.map(change).unwrap_or_default())
        .into_block()
}

/// The means and intervals of the tables, in words.
fn statistics_note(batch: &BatchVerdict) -> Option<Block> {
    let all = batch.cells.iter().flat_map(|cell| &cell.differences);
    let several = all.filter(|diff| diff.interval.is_some() && diff.candidate.trials.len() > 1);
    let means = several.map(|diff| diff.aggregate.name());
    let means = join(means.sorted_unstable().dedup(), " or ");
    let confidence = number::format_percent(batch.confidence);
    (!means.is_empty()).then(|| {
        Block::paragraph(format!(
            "Figures and ratios are each the {means} of the trials. The {confidence} intervals are \
             two-sided and for a single ratio each; changes are corrected for all of them (Holm). A claim \
             has one-sided bounds."
        ))
    })
}

fn find_difference<'a>(
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

/// The number of runs with evidence, of those requested.
fn format_runs(cell: &CellVerdict) -> String {
    let with = cell.runs.iter().filter(|run| run.lost.is_none()).count();
    if with == cell.trials as usize {
        return with.to_string();
    }
    format!("{with} of {}", cell.trials)
}

/// Every figure of every cell, over all its trials.
fn figures_table(batch: &BatchVerdict) -> Table {
    let columns = figures::figure_columns(batch.notice.is_some(), batch.confidence);
    let verdicts = batch.all_results().filter_map(|cell| cell.verdict.as_ref());
    let unit = figures::column_unit(verdicts.flat_map(|verdict| &verdict.results));
    // Only measured cells have a section.
    let mut sections = 0_usize..;
    let mut remaining = MAX_TABLE_ROWS;
    let groups = batch.all_results().map(|cell| {
        let section = cell.verdict.as_ref().and_then(|_| sections.next());
        let link = section.map(|at| format!("#s{at}"));
        let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
        let mut rows: Vec<Vec<TableCell>> =
            results.flat_map(|result| figures::figure_rows(result, &[], unit)).collect();
        let reason = failure_reason(cell);
        if !reason.is_empty() {
            rows.push(vec![reason.into()]);
        }
        if rows.is_empty() {
            rows.push(vec![cell.sentence.as_str().into()]);
        }
        rows.truncate(remaining);
        remaining -= rows.len();
        RowGroup { title: Some(TableCell::from(cell.name.as_str()).with_link(link)), rows }
    });
    let groups = groups.filter(|group| !group.rows.is_empty()).collect();
    Table::from_groups("Figures of each cell, over all its trials", columns, groups)
}

fn difference_blocks(batch: &BatchVerdict) -> Vec<Block> {
    let pairs = batch.cells.iter().flat_map(|cell| {
        let differences = cell.differences.iter();
        differences.map(move |diff| (cell, diff))
    });
    let all = pairs.take(MAX_TABLE_ROWS).collect_vec();
    let interval_of = interval_column(batch.confidence);
    let unit = compared_unit(all.iter().map(|(_, diff)| *diff));
    let table = Table::builder("Figures of each cell and of its baseline", &all)
        .head("cell", |(cell, _)| &cell.name)
        .text("baseline", |(_, diff)| &diff.baseline.subject)
        .text("scenario", |(_, diff)| format!("{} {}", diff.scenario, diff.mode))
        .text("figure", |(_, diff)| &diff.figure)
        .number("baseline's", |(_, diff)| format_value(diff.baseline.value, &diff.unit, unit))
        .number("measured", |(_, diff)| format_value(diff.candidate.value, &diff.unit, unit))
        .number("ratio", |(_, diff)| format_ratio(diff.ratio))
        .column(interval_of, |(_, diff)| format_interval(diff.interval))
        .status("result", |(_, diff)| marks::change_cell(diff.change))
        .group_by(|(cell, diff)| format!("{} compared with {}", cell.name, diff.baseline.subject));
    let different = all.iter().filter(|(_, diff)| diff.change.is_difference());
    let list = Block::list(different.map(|(cell, diff)| {
        let (scenario, mode, sentence) = (&diff.scenario, diff.mode, &diff.sentence);
        let text = format!("{}: {scenario} {mode}: {sentence}", cell.name);
        ListItem::new(text).with_mark(diff.change)
    }));
    table.into_block().into_iter().chain(list).collect()
}

fn skipped_blocks(batch: &BatchVerdict, full: bool) -> Vec<Block> {
    let most = if full { MAX_TABLE_ROWS } else { MAX_BRIEF_SKIPPED };
    let excluded = batch.excluded.iter().take(most);
    let skipped = excluded.map(|cell| ListItem::with_key(&cell.name, cell.reason.to_string()));
    let more = batch.excluded.len().saturating_sub(most);
    let more = (more > 0).then(|| Block::paragraph(format!("and {more} more")));
    Block::list(skipped).into_iter().chain(more).collect()
}
