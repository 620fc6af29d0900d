//! Changes of verdict: a run whose verdict differs from that of the run before it, of the same submission,
//! variant and parameters on the same GPUs.

use itertools::{Itertools as _, join};
use jiff::Timestamp;

use super::group::{SubmissionRuns, select_judged};
use super::{FRONT, Website, tables};
use crate::content::runs::{truncate_cell, truncate_text};
use crate::document::{Block, Column, Line, Table};
use crate::feed::{Feed, FeedEntry};
use retrial_history::RunSummary;
use retrial_results::verdict::comparison::components;
use retrial_results::verdict::{QualifiedOutcome, trademark_notice};

/// The most changes in a table, and in the feed.
const MAX_LISTED_CHANGES: usize = 20;
const MAX_FEED_ENTRIES: usize = 100;
const CHANGED_RECIPE: &str = "changed recipe";
/// The most letters of a verdict's sentence.
pub(super) const MAX_SENTENCE_LETTERS: usize = 600;

#[derive(Clone)]
pub(super) struct VerdictChange<'a> {
    pub before: &'a RunSummary,
    pub previous_outcome: QualifiedOutcome,
    pub run: &'a RunSummary,
    pub current_outcome: QualifiedOutcome,
}

impl VerdictChange<'_> {
    /// When it was known.
    pub fn time(&self) -> Option<Timestamp> {
        self.run.ended.or(self.run.started)
    }

    /// Returns whether the recipe was changed in between: what was chosen of it is the same.
    fn has_other_recipe(&self) -> bool {
        self.before.recipe_hash != self.run.recipe_hash
    }

    /// Changes are listed in the order of this, the newest first.
    pub fn sort_key(&self) -> (Option<Timestamp>, &str) {
        (self.time(), &self.run.id)
    }
}

pub(super) fn find_changes<'a>(
    group: &SubmissionRuns<'a>,
) -> impl Iterator<Item = VerdictChange<'a>> {
    group.series.iter().flat_map(|series| {
        let rows = select_judged(&series.rows).into_iter();
        let judged = rows.filter_map(|row| Some((row, row.deciding_verdict()?.outcome)));
        let pairs = judged.tuple_windows();
        let changes = pairs.filter(|((_, was), (_, is))| was.outcome != is.outcome);
        changes.map(|((before, was), (run, is))| VerdictChange {
            before,
            previous_outcome: was,
            run,
            current_outcome: is,
        })
    })
}

/// The newest changes as a table; of all submissions, or of this one.
pub(super) fn changes_table(website: &Website<'_>, only: Option<usize>) -> Vec<Block> {
    let changes = website.changes.iter();
    let selected = changes.filter(|(at, _)| only.is_none_or(|only| only == *at));
    let all: Vec<&(usize, VerdictChange<'_>)> = selected.collect();
    if all.is_empty() {
        return vec![Block::paragraph("No verdict has changed.")];
    }
    let count = all.len();
    let link = website.options.link;
    let table = Table::builder("Changes of verdict", all.into_iter().take(MAX_LISTED_CHANGES));
    // On a submission's own page the run is what is changed.
    let table = match only {
        Some(_) => table.head("run", |(_, change)| {
            tables::title_cell(&change.run.id, &change.run.format_choices())
                .with_link(link(change.run))
        }),
        None => table.head("submission", |(at, change)| {
            let group = &website.groups[*at];
            tables::title_cell(group.title, &change.run.format_choices())
                .with_link(Some(group.page_name()))
        }),
    };
    let table = table
        .status("before", |(_, change)| tables::deciding_cell(change.before))
        .status("verdict", |(_, change)| tables::deciding_cell(change.run))
        .column(Column::text("changed").with_note("on"), |(_, change)| {
            let other_recipe = change.has_other_recipe().then_some(CHANGED_RECIPE);
            let notes = [Some(change.run.gpus.as_str()), other_recipe].into_iter().flatten();
            let notes = join(notes.filter(|note| !note.is_empty()), ", ");
            tables::time_cell(change.time()).with_note(truncate_cell(&notes))
        });
    let mut blocks = vec![Block::Table(table.table)];
    if count > MAX_LISTED_CHANGES {
        let text = format!("The newest {MAX_LISTED_CHANGES} of {count}.");
        blocks.push(Block::paragraph(text));
    }
    blocks
}

/// The newest changes as a feed.
pub(super) fn changes_feed(website: &Website<'_>) -> Feed {
    let newest_changes = website.changes.iter().take(MAX_FEED_ENTRIES);
    let entries = newest_changes.map(|(at, change)| feed_entry(&website.groups[*at], change));
    let rows = website.groups.iter().flat_map(|group| &group.rows);
    let newest = rows.filter_map(|row| row.ended.or(row.started)).max();
    let first_change = website.changes.first();
    let first = first_change.and_then(|(_, change)| change.time());
    Feed {
        title: "Retrial: changes of verdict".to_owned(),
        description: "Runs whose verdict differs from that of the run before it, of the same \
            submission, variant and parameters on the same GPUs"
            .to_owned(),
        url: website.options.url.map(str::to_owned),
        front: FRONT.to_owned(),
        updated: first.or(newest).unwrap_or_default(),
        entries: entries.collect(),
    }
}

fn feed_entry(group: &SubmissionRuns<'_>, change: &VerdictChange<'_>) -> FeedEntry {
    let (before, run) = (change.before, change.run);
    let choices = run.format_choices();
    let words = [group.title, &choices, &run.gpus].map(truncate_cell);
    let words = words.into_iter().filter(|word| !word.is_empty());
    let title = format!(
        "{}: {}, now {}",
        join(words, ", "),
        change.previous_outcome,
        change.current_outcome
    );
    let place = format!("Run {} on {}; previous run: {}.", run.id, run.host, before.id);
    let sentence = run.deciding_verdict().map_or("", |verdict| verdict.sentence);
    let mut parts = vec![truncate_text(sentence, MAX_SENTENCE_LETTERS), place];
    let compared = [
        (components::ROCM, &before.rocm, &run.rocm),
        ("ROCm of the host", &before.rocm_host, &run.rocm_host),
        ("driver", &before.driver, &run.driver),
        ("image", &before.image, &run.image),
        ("host", &before.host, &run.host),
    ];
    let changed = compared.into_iter().filter(|(_, was, is)| was != is);
    parts.extend(changed.map(|(name, was, is)| format!("The {name} was {was}, now {is}.")));
    parts.extend(change.has_other_recipe().then(|| "The recipe was changed.".to_owned()));
    parts.extend(trademark_notice(&run.submission));
    parts.retain(|part| !part.is_empty());
    FeedEntry {
        id: run.id.clone(),
        title: Line::from(title),
        text: Line::from(parts.join(" ")),
        page: group.page_name(),
        time: change.time().unwrap_or_default(),
    }
}
