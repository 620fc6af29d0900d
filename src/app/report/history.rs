//! All runs of the history, or those that match filters.

use std::path::Path;

use jiff::tz::TimeZone;
use rayon::prelude::*;

use super::{Report, steps};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, ReportRequest};
use crate::app::{runs, terminal};
use retrial_history::{RunState, RunSummary};
use retrial_report::content::history::{self, RunsPage};
use retrial_report::content::{runs as listed, trials};
use retrial_report::{ReportedVerdict, html, junit, markdown, terminal as text};
use retrial_results::verdict::Verdict;

/// The number of verdicts that are read at a time for CSV, so that ten thousand runs take little memory.
const TOGETHER: usize = 256;

/// Runs of the history.
pub struct HistoryReport {
    rows: Vec<RunSummary>,
}

impl HistoryReport {
    pub fn open(global: &GlobalOptions, request: &ReportRequest) -> Result<Self, Failure> {
        let rows = runs::index(global).runs(&request.filter);
        if rows.is_empty() {
            return Err(Failure::usage(runs::none_matches(global)));
        }
        Ok(Self { rows })
    }
}

impl Report for HistoryReport {
    fn render(&self, output: OutputFormat, page: Option<&Path>) -> Result<String, Failure> {
        let (rows, zone) = (&self.rows, TimeZone::system());
        let list = || listed::runs_document(rows, &zone);
        Ok(match output {
            OutputFormat::Html => {
                let link = |row: &RunSummary| {
                    let path = steps::relative(page?, &row.path);
                    Some(path.display().to_string())
                };
                html::render_html(&history::history_document(&RunsPage {
                    made_by: super::made(),
                    rows,
                    link: &link,
                    zone: &zone,
                }))
            }
            OutputFormat::Text => text::render_terminal(&list(), terminal::shape()),
            OutputFormat::Markdown => markdown::render_markdown(&list()),
            OutputFormat::Json => terminal::json(&runs::with_states(rows)),
            OutputFormat::Csv => trials(rows),
            OutputFormat::Junit => junit(rows),
        })
    }
}

/// The verdict of every run that has one, and why the others that are not running have none.
fn junit(rows: &[RunSummary]) -> String {
    let verdict = |row: &RunSummary| row.directory().read_json::<Verdict>("verdict.json").ok();
    let rows = rows.iter();
    let over = rows.filter(|row| !matches!(row.run_state, RunState::Running(_)));
    let read: Vec<_> = over.map(|row| (row, verdict(row))).collect();
    let entries = read.iter().filter_map(|(row, verdict)| {
        let evidence = row.path.display().to_string();
        Some(ReportedVerdict::new(evidence, verdict.as_ref()?))
    });
    let entries: Vec<ReportedVerdict<'_>> = entries.collect();
    let without = read.iter().filter(|(_, verdict)| verdict.is_none());
    let without = without.map(|(row, _)| {
        let reason = row.reason.clone();
        let reason = reason.unwrap_or_else(|| row.state().to_owned());
        (row.id.as_str(), reason)
    });
    junit::render_history(&entries, without)
}

/// Every trial of every run that has a verdict.
fn trials(rows: &[RunSummary]) -> String {
    let mut text = trials::render_header();
    for rows in rows.chunks(TOGETHER) {
        let parts = rows.par_iter().filter_map(|row| {
            let verdict: Verdict = row.directory().read_json("verdict.json").ok()?;
            Some(trials::render_rows(&verdict, |_| row.id.clone()))
        });
        text.extend(parts.collect::<Vec<String>>());
    }
    text
}
