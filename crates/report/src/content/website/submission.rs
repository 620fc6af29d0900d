//! The page of a submission: its newest verdict, its verdicts by GPU and release, and its runs.

use itertools::Itertools as _;
use jiff::tz::TimeZone;

use super::group::{RunSeries, SubmissionRuns, newest_judged_or_last};
use super::releases::{COMMON_KINDS, ReleaseKind};
use super::{FRONT, Website, WebsitePage, changes, release_charts, runs, tables};
use crate::content::runs::{format_start, truncate_cell, truncate_text};
use crate::content::verdict;
use crate::document::{
    Block, Conclusion, Document, ListItem, RowTable, Section, StyledText, Table,
};
use retrial_history::{AxisOrder, RunSummary, RunVerdict};
use retrial_mlperf::Division;
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::trademark_notice;

/// The most letters of a variant and parameters in a table, and of a fact.
const MAX_CHOICES_LETTERS: usize = 120;
const MAX_FACT_LETTERS: usize = 200;
/// The most sources of a published result.
const MAX_SOURCES: usize = 4;

/// The page of a submission.
pub(super) fn submission_page(website: &Website<'_>, at: usize) -> WebsitePage {
    let group = &website.groups[at];
    let required_notice = trademark_notice(&group.newest_run().submission);
    let charts = release_charts::submission_charts(group, required_notice.is_some());
    let mut blocks = vec![Block::Conclusion(newest_conclusion(group))];
    blocks.extend(Section::nonempty_block("Over releases", Block::charts(charts)));
    let series = variants_table(
        "Newest verdict by variant and GPUs",
        group.series.iter().map(|series| VariantRuns {
            kind: String::new(),
            release: "",
            choices: &series.choices,
            gpus: series.gpus,
            rows: series.rows.clone(),
        }),
        required_notice.is_some(),
    );
    blocks.push(Section::new_block("By GPU", series.into_block()));
    blocks.push(Section::new_block("By release", release_blocks(group, required_notice.is_some())));
    let changes = changes::changes_table(website, Some(at));
    blocks.push(Section::new_block("Changes of verdict", changes));
    blocks.push(runs::runs_section(group, website.options));
    blocks.extend(verdict::notice_block(required_notice.as_deref()));
    let links = vec![("All submissions".into(), FRONT.to_owned())];
    WebsitePage { document: Document::new(group.title, blocks), links }
}

/// The newest verdict, and what was published.
fn newest_conclusion(group: &SubmissionRuns<'_>) -> Conclusion {
    let newest = group.deciding_run();
    let submission = &newest.submission;
    let cut = |text: &str| truncate_text(text, MAX_FACT_LETTERS);
    let text_of = |text: &Option<String>| cut(text.as_deref().unwrap_or_default());
    let facts = [
        ("suite", cut(&submission.suite)),
        ("round", text_of(&submission.round)),
        ("division", submission.division.map_or("", Division::word).to_owned()),
        ("submitter", text_of(&submission.submitter)),
        ("system", text_of(&submission.system)),
        ("benchmark", cut(&submission.benchmark)),
        ("run", newest.id.clone()),
        ("started", format_start(newest, &TimeZone::UTC)),
        ("GPUs", truncate_cell(&newest.gpus)),
        ("variant", cut(&newest.format_choices())),
        ("trials", describe_single_trial(newest)),
    ];
    let known_facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let shown_sources = submission.sources.iter().take(MAX_SOURCES);
    let sources =
        shown_sources.map(|source| ("source".into(), StyledText::Code(cut(source).into())));
    let facts = known_facts.map(|(name, value)| (name.into(), value.into()));
    let sentence = newest.deciding_verdict().map_or("", |verdict| verdict.sentence);
    let sentence = truncate_text(sentence, changes::MAX_SENTENCE_LETTERS);
    let mark = newest.deciding_verdict().map(|verdict| verdict.outcome.outcome.into());
    Conclusion {
        remarks: facts.chain(sources).collect(),
        ..Conclusion::new(mark, newest.describe_deciding_state(), sentence)
    }
}

/// A note if the verdict of a run rests on one trial, else empty. The noise of a trial matters where it is compared.
fn describe_single_trial(run: &RunSummary) -> String {
    let verdict = run.deciding_verdict().filter(RunVerdict::rests_on_single_trial);
    let figure = verdict.and_then(|verdict| verdict.figure);
    let text = match (figure.is_some(), figure.is_some_and(|figure| figure.ratio.is_some())) {
        (true, true) => "one, whose noise the recipe does not state",
        (true, false) => "one",
        (false, _) => "",
    };
    text.to_owned()
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
fn release_blocks(group: &SubmissionRuns<'_>, is_noticed: bool) -> Vec<Block> {
    let rows = variants_by_release(group);
    let common = COMMON_KINDS.into_iter().filter_map(|kind| {
        let mut releases = group.rows.iter().map(|row| kind.release_of(row));
        let release = releases.all_equal_value().ok()??;
        Some(ListItem::with_key(kind.name(), truncate_text(release, MAX_FACT_LETTERS)))
    });
    let mut blocks = Vec::from_iter(Block::list(common));
    if !rows.is_empty() {
        let release_table = variants_table("Newest verdict by release", rows, is_noticed);
        blocks.extend(release_table.group_by(|row| row.kind.clone()).into_block());
    }
    blocks
}

fn variants_by_release<'a>(group: &'a SubmissionRuns<'a>) -> Vec<VariantRuns<'a>> {
    let mut all = Vec::new();
    for kind in ReleaseKind::differing_kinds(&group.rows) {
        let rows = group.series.iter().flat_map(|series: &RunSeries<'a>| {
            let divided = kind.runs_by_release(series).into_iter();
            divided.map(|(release, rows)| VariantRuns {
                kind: kind.name(),
                release,
                choices: &series.choices,
                gpus: series.gpus,
                rows,
            })
        });
        let rows: Vec<VariantRuns<'_>> = rows.collect();
        let order = AxisOrder::of(rows.iter().map(|row| row.release));
        // The newest releases first, as far as their names tell.
        all.extend(rows.into_iter().sorted_by_cached_key(|row| {
            let release = std::cmp::Reverse(order.key(row.release));
            (release, natural_sort_key(row.gpus), natural_sort_key(row.choices))
        }));
    }
    all
}

fn variants_table<'a>(
    caption: &str,
    rows: impl IntoIterator<Item = VariantRuns<'a>>,
    is_noticed: bool,
) -> RowTable<VariantRuns<'a>> {
    let table = Table::builder(caption, rows)
        .head("release", |row| tables::title_cell(row.release, ""))
        .text("variant", |row| truncate_text(row.choices, MAX_CHOICES_LETTERS));
    let table =
        tables::add_verdict_columns(table, is_noticed, |row| newest_judged_or_last(&row.rows));
    table
        .text("measured on", |row| tables::machine_cell(newest_judged_or_last(&row.rows)))
        .text("started", |row| tables::time_cell(newest_judged_or_last(&row.rows).started))
        .number("runs", |row| row.rows.len().to_string())
}
