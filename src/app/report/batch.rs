//! A batch: claims first, then cells side by side, each with its runs.

use std::path::Path;

use super::{Report, steps};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, ReportFormat};
use crate::app::{batch, terminal};
use retrial_batch::verdict::{BatchVerdict, CellRun, CellVerdict};
use retrial_plan::{Plan, shell};
use retrial_report::charts::{self, Chart};
use retrial_report::content::page::{self, ReportPage};
use retrial_report::content::subject::ReportSubject;
use retrial_report::content::{self, trials};
use retrial_report::document::Block;
use retrial_report::{ReportedVerdict, html, junit, markdown, terminal as text};
use retrial_results::evidence::environment;
use retrial_results::verdict::Verdict;
use retrial_results::verdict::comparison::{Fact, FactGroup};
use retrial_store::journal::{Event, Journal};
use retrial_store::{Home, RecordDirectory, RunDirectory};

/// A batch with its current evidence.
pub struct BatchReport<'a> {
    home: &'a Home,
    directory: RecordDirectory,
    verdict: BatchVerdict,
}

impl<'a> BatchReport<'a> {
    /// Judges the current evidence of a batch.
    pub fn open(global: &'a GlobalOptions, directory: RecordDirectory) -> Result<Self, Failure> {
        Ok(Self {
            home: &global.home,
            verdict: batch::judge::judge_directory(global, &directory)?,
            directory,
        })
    }

    /// The cells and other hosts' results that have a verdict.
    fn measured_cells(&self) -> impl Iterator<Item = (&CellVerdict, &Verdict)> {
        let cells = self.verdict.all_results();
        cells.filter_map(|cell| Some((cell, cell.verdict.as_ref()?)))
    }

    fn render_page(&self, from: Option<&Path>) -> String {
        let mut subjects = Vec::new();
        let mut host: Option<Vec<Fact>> = None;
        let mut events: Vec<Event> = Vec::new();
        let mut recipes: Vec<String> = Vec::new();
        for (cell, verdict) in self.measured_cells() {
            let mut subject = ReportSubject {
                runs: self.runs_with_links(cell, from),
                ..ReportSubject::new(cell.name.clone(), ReportedVerdict::new("", verdict))
            };
            // All containers are of the same image: the first run represents them.
            let first = cell.runs.iter().find(|run| run.lost.is_none());
            if let Some(first) = first.map(|run| self.run_directory(&run.run)) {
                let all = environment::facts_of_run(&first);
                let shown = all.iter().filter(|fact| fact.group != FactGroup::Packages);
                subject.environment = shown.cloned().collect();
                host.get_or_insert(all);
                if let Ok(plan) = first.read_json::<Plan>("plan.json") {
                    subject.commands = Some(shell::render_script(&plan, &[]));
                    recipes.extend(Some(plan.recipe).filter(|name| !recipes.contains(name)));
                }
            }
            let started_runs = cell.runs.iter().filter(|run| !run.run.is_empty());
            let runs = started_runs.map(|run| self.run_directory(&run.run));
            events.extend(
                runs.filter_map(|run| Journal::read_damaged(&run.journal_path()).ok())
                    .flat_map(|read| read.entries),
            );
            subjects.push(subject);
        }
        let host = host.unwrap_or_default();
        events.sort_by_key(|event| event.time);
        html::render_html(&page::page_document(&ReportPage {
            made_by: super::generator_line(),
            run_facts: super::describe_origin(&recipes.join(", "), &host, &events),
            subjects,
            batch: Some(&self.verdict),
            ..ReportPage::default()
        }))
    }

    /// The runs of a cell, each with its path from a page.
    fn runs_with_links(
        &self,
        cell: &CellVerdict,
        from: Option<&Path>,
    ) -> Vec<(CellRun, Option<String>)> {
        let runs = cell.runs.iter().map(|run| {
            let run_path = self.home.runs_directory().join(&run.run).canonicalize().ok();
            let path = run_path.filter(|_| !run.run.is_empty());
            let path = path.map(|path| steps::written_report(&path).unwrap_or(path));
            (run.clone(), path.map(|path| steps::page_link(from, &path)))
        });
        runs.collect()
    }

    fn run_directory(&self, run: &str) -> RunDirectory {
        RunDirectory::from_path(self.home.runs_directory().join(run))
    }
}

impl Report for BatchReport<'_> {
    fn directory(&self) -> Option<&Path> {
        Some(self.directory.path())
    }

    fn charts(&self) -> Vec<Chart> {
        charts::batch_charts(&self.verdict)
    }

    fn render(&self, output: ReportFormat, page: Option<&Path>) -> Result<String, Failure> {
        let verdict = &self.verdict;
        let build_document = |evidence: &str, entries: &[ReportedVerdict<'_>]| {
            content::batch::batch_document(verdict, evidence, entries)
        };
        Ok(match output {
            ReportFormat::Html => self.render_page(page),
            ReportFormat::Text => {
                let evidence = self.directory.path().display().to_string();
                let mut document = build_document(&evidence, &[]);
                document.blocks.extend(Block::charts(self.charts()));
                text::render_terminal(&document, terminal::stdout_capabilities())
            }
            ReportFormat::Json => terminal::to_json_line(verdict),
            ReportFormat::Csv => {
                let rows = self.measured_cells().map(|(cell, verdict)| {
                    trials::render_rows(verdict, |trial| {
                        let mut runs = cell.runs.iter();
                        let run = runs.find(|run| run.trial == trial.trial);
                        run.map_or(cell.name.clone(), |run| run.run.clone())
                    })
                });
                trials::render_header() + &rows.collect::<String>()
            }
            ReportFormat::Junit => {
                junit::render_batch(verdict, &content::batch::cell_entries(verdict))
            }
            ReportFormat::Markdown => markdown::render_markdown(&build_document(
                "",
                &content::batch::cell_entries(verdict),
            )),
        })
    }
}
