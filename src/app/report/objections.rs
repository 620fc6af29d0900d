//! The objections to a submission tree.

use std::path::Path;

use super::{Report, runs};
use crate::app::failure::Failure;
use crate::app::judge::{self, JudgedTrees};
use crate::app::options::{GlobalOptions, ReportFormat, ReportRequest};
use crate::app::{catalog, open, terminal};
use retrial_mlperf::training::built_in_training_rounds;
use retrial_report::content::objections::{self, ObjectionsSource};
use retrial_report::{html, markdown, terminal as text};
use retrial_results::evidence::tree::JudgedBenchmark;

/// The verdicts on a tree.
pub struct ObjectionsReport {
    tree: String,
    benchmarks: Vec<JudgedBenchmark>,
    trees: JudgedTrees,
    rule_sources: Vec<String>,
}

impl ObjectionsReport {
    /// Judges the tree that is the only subject.
    pub fn open(global: &GlobalOptions, request: &ReportRequest) -> Result<Self, Failure> {
        let [name] = &request.subjects[..] else {
            return Err(Failure::usage("--as objections writes of one submission tree at a time"));
        };
        let no_tree = |what: &str| {
            Failure::usage(format!("--as objections needs a submission tree: {name} {what}"))
                .with_help(format!("write its verdicts: retrial report {name}"))
        };
        if open::find_results(&global.home, name)?.is_some() {
            return Err(no_tree("is a run or a batch"));
        }
        let outcomes = &request.filter.facets.outcome;
        let request = runs::judge_request(request);
        let trees = judge::find_trees(Path::new(name), &request)?;
        let trees = trees.ok_or_else(|| no_tree("is none"))?;
        let mut benchmarks: Vec<JudgedBenchmark> = Vec::new();
        let judged = judge::judge_trees(&trees, &request, |mut judged| {
            if judge::select_outcomes(&mut judged.verdict, outcomes) {
                benchmarks.push(judged);
            }
        })?;
        if benchmarks.is_empty() && !outcomes.is_empty() {
            return Err(runs::no_such_outcome(name, outcomes));
        }
        Ok(Self {
            tree: name.clone(),
            rule_sources: find_rule_sources(&benchmarks).unwrap_or_default(),
            benchmarks,
            trees: judged,
        })
    }
}

/// Where the rules of the round were published by which a tree was judged.
fn find_rule_sources(benchmarks: &[JudgedBenchmark]) -> Option<Vec<String>> {
    let submission = &benchmarks.first()?.verdict.submission;
    let name = submission.round.as_deref()?;
    if let Some(round) = catalog::built_in_rounds().get(&submission.suite, name) {
        return Some(round.sources.clone());
    }
    let round = built_in_training_rounds().iter().find(|round| round.round == name)?;
    Some(round.sources.clone())
}

impl Report for ObjectionsReport {
    fn render(&self, output: ReportFormat, _page: Option<&Path>) -> Result<String, Failure> {
        let mut document = objections::objections_document(&ObjectionsSource {
            tree: &self.tree,
            benchmarks: &self.benchmarks,
            faults: &self.trees.faults,
            reference: self.trees.reference.as_deref(),
            rule_sources: self.rule_sources.clone(),
        });
        Ok(match output {
            ReportFormat::Markdown => markdown::render_markdown(&document),
            ReportFormat::Text => text::render_terminal(&document, terminal::stdout_capabilities()),
            ReportFormat::Html => {
                document.made_by = super::generator_line().into();
                html::render_html(&document)
            }
            ReportFormat::Json | ReportFormat::Csv | ReportFormat::Junit => {
                return Err(Failure::usage("objections are written as Markdown, HTML or text")
                    .with_help(
                        "every rule with its lines of evidence: retrial judge TREE --output json",
                    ));
            }
        })
    }
}
