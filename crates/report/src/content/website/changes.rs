//! Changes of verdict: a run whose verdict differs from that of the run before it, of the same submission,
//! variant and parameters on the same GPUs.

use itertools::{Itertools as _, join};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::group::SubmissionRuns;
use super::{FRONT, Website, tables};
use crate::content::marks;
use crate::content::runs::{cut, minute, shortened};
use crate::document::{Block, Line, Table, TableCell};
use crate::feed::{Feed, FeedEntry};
use retrial_history::RunSummary;
use retrial_results::verdict::{QualifiedOutcome, trademark_notice};

/// The most changes in a table, and in the feed.
const LISTED: usize = 20;
const FED: usize = 100;
/// The most letters of a verdict's sentence.
pub(super) const SENTENCE: usize = 600;

/// A change of verdict.
#[derive(Clone)]
pub(super) struct VerdictChange<'a> {
    pub before: &'a RunSummary,
    pub was: QualifiedOutcome,
    pub run: &'a RunSummary,
    pub is: QualifiedOutcome,
}

impl VerdictChange<'_> {
    /// When it was known.
    fn time(&self) -> Option<Timestamp> {
        self.run.ended.or(self.run.started)
    }

    /// Changes are listed in the order of this, the newest first.
    pub fn key(&self) -> (Option<Timestamp>, &str) {
        (self.time(), &self.run.id)
    }
}

/// The changes of a submission.
pub(super) fn of<'a>(group: &SubmissionRuns<'a>) -> impl Iterator<Item = VerdictChange<'a>> {
    group.series.iter().flat_map(|series| {
        let judged = series.rows.iter();
        let judged = judged.filter_map(|row| Some((*row, row.qualified_outcome()?)));
        let pairs = judged.tuple_windows();
        let changes = pairs.filter(|((_, was), (_, is))| was.outcome != is.outcome);
        changes.map(|((before, was), (run, is))| VerdictChange {
            before,
            was,
            run,
            is,
        })
    })
}

/// The newest changes as a table; of all submissions, or of this one.
pub(super) fn table(website: &Website<'_>, only: Option<usize>, bytes: usize) -> Vec<Block> {
    let all = website.changes.iter();
    let all = all.filter(|(at, _)| only.is_none_or(|only| only == *at));
    let all: Vec<&(usize, VerdictChange<'_>)> = all.collect();
    if all.is_empty() {
        return vec![Block::paragraph("No verdict has changed.")];
    }
    let count = all.len();
    let submission = |at: usize| {
        let group = &website.groups[at];
        TableCell::from(cut(group.title)).linked(Some(group.page()))
    };
    let link = website.options.link;
    let table = Table::of(
        "Changes of verdict, newest first",
        all.into_iter().take(LISTED),
    )
    .head("changed", |(_, change)| {
        minute(change.time(), &TimeZone::UTC)
    });
    let table = match only {
        Some(_) => table,
        None => table.text("submission", |(at, _)| submission(*at)),
    };
    let table = table
        .status("before", |(_, change)| marks::outcome(&change.was))
        .status("verdict", |(_, change)| marks::outcome(&change.is))
        .text("variant", |(_, change)| cut(&change.run.choices()))
        .text("GPUs", |(_, change)| cut(&change.run.gpus));
    let table = match only {
        Some(_) => table.text("run", |(_, change)| {
            TableCell::from(&change.run.id).linked(link(change.run))
        }),
        None => table,
    };
    let mut blocks = tables::fitting(table.table, bytes, "of older changes");
    if count > LISTED {
        let text = format!("The newest {LISTED} of {count}.");
        blocks.push(Block::paragraph(text));
    }
    blocks
}

/// The newest changes as a feed.
pub(super) fn feed(website: &Website<'_>) -> Feed {
    let entries = website.changes.iter().take(FED);
    let entries = entries.map(|(at, change)| entry(&website.groups[*at], change));
    let rows = website.groups.iter().flat_map(|group| &group.rows);
    let newest = rows.filter_map(|row| row.ended.or(row.started)).max();
    let first = website.changes.first();
    let first = first.and_then(|(_, change)| change.time());
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

fn entry(group: &SubmissionRuns<'_>, change: &VerdictChange<'_>) -> FeedEntry {
    let (before, run) = (change.before, change.run);
    let choices = run.choices();
    let words = [group.title, &choices, &run.gpus].map(cut);
    let words = words.into_iter().filter(|word| !word.is_empty());
    let title = format!("{}: {}, now {}", join(words, ", "), change.was, change.is);
    let place = format!(
        "Run {} on {}; previous run: {}.",
        run.id, run.host, before.id
    );
    let mut parts = vec![shortened(&run.sentence, SENTENCE), place];
    let changed = [
        ("ROCm of the host", &before.rocm, &run.rocm),
        ("driver", &before.driver, &run.driver),
        ("image", &before.image, &run.image),
        ("host", &before.host, &run.host),
    ];
    let changed = changed.into_iter().filter(|(_, was, is)| was != is);
    parts.extend(changed.map(|(name, was, is)| format!("The {name} was {was}, now {is}.")));
    parts.extend(trademark_notice(&run.submission));
    parts.retain(|part| !part.is_empty());
    FeedEntry {
        id: run.id.clone(),
        title: Line::from(title),
        text: Line::from(parts.join(" ")),
        page: group.page(),
        time: change.time().unwrap_or_default(),
    }
}
