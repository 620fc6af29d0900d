//! Published figures to look up: those that the built-in recipes state, and those of tables of rounds in the home.

use std::fs;
use std::path::PathBuf;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::recipes::RecipeFilter;
use crate::app::{catalog, published, terminal};
use retrial_document::ErrorText;
use retrial_history::Facets;
use retrial_host::model::HostView;
use retrial_recipe::summarize;
use retrial_results::evidence::tree::PublishedFigures;
use retrial_submission::published::{PublishedEntry, of_recipe, of_table, sort_entries};

/// The directory of the home whose files are tables of rounds.
const TABLES_DIRECTORY: &str = "published";

/// Returns all published figures that are known, sorted. A table has all figures of its round: those that recipes
/// repeat are omitted.
pub fn read_entries(global: &GlobalOptions) -> Result<Vec<PublishedEntry>, Failure> {
    let mut entries: Vec<PublishedEntry> = Vec::new();
    for path in list_tables(global) {
        match PublishedFigures::from_file(&path) {
            Ok(table) => entries.extend(of_table(&table)),
            // Nobody named it: the others are listed without it.
            Err(error) => terminal::note_error(
                &ErrorText::new(error.to_string()).in_context("figures are not listed: "),
            ),
        }
    }
    let of_recipes = read_recipes()?.into_iter();
    let is_in_table = |entry: &PublishedEntry| {
        let round =
            |other: &PublishedEntry| (&other.suite, &other.round) == (&entry.suite, &entry.round);
        entry.round.is_some() && entries.iter().any(round)
    };
    let others: Vec<PublishedEntry> = of_recipes.filter(|entry| !is_in_table(entry)).collect();
    entries.extend(others);
    sort_entries(&mut entries);
    Ok(entries)
}

fn list_tables(global: &GlobalOptions) -> Vec<PathBuf> {
    let directory = global.home.root().join(TABLES_DIRECTORY);
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.sort_unstable();
    paths
}

fn read_recipes() -> Result<Vec<PublishedEntry>, Failure> {
    let mut entries = Vec::new();
    for opened in catalog::builtin_recipes() {
        let (own, variants) = summarize(&opened.source, &opened)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        entries.extend(of_recipe(&opened.name, &own));
        entries.extend(variants.iter().flat_map(|one| of_recipe(&opened.name, &one.summary)));
    }
    Ok(entries)
}

/// Returns the entries that match.
///
/// # Errors
/// If no entry has a requested value, whatever the other filters are.
pub fn filter_entries(
    entries: Vec<PublishedEntry>,
    filter: &RecipeFilter,
) -> Result<Vec<PublishedEntry>, Failure> {
    published::refuse_unstated(filter)?;
    let all: Vec<Facets> = entries.iter().map(facets_of).collect();
    let rounds = entries.iter().filter_map(|entry| entry.round.as_deref());
    filter.refuse_unknown("published figure", &rounds.collect(), &all)?;
    Ok(select_entries(entries, filter))
}

/// Returns the entries that match; none where nothing has a requested value.
pub fn select_entries(
    mut entries: Vec<PublishedEntry>,
    filter: &RecipeFilter,
) -> Vec<PublishedEntry> {
    let part = filter.part.as_ref().map(|part| part.to_lowercase());
    let has_part = |entry: &PublishedEntry| {
        let stated = [Some(&entry.benchmark), Some(&entry.source), entry.system.as_ref()];
        let mut stated = stated.into_iter().chain([entry.submitter.as_ref()]).flatten();
        let has = |part: &String| stated.any(|text| text.to_lowercase().contains(part));
        part.as_ref().is_none_or(has)
    };
    entries.retain(|entry| {
        filter.matches(entry.round.as_deref(), &facets_of(entry)) && has_part(entry)
    });
    entries
}

/// Returns the models of a host's GPUs for which figures were published, each once.
pub fn models_of_host(entries: &[PublishedEntry], host: &HostView) -> Vec<String> {
    let is_published = |model: &&String| entries.iter().any(|entry| entry.is_of_gpu(model));
    let mut models: Vec<String> =
        host.gpus.iter().map(|gpu| &gpu.model).filter(is_published).cloned().collect();
    models.sort_unstable();
    models.dedup();
    models
}

fn facets_of(entry: &PublishedEntry) -> Facets {
    Facets {
        suites: vec![entry.suite.clone()],
        submitters: entry.submitter.iter().cloned().collect(),
        benchmarks: vec![entry.benchmark.clone()],
        gpus: entry.gpu_models.clone(),
        ..Facets::default()
    }
}
