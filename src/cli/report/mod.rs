//! `retrial report`: one page, or the same in other forms, of what was judged.

mod batch;
mod gather;
mod many;
mod steps;
mod write;

use std::path::Path;

use serde_json::json;

use self::gather::{Gathered, Held};
use crate::app::failure::Failure;
use crate::app::options::ReportRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::report::charts::{self, Chart};
use crate::report::content::page::{self, Page};
use crate::report::content::{self, Detail, suites, trials};
use crate::report::document::Block;
use crate::report::{Entry, html, junit, markdown};
use crate::results::verdict::ExitCode;
use crate::results::verdict::comparison::{Comparison, Options, compare};

/// Reports; a report of bad news is a report all the same, so that it exits with 0.
pub fn report(global: &GlobalOptions, arguments: &ReportRequest) -> Result<ExitCode, Failure> {
    let output = if global.output_was_said {
        global.output
    } else {
        Output::Html
    };
    if arguments.all {
        return many::report(global, arguments, output);
    }
    if let Some(directory) = gather::batch(global, arguments)? {
        return batch::report(global, arguments, output, &directory);
    }
    let gathered = gather::gather(global, arguments, output)?;
    let target = write::target(arguments, output, gathered.home.as_deref());
    let comparison = side_by_side(&gathered);
    if let Some(directory) = &arguments.charts {
        let count = write::charts(directory, &all_charts(&gathered, comparison.as_ref()))?;
        let count = crate::format::count(count, "chart");
        terminal::note(&format!("{}: {count}", directory.display()));
    }
    let text = written(global, output, &gathered, comparison.as_ref(), &target);
    write::out(&target, &text)?;
    Ok(ExitCode::Success)
}

/// Runs with figures in common are compared with the first of them.
fn side_by_side(gathered: &Gathered) -> Option<Comparison> {
    if gathered.compared.len() < 2 {
        return None;
    }
    let comparison = compare(&gathered.compared, &Options::default());
    (!comparison.figures.is_empty()).then_some(comparison)
}

fn written(
    global: &GlobalOptions,
    output: Output,
    gathered: &Gathered,
    comparison: Option<&Comparison>,
    target: &write::Target,
) -> String {
    let entries: Vec<Entry<'_>> = gathered.held.iter().map(Held::entry).collect();
    match output {
        Output::Html => {
            let from = target.directory();
            let subjects = gathered.held.iter().map(|one| one.subject(from.as_deref()));
            html::render(&page::document(&Page {
                made: made(),
                subjects: subjects.collect(),
                comparison,
                ..Page::default()
            }))
        }
        Output::Text => text(global, gathered, comparison),
        Output::Json => {
            let results: Vec<_> = gathered
                .held
                .iter()
                .map(|one| {
                    json!({
                        "name": one.name,
                        "evidence": one.evidence,
                        "rules": one.rules,
                        "environment": one.environment_value(),
                        "verdict": one.verdict,
                    })
                })
                .collect();
            let whole = json!({ "schema": 1, "results": results, "comparison": comparison });
            format!("{whole}\n")
        }
        Output::Csv => {
            let all = gathered.held.iter();
            let rows = all.map(|one| trials::rows(&one.name, &one.verdict));
            std::iter::once(trials::head()).chain(rows).collect()
        }
        Output::Junit => junit::render(&suites::verdicts(&entries)),
        Output::Markdown => {
            let mut document = content::verdict::documents(&entries);
            let compared = comparison.map(|one| content::comparison::section(one, Detail::Brief));
            document.blocks.extend(compared);
            markdown::render(&document)
        }
    }
}

/// `retrial 0.1.0, 2026-11-21 18:40:02 UTC`
fn made() -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC");
    format!("retrial {}, {now}", env!("CARGO_PKG_VERSION"))
}

/// For a terminal: each verdict, and the charts small.
fn text(global: &GlobalOptions, gathered: &Gathered, comparison: Option<&Comparison>) -> String {
    let each = gathered.held.iter().map(|one| {
        let mut document = content::verdict::document(&one.entry());
        document.blocks.extend(Block::charts(one.charts()));
        document
    });
    let detail = if global.verbose {
        Detail::Facts
    } else {
        Detail::Brief
    };
    let compared = comparison.map(|one| {
        let mut document = content::comparison::document(one, detail);
        document
            .blocks
            .extend(Block::charts(charts::of_comparison(one)));
        document
    });
    let documents = each.chain(compared);
    let texts = documents.map(|one| crate::report::terminal::render(&one, terminal::shape()));
    let text: String = texts.collect();
    if global.quiet {
        return text.trim_start().to_owned();
    }
    text
}

fn all_charts(gathered: &Gathered, comparison: Option<&Comparison>) -> Vec<Chart> {
    let several = gathered.held.len() > 1;
    let mut all: Vec<Chart> = comparison.map(charts::of_comparison).unwrap_or_default();
    for one in &gathered.held {
        let name = Path::new(&one.name).file_name();
        let name = name.map_or(one.name.as_str().into(), |name| name.to_string_lossy());
        all.extend(one.charts().into_iter().map(|mut chart| {
            if several {
                chart.title = format!("{name}, {}", chart.title);
                chart.name = format!("{name}-{}", chart.name);
            }
            chart
        }));
    }
    all
}
