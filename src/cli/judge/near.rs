//! Prints what was published of results that were judged without a recipe.

use crate::app::failure::Failure;
use crate::app::judge::JudgedResults;
use crate::app::options::GlobalOptions;
use crate::app::{published_near, terminal};
use crate::cli::list_published::align_entries;
use retrial_document::measures::format;
use retrial_readings::number::format_ratio;
use retrial_recipe::quote::shell_quote;
use retrial_results::verdict::published_notice;

/// The published figures of a result that are printed: the nearest.
const MAX_PRINTED: usize = 5;

/// Prints the published figures that are nearest to each result's.
pub fn print_near(global: &GlobalOptions, judged: &[JudgedResults]) -> Result<(), Failure> {
    let verdicts: Vec<_> = judged.iter().map(|one| &one.verdict).collect();
    let found = published_near::find_near(global, &verdicts)?;
    let has_notice = verdicts.iter().any(|verdict| verdict.notice.is_some());
    let mut suites = Vec::new();
    for one in found.iter().filter(|one| !one.near.is_empty()) {
        let (benchmark, scenario) = (&one.benchmark, &one.scenario);
        let nearest = &one.near[..one.near.len().min(MAX_PRINTED)];
        let entries: Vec<_> = nearest.iter().map(|(_, entry)| entry).collect();
        let lines = nearest.iter().zip(align_entries(&entries));
        let lines = lines.map(|((ratio, _), line)| format!("  {}{line}", format_ratio(*ratio)));
        terminal::print_lines([
            String::new(),
            format!(
                "published for {benchmark} {scenario}, nearest first, and the ratio to each (information, no verdict)"
            ),
        ]);
        terminal::print_lines(lines);
        let count = format::format_count(one.near.len(), "published figure");
        terminal::print_lines([format!(
            "  {count} in all: retrial list --published --benchmark {}",
            shell_quote(benchmark)
        )]);
        suites.extend(entries.into_iter().map(|entry| &*entry.suite));
    }
    if !has_notice {
        terminal::print_notice(published_notice(suites));
    }
    Ok(())
}
