//! `retrial report BATCH`: claims first, then cells side by side, each with its runs.

use std::path::Path;

use super::{steps, write};
use crate::app::failure::Failure;
use crate::app::options::ReportRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::batch::verdict::{BatchVerdict, CellVerdict};
use crate::cli::batch;
use crate::plan::{Plan, shell};
use crate::report::charts::{self, Chart};
use crate::report::content::page::{self, Environments, Page, RunOfCell, Subject};
use crate::report::content::{self, suites, trials};
use crate::report::document::Block;
use crate::report::{Entry, html, junit, markdown};
use crate::results::evidence::environment;
use crate::results::verdict::ExitCode;
use crate::results::verdict::comparison::{Fact, FactGroup, environments};
use crate::store::{Home, Record, RunDirectory};

/// Environments of more cells side by side are no table that anybody reads.
const CELLS: usize = 12;

/// Reports a batch as it stands.
pub fn report(
    global: &GlobalOptions,
    arguments: &ReportRequest,
    output: Output,
    directory: &Record,
) -> Result<ExitCode, Failure> {
    let verdict = batch::judged(global, directory)?;
    let target = write::target(arguments, output, Some(directory.path()));
    let charts = charts::of_batch(&verdict);
    if let Some(to) = &arguments.charts {
        let count = write::charts(to, &charts)?;
        let count = crate::format::count(count, "chart");
        terminal::note(&format!("{}: {count}", to.display()));
    }
    let text = match output {
        Output::Html => {
            let home = global.home.clone();
            let from = target.directory();
            written(&home, &verdict, from.as_deref())
        }
        Output::Text => text(&verdict, charts, directory),
        Output::Json => {
            let text = serde_json::to_string(&verdict).unwrap_or_default();
            format!("{text}\n")
        }
        Output::Csv => {
            let rows = measured(&verdict).map(|(cell, verdict)| {
                trials::rows_of(verdict, &|trial| {
                    let mut runs = cell.runs.iter();
                    let run = runs.find(|run| run.trial == trial.trial);
                    run.map_or(cell.name.clone(), |run| run.run.clone())
                })
            });
            std::iter::once(trials::head()).chain(rows).collect()
        }
        Output::Junit => junit::render(&suites::batch(&verdict, &entries(&verdict))),
        Output::Markdown => {
            let document = content::batch::document(&verdict, "", &entries(&verdict));
            markdown::render(&document)
        }
    };
    write::out(&target, &text)?;
    Ok(ExitCode::Success)
}

fn measured(
    verdict: &BatchVerdict,
) -> impl Iterator<Item = (&CellVerdict, &crate::results::verdict::Verdict)> {
    let cells = verdict.cells.iter();
    cells.filter_map(|cell| Some((cell, cell.verdict.as_ref()?)))
}

fn entries(verdict: &BatchVerdict) -> Vec<Entry<'_>> {
    let all = measured(verdict);
    all.map(|(cell, verdict)| Entry::new(cell.name.clone(), verdict))
        .collect()
}

fn text(verdict: &BatchVerdict, charts: Vec<Chart>, directory: &Record) -> String {
    let evidence = directory.path().display().to_string();
    let mut document = content::batch::document(verdict, &evidence, &[]);
    document.blocks.extend(Block::charts(charts));
    crate::report::terminal::render(&document, terminal::shape())
}

fn written(home: &Home, verdict: &BatchVerdict, from: Option<&Path>) -> String {
    let subjects: Vec<Subject<'_>> = measured(verdict)
        .map(|(cell, verdict)| Subject {
            runs: runs(home, cell, from),
            ..Subject::new(cell.name.clone(), Entry::new("", verdict))
        })
        .collect();
    let mut subjects = subjects;
    let mut facts: Vec<Vec<Fact>> = Vec::new();
    for subject in &mut subjects {
        // One container after the other of the same image: the first run tells for all.
        let first = subject.runs.iter().find(|run| run.lost.is_none());
        let Some(first) = first.map(|run| RunDirectory::at(home.runs().join(&run.name))) else {
            facts.push(Vec::new());
            continue;
        };
        let all = environment::of_run(&first);
        let told = all.iter().filter(|fact| fact.group != FactGroup::Packages);
        subject.environment = told.cloned().collect();
        let plan: Option<Plan> = first.read_json("plan.json").ok();
        subject.commands = plan.map(|plan| shell::script(&plan));
        facts.push(all);
    }
    let names: Vec<String> = subjects
        .iter()
        .map(|one| one.name.clone())
        .take(CELLS)
        .collect();
    let facts: Vec<&[Fact]> = facts.iter().map(Vec::as_slice).take(CELLS).collect();
    let groups = environments(&names, &facts);
    html::render(&page::document(&Page {
        made: super::made(),
        subjects,
        batch: Some(verdict),
        environments: (names.len() > 1).then_some(Environments { names, groups }),
        ..Page::default()
    }))
}

fn runs(home: &Home, cell: &CellVerdict, from: Option<&Path>) -> Vec<RunOfCell> {
    let runs = cell.runs.iter().map(|run| {
        let path = home.runs().join(&run.run);
        let path = path.canonicalize().ok().filter(|_| !run.run.is_empty());
        let way = path.map(|path| from.map_or(path.clone(), |from| steps::relative(from, &path)));
        RunOfCell {
            name: run.run.clone(),
            trial: run.trial,
            lost: run.lost.clone(),
            path: way.map(|way| way.display().to_string()),
        }
    });
    runs.collect()
}
