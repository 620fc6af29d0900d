//! `retrial compare`: prints comparisons.

use std::slice::from_ref;

use serde::Serialize;

use crate::app::failure::Failure;
use crate::app::options::{CompareRequest, GlobalOptions, OutputFormat};
use crate::app::{compare, terminal};
use retrial_report::content::{DetailLevel, comparison as content};
use retrial_report::{junit, markdown};
use retrial_results::verdict::ExitCode;
use retrial_results::verdict::comparison::Comparison;

/// Compares subjects with the first of them, or the runs of the history along an axis.
pub fn compare_results(
    global: &GlobalOptions,
    request: &CompareRequest,
) -> Result<ExitCode, Failure> {
    let Some(axis) = &request.by else {
        let comparison = compare::compare_named_subjects(global, request)?;
        print_comparisons(global, from_ref(&comparison), &comparison);
        return Ok(comparison.exit_code);
    };
    let all = compare::compare_by_axis(global, axis, request)?;
    print_comparisons(global, &all.comparisons, &all);
    if global.output != OutputFormat::Json {
        for note in &all.notes {
            terminal::print_note(&format!("note: {note}"));
        }
    }
    Ok(all.exit_code)
}

fn print_comparisons(global: &GlobalOptions, comparisons: &[Comparison], json: &impl Serialize) {
    match global.output {
        OutputFormat::Json => terminal::print_json(json),
        OutputFormat::Junit => terminal::print_text(&junit::render_comparisons(comparisons)),
        OutputFormat::Markdown => {
            let document = content::comparisons_document(comparisons, DetailLevel::Brief);
            terminal::print_text(&markdown::render_markdown(&document));
        }
        OutputFormat::Text => {
            for comparison in comparisons {
                terminal::print_document(&content::comparison_document(
                    comparison,
                    DetailLevel::from_verbose(global.verbose),
                ));
            }
        }
    }
}
