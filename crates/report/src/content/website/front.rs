//! The front page: all submissions with their newest verdict, changes, and verdicts by GPU and release. Very
//! many submissions are on further pages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use itertools::join;

use super::group::{RunSeries, SubmissionRuns, judged};
use super::{FRONT, Website, WebsitePage, WebsitePart, changes, releases, tables};
use crate::content::runs::cut;
use crate::content::verdict;
use crate::document::{Block, Document, Line, RowTable, Section, StyledText, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::{Outcome, QualifiedOutcome, trademark_notice};

/// The most that each table may take, in bytes of HTML.
const SUBMISSIONS_BYTES: usize = 130_000;
const CHANGES_BYTES: usize = 30_000;
const GPUS_BYTES: usize = 30_000;
const RELEASES_BYTES: usize = 50_000;

/// The name of a front page.
pub(super) fn name(at: usize) -> String {
    match at {
        0 => FRONT.to_owned(),
        at => FRONT.replace(".html", &format!(".{}.html", at + 1)),
    }
}

/// The submissions of each front page.
pub(super) fn parts(groups: &[SubmissionRuns<'_>]) -> Vec<Range<usize>> {
    let all: Vec<&SubmissionRuns<'_>> = groups.iter().collect();
    let weights = tables::weights(&submissions(&all).table);
    let parts = tables::split(&weights, usize::MAX, SUBMISSIONS_BYTES);
    if parts.is_empty() {
        return std::iter::once(0..0).collect();
    }
    parts
}

/// Builds a front page.
pub(super) fn page(website: &Website<'_>, part: &Range<usize>) -> WebsitePage {
    let groups: Vec<&SubmissionRuns<'_>> = website.groups[part.clone()].iter().collect();
    let is_first = part.start == 0;
    let submissions = Section::block("Submissions", submissions(&groups).block());
    let mut blocks = vec![submissions];
    if is_first {
        blocks.insert(0, Block::paragraph(summary(website)));
        blocks.extend(further(website));
    }
    let newest = groups.iter().map(|group| &group.newest().submission);
    blocks.extend(verdict::notices(newest));
    WebsitePage {
        document: Document::new("Retrial: published figures, measured again", blocks),
        links: links(website, part),
    }
}

/// The other front pages.
fn links(website: &Website<'_>, part: &Range<usize>) -> Vec<(Line, String)> {
    let fronts = website.pages.iter().filter_map(|(name, page)| match page {
        WebsitePart::Front(range) => Some((name, range)),
        _ => None,
    });
    let others = fronts.enumerate().filter(|(_, (_, range))| *range != part);
    others
        .map(|(at, (name, _))| (format!("Submissions, page {}", at + 1).into(), name.clone()))
        .collect()
}

fn summary(website: &Website<'_>) -> StyledText {
    let rows = || website.groups.iter().flat_map(|group| &group.rows);
    let dates = rows().filter_map(|row| row.started);
    let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    let counts = [
        format::count(website.groups.len(), "submission"),
        format::count(rows().count(), "run"),
    ];
    let ends = [dates.clone().min(), dates.max()].map(|time| time.map(day));
    let [Some(first), Some(last)] = ends else {
        return format!("{}.", counts.join(", ")).into();
    };
    let days = if first == last {
        format!("on {first}")
    } else {
        format!("from {first} to {last}")
    };
    format!("{}, started {days}.", counts.join(", ")).into()
}

fn submissions<'a>(groups: &[&'a SubmissionRuns<'a>]) -> RowTable<&'a SubmissionRuns<'a>> {
    let suite = |group: &SubmissionRuns<'_>| {
        let submission = &group.newest().submission;
        let words = [
            submission.submitter.as_deref(),
            Some(&submission.suite),
            submission.round.as_deref(),
        ];
        cut(&join(words.into_iter().flatten(), " "))
    };
    let mut newest = groups.iter().map(|group| &group.newest().submission);
    let is_noticed = newest.any(|submission| trademark_notice(submission).is_some());
    let caption = "Submissions with their newest verdict";
    let table = Table::of(caption, groups.iter().copied()).head("submission", |group| {
        TableCell::from(cut(group.title)).linked(Some(group.page()))
    });
    tables::with_run(table, is_noticed, true, |group| group.decides())
        .text("GPUs", |group| cut(&group.decides().gpus))
        .text("started", |group| tables::started(group.decides()))
        .text("suite", |group| suite(group))
        .number("runs", |group| group.rows.len().to_string())
}

/// Changes, and the newest verdicts by GPU and release.
fn further(website: &Website<'_>) -> Vec<Block> {
    let changes = changes::table(website, None, CHANGES_BYTES);
    let gpus = tables::fitting(by_gpu(website), GPUS_BYTES, "of other GPUs");
    let releases = tables::fitting(by_release(website), RELEASES_BYTES, "of other releases");
    let below = |text: &str, blocks: Vec<Block>| [Block::paragraph(text)].into_iter().chain(blocks);
    let text = "Counts of the newest verdicts, one per submission, variant and GPUs.";
    vec![
        Section::block("Changes of verdict", changes),
        Section::block("By GPU", below(text, gpus)),
        Section::block("By release", below("The same, per release.", releases)),
    ]
}

/// The numbers of runs on GPUs or with a release, and the newest verdicts.
#[derive(Default)]
struct RunTally {
    submissions: usize,
    runs: usize,
    newest: Vec<QualifiedOutcome>,
}

/// A tally for each key by which runs are divided.
fn tallies<'a, K: Ord + Copy, D: IntoIterator<Item = (K, Vec<&'a RunSummary>)>>(
    website: &Website<'a>,
    divided: impl Fn(&RunSeries<'a>) -> D,
) -> Vec<(K, RunTally)> {
    let mut tallies: BTreeMap<K, RunTally> = BTreeMap::new();
    for group in &website.groups {
        let mut counted = BTreeSet::new();
        for (key, rows) in group.series.iter().flat_map(&divided) {
            let tally = tallies.entry(key).or_default();
            tally.submissions += usize::from(counted.insert(key));
            tally.runs += rows.len();
            tally
                .newest
                .extend(judged(&rows).and_then(RunSummary::qualified_outcome));
        }
    }
    tallies.into_iter().collect()
}

/// A row for each tally, each with its kind and name.
fn table<'a>(
    caption: &str,
    head: &str,
    tallies: impl Iterator<Item = (String, &'a str, RunTally)>,
) -> RowTable<(String, &'a str, RunTally)> {
    let table = Table::of(caption, tallies)
        .head(head, |(_, name, _)| cut(name))
        .number("submissions", |(.., tally)| tally.submissions.to_string())
        .number("runs", |(.., tally)| tally.runs.to_string());
    Outcome::ALL.into_iter().fold(table, |table, outcome| {
        table.number(outcome.word(), |(.., tally)| {
            let newest = || tally.newest.iter().filter(|other| other.outcome == outcome);
            let qualified = newest().filter(|other| !other.kinds.is_empty()).count();
            match (newest().count(), qualified) {
                (0, _) => String::new(),
                (count, 0) => count.to_string(),
                (count, qualified) => format!("{count} ({qualified} qualified)"),
            }
        })
    })
}

fn by_gpu(website: &Website<'_>) -> Table {
    let mut rows = tallies(website, |series| [(series.gpus, series.rows.clone())]);
    rows.sort_by_cached_key(|(gpus, _)| natural_sort_key(gpus));
    let rows = rows.into_iter().map(|(gpus, tally)| {
        let gpus = if gpus.is_empty() { "no GPU" } else { gpus };
        (String::new(), gpus, tally)
    });
    table("Newest verdicts by GPU", "GPUs", rows).table
}

/// Tallies runs by release, each kind a group of rows.
fn by_release(website: &Website<'_>) -> Table {
    let mut rows = tallies(website, |series| {
        let kinds = releases::OF_ALL.into_iter();
        let releases = kinds.flat_map(|kind| {
            let divided = kind.divided(series).into_iter();
            divided.map(move |(release, rows)| ((kind, release), rows))
        });
        releases.collect::<Vec<_>>()
    });
    // The newest releases first, as far as their names tell.
    rows.sort_by_cached_key(|((kind, release), _)| (*kind, Reverse(natural_sort_key(release))));
    let rows = rows.into_iter();
    let rows = rows.map(|((kind, release), tally)| (kind.name(), release, tally));
    let table = table("Newest verdicts by release", "release", rows);
    table.grouped(|(kind, ..)| kind.clone()).table
}
