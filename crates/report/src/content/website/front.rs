//! The front page: all submissions with their newest verdict, batches, changes, and verdicts by GPU and release.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;

use super::group::{RunSeries, SubmissionRuns, newest_judged};
use super::{Website, WebsitePage, batches, changes, releases, tables};
use crate::content::verdict;
use crate::document::{Block, Document, ListItem, RowTable, Section, StyledText, Table, TableCell};
use retrial_document::measures::format;
use retrial_history::{AxisOrder, RunSummary};
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::{Outcome, QualifiedOutcome, trademark_notice};

const SUBMISSIONS: &str = "Submissions";
const BY_GPU: &str = "By GPU";
const BY_RELEASE: &str = "By release";

pub(super) fn front_page(website: &Website<'_>) -> WebsitePage {
    let mut blocks = Block::list(count_newest_verdicts(website)).into_iter().collect_vec();
    blocks.push(Block::paragraph(summarize_runs(website)));
    let submissions = submissions_table(&website.groups).into_block();
    blocks.push(Section::new_block(SUBMISSIONS, submissions));
    let overview = overview_sections(website);
    let links = overview
        .iter()
        .filter_map(|section| Some((section.title.clone(), format!("#{}", section.id.as_ref()?))))
        .collect();
    blocks.extend(overview.into_iter().map(Block::Section));
    let newest = website.groups.iter().map(|group| &group.newest_run().submission);
    blocks.extend(verdict::notice_blocks(newest));
    let document = Document::new("Retrial: published figures, measured again", blocks);
    WebsitePage { document, links }
}

/// The newest verdict of every submission, counted.
fn count_newest_verdicts(website: &Website<'_>) -> Vec<ListItem> {
    let groups = website.groups.iter();
    let newest: Vec<QualifiedOutcome> =
        groups.filter_map(|group| group.deciding_run().qualified_outcome()).collect();
    let first = [Outcome::Reproduced, Outcome::NotReproduced];
    let others = Outcome::ALL.into_iter().filter(|outcome| !first.contains(outcome));
    let items = first.into_iter().chain(others).filter_map(|outcome| {
        let of_outcome = newest.iter().filter(|other| other.outcome == outcome);
        let (qualified, plain): (Vec<_>, Vec<_>) =
            of_outcome.partition(|other| !other.kinds.is_empty());
        let count = qualified.len() + plain.len();
        let text = match qualified.len() {
            0 => outcome.word().to_owned(),
            some => format!("{} ({some} qualified)", outcome.word()),
        };
        (count > 0).then(|| ListItem::with_key(count.to_string(), text).with_mark(outcome))
    });
    items.collect()
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
    let days =
        if first == last { format!("on {first}") } else { format!("from {first} to {last}") };
    let runs = format!("{}, started {days}.", counts.join(", "));
    format!("{runs} {}", describe_latest_change(website)).into()
}

/// `12 changes of verdict, the latest on 2026-04-03: Llama 2 70B, reproduced, now invalid.`
fn describe_latest_change(website: &Website<'_>) -> String {
    let Some((at, latest)) = website.changes.first() else {
        return "No verdict has changed.".to_owned();
    };
    let count = format::format_count(website.changes.len(), "change");
    let time =
        latest.time().map_or(String::new(), |time| format!(" on {}", time.strftime("%Y-%m-%d")));
    let title = tables::title_cell(website.groups[*at].title, "").text;
    let (before, now) = (&latest.previous_outcome, &latest.current_outcome);
    format!("{count} of verdict, the latest{time}: {title}, {before}, now {now}.")
}

fn submissions_table<'a>(groups: &'a [SubmissionRuns<'a>]) -> RowTable<&'a SubmissionRuns<'a>> {
    let mut newest = groups.iter().map(|group| &group.newest_run().submission);
    let is_noticed = newest.any(|submission| trademark_notice(submission).is_some());
    let table = Table::builder(SUBMISSIONS, groups).head("submission", |group| {
        tables::title_cell(group.title, &group.deciding_run().format_choices())
            .with_link(Some(group.page_name()))
    });
    tables::add_verdict_columns(table, is_noticed, |group| group.deciding_run())
        .text("measured on", |group| tables::machine_cell(group.deciding_run()))
        .text("started", |group| {
            let runs = format::format_count(group.rows.len(), "run");
            let started = tables::time_cell(group.deciding_run().started);
            started.with_note(format!("of {runs}"))
        })
}

/// The sections below the submissions: batches, changes, and the newest verdicts by GPU and release.
fn overview_sections(website: &Website<'_>) -> Vec<Section> {
    let below = |text: &str, table: Table| vec![Block::paragraph(text), Block::Table(table)];
    let text = "Counts of the newest verdicts, one per submission, variant and GPUs.";
    let batches = vec![Block::Table(batches::batches_table(&website.batches))];
    let sections = [
        ("Batches", "batches", batches),
        ("Changes of verdict", "changes", changes::changes_table(website, None)),
        (BY_GPU, "gpus", below(text, table_by_gpu(website))),
        (BY_RELEASE, "releases", below("The same, per release.", table_by_release(website))),
    ];
    let has_batches = !website.batches.is_empty();
    let sections = sections.into_iter().skip(usize::from(!has_batches));
    let sections = sections.map(|(title, id, blocks)| Section {
        title: title.into(),
        id: Some(id.to_owned()),
        blocks,
    });
    sections.collect()
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
            let newest = newest_judged(&rows).and_then(RunSummary::deciding_verdict);
            tally.newest.extend(newest.map(|verdict| verdict.outcome));
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
        .head(head, |(_, name, _)| tables::title_cell(name, ""))
        .number("submissions", |(.., tally)| tally.submissions.to_string())
        .number("runs", |(.., tally)| tally.runs.to_string());
    Outcome::ALL.into_iter().fold(table, |table, outcome| {
        table.number(outcome.word(), |(.., tally)| {
            let newest = || tally.newest.iter().filter(|other| other.outcome == outcome);
            let qualified = newest().filter(|other| !other.kinds.is_empty()).count();
            let positive = |count: usize| (count > 0).then_some(count);
            let count = positive(newest().count()).map(|count| count.to_string());
            let note = positive(qualified).map(|count| format!("{count} qualified"));
            TableCell::from(count.unwrap_or_default()).with_note(note.unwrap_or_default())
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
    tally_table(BY_GPU, "GPUs", rows).table
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
    release_tallies.sort_by_cached_key(|((kind, release), _)| {
        (*kind, Reverse(AxisOrder::of([*release]).key(release)))
    });
    let rows = release_tallies.into_iter();
    let rows = rows.map(|((kind, release), tally)| (kind.name(), release, tally));
    let table = tally_table(BY_RELEASE, "release", rows);
    table.group_by(|(kind, ..)| kind.clone()).table
}
