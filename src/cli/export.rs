//! `retrial export`: writes a submission tree, and prints what it contains.

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, TreeRequest};
use crate::app::{export, terminal};
use retrial_document::measures::format;
use retrial_report::content::export as content;
use retrial_results::verdict::ExitCode;
use retrial_submission::export::Export;

/// Exports runs; the exit code says whether the tree is complete.
pub fn export_tree(global: &GlobalOptions, request: &TreeRequest) -> Result<ExitCode, Failure> {
    let written = export::export_runs(global, request)?;
    let shown = request.to.display().to_string();
    if let (Some(first), false) = (written.replaced.first(), global.quiet) {
        let count = format::format_count(written.replaced.len(), "file");
        terminal::print_note(&format!("{shown}: replaced {count}, including {first}"));
    }
    let export = &written.export;
    match global.output {
        OutputFormat::Json => terminal::print_text(&content::export_json(export, &shown)),
        _ => terminal::print_document(&content::export_document(export, &shown)),
    }
    Ok(completeness_exit_code(export))
}

/// A violated rule is what `judge` calls invalid; missing files leave it undecided.
fn completeness_exit_code(export: &Export) -> ExitCode {
    if !export.violations.is_empty() {
        ExitCode::NotReproduced
    } else if !export.missing.is_empty() {
        ExitCode::Inconclusive
    } else {
        ExitCode::Success
    }
}
