//! The front page: all submissions with their newest verdict, changes, and verdicts by GPU and release. Very
//! many submissions are on further pages.

use std::collections::BTreeMap;
use std::ops::Range;

use super::group::{Group, Series, judged};
use super::{FRONT, Page, Part, Website, changes, releases, tables};
use crate::format;
use crate::history::RunSummary;
use crate::report::content::figures::unverified_word;
use crate::report::content::runs::{self, cut};
use crate::report::content::verdict;
use crate::report::document::{Block, Cell, Column, Document, Line, Rows, Section, Table, Text};
use crate::results::verdict::{Outcome, notice};
use retrial_readings::natural::natural;

/// What the tables may take, bytes.
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
pub(super) fn parts(groups: &[Group<'_>]) -> Vec<Range<usize>> {
    let all: Vec<&Group<'_>> = groups.iter().collect();
    let Block::Table(table) = submissions(&all).block() else {
        return Vec::new();
    };
    let weights = tables::weights(&table);
    let parts = tables::split(&weights, usize::MAX, SUBMISSIONS_BYTES);
    if parts.is_empty() {
        return std::iter::once(0..0).collect();
    }
    parts
}

/// A front page.
pub(super) fn page(website: &Website<'_>, part: &Range<usize>) -> Page {
    let groups: Vec<&Group<'_>> = website.groups[part.clone()].iter().collect();
    let is_first = part.start == 0;
    let mut blocks = Vec::new();
    if is_first {
        blocks.push(Block::paragraph(summary(website)));
    }
    blocks.push(Section::block(
        "Submissions",
        vec![submissions(&groups).block()],
    ));
    if is_first {
        blocks.extend(further(website));
    }
    let mut notices: Vec<String> = Vec::new();
    for group in &groups {
        let text = notice(&group.newest().submission);
        notices.extend(text.filter(|text| !notices.contains(text)));
    }
    blocks.extend(notices.iter().filter_map(|one| verdict::notice(Some(one))));
    Page {
        document: Document {
            title: "Retrial: published figures, measured again".into(),
            blocks,
            ..Document::default()
        },
        links: links(website, part),
    }
}

/// The other front pages.
fn links(website: &Website<'_>, part: &Range<usize>) -> Vec<(Line, String)> {
    let fronts = website.pages.iter().filter_map(|(name, page)| match page {
        Part::Front(of) => Some((name, of)),
        _ => None,
    });
    let others = fronts.enumerate().filter(|(_, (_, of))| *of != part);
    others
        .map(|(at, (name, _))| (format!("Submissions, page {}", at + 1).into(), name.clone()))
        .collect()
}

fn summary(website: &Website<'_>) -> Text {
    let rows = || website.groups.iter().flat_map(|group| &group.rows);
    let dates = rows().filter_map(|row| row.began);
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

fn submissions<'a>(groups: &[&'a Group<'a>]) -> Rows<&'a Group<'a>> {
    let suite = |group: &Group<'_>| {
        let of = &group.newest().submission;
        let known = [
            of.submitter.as_deref(),
            Some(&of.suite),
            of.round.as_deref(),
        ];
        let words = known.into_iter().flatten();
        cut(&words.collect::<Vec<_>>().join(" "))
    };
    let is_noticed = groups
        .iter()
        .any(|group| notice(&group.newest().submission).is_some());
    let figure = Column::number("figure").noted(unverified_word(is_noticed));
    let ratio = Column::number("ratio").noted("to published");
    let newest = |group: &&'a Group<'a>| group.newest_judged().unwrap_or(group.newest());
    Table::of(
        "Submissions with their newest verdict",
        groups.iter().copied(),
    )
    .head("submission", |group| {
        Cell::from(cut(group.title)).linked(Some(group.page()))
    })
    .status("verdict", move |group| tables::verdict(newest(group)))
    .column(figure, move |group| runs::figure(newest(group), true))
    .column(ratio, move |group| tables::ratio_of(newest(group)))
    .text("GPUs", move |group| cut(&newest(group).gpus))
    .text("started", move |group| tables::started(newest(group)))
    .text("suite", move |group| suite(group))
    .number("runs", |group| group.rows.len().to_string())
}

/// Changes, and the newest verdicts by GPU and release.
fn further(website: &Website<'_>) -> Vec<Block> {
    let gpus = by_gpu(website).block();
    let gpus = tables::fitting(gpus, GPUS_BYTES, "of other GPUs");
    let releases = by_release(website);
    let releases = tables::fitting(releases, RELEASES_BYTES, "of other releases");
    let text = "Numbers of newest verdicts: one of each submission, variant and GPUs.";
    vec![
        Section::block(
            "Changes of verdict",
            changes::table(website, None, CHANGES_BYTES),
        ),
        Section::block(
            "By GPU",
            [Block::paragraph(text)].into_iter().chain(gpus).collect(),
        ),
        Section::block(
            "By release",
            [Block::paragraph("The same, with each release.")]
                .into_iter()
                .chain(releases)
                .collect(),
        ),
    ]
}

/// What was found on GPUs or with a release.
#[derive(Default)]
struct Found {
    submissions: usize,
    runs: usize,
    newest: Vec<Outcome>,
}

impl Found {
    fn rows(table: Rows<(String, String, Self)>) -> Rows<(String, String, Self)> {
        let table = table
            .number("submissions", |(.., found)| found.submissions.to_string())
            .number("runs", |(.., found)| found.runs.to_string());
        tables::with_outcomes(table, |(.., found)| {
            tables::counted(found.newest.iter().copied())
        })
    }
}

fn by_gpu(website: &Website<'_>) -> Rows<(String, String, Found)> {
    let mut found: BTreeMap<&str, Found> = BTreeMap::new();
    for group in &website.groups {
        let mut series: BTreeMap<&str, Vec<&Series<'_>>> = BTreeMap::new();
        for one in &group.series {
            series.entry(one.gpus).or_default().push(one);
        }
        for (gpus, series) in series {
            let on = found.entry(gpus).or_default();
            on.submissions += 1;
            on.runs += series.iter().map(|one| one.rows.len()).sum::<usize>();
            on.newest.extend(tables::newest(series.into_iter()));
        }
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by_cached_key(|(gpus, _)| natural(gpus));
    let rows = rows.into_iter().map(|(gpus, found)| {
        let gpus = if gpus.is_empty() { "no GPU" } else { gpus };
        (String::new(), cut(gpus), found)
    });
    Found::rows(
        Table::of("Newest verdicts by GPU", rows).head("GPUs", |(_, gpus, _)| Cell::from(gpus)),
    )
}

/// By release, each kind a group of rows.
fn by_release(website: &Website<'_>) -> Block {
    let mut found: BTreeMap<(releases::Kind<'_>, &str), Found> = BTreeMap::new();
    for group in &website.groups {
        for kind in releases::OF_ALL {
            let mut here: BTreeMap<&str, Found> = BTreeMap::new();
            for series in &group.series {
                for (release, rows) in with_release(kind, series) {
                    let with = here.entry(release).or_default();
                    with.runs += rows.len();
                    with.newest
                        .extend(judged(&rows).and_then(|row| row.outcome));
                }
            }
            for (release, here) in here {
                let with = found.entry((kind, release)).or_default();
                with.submissions += 1;
                with.runs += here.runs;
                with.newest.extend(here.newest);
            }
        }
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    // The newest releases first, as far as their names tell.
    rows.sort_by_cached_key(|((kind, release), _)| (*kind, std::cmp::Reverse(natural(release))));
    let rows = rows
        .into_iter()
        .map(|((kind, release), found)| (kind.name(), cut(release), found));
    let table = Table::of("Newest verdicts by release", rows);
    let table = Found::rows(table.head("release", |(_, release, _)| Cell::from(release)));
    table.grouped(|(kind, ..)| kind.clone()).block()
}

/// The runs of each release of a kind, the newest last.
pub(super) fn with_release<'a>(
    kind: releases::Kind<'_>,
    series: &Series<'a>,
) -> BTreeMap<&'a str, Vec<&'a RunSummary>> {
    let mut found: BTreeMap<&str, Vec<&RunSummary>> = BTreeMap::new();
    for row in &series.rows {
        if let Some(release) = kind.release(row) {
            found.entry(release).or_default().push(row);
        }
    }
    found
}
