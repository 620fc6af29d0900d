//! A page: what was judged, what it is compared with, and all that is known of it.

use super::figures::{self, columns};
use super::{Detail, batch, comparison, details, environment, verdict};
use crate::batch::verdict::BatchVerdict;
use crate::format;
use crate::report::Entry;
use crate::report::document::{Block, Cell, Document, Group, Section, Table};
use crate::results::verdict::comparison::{Comparison, EnvironmentGroup, Fact};
use crate::telemetry::Row;
use retrial_recipe::model::Mode;

/// More subjects than this are shown without charts, and only with violated rules: a page must open.
const IN_FULL: usize = 40;
/// More rows are in the sections below only.
const ROWS: usize = 2000;

/// A page.
#[derive(Debug, Clone, Default)]
pub struct Page<'a> {
    /// With what and when it was made: `retrial 0.1.0, 2026-11-21 18:40`.
    pub made: String,
    /// What was judged.
    pub subjects: Vec<Subject<'a>>,
    /// They side by side, where they have figures in common.
    pub comparison: Option<&'a Comparison>,
    /// The batch whose cells they are.
    pub batch: Option<&'a BatchVerdict>,
    /// What differs between the places where a batch's cells were measured.
    pub places: Option<Places>,
}

/// Environments side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    /// The columns.
    pub names: Vec<String>,
    /// What differs, by kind.
    pub groups: Vec<EnvironmentGroup>,
}

/// A run, a folder of results or a benchmark of a submission tree.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// What it is called by: a run's id, a path.
    pub name: String,
    /// Its verdict, and where its evidence lies.
    pub entry: Entry<'a>,
    /// What was seen of GPUs and container.
    pub telemetry: Vec<Row>,
    /// Where it was measured.
    pub environment: Vec<Fact>,
    /// The plan as a script.
    pub commands: Option<String>,
    /// Its steps.
    pub steps: Vec<Step>,
    /// The runs that a cell of a batch is made of.
    pub runs: Vec<RunOfCell>,
}

impl<'a> Subject<'a> {
    /// A verdict of which nothing else is known.
    #[must_use]
    pub fn new(name: impl Into<String>, entry: Entry<'a>) -> Self {
        Self {
            name: name.into(),
            entry,
            telemetry: Vec::new(),
            environment: Vec::new(),
            commands: None,
            steps: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// A run of a cell of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunOfCell {
    /// Its id.
    pub name: String,
    /// Which trial.
    pub trial: u32,
    /// Why it gave no evidence, if it gave none.
    pub lost: Option<String>,
    /// Its directory, from where the page lies.
    pub path: Option<String>,
}

/// A step of a run, and its log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// How it ended: `done`, `exit code 1`.
    pub status: String,
    /// Whether that is bad news.
    pub failed: bool,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
    /// Its log, from where the page lies.
    pub log: Option<String>,
    /// Its last lines, where they tell something.
    pub tail: Vec<String>,
}

/// Everything about the subjects of a page.
#[must_use]
pub fn document(page: &Page<'_>) -> Document {
    let mut blocks = Vec::new();
    let title = match (page.batch, page.subjects.as_slice()) {
        (None, [one]) => {
            blocks = of_one(one, true);
            verdict::title(one.entry.verdict)
        }
        (None, several) => {
            blocks.push(overview(several));
            format!("Retrial: {}", format::count(several.len(), "result"))
        }
        (Some(batch), _) => {
            blocks = batch::blocks(batch, "", Detail::Full);
            batch.title.clone()
        }
    };
    if let Some(compared) = page.comparison {
        blocks.push(comparison::section(compared, Detail::Full));
    }
    if let Some(places) = &page.places {
        let names: Vec<&str> = places.names.iter().map(String::as_str).collect();
        let compared = environment::blocks(&names, &places.groups, Detail::Full);
        blocks.push(Section::block("Environments", compared));
    }
    if page.batch.is_some() || page.subjects.len() != 1 {
        blocks.extend(each(&page.subjects));
    }
    Document {
        title: title.into(),
        made: page.made.as_str().into(),
        blocks,
    }
}

/// Every subject in a section of its own.
fn each<'a>(subjects: &'a [Subject<'_>]) -> impl Iterator<Item = Block> + 'a {
    let in_full = subjects.len() <= IN_FULL;
    subjects.iter().enumerate().map(move |(number, one)| {
        Block::Section(Section {
            title: heading(one, subjects).into(),
            id: Some(format!("s{number}")),
            blocks: of_one(one, in_full),
        })
    })
}

fn of_one(one: &Subject<'_>, in_full: bool) -> Vec<Block> {
    let mut blocks: Vec<Block> = details::runs(one).into_iter().collect();
    blocks.push(Section::block("Verdict", verdict::blocks(&one.entry)));
    blocks.extend(details::sections(one, in_full));
    blocks
}

/// What it is; with its name where several are the same.
fn heading(one: &Subject<'_>, all: &[Subject<'_>]) -> String {
    let title = verdict::title(one.entry.verdict);
    let same = |other: &&Subject<'_>| verdict::title(other.entry.verdict) == title;
    if !one.runs.is_empty() {
        return one.name.clone();
    }
    if all.len() <= IN_FULL && all.iter().filter(same).count() > 1 {
        return format!("{title}: {}", one.name);
    }
    title
}

/// Several results at a glance: a row for each figure, with a way to where it is told in full.
fn overview(subjects: &[Subject<'_>]) -> Block {
    let results = || subjects.iter().flat_map(|one| &one.entry.verdict.results);
    let measurements = match results().count() {
        1 => "1 scenario and mode".to_owned(),
        count => format!("{count} scenarios and modes"),
    };
    let said = format!(
        "{measurements} in {}: {}.",
        format::count(subjects.len(), "result"),
        details::counts(results().map(|result| result.outcome))
    );
    let verdicts = || subjects.iter().map(|one| one.entry.verdict);
    let confidence = verdicts().next().map_or(0.95, |one| one.confidence);
    let unverified = verdicts().any(|one| one.notice.is_some());
    let table = Table::new("Every figure", columns(unverified, confidence), []);
    let mut left = ROWS;
    let groups = subjects.iter().enumerate().map(group).take_while(|group| {
        let fits = group.rows.len() <= left;
        left = left.saturating_sub(group.rows.len());
        fits
    });
    let groups = groups.collect();
    let blocks = vec![
        Block::paragraph(said),
        Block::Table(Table { groups, ..table }),
    ];
    Section::block("Overview", blocks)
}

/// The rows of one result below its name.
fn group((number, subject): (usize, &Subject<'_>)) -> Group {
    let verdict = subject.entry.verdict;
    // A compliance test that was passed has no figure.
    let told = verdict.results.iter().filter(|result| {
        result.mode != Mode::Compliance || !result.valid || result.deciding.is_some()
    });
    let title = Cell::from(verdict::title(verdict)).linked(Some(format!("#s{number}")));
    Group {
        title: Some(title),
        rows: told.flat_map(figures::of).map(figures::cells).collect(),
    }
}
