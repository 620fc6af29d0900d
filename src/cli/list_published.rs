//! `retrial list --published`: figures that were published, by benchmark and scenario.

use itertools::{Itertools as _, join};

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::published_entries;
use crate::app::recipes::RecipeFilter;
use crate::app::{open, terminal};
use retrial_readings::number::format_figure;
use retrial_results::verdict::{ExitCode, published_notice};
use retrial_submission::published::PublishedEntry;

/// The figures of a group that are listed without `--verbose`.
const MAX_LISTED: usize = 5;

/// Lists the published figures that match; without a filter those of this host's GPUs, if there are any.
pub fn list_published(global: &GlobalOptions, filter: &RecipeFilter) -> Result<ExitCode, Failure> {
    let mut entries = published_entries::read_entries(global)?;
    if filter.is_empty() {
        let models = published_entries::models_of_host(&entries, &open::probe_host(global));
        if !models.is_empty() {
            entries.retain(|entry| models.iter().any(|model| entry.is_of_gpu(model)));
            let models = models.join(" and ");
            terminal::print_note(&format!(
                "of this host's GPUs, {models}; a filter such as --suite or --gpu lists others"
            ));
        }
    } else {
        entries = published_entries::filter_entries(entries, filter)?;
    }
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&entries);
        return Ok(ExitCode::Success);
    }
    if entries.is_empty() {
        terminal::print_note("no published figure matches: use fewer filters");
    }
    let limit = if global.verbose { usize::MAX } else { MAX_LISTED };
    terminal::print_lines(as_text(&entries, limit));
    terminal::print_notice(published_notice(entries.iter().map(|entry| &*entry.suite)));
    Ok(ExitCode::Success)
}

fn as_text(entries: &[PublishedEntry], limit: usize) -> Vec<String> {
    let chunks = entries.iter().chunk_by(|entry| entry.group());
    let groups = chunks.into_iter().map(|(_, group)| group.collect());
    let groups: Vec<Vec<&PublishedEntry>> = groups.collect();
    let listed = groups.iter().flat_map(|group| group.iter().take(limit));
    let mut rows = align_entries(&listed.copied().collect::<Vec<_>>()).into_iter();
    let mut lines = Vec::new();
    for group in &groups {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(group.first().map(|entry| heading_of(entry)));
        lines.extend(rows.by_ref().take(group.len().min(limit)));
        if group.len() > limit {
            lines.push(format!("  … {} more: -v", group.len() - limit));
        }
    }
    lines
}

fn heading_of(entry: &PublishedEntry) -> String {
    let (suite, benchmark, scenario, figure, _) = entry.group();
    join([suite, benchmark, scenario, figure].into_iter().filter(|word| !word.is_empty()), " ")
}

/// Returns a line for each entry, in columns: round, GPUs, figure, rate of one GPU, and what tells it from others.
pub(super) fn align_entries(entries: &[&PublishedEntry]) -> Vec<String> {
    let columns = |entry: &PublishedEntry| {
        let per_gpu = entry.per_gpu.map(|rate| format!("{} per GPU", format_figure(rate, "")));
        [
            entry.round.clone().unwrap_or_default(),
            entry.format_gpus(),
            format_figure(entry.value, &entry.unit),
            per_gpu.unwrap_or_default(),
            describe_publication(entry),
        ]
    };
    let rows: Vec<[String; 5]> = entries.iter().map(|entry| columns(entry)).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let [round, gpus, value, per_gpu] = [0, 1, 2, 3].map(width);
    let lines = rows.iter().map(|[a, b, c, d, e]| {
        let line = format!("  {a:<round$}  {b:<gpus$}  {c:>value$}  {d:>per_gpu$}  {e}");
        line.trim_end().to_owned()
    });
    lines.collect()
}

/// Returns the source, the submitter and the system, and what is not usual: another division than closed, a preview,
/// a figure that was inferred.
fn describe_publication(entry: &PublishedEntry) -> String {
    let division = entry.division.as_ref().filter(|division| *division != "closed");
    let availability = entry.availability.as_ref().filter(|word| *word != "available");
    let inferred = entry.inferred.then(|| "inferred".to_owned());
    let marks = join(division.into_iter().chain(availability).chain(&inferred), ", ");
    let names = [Some(&entry.source), entry.submitter.as_ref(), entry.system.as_ref()];
    let names = join(names.into_iter().flatten(), "  ");
    if marks.is_empty() { names } else { format!("{names}  ({marks})") }
}
