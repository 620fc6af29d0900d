//! `retrial runs remove`: asks at a terminal, removes runs, and prints what was removed.

use std::fmt::Write as _;

use serde_json::json;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::runs::remove::Removal;
use crate::app::terminal;
use crate::cli::arguments::RemoveOptions;
use retrial_document::measures::format;
use retrial_history::RunSummary;
use retrial_results::verdict::ExitCode;

/// How many runs the question lists.
const MAX_LISTED_RUNS: usize = 20;

/// Removes runs after a confirmation, and prints which were removed and which were skipped.
pub fn remove_runs(
    global: &GlobalOptions,
    rows: &[RunSummary],
    options: RemoveOptions,
) -> Result<ExitCode, Failure> {
    let mut removal = Removal::new(global, rows, options.force);
    if !options.dry_run {
        if !removal.runs.is_empty() && !options.yes {
            confirm_removal(&removal)?;
        }
        removal.remove_all(&global.home);
    }
    for run in &removal.skipped {
        let context = format!("{}: skipped: ", run.run);
        terminal::note_error(&run.reason.clone().in_context(&context));
    }
    print_removal(global, &removal, options.dry_run);
    Ok(ExitCode::Host.success_if(removal.skipped.is_empty()))
}

fn print_removal(global: &GlobalOptions, removal: &Removal<'_>, dry_run: bool) {
    if global.output == OutputFormat::Json {
        let ids: Vec<&str> = removal.runs.iter().map(|(row, _)| row.id.as_str()).collect();
        return terminal::print_json(&json!({
            "removed": ids,
            "bytes": removal.total_freed_bytes(),
            "skipped": removal.skipped,
            "dry_run": dry_run,
        }));
    }
    let word = if dry_run { "would remove" } else { "removed" };
    let count = format::format_count(removal.runs.len(), "run");
    terminal::print_text(&match &removal.runs[..] {
        [] => "nothing to remove\n".to_owned(),
        _ => format!("{word} {count}, {}\n", format::format_bytes(removal.total_freed_bytes())),
    });
}

fn confirm_removal(removal: &Removal<'_>) -> Result<(), Failure> {
    let count = format::format_count(removal.runs.len(), "run");
    let summary = format!("{count} ({})", format::format_bytes(removal.total_freed_bytes()));
    let mut text = String::new();
    for (row, bytes) in removal.runs.iter().take(MAX_LISTED_RUNS) {
        let bytes = format::format_bytes(*bytes);
        let _ = writeln!(text, "  {}  {}  {bytes}", row.id, row.state_word());
    }
    if let Some(more) = removal.runs.len().checked_sub(MAX_LISTED_RUNS).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more");
    }
    let question = format!("{text}remove {summary}, with all of their evidence?");
    match terminal::confirm(&question) {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::usage("nothing was removed")),
        None => Err(Failure::usage(format!(
            "{summary} would be removed, but there is no terminal to confirm on: add --yes, or see --dry-run"
        ))),
    }
}
