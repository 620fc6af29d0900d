//! A verdict in a few lines: one row for each published figure, one sentence for each result that is not reproduced,
//! and the outcome. The verdict in full has everything else.

use indexmap::IndexMap;
use itertools::Itertools as _;

use super::figure_pivot::pivot_tables;
use super::figures::{self, MAX_INLINE_FIGURES, NOTHING};
use super::verdict::{self, notice_block};
use super::{claims, marks, verdict::submission_title};
use crate::ReportedVerdict;
use crate::document::{Block, Column, Document, ListItem, StatusMark, Table, TableCell};
use retrial_document::measures::format;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{Judgement, Outcome, QualifierKind, ResultVerdict, Verdict};

pub fn brief_document(entry: &ReportedVerdict<'_>) -> Document {
    let judged = entry.verdict;
    let mut blocks = figure_tables(judged);
    blocks.extend(claims::claim_list(&judged.claims));
    let warnings = warning_items(judged);
    let benchmark_rules = verdict::benchmark_rule_items(entry);
    let reasons = reason_items(judged).into_iter();
    blocks.extend(Block::list(reasons.chain(warnings).chain(benchmark_rules)));
    blocks.push(Block::Conclusion(verdict::verdict_conclusion(entry)));
    blocks.extend(notice_block(judged.notice.as_deref()));
    Document::new(submission_title(judged), blocks)
}

/// A row of the table: a figure with those that it stands for.
struct BriefRow<'a> {
    result: &'a ResultVerdict,
    figure: &'a str,
    judged: Option<&'a Judgement>,
    /// How many figures the row stands for.
    count: usize,
}

/// Tables of entries as they are published, and one of all other figures.
fn figure_tables(judged: &Verdict) -> Vec<Block> {
    let pivots = pivot_tables(judged);
    let rows = judged.results.iter().flat_map(|result| {
        let figures = figures::shown_figures(result).into_iter();
        let separate = figures
            .filter(|(figure, _)| !pivots.iter().any(|table| table.shows(result, figure)))
            .collect_vec();
        brief_rows(result, &separate)
    });
    let rows = rows.collect_vec();
    let table = (!rows.is_empty()).then(|| Block::Table(figure_table(judged, &rows)));
    let pivot_blocks = pivots.into_iter().filter_map(|table| table.render(judged));
    table.into_iter().chain(pivot_blocks).collect()
}

/// Returns the rows of one result: of accuracy the worst figure stands for all, and of very many figures those
/// that do not hold are shown. A passed compliance test has no figure.
fn brief_rows<'a>(
    result: &'a ResultVerdict,
    figures: &[(&'a str, Option<&'a Judgement>)],
) -> Vec<BriefRow<'a>> {
    let row = |(figure, judged): (&'a str, Option<&'a Judgement>), count| BriefRow {
        result,
        figure,
        judged,
        count,
    };
    if result.mode == Mode::Compliance && result.valid && result.deciding.is_none() {
        return Vec::new();
    }
    if result.mode == Mode::Accuracy {
        let worst = figures.iter().copied().max_by(|(left_name, left), (right_name, right)| {
            let rank = |name: &str, judged: Option<&Judgement>| {
                let violates = result.rules.iter().any(|rule| rule.rule == name && !rule.passed);
                (judged.map(|judgement| judgement.outcome), violates)
            };
            let ratio = |judged: Option<&Judgement>| judged.and_then(|judgement| judgement.ratio);
            let by_rank = rank(left_name, *left).cmp(&rank(right_name, *right));
            by_rank.then_with(|| {
                ratio(*right).partial_cmp(&ratio(*left)).unwrap_or(std::cmp::Ordering::Equal)
            })
        });
        return worst.map(|figure| row(figure, figures.len())).into_iter().collect();
    }
    let is_long = figures.len() > MAX_INLINE_FIGURES;
    let holds = |judged: Option<&Judgement>| {
        judged.is_some_and(|judgement| result.outcome_of(judgement) == Outcome::Reproduced)
    };
    let shown = figures.iter().filter(|(_, judged)| !is_long || !holds(*judged));
    shown.map(|figure| row(*figure, 1)).collect()
}

fn figure_table(judged: &Verdict, rows: &[BriefRow<'_>]) -> Table {
    // The conclusion has them all, each with the result that it concerns.
    let qualifiers = judged.qualifiers.iter();
    let said: Vec<QualifierKind> = qualifiers.map(|qualifier| qualifier.kind).collect();
    let results = rows.iter().map(|row| &row.result.path);
    let has_own_row = results.duplicates().next().is_none();
    let mut figure = Column::text("figure");
    if has_own_row {
        // The unit tells them apart.
        figure = figure.omit_at_rank(1);
    } else {
        figure = figure.stack_under(0);
    }
    let columns = vec![
        Column::head("scenario"),
        figure,
        Column::number("measured").with_note(marks::unverified_word(judged.notice.is_some())),
        Column::number("published"),
        Column::text("source").omit_at_rank(0),
        Column::number("ratio"),
        Column::text(figures::confidence_label(judged.confidence)).omit_at_rank(2),
        Column::status("outcome"),
    ];
    let unit = figures::column_unit(rows.iter().map(|row| row.result));
    let lines = rows.iter().map(|row| {
        let cells = figures::figure_row(row.result, row.figure, row.judged, &said, unit);
        let [_, _, _, measured, published, source, ratio, bound, outcome] = cells;
        vec![
            result_subject(row.result).into(),
            row.figure_cell(),
            measured,
            published,
            source,
            ratio,
            bound,
            outcome,
        ]
    });
    Table::new("Measured and published figures", columns, lines)
}

impl BriefRow<'_> {
    /// `tokens_per_second`, `ROUGE2, lowest of 4`
    fn figure_cell(&self) -> TableCell {
        let name = if self.figure.is_empty() { NOTHING } else { self.figure };
        let is_judged = self.judged.is_some();
        match self.count {
            0 | 1 => name.into(),
            count if is_judged => format!("{name}, lowest of {count}").into(),
            count => format!("{name}, one of {count}").into(),
        }
    }
}

/// The scenario of a result, with what was measured of it if that is not its speed: `Offline accuracy`.
fn result_subject(result: &ResultVerdict) -> String {
    match result.mode {
        Mode::Performance => result.scenario.to_string(),
        mode => format!("{} {mode}", result.scenario),
    }
}

/// Returns one sentence for each figure that is not reproduced, and one for results that failed for the same reason.
fn reason_items(judged: &Verdict) -> Vec<ListItem> {
    let mut failures: IndexMap<(Outcome, &str), Vec<&ResultVerdict>> = IndexMap::new();
    let mut items = Vec::new();
    for result in &judged.results {
        match result.outcome {
            Outcome::Invalid | Outcome::Failed | Outcome::Running => {
                let reason = (result.outcome, &*result.sentence);
                failures.entry(reason).or_default().push(result);
            }
            Outcome::Reproduced | Outcome::Measured => items.extend(summarize_many(result)),
            Outcome::NotReproduced | Outcome::Inconclusive => {
                items.extend(describe_undecided(result));
            }
        }
    }
    let failed = failures.into_iter().map(|((outcome, sentence), results)| {
        let subject = match &results[..] {
            [result] => result_subject(result),
            several => {
                let count = u32::try_from(several.len()).unwrap_or(u32::MAX);
                let count = format::format_small_count(count);
                match outcome {
                    Outcome::Failed => format!("{count} results were not measured"),
                    Outcome::Running => format!("{count} results"),
                    _ => format!("{count} results are invalid"),
                }
            }
        };
        ListItem::new(format!("{subject}: {sentence}")).with_mark(outcome)
    });
    failed.chain(items).collect()
}

/// Returns the warnings of rules: those that several results share, once, after their names.
fn warning_items(judged: &Verdict) -> Vec<ListItem> {
    let mut shared: IndexMap<String, (StatusMark, Vec<String>)> = IndexMap::new();
    for result in &judged.results {
        let rules = result.rules.iter().filter(|rule| rule.is_notable());
        for rule in rules.filter(|rule| rule.warning) {
            let fresh = || (StatusMark::from(rule), Vec::new());
            let (_, subjects) = shared.entry(rule.to_string()).or_insert_with(fresh);
            let trial = rule.trial.filter(|_| result.trials.len() > 1);
            let trial = trial.map_or_else(String::new, |trial| format!(" trial {trial}"));
            subjects.push(format!("{}{trial}", result_subject(result)));
        }
    }
    let items = shared.into_iter().map(|(rule, (mark, subjects))| {
        let subjects = subjects.iter().unique().join(", ");
        ListItem::new(format!("{subjects}: {rule}")).with_mark(mark)
    });
    items.collect()
}

/// The sentences of a result's figures that do not hold, or are undecided.
fn describe_undecided(result: &ResultVerdict) -> Vec<ListItem> {
    let subject = result_subject(result);
    let item = |outcome: Outcome, sentence: &str| {
        ListItem::new(format!("{subject}: {sentence}")).with_mark(outcome)
    };
    let judgements = result.judgements.iter();
    let open = judgements.filter(|judgement| judgement.outcome != Outcome::Reproduced);
    let mut items =
        open.map(|judgement| item(judgement.outcome, &judgement.sentence)).collect_vec();
    if items.is_empty() {
        // The figures hold: something else is missing.
        items.push(item(result.outcome, &result.sentence));
    }
    items.extend(summarize_many(result));
    items
}

/// One sentence for the figures that hold, where they are too many for the table.
fn summarize_many(result: &ResultVerdict) -> Option<ListItem> {
    let is_long = result.mode == Mode::Performance && result.judgements.len() > MAX_INLINE_FIGURES;
    let judgements = result.judgements.iter().filter(|_| is_long);
    let hold =
        judgements.filter(|judgement| judgement.outcome == Outcome::Reproduced).collect_vec();
    let subject = result_subject(result);
    let summary = verdict::summarize_holding(&hold)?;
    Some(ListItem::new(format!("{subject}: {summary}")).with_mark(Outcome::Reproduced))
}
