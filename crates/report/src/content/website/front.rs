//! The front page: all submissions with their newest verdict, changes, and verdicts by GPU and release. Very
//! many submissions are on further pages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use itertools::join;

use super::group::{RunSeries, SubmissionRuns, newest_judged};
use super::{FRONT, Website, WebsitePage, WebsitePart, changes, releases, tables};
use crate::content::runs::truncate_cell;
use crate::content::verdict;
use crate::document::{Block, Document, Line, RowTable, Section, StyledText, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::{Outcome, QualifiedOutcome, trademark_notice};

/// The most that each table may take, in bytes of HTML.
const MAX_SUBMISSIONS_BYTES: usize = 130_000;
const MAX_CHANGES_BYTES: usize = 30_000;
const MAX_GPUS_BYTES: usize = 30_000;
const MAX_RELEASES_BYTES: usize = 50_000;

/// The name of a front page.
pub(super) fn front_page_name(at: usize) -> String {
    match at {
        0 => FRONT.to_owned(),
        at => FRONT.replace(".html", &format!(".{}.html", at + 1)),
    }
}

/// The submissions of each front page.
pub(super) fn divide_submissions(groups: &[SubmissionRuns<'_>]) -> Vec<Range<usize>> {
    let all: Vec<&SubmissionRuns<'_>> = groups.iter().collect();
    let weights = tables::row_weights(&submissions_table(&all).table);
    let parts = tables::divide_rows(&weights, usize::MAX, MAX_SUBMISSIONS_BYTES);
    if parts.is_empty() {
        return std::iter::once(0..0).collect();
    }
    parts
}

/// Builds a front page.
pub(super) fn front_page(website: &Website<'_>, part: &Range<usize>) -> WebsitePage {
    let groups: Vec<&SubmissionRuns<'_>> = website.groups[part.clone()].iter().collect();
    let is_first = part.start == 0;
    let submissions = Section::new_block("Submissions", submissions_table(&groups).into_block());
    let mut blocks = vec![submissions];
    if is_first {
        blocks.insert(0, Block::paragraph(summarize_runs(website)));
        blocks.extend(overview_sections(website));
    }
    let newest = groups.iter().map(|group| &group.newest_run().submission);
    blocks.extend(verdict::notice_blocks(newest));
    WebsitePage {
        document: Document::new("Retrial: published figures, measured again", blocks),
        links: links_to_fronts(website, part),
    }
}

/// The other front pages.
fn links_to_fronts(website: &Website<'_>, part: &Range<usize>) -> Vec<(Line, String)> {
    let fronts = website.pages.iter().filter_map(|(name, page)| match page {
        WebsitePart::Front(range) => Some((name, range)),
        _ => None,
    });
    let others = fronts.enumerate().filter(|(_, (_, range))| *range != part);
    others
        .map(|(at, (name, _))| (format!("Submissions, page {}", at + 1).into(), name.clone()))
        .collect()
}

fn summarize_runs(website: &Website<'_>) -> StyledText {
    let rows = || website.groups.iter().flat_map(|group| &group.rows);
    let dates = rows().filter_map(|row| row.started);
    let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    let counts = [
        format::format_count(website.groups.len(), "submission"),
        format::format_count(rows().count(), "run"),
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

fn submissions_table<'a>(groups: &[&'a SubmissionRuns<'a>]) -> RowTable<&'a SubmissionRuns<'a>> {
    let suite = |group: &SubmissionRuns<'_>| {
        let submission = &group.newest_run().submission;
        let words = [
            submission.submitter.as_deref(),
            Some(&submission.suite),
            submission.round.as_deref(),
        ];
        truncate_cell(&join(words.into_iter().flatten(), " "))
    };
    let mut newest = groups.iter().map(|group| &group.newest_run().submission);
    let is_noticed = newest.any(|submission| trademark_notice(submission).is_some());
    let caption = "Submissions with their newest verdict";
    let table = Table::builder(caption, groups.iter().copied()).head("submission", |group| {
        TableCell::from(truncate_cell(group.title)).with_link(Some(group.page_name()))
    });
    tables::add_run_columns(table, is_noticed, true, |group| group.deciding_run())
        .text("GPUs", |group| truncate_cell(&group.deciding_run().gpus))
        .text("started", |group| {
            tables::format_start_utc(group.deciding_run())
        })
        .text("suite", |group| suite(group))
        .number("runs", |group| group.rows.len().to_string())
}

/// Changes, and the newest verdicts by GPU and release.
fn overview_sections(website: &Website<'_>) -> Vec<Block> {
    let changes = changes::changes_table(website, None, MAX_CHANGES_BYTES);
    let gpus = tables::truncate_to_bytes(table_by_gpu(website), MAX_GPUS_BYTES, "of other GPUs");
    let releases = tables::truncate_to_bytes(
        table_by_release(website),
        MAX_RELEASES_BYTES,
        "of other releases",
    );
    let below = |text: &str, blocks: Vec<Block>| [Block::paragraph(text)].into_iter().chain(blocks);
    let text = "Counts of the newest verdicts, one per submission, variant and GPUs.";
    vec![
        Section::new_block("Changes of verdict", changes),
        Section::new_block("By GPU", below(text, gpus)),
        Section::new_block("By release", below("The same, per release.", releases)),
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
fn tally_runs<'a, K: Ord + Copy, D: IntoIterator<Item = (K, Vec<&'a RunSummary>)>>(
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
                .extend(newest_judged(&rows).and_then(RunSummary::qualified_outcome));
        }
    }
    tallies.into_iter().collect()
}

/// A row for each tally, each with its kind and name.
fn tally_table<'a>(
    caption: &str,
    head: &str,
    tallies: impl Iterator<Item = (String, &'a str, RunTally)>,
) -> RowTable<(String, &'a str, RunTally)> {
    let table = Table::builder(caption, tallies)
        .head(head, |(_, name, _)| truncate_cell(name))
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

fn table_by_gpu(website: &Website<'_>) -> Table {
    let mut gpu_tallies = tally_runs(website, |series| [(series.gpus, series.rows.clone())]);
    gpu_tallies.sort_by_cached_key(|(gpus, _)| natural_sort_key(gpus));
    let rows = gpu_tallies.into_iter().map(|(gpus, tally)| {
        let gpus = if gpus.is_empty() { "no GPU" } else { gpus };
        (String::new(), gpus, tally)
    });
    tally_table("Newest verdicts by GPU", "GPUs", rows).table
}

/// Tallies runs by release, each kind a group of rows.
fn table_by_release(website: &Website<'_>) -> Table {
    let mut release_tallies = tally_runs(website, |series| {
        let kinds = releases::COMMON_KINDS.into_iter();
        let releases = kinds.flat_map(|kind| {
            let divided = kind.runs_by_release(series).into_iter();
            divided.map(move |(release, rows)| ((kind, release), rows))
        });
        releases.collect::<Vec<_>>()
    });
    // The newest releases first, as far as their names tell.
    release_tallies
        .sort_by_cached_key(|((kind, release), _)| (*kind, Reverse(natural_sort_key(release))));
    let all_rows = release_tallies.into_iter();
    let rows = all_rows.map(|((kind, release), tally)| (kind.name(), release, tally));
    let table = tally_table("Newest verdicts by release", "release", rows);
    table.group_by(|(kind, ..)| kind.clone()).table
}
