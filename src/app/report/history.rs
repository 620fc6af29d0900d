//! All runs of the history, or those that match filters.

use std::path::Path;

use jiff::tz::TimeZone;
use rayon::prelude::*;

use super::{Report, steps};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, ReportFormat, ReportRequest};
use crate::app::{runs, terminal};
use retrial_history::{RunState, RunSummary};
use retrial_report::content::history::{self, RunsPage};
use retrial_report::content::{runs as listed, trials};
use retrial_report::{ReportedVerdict, html, junit, markdown, terminal as text};
use retrial_results::verdict::Verdict;

/// The number of verdicts that are read at a time for CSV, so that ten thousand runs take little memory.
const MAX_VERDICTS_AT_ONCE: usize = 256;

/// Runs of the history.
pub struct HistoryReport {
    rows: Vec<RunSummary>,
}

impl HistoryReport {
    pub fn open(global: &GlobalOptions, request: &ReportRequest) -> Result<Self, Failure> {
        let rows = runs::open_index(global).runs(&request.filter);
        if rows.is_empty() {
            return Err(Failure::usage(runs::no_match_message(global)));
        }
        Ok(Self { rows })
    }
}

impl Report for HistoryReport {
    fn render(&self, output: ReportFormat, page: Option<&Path>) -> Result<String, Failure> {
        let (rows, zone) = (&self.rows, TimeZone::system());
        let list = || listed::runs_document(rows, &zone);
        Ok(match output {
            ReportFormat::Html => {
                let link = |row: &RunSummary| {
                    let path = steps::relative_path(page?, &row.path);
                    Some(path.display().to_string())
                };
                html::render_html(&history::history_document(&RunsPage {
                    made_by: super::generator_line(),
                    rows,
                    link: &link,
                    zone: &zone,
                }))
            }
            ReportFormat::Text => text::render_terminal(&list(), terminal::stdout_capabilities()),
            ReportFormat::Markdown => markdown::render_markdown(&list()),
            ReportFormat::Json => terminal::to_json_line(&runs::rows_with_states(rows)),
            ReportFormat::Csv => render_trials_csv(rows),
            ReportFormat::Junit => render_junit(rows),
        })
    }
}

/// The verdict of every run that has one, and why the others that are not running have none.
fn render_junit(rows: &[RunSummary]) -> String {
    let verdict = |row: &RunSummary| row.directory().read_json::<Verdict>("verdict.json").ok();
    let over = rows.iter().filter(|row| !matches!(row.run_state, RunState::Running(_)));
    let read: Vec<_> = over.map(|row| (row, verdict(row))).collect();
    let verdict_entries = read.iter().filter_map(|(row, verdict)| {
        let evidence = row.path.display().to_string();
        Some(ReportedVerdict::new(evidence, verdict.as_ref()?))
    });
    let entries: Vec<ReportedVerdict<'_>> = verdict_entries.collect();
    let unjudged = read.iter().filter(|(_, verdict)| verdict.is_none());
    let without = unjudged.map(|(row, _)| {
        let stated_reason = row.reason.clone();
        let reason = stated_reason.unwrap_or_else(|| row.state_word().to_owned());
        (row.id.as_str(), reason)
    });
    junit::render_history(&entries, without)
}

/// Every trial of every run that has a verdict.
fn render_trials_csv(rows: &[RunSummary]) -> String {
    let mut text = trials::render_header();
    for rows in rows.chunks(MAX_VERDICTS_AT_ONCE) {
        let parts = rows.par_iter().filter_map(|row| {
            let verdict: Verdict = row.directory().read_json("verdict.json").ok()?;
            Some(trials::render_rows(&verdict, |_| row.id.clone()))
        });
        text.extend(parts.collect::<Vec<String>>());
    }
    text
}
