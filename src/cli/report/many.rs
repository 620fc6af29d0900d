//! `retrial report --all`: all runs there are, from the index.

use jiff::tz::TimeZone;
use rayon::prelude::*;

use super::{steps, write};
use crate::app::failure::Failure;
use crate::app::options::ReportRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::cli::runs;
use crate::history::RunSummary;
use crate::report::content::history::{self, Many};
use crate::report::content::{runs as listed, trials};
use crate::report::{html, markdown};
use crate::results::verdict::{ExitCode, Verdict};
use crate::store::RunDirectory;

/// Verdicts that are read at once for CSV.
const TOGETHER: usize = 256;

/// Reports them.
pub fn report(
    global: &GlobalOptions,
    arguments: &ReportRequest,
    output: Output,
) -> Result<ExitCode, Failure> {
    let filter = arguments.filter.clone();
    let rows = runs::index(global).runs(&filter);
    if rows.is_empty() {
        return Err(Failure::usage(format!(
            "no run in {} matches; `retrial runs` shows all",
            global.home.runs().display()
        )));
    }
    let target = write::target(arguments, output, None);
    let zone = TimeZone::system();
    let text = match output {
        Output::Html => {
            let from = target.directory();
            let link = |row: &RunSummary| {
                let from = from.as_deref()?;
                let path = steps::relative(from, &row.path);
                Some(path.display().to_string())
            };
            html::render(&history::document(&Many {
                made: super::made(),
                rows: &rows,
                link: &link,
                zone: &zone,
            }))
        }
        Output::Text => {
            let document = listed::document(&rows, &zone);
            crate::report::terminal::render(&document, terminal::shape())
        }
        Output::Markdown => markdown::render(&listed::document(&rows, &zone)),
        Output::Json => format!("{}\n", runs::list::as_json(&rows)?),
        Output::Csv => table(&rows),
        Output::Junit => {
            return Err(Failure::usage(
                "--output junit is a format of one run's report: name the runs",
            ));
        }
    };
    write::out(&target, &text)?;
    Ok(ExitCode::Success)
}

/// Every trial of every run that has a verdict. A few are read at once, so that ten thousand runs
/// take little memory.
fn table(rows: &[RunSummary]) -> String {
    let mut text = trials::head();
    for rows in rows.chunks(TOGETHER) {
        let parts: Vec<String> = rows
            .par_iter()
            .filter_map(|row| {
                let run = RunDirectory::at(row.path.clone());
                let verdict: Verdict = run.read_json("verdict.json").ok()?;
                Some(trials::rows(run.id(), &verdict))
            })
            .collect();
        text.extend(parts);
    }
    text
}
