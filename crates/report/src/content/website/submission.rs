//! The first page of a submission: its newest verdict, the history of its verdicts, and its newest runs.

use itertools::Itertools as _;

use super::group::{RunSeries, SubmissionRuns, decides};
use super::releases::{OF_ALL, ReleaseKind};
use super::{FRONT, Website, WebsitePage, changes, history, runs, tables};
use crate::content::runs::{cut, shortened};
use crate::content::verdict;
use crate::document::{
    Block, Conclusion, Document, Line, ListItem, RowTable, Section, StatusMark, StyledText, Table,
};
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::trademark_notice;

/// The most that each table may take, in bytes of HTML.
const SERIES_BYTES: usize = 30_000;
const RELEASES_BYTES: usize = 30_000;
const CHANGES_BYTES: usize = 20_000;
/// The most sources of a published result.
const SOURCES: usize = 4;

/// The first page of a submission.
pub(super) fn page(website: &Website<'_>, at: usize) -> WebsitePage {
    let group = &website.groups[at];
    let notice = trademark_notice(&group.newest().submission);
    let charts = history::charts(group, notice.is_some());
    let mut blocks = vec![Block::Conclusion(conclusion(group))];
    blocks.extend(Section::of("History", Block::charts(charts)));
    let series = table(
        "Newest verdict by variant and GPUs",
        group.series.iter().map(|series| VariantRuns {
            kind: String::new(),
            release: "",
            choices: &series.choices,
            gpus: series.gpus,
            rows: series.rows.clone(),
        }),
        notice.is_some(),
    );
    let series = tables::fitting(series.table, SERIES_BYTES, "of other variants and GPUs");
    blocks.push(Section::block("By GPU", series));
    blocks.push(Section::block(
        "By release",
        releases(group, notice.is_some()),
    ));
    let changes = changes::table(website, Some(at), CHANGES_BYTES);
    blocks.push(Section::block("Changes of verdict", changes));
    blocks.push(runs::section(group, website.options));
    blocks.extend(verdict::notice(notice.as_deref()));
    WebsitePage {
        document: Document::new(group.title, blocks),
        links: links(group),
    }
}

fn links(group: &SubmissionRuns<'_>) -> Vec<(Line, String)> {
    let mut links = vec![("All submissions".into(), FRONT.to_owned())];
    if let Some(last) = group.parts.len().checked_sub(1) {
        let all = format!("All {}", format::count(group.rows.len(), "run"));
        links.push((all.into(), group.page_of_runs(last)));
    }
    links
}

/// The newest verdict, and what was published.
fn conclusion(group: &SubmissionRuns<'_>) -> Conclusion {
    let newest = group.decides();
    let submission = &newest.submission;
    let text_of = |text: &Option<String>| cut(text.as_deref().unwrap_or_default());
    let facts = [
        ("suite", cut(&submission.suite)),
        ("round", text_of(&submission.round)),
        ("division", text_of(&submission.division)),
        ("submitter", text_of(&submission.submitter)),
        ("system", text_of(&submission.system)),
        ("benchmark", cut(&submission.benchmark)),
        ("run", newest.id.clone()),
        ("started", tables::started(newest)),
        ("GPUs", cut(&newest.gpus)),
        ("variant", cut(&newest.choices())),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let sources = submission.sources.iter().take(SOURCES);
    let sources = sources.map(|source| ("source".into(), StyledText::Code(cut(source).into())));
    let facts = facts.map(|(name, value)| (name.into(), value.into()));
    let sentence = shortened(&newest.sentence, changes::SENTENCE);
    Conclusion {
        remarks: facts.chain(sources).collect(),
        ..Conclusion::new(
            newest.outcome.map(StatusMark::from),
            newest.described_state(),
            sentence,
        )
    }
}

/// Runs of a variant on GPUs, perhaps with a release.
struct VariantRuns<'a> {
    kind: String,
    release: &'a str,
    choices: &'a str,
    gpus: &'a str,
    /// The runs, newest last.
    rows: Vec<&'a RunSummary>,
}

/// The releases that all runs have in common, and the newest verdict with each of the others.
fn releases(group: &SubmissionRuns<'_>, is_noticed: bool) -> Vec<Block> {
    let rows = by_release(group);
    let common = OF_ALL.into_iter().filter_map(|kind| {
        let mut releases = group.rows.iter().map(|row| kind.release(row));
        let release = releases.all_equal_value().ok()??;
        Some(ListItem::keyed(kind.name(), cut(release)))
    });
    let mut blocks = Vec::from_iter(Block::list(common));
    if !rows.is_empty() {
        let table = table("Newest verdict by release", rows, is_noticed);
        let table = table.grouped(|row| row.kind.clone()).table;
        blocks.extend(tables::fitting(table, RELEASES_BYTES, "of other releases"));
    }
    blocks
}

fn by_release<'a>(group: &'a SubmissionRuns<'a>) -> Vec<VariantRuns<'a>> {
    let mut all = Vec::new();
    for kind in ReleaseKind::that_differ(&group.rows) {
        let rows = group.series.iter().flat_map(|series: &RunSeries<'a>| {
            let divided = kind.divided(series).into_iter();
            divided.map(|(release, rows)| VariantRuns {
                kind: kind.name(),
                release,
                choices: &series.choices,
                gpus: if group.has_several_gpus() {
                    series.gpus
                } else {
                    ""
                },
                rows,
            })
        });
        // The newest releases first, as far as their names tell.
        all.extend(rows.sorted_by_cached_key(|row| {
            let release = std::cmp::Reverse(natural_sort_key(row.release));
            (
                release,
                natural_sort_key(row.gpus),
                natural_sort_key(row.choices),
            )
        }));
    }
    all
}

fn table<'a>(
    caption: &str,
    rows: impl IntoIterator<Item = VariantRuns<'a>>,
    is_noticed: bool,
) -> RowTable<VariantRuns<'a>> {
    let table = Table::of(caption, rows)
        .head("release", |row| cut(row.release))
        .text("GPUs", |row| cut(row.gpus))
        .text("variant", |row| cut(row.choices));
    tables::with_run(table, is_noticed, true, |row| decides(&row.rows))
        .text("started", |row| tables::started(decides(&row.rows)))
        .number("runs", |row| row.rows.len().to_string())
}
