//! Runs with everything that is in their directories, and folders of results.

use std::path::Path;

use super::bundle::UnpackedBundle;
use super::{Report, steps};
use crate::app::failure::Failure;
use crate::app::judge::{self, JudgedResults};
use crate::app::open::RunOrBatch;
use crate::app::options::{GlobalOptions, JudgeRequest, ReportFormat, ReportRequest};
use crate::app::{follow, terminal};
use retrial_plan::{Plan, shell};
use retrial_report::charts::{self, Chart};
use retrial_report::content::page::{self, ReportPage};
use retrial_report::content::subject::ReportSubject;
use retrial_report::content::{self, DetailLevel, trials};
use retrial_report::document::{Block, Line, StyledText};
use retrial_report::{ReportedVerdict, html, json, junit, markdown, terminal as text};
use retrial_results::evidence::{environment, telemetry};
use retrial_results::verdict;
use retrial_results::verdict::comparison::{
    self, Comparison, ComparisonOptions, Fact, compare_subjects,
};
use retrial_run::read_evidence;
use retrial_store::import::ImportOrigin;
use retrial_store::journal::{Event, Journal, JournalState};
use retrial_store::{Home, RecordDirectory, RunDirectory};
use retrial_telemetry::TelemetryRow;

/// The subjects of a report, and their comparison.
pub struct RunsReport<'a> {
    global: &'a GlobalOptions,
    results: Vec<ReportInput>,
    /// Runs with figures in common, compared with the first of them.
    comparison: Option<Comparison>,
    /// The archives among them, unpacked until the report is written.
    bundles: Vec<UnpackedBundle>,
}

/// A run, a folder of results, or a benchmark of a submission tree.
struct ReportInput {
    /// The run's id, or the folder's path.
    name: String,
    /// Its verdict, with the path of its evidence.
    judged: JudgedResults,
    run: Option<ReportedRun>,
}

/// The content of a run's directory in addition to its evidence.
struct ReportedRun {
    directory: RunDirectory,
    /// Whether it is in an archive, so that nothing of it can be linked.
    is_packed: bool,
    plan: Plan,
    events: Vec<Event>,
    environment: Vec<Fact>,
    telemetry: Vec<TelemetryRow>,
}

impl<'a> RunsReport<'a> {
    /// Reads and judges the subjects.
    pub fn open(
        global: &'a GlobalOptions,
        request: &ReportRequest,
        output: ReportFormat,
        subjects: Vec<(&String, Option<RunOrBatch>)>,
        bundles: Vec<UnpackedBundle>,
    ) -> Result<Self, Failure> {
        let mut results = Vec::new();
        let mut compared = Vec::new();
        let all_runs = subjects.iter().all(|(_, source)| source.is_some());
        if let Some((name, _)) = subjects.iter().find(|(_, source)| source.is_some())
            && !request.filter.recipe.is_empty()
        {
            return Err(Failure::usage(format!(
                "--recipe selects runs of --all, and folders are judged by it: {name} is a run"
            ))
            .with_help(format!("judge it by another recipe: retrial judge {name} --recipe FILE")));
        }
        for (name, source) in subjects {
            if let Some(RunOrBatch::Run(directory)) = source {
                let bundle = bundles.iter().find(|one| one.run == directory);
                let (result, subject) = read_run(directory, output, bundle)?;
                if let Some(run) = result.run.as_ref().filter(|run| !run.is_packed) {
                    let state = JournalState::from_events(&run.events);
                    if let Some(note) =
                        follow::describe_unfinished_run(global, &run.directory, &state)
                    {
                        terminal::note_error(&note);
                    }
                }
                results.push(result);
                compared.push(subject);
            } else {
                results.extend(read_folder(global, request, Path::new(name))?);
            }
        }
        let comparison = (all_runs && compared.len() > 1)
            .then(|| compare_subjects(&compared, &ComparisonOptions::default()))
            .filter(|comparison| !comparison.figures.is_empty());
        Ok(Self { global, results, comparison, bundles })
    }

    /// For a terminal: each verdict, and the charts small.
    fn render_text(&self) -> String {
        let each = self.results.iter().map(|one| {
            let document = content::verdict::verdict_document(&one.entry(&self.global.home));
            (document, one.charts())
        });
        let compared = self.comparison.iter().map(|one| {
            let detail = DetailLevel::from_verbose(self.global.verbose);
            let document = content::comparison::comparison_document(one, detail);
            (document, charts::comparison_charts(one))
        });
        let texts = each.chain(compared).map(|(mut document, charts)| {
            document.blocks.extend(Block::charts(charts));
            text::render_terminal(&document, terminal::stdout_capabilities())
        });
        let text: String = texts.collect();
        if self.global.quiet {
            return text.trim_start().to_owned();
        }
        text
    }
}

impl Report for RunsReport<'_> {
    fn directory(&self) -> Option<&Path> {
        match &self.results[..] {
            // An archive's directory is gone when its report is read.
            [one] if self.bundles.is_empty() => one.run.as_ref().map(|run| run.directory.path()),
            _ => None,
        }
    }

    fn charts(&self) -> Vec<Chart> {
        let several = self.results.len() > 1;
        let compared = self.comparison.as_ref();
        let mut all: Vec<Chart> = compared.map(charts::comparison_charts).unwrap_or_default();
        for result in &self.results {
            let file_name = Path::new(&result.name).file_name();
            let name = file_name.map_or(result.name.as_str().into(), |name| name.to_string_lossy());
            all.extend(result.charts().into_iter().map(|mut chart| {
                if several {
                    chart.title = format!("{name}, {}", chart.title);
                    chart.name = format!("{name}-{}", chart.name);
                }
                chart
            }));
        }
        all
    }

    fn render(&self, output: ReportFormat, page: Option<&Path>) -> Result<String, Failure> {
        let (home, results) = (&self.global.home, &self.results);
        let entries: Vec<ReportedVerdict<'_>> = results.iter().map(|one| one.entry(home)).collect();
        Ok(match output {
            ReportFormat::Html => html::render_html(&page::page_document(&ReportPage {
                made_by: super::generator_line(),
                subjects: results.iter().map(|one| one.page_subject(home, page)).collect(),
                comparison: self.comparison.as_ref(),
                ..ReportPage::default()
            })),
            ReportFormat::Text => self.render_text(),
            ReportFormat::Json => {
                let json_entries = results.iter().map(ReportInput::json_entry).collect();
                terminal::to_json_line(&json::JsonReport::new(
                    json_entries,
                    self.comparison.as_ref(),
                ))
            }
            ReportFormat::Csv => {
                let rows = results
                    .iter()
                    .map(|one| trials::render_rows(&one.judged.verdict, |_| one.name.clone()));
                trials::render_header() + &rows.collect::<String>()
            }
            ReportFormat::Junit => junit::render_verdicts(&entries),
            ReportFormat::Markdown => {
                let mut document = content::verdict::verdicts_document(&entries);
                let comparisons = self.comparison.iter();
                let compared = comparisons
                    .map(|one| content::comparison::comparison_section(one, DetailLevel::Brief));
                document.blocks.extend(compared);
                markdown::render_markdown(&document)
            }
        })
    }
}

impl ReportedRun {
    /// The recipe, the machine and the time, and the batch that it is a part of.
    fn describe_origin(&self, home: &Home, page: Option<&Path>) -> Vec<(Line, StyledText)> {
        let mut facts = super::describe_origin(&self.plan.recipe, &self.environment, &self.events);
        facts.extend(self.plan.batch.as_ref().map(|batch| {
            let text = format!("{}, {}, trial {}", batch.id, batch.cell, batch.trial);
            // In another home, this name may be that of another batch.
            let is_here = !self.is_packed && ImportOrigin::read(&self.directory).is_none();
            let has_id = is_here && RecordDirectory::is_valid_id(&batch.id);
            let directory = has_id.then(|| home.batches_directory().join(&batch.id));
            let report = directory.and_then(|directory| steps::written_report(&directory));
            let text = match report {
                Some(report) => {
                    StyledText::Link(text.into(), steps::page_link(page, &report).into())
                }
                None => text.into(),
            };
            ("batch".into(), text)
        }));
        facts
    }
}

impl ReportInput {
    fn entry(&self, home: &Home) -> ReportedVerdict<'_> {
        let entry = ReportedVerdict::new(self.judged.path.clone(), &self.judged.verdict);
        let entry = match &self.run {
            Some(run) => entry.with_run(home, &run.plan),
            None => entry,
        };
        ReportedVerdict { rules: &self.judged.rules, ..entry }
    }

    /// The subject of a page; `page` is the directory of the page, if it is known.
    fn page_subject(&self, home: &Home, page: Option<&Path>) -> ReportSubject<'_> {
        let subject = ReportSubject::new(self.name.clone(), self.entry(home));
        let Some(run) = &self.run else {
            return subject;
        };
        let mut step_rows = steps::list_steps(&run.plan, &run.events, &run.directory, page);
        if run.is_packed {
            for step in &mut step_rows {
                step.log = None;
            }
        }
        ReportSubject {
            run_facts: run.describe_origin(home, page),
            telemetry: run.telemetry.clone(),
            environment: run.environment.clone(),
            commands: Some(shell::render_script(&run.plan, &[])),
            steps: step_rows,
            ..subject
        }
    }

    /// The charts of its results and of telemetry.
    fn charts(&self) -> Vec<Chart> {
        let mut charts = charts::verdict_charts(&self.judged.verdict);
        if let Some(run) = &self.run {
            charts.extend(charts::telemetry_charts(&run.telemetry));
        }
        charts
    }

    fn json_entry(&self) -> json::ReportedResult<'_> {
        json::ReportedResult {
            name: &self.name,
            evidence: &self.judged.path,
            rules: &self.judged.rules,
            environment: self.run.as_ref().map_or(&[], |run| &run.environment),
            verdict: &self.judged.verdict,
        }
    }
}

fn read_run(
    directory: RunDirectory,
    output: ReportFormat,
    bundle: Option<&UnpackedBundle>,
) -> Result<(ReportInput, comparison::ComparisonSubject), Failure> {
    let (context, evidence) = read_evidence(&directory)?;
    let run_verdict = verdict::judge(&context, &evidence);
    let facts = environment::facts_of_run(&directory);
    let name = directory.id().to_owned();
    let is_shown = matches!(output, ReportFormat::Html | ReportFormat::Text);
    let telemetry = is_shown.then(|| telemetry::read_rows(&directory));
    let run = ReportedRun {
        is_packed: bundle.is_some(),
        plan: directory.read_json("plan.json")?,
        events: Journal::read_damaged(&directory.journal_path())
            .map(|read| read.entries)
            .unwrap_or_default(),
        telemetry: telemetry.unwrap_or_default(),
        environment: facts.clone(),
        directory,
    };
    let subject =
        comparison::ComparisonSubject::from_evidence(name.clone(), &[(context, evidence)], facts);
    let results = ReportInput {
        name,
        judged: JudgedResults {
            path: bundle.map_or_else(
                || run.directory.path().display().to_string(),
                |bundle| bundle.name.clone(),
            ),
            verdict: run_verdict,
            rules: Vec::new(),
        },
        run: Some(run),
    };
    Ok((results, subject))
}

fn read_folder(
    global: &GlobalOptions,
    request: &ReportRequest,
    path: &Path,
) -> Result<Vec<ReportInput>, Failure> {
    let outcomes = &request.filter.facets.outcome;
    let mut judged = judge::judge_results_below(global, path, &judge_request(request))?;
    judged.retain_mut(|one| judge::select_outcomes(&mut one.verdict, outcomes));
    if judged.is_empty() && !outcomes.is_empty() {
        return Err(no_such_outcome(&path.display().to_string(), outcomes));
    }
    let results = judged.into_iter();
    let results =
        results.map(|judged| ReportInput { name: judged.path.clone(), judged, run: None });
    Ok(results.collect())
}

/// The failure where no result of a folder has one of these outcomes.
pub(super) fn no_such_outcome(folder: &str, outcomes: &[String]) -> Failure {
    Failure::usage(format!("no result in {folder} is {}", outcomes.join(" or ")))
}

/// What the folders of a report are judged by.
pub(super) fn judge_request(request: &ReportRequest) -> JudgeRequest {
    JudgeRequest {
        recipe: request.filter.recipe.first().cloned(),
        settings: request.filter.settings.clone().into(),
        force: true,
        round: request.round.clone(),
        benchmark: request.filter.facets.benchmark.first().cloned(),
        division: request.division,
        scenario: request.scenario.clone(),
        reference: request.reference.clone(),
        ..JudgeRequest::default()
    }
}
