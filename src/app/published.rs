//! Published results of a submission tree: filters them, and selects one.

use std::path::PathBuf;

use clap::Args;

use super::options::division_parser;
use super::recipes::RecipeFilter;
use crate::app::failure::Failure;
use retrial_document::list_choices;
use retrial_document::measures::format;
use retrial_history::Facets;
use retrial_mlperf::Division;
use retrial_submission::import::{ImportError, ImportableResult, ResultsIndex};

/// The published result of which a recipe is made.
#[derive(Debug, Clone, Default, Args)]
pub struct ImportRequest {
    /// Write the recipe of a published result in this submission tree of MLPerf Inference
    #[arg(long, value_name = "TREE")]
    pub from_results: Option<PathBuf>,
    /// Choose the result by its id, as `retrial list --results TREE` shows it
    #[arg(long, value_name = "ID", requires = "from_results")]
    pub result: Option<String>,
    /// Choose it by its system
    #[arg(long, value_name = "SYSTEM", requires = "from_results")]
    pub system: Option<String>,
    /// Choose it by its benchmark
    #[arg(long, value_name = "NAME", requires = "from_results")]
    pub benchmark: Option<String>,
    /// Choose it by its submitter
    #[arg(long, value_name = "NAME", requires = "from_results")]
    pub submitter: Option<String>,
    /// Choose it by its division
    #[arg(long, value_name = "DIVISION", value_parser = division_parser(), requires = "from_results")]
    pub division: Option<Division>,
    /// Add what others published of the benchmark on as many of the same GPUs, as third-party figures
    #[arg(long, requires = "from_results")]
    pub with_others: bool,
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Read { .. } => Self::host(error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

/// Selects the requested result.
pub fn select_result<'e>(
    index: &ResultsIndex<'_>,
    entries: &'e [ImportableResult<'e>],
    request: &ImportRequest,
) -> Result<&'e ImportableResult<'e>, Failure> {
    let is_match = |requested: &Option<String>, names: &[&str]| {
        let requested = requested.as_ref();
        requested
            .is_none_or(|requested| names.iter().any(|name| requested.eq_ignore_ascii_case(name)))
    };
    let matches = entries.iter().filter(|entry| {
        let benchmark = entry.benchmark;
        let submitter = &benchmark.submitter;
        let ids: Vec<&str> = entry.ids.iter().map(String::as_str).collect();
        let system_name = entry.system.name.as_deref().unwrap_or_default();
        is_match(&request.result, &ids)
            && is_match(&request.system, &[&benchmark.system, system_name])
            && is_match(&request.submitter, &[&submitter.name])
            && request.division.is_none_or(|requested| requested == submitter.division)
            && is_match(&request.benchmark, &[&benchmark.name, index.official_name(benchmark)])
    });
    let matching: Vec<&ImportableResult<'_>> = matches.collect();
    // A submitter's own name of a benchmark is one result, the suite's may be two: -99 and -99.9.
    let exact =
        |entry: &&&ImportableResult<'_>| is_match(&request.benchmark, &[&entry.benchmark.name]);
    let own: Vec<&ImportableResult<'_>> = matching.iter().filter(exact).copied().collect();
    match (&matching[..], &own[..]) {
        ([entry], _) | (_, [entry]) => Ok(entry),
        ([], _) => Err(Failure::usage(
            "no published result matches; `retrial list --results TREE` shows all",
        )),
        (several, _) => {
            let shown: Vec<String> = several.iter().map(|one| entry_label(one)).collect();
            let count = format::format_count(several.len(), "published result");
            Err(Failure::usage(format!("{count} match")).with_help(list_choices(&shown)).with_help("options that choose: --result ID, --system SYSTEM, --benchmark NAME, --submitter NAME, --division DIVISION"))
        }
    }
}

/// Other submitters' results of the benchmark, in the same division on as many of the same GPUs.
pub fn comparable_results<'e>(
    index: &ResultsIndex<'_>,
    entries: &'e [ImportableResult<'e>],
    subject: &ImportableResult<'_>,
) -> Vec<&'e ImportableResult<'e>> {
    let Some(own) = &subject.system.accelerators else {
        return Vec::new();
    };
    let benchmark = subject.benchmark;
    let others = entries.iter().filter(|entry| {
        let other = entry.benchmark;
        other.relative_path() != benchmark.relative_path()
            && other.submitter.division == benchmark.submitter.division
            && index.official_name(other) == index.official_name(benchmark)
            && entry.system.accelerators.as_ref().is_some_and(|one| one.is_like(own))
    });
    others.collect()
}

fn entry_label(entry: &ImportableResult<'_>) -> String {
    let path = entry.benchmark.relative_path();
    let id = entry.ids.iter().map(|id| format!("{id} "));
    format!("{}{}", id.collect::<String>(), path.display())
}

/// The results that match.
pub fn filter_results<'e>(
    index: &ResultsIndex<'_>,
    entries: &'e [ImportableResult<'e>],
    filter: &RecipeFilter,
) -> Result<Vec<&'e ImportableResult<'e>>, Failure> {
    refuse_unstated(filter)?;
    let all: Vec<Facets> = entries.iter().map(|entry| facets_of(index, entry)).collect();
    let round = index.round_name.as_deref();
    filter.refuse_unknown("published result", &round.into_iter().collect(), &all)?;
    let part = filter.part.as_ref().map(|part| part.to_lowercase());
    let has_part = |entry: &ImportableResult<'_>| {
        let part = part.as_ref();
        part.is_none_or(|part| entry_label(entry).to_lowercase().contains(part))
    };
    let pairs = entries.iter().zip(&all);
    let matching = pairs.filter(|(entry, values)| has_part(entry) && filter.matches(round, values));
    Ok(matching.map(|(entry, _)| entry).collect())
}

/// Refuses filters of what no published result states.
pub fn refuse_unstated(filter: &RecipeFilter) -> Result<(), Failure> {
    let unstated = [("outcome", filter.facets.outcome.len()), ("rocm", filter.facets.rocm.len())];
    if let Some((name, _)) = unstated.into_iter().find(|(_, count)| *count > 0) {
        return Err(Failure::usage(format!(
            "--{name} selects recipes and runs: a published result states none"
        ))
        .with_help(
            "select results of a tree by their outcome: retrial judge TREE --outcome invalid",
        ));
    }
    Ok(())
}

fn facets_of(index: &ResultsIndex<'_>, entry: &ImportableResult<'_>) -> Facets {
    let benchmark = entry.benchmark;
    Facets {
        suites: vec!["mlperf-inference".to_owned()],
        submitters: vec![benchmark.submitter.name.clone()],
        benchmarks: vec![benchmark.name.clone(), index.official_name(benchmark).to_owned()],
        gpus: gpu_names(entry),
        ..Facets::default()
    }
}

fn gpu_names(entry: &ImportableResult<'_>) -> Vec<String> {
    let accelerators = entry.system.accelerators.as_ref();
    accelerators.map_or(Vec::new(), |one| one.model_names().to_vec())
}
