//! The page of a batch: its claims and cells as they were last judged, and its runs.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use itertools::Itertools as _;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::{FRONT, Website, WebsiteOptions, WebsitePage, tables};
use crate::charts::file_name;
use crate::content::runs::truncate_text;
use crate::content::{DetailLevel, batch, verdict};
use crate::document::{
    Block, Conclusion, Document, Line, RowTable, Section, StatusMark, Table, TableCell, Tone,
};
use retrial_batch::verdict::BatchVerdict;
use retrial_document::words;
use retrial_history::RunSummary;

/// The most submissions that a batch's page links.
const MAX_LINKED_SUBMISSIONS: usize = 6;
/// The most letters of a batch's sentence in a table.
const MAX_SENTENCE_LETTERS: usize = 100;

/// What a batch's directory shows.
pub enum BatchRecord {
    /// It was judged.
    Judged(RecordedBatch),
    /// It has no verdict yet.
    Open(OpenBatch),
}

/// A batch without a verdict.
pub struct OpenBatch {
    pub title: String,
    /// The number of runs that it plans; none of a search, which decides on the way.
    pub planned: Option<usize>,
    pub state: OpenBatchState,
}

words! {
    /// How far a batch without a verdict is.
    pub enum OpenBatchState {
        /// A process executes it.
        Running = "running",
        /// It was stopped before its end.
        Stopped = "stopped",
        /// No process executes it, and its end was not recorded.
        Interrupted = "interrupted",
    }
}

/// A batch with its last verdict.
pub struct RecordedBatch {
    title: Line,
    conclusion: Conclusion,
    /// Its claims, cells and notes.
    sections: Vec<Block>,
    /// The path from the website to the batch's own report, if it has one.
    report: Option<String>,
}

impl RecordedBatch {
    pub fn new(verdict: &BatchVerdict, report: Option<String>) -> Self {
        let mut conclusion = Conclusion::default();
        let mut sections = Vec::new();
        for block in batch::batch_blocks(verdict, "", DetailLevel::Brief) {
            match block {
                Block::Conclusion(of_batch) => conclusion = of_batch,
                block => sections.push(block),
            }
        }
        Self { title: verdict.title.as_str().into(), conclusion, sections, report }
    }
}

/// A batch, and those of its runs that the website has.
pub(super) struct BatchRuns<'a> {
    id: &'a str,
    /// The runs, newest last.
    rows: Vec<&'a RunSummary>,
    record: Option<&'a BatchRecord>,
}

impl BatchRuns<'_> {
    fn judged(&self) -> Option<&RecordedBatch> {
        match self.record? {
            BatchRecord::Judged(batch) => Some(batch),
            BatchRecord::Open(_) => None,
        }
    }

    fn title(&self) -> &str {
        match self.record {
            Some(BatchRecord::Judged(batch)) => batch.title.as_str(),
            Some(BatchRecord::Open(batch)) => &batch.title,
            None => self.id,
        }
    }

    fn conclusion(&self) -> Cow<'_, Conclusion> {
        let (word, sentence) = match self.record {
            Some(BatchRecord::Judged(batch)) => return Cow::Borrowed(&batch.conclusion),
            Some(BatchRecord::Open(OpenBatch { state: OpenBatchState::Running, .. })) => {
                ("running", "It has no verdict yet.".to_owned())
            }
            Some(BatchRecord::Open(open)) => {
                (open.state.word(), format!("Continue it: retrial resume {}", self.id))
            }
            None => ("no verdict", "Its directory cannot be read.".to_owned()),
        };
        Cow::Owned(Conclusion::new(None, word, sentence))
    }

    fn started(&self) -> Option<Timestamp> {
        self.rows.iter().filter_map(|row| row.started).min()
    }

    /// Returns the file name of its page.
    pub fn page_name(&self) -> String {
        page_name(self.id)
    }
}

/// The page of a batch, by its id. A submission's page has no dot in its name, and so not this name.
pub(super) fn page_name(id: &str) -> String {
    let name = file_name(id);
    if name == id {
        return format!("batch.{name}.html");
    }
    let hash = hex::encode(Sha256::digest(id));
    format!("batch.{name}.{}.html", &hash[..8])
}

/// Returns the batches of runs (the newest last), the newest first.
pub(super) fn find_batches<'a>(
    rows: &'a [RunSummary],
    options: &WebsiteOptions<'a>,
) -> Vec<BatchRuns<'a>> {
    let mut by_batch: BTreeMap<&str, Vec<&RunSummary>> = BTreeMap::new();
    for row in rows {
        if let Some(batch) = row.local_batch() {
            by_batch.entry(&batch.id).or_default().push(row);
        }
    }
    let batches = by_batch.into_iter().map(|(id, rows)| BatchRuns {
        id,
        rows,
        record: options.batches.get(id),
    });
    batches.sorted_by_key(|batch| Reverse((batch.started(), batch.id))).collect()
}

/// The batches as a table, the newest first.
pub(super) fn batches_table(batches: &[BatchRuns<'_>]) -> Table {
    Table::builder("Batches", batches)
        .head("batch", |batch| {
            let id = batch.record.map(|_| batch.id).unwrap_or_default();
            tables::title_cell(batch.title(), id).with_link(Some(batch.page_name()))
        })
        .status("verdict", |batch| outcome_cell(&batch.conclusion()))
        .text("result", |batch| truncate_text(&batch.conclusion().sentence, MAX_SENTENCE_LETTERS))
        .number("runs", |batch| match batch.record {
            Some(BatchRecord::Open(OpenBatch { planned: Some(planned), .. })) => {
                format!("{} of {planned}", batch.rows.len())
            }
            _ => batch.rows.len().to_string(),
        })
        .text("started", |batch| tables::time_cell(batch.started()))
        .table
}

fn outcome_cell(conclusion: &Conclusion) -> TableCell {
    let unjudged = StatusMark::new(Tone::Plain, "•");
    TableCell::status(conclusion.mark.unwrap_or(unjudged), &conclusion.word)
}

pub(super) fn batch_page(website: &Website<'_>, at: usize) -> WebsitePage {
    let batch = &website.batches[at];
    let submissions = batch.rows.iter().map(|row| &row.submission);
    let notices = verdict::notice_blocks(submissions).collect_vec();
    let runs = runs_table(batch, website.options, !notices.is_empty()).into_block();
    let mut blocks = vec![Block::Conclusion(batch.conclusion().into_owned())];
    blocks.extend(batch.judged().iter().flat_map(|one| one.sections.clone()));
    blocks.push(Section::new_block("Runs", runs));
    blocks.extend(notices);
    WebsitePage {
        document: Document::new(batch.title(), blocks),
        links: links_of_batch(website, batch),
    }
}

fn links_of_batch(website: &Website<'_>, batch: &BatchRuns<'_>) -> Vec<(Line, String)> {
    let mut links = vec![("All submissions".into(), FRONT.to_owned())];
    let groups = website.groups.iter();
    let has_run = |row: &&RunSummary| row.local_batch().is_some_and(|of| of.id == batch.id);
    let with_runs = groups.filter(|group| group.rows.iter().any(has_run));
    let submissions = with_runs.take(MAX_LINKED_SUBMISSIONS);
    links.extend(submissions.map(|group| (group.title.into(), group.page_name())));
    let report = batch.judged().and_then(|one| one.report.clone());
    links.extend(report.map(|report| ("Report of the batch".into(), report)));
    links
}

fn runs_table<'a>(
    batch: &BatchRuns<'a>,
    options: &WebsiteOptions<'a>,
    is_noticed: bool,
) -> RowTable<&'a RunSummary> {
    let table = Table::builder("Runs", batch.rows.iter().copied())
        .head("run", |row| TableCell::from(&row.id).with_link((options.link)(row)));
    let table = table.text("cell", |row| {
        let position = row.local_batch();
        position.map_or(TableCell::default(), |position| {
            tables::title_cell(&position.cell, "").with_note(format!("trial {}", position.trial))
        })
    });
    tables::add_run_columns(table, is_noticed, true, |row| row)
        .text("measured on", |row| tables::machine_cell(row))
        .text("started", |row| tables::time_cell(row.started))
}

/// A run's place in its batch, which links the batch's page.
pub(super) fn position_cell(row: &RunSummary) -> TableCell {
    row.local_batch().map_or(TableCell::default(), |position| {
        TableCell::from("batch")
            .with_note(format!("trial {}", position.trial))
            .with_link(Some(page_name(&position.id)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_without_a_verdict_says_whether_it_runs() {
        let conclude = |record: Option<&BatchRecord>| {
            let batch = BatchRuns { id: "b", rows: Vec::new(), record };
            let conclusion = batch.conclusion();
            format!("{}: {}", conclusion.word, conclusion.sentence)
        };
        let conclude_open = |state: OpenBatchState| {
            let open = OpenBatch { title: "t".to_owned(), planned: None, state };
            conclude(Some(&BatchRecord::Open(open)))
        };
        assert_eq!(conclude_open(OpenBatchState::Running), "running: It has no verdict yet.");
        for (state, word) in
            [(OpenBatchState::Stopped, "stopped"), (OpenBatchState::Interrupted, "interrupted")]
        {
            assert_eq!(conclude_open(state), format!("{word}: Continue it: retrial resume b"));
        }
        assert!(conclude(None).contains("cannot be read"));
    }
}
