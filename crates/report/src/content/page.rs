//! A page: verdicts, their comparison, and all details.

use super::figures::{column_unit, figure_columns, figure_rows};
use super::subject::ReportSubject;
use super::{DetailLevel, batch, comparison, details, environment, marks, verdict};
use crate::charts;
use crate::document::{Block, Document, Line, RowGroup, Section, StyledText, Table, TableCell};
use retrial_batch::verdict::BatchVerdict;
use retrial_document::measures::format;
use retrial_readings::number::ColumnUnit;
use retrial_recipe::model::Mode;
use retrial_results::verdict::ResultVerdict;
use retrial_results::verdict::comparison::Comparison;

/// More subjects are shown without charts, and only with violated rules, so that a page opens.
const MAX_FULL_SUBJECTS: usize = 40;
/// More rows are only in the sections below.
const MAX_OVERVIEW_ROWS: usize = 2000;

/// A page of results, or of a batch.
#[derive(Debug, Clone, Default)]
pub struct ReportPage<'a> {
    /// The version that made it, and when: `retrial 0.1.0, 2026-11-21 18:40`.
    pub made_by: String,
    /// The results, a section each.
    pub subjects: Vec<ReportSubject<'a>>,
    /// Their comparison, if they have figures in common.
    pub comparison: Option<&'a Comparison>,
    /// The batch whose cells they are.
    pub batch: Option<&'a BatchVerdict>,
    /// Facts for the conclusion of the batch: what it ran, where and when.
    pub run_facts: Vec<(Line, StyledText)>,
}

pub fn page_document(page: &ReportPage<'_>) -> Document {
    let mut blocks = Vec::new();
    let title = match (page.batch, page.subjects.as_slice()) {
        (None, [subject]) => {
            blocks = subject_blocks(subject, true);
            verdict::submission_title(subject.entry.verdict)
        }
        (None, several) => {
            blocks.push(overview_section(several));
            format!("Retrial: {}", format::format_count(several.len(), "result"))
        }
        (Some(batch), _) => {
            blocks = batch::batch_blocks(batch, "", DetailLevel::Full);
            if let Some(Block::Conclusion(conclusion)) = blocks.first_mut() {
                conclusion.remarks.splice(0..0, page.run_facts.iter().cloned());
            }
            batch.title.clone()
        }
    };
    if let Some(compared) = page.comparison {
        blocks.push(comparison::comparison_section(compared, DetailLevel::Full));
    }
    if let Some(cells) = page.batch.and_then(|batch| batch.environments.as_ref()) {
        let compared =
            environment::difference_blocks(&cells.cells, &cells.groups, DetailLevel::Full);
        blocks.push(Section::new_block("Environments", compared));
    }
    if page.batch.is_some() || page.subjects.len() != 1 {
        blocks.extend(subject_sections(&page.subjects));
    }
    Document { made_by: page.made_by.as_str().into(), ..Document::new(title, blocks) }
}

/// Every subject in a section of its own.
fn subject_sections<'a>(subjects: &'a [ReportSubject<'_>]) -> impl Iterator<Item = Block> + 'a {
    let in_full = subjects.len() <= MAX_FULL_SUBJECTS;
    subjects.iter().enumerate().map(move |(number, subject)| {
        Block::Section(Section {
            title: section_heading(subject, subjects).into(),
            id: Some(format!("s{number}")),
            blocks: subject_blocks(subject, in_full),
        })
    })
}

fn subject_blocks(subject: &ReportSubject<'_>, in_full: bool) -> Vec<Block> {
    let judged = subject.entry.verdict;
    let mut charts = in_full.then(|| charts::verdict_charts(judged)).into_iter().flatten();
    let mut conclusion = verdict::verdict_conclusion(&subject.entry);
    conclusion.remarks.splice(0..0, subject.run_facts.iter().cloned());
    conclusion.chart = charts.next().map(Box::new);
    if conclusion.sentence.is_empty() {
        // The answer comes first, although the only reason repeats it.
        conclusion.sentence = judged.detail.as_str().into();
    }
    let mut blocks: Vec<Block> = details::runs_table(subject).into_iter().collect();
    blocks.push(Block::Conclusion(conclusion));
    blocks.extend(verdict::evidence_blocks(&subject.entry, &subject.steps, in_full));
    blocks.extend(details::detail_sections(subject, charts.collect(), in_full));
    blocks
}

/// Its title, with its name if several have the same.
fn section_heading(subject: &ReportSubject<'_>, all: &[ReportSubject<'_>]) -> String {
    if !subject.runs.is_empty() {
        return subject.name.clone();
    }
    let title = verdict::submission_title(subject.entry.verdict);
    let same = |other: &&ReportSubject<'_>| verdict::submission_title(other.entry.verdict) == title;
    if all.len() <= MAX_FULL_SUBJECTS && all.iter().filter(same).count() > 1 {
        return format!("{title}: {}", subject.name);
    }
    title
}

/// An overview of several results: a row for each figure, with a link to its section.
fn overview_section(subjects: &[ReportSubject<'_>]) -> Block {
    let results = || subjects.iter().flat_map(|subject| &subject.entry.verdict.results);
    let counts = format!(
        "{} in {}: {}.",
        format::format_count(results().count(), "measurement"),
        format::format_count(subjects.len(), "result"),
        marks::count_outcomes(results().map(ResultVerdict::qualified_outcome))
    );
    let verdicts = || subjects.iter().map(|subject| subject.entry.verdict);
    let confidence = verdicts().next().map_or(0.95, |verdict| verdict.confidence);
    let unverified = verdicts().any(|verdict| verdict.notice.is_some());
    let mut remaining = MAX_OVERVIEW_ROWS;
    let unit = column_unit(results());
    let groups =
        subjects.iter().enumerate().map(|(number, subject)| subject_group(number, subject, unit));
    let groups = groups.take_while(|group| {
        let fits = group.rows.len() <= remaining;
        remaining = remaining.saturating_sub(group.rows.len());
        fits
    });
    let columns = figure_columns(unverified, confidence);
    let table = Table::from_groups("All figures", columns, groups.collect());
    Section::new_block("Overview", [Block::paragraph(counts), Block::Table(table)])
}

/// The rows of one result below its name.
fn subject_group(number: usize, subject: &ReportSubject<'_>, unit: ColumnUnit) -> RowGroup {
    let verdict = subject.entry.verdict;
    // A passed compliance test has no figure.
    let results = verdict.results.iter().filter(|result| {
        result.mode != Mode::Compliance || !result.valid || result.deciding.is_some()
    });
    let title =
        TableCell::from(verdict::submission_title(verdict)).with_link(Some(format!("#s{number}")));
    RowGroup {
        title: Some(title),
        rows: results.flat_map(|result| figure_rows(result, &[], unit)).collect(),
    }
}
