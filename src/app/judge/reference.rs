//! Published figures from a tree's own table; with `--reference`, from a table, another tree, or a run.

use std::path::Path;

use super::read_rules;
use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::app::terminal;
use retrial_document::ErrorText;
use retrial_results::directory::{SuiteTrees, valid_results};
use retrial_results::evidence::tree::JudgedBenchmark;
use retrial_results::evidence::tree::published::{PublishedFigures, PublishedResult};
use retrial_run::judge_run;
use retrial_store::RunDirectory;

/// The figures that results are compared with.
pub fn read_reference(request: &JudgeRequest) -> Result<Option<PublishedFigures>, Failure> {
    let Some(path) = &request.reference else {
        return Ok(None);
    };
    let mut published = if path.is_dir() {
        PublishedFigures {
            name: path.display().to_string(),
            rows: read_directory(path, request)?,
            ..PublishedFigures::default()
        }
    } else {
        PublishedFigures::from_file(path).map_err(|error| Failure::usage(error.to_string()))?
    };
    published.id.clone_from(&request.reference_id);
    published.system.clone_from(&request.reference_system);
    let is_selected = |row: &PublishedResult| match (&published.id, &published.system) {
        (Some(id), _) => row.id.as_ref() == Some(id),
        (_, Some(system)) => row.is_of_system(system),
        _ => true,
    };
    if !published.rows.iter().any(is_selected) {
        let missing = match (&published.id, &published.system) {
            (Some(id), _) => format!("no row has the id {id}"),
            (None, Some(system)) => format!("no row has the system {system}"),
            (None, None) => "no row has a performance figure".to_owned(),
        };
        return Err(Failure::usage(format!("{}: {missing}", path.display())));
    }
    Ok(Some(published))
}

/// The figures of the trees' own table. Nobody named it: a table that cannot be used is reported, and results are
/// judged without it.
pub fn read_round_table(trees: &SuiteTrees) -> Option<PublishedFigures> {
    let problem = match &trees.round_tables()[..] {
        [] => return None,
        [table] => match PublishedFigures::from_file(table) {
            Ok(published) => return Some(published),
            Err(error) => ErrorText::new(error.to_string()),
        },
        [first, second, ..] => {
            let (first, second) = (first.display(), second.display());
            ErrorText::new(format!("{first} and {second} list the results of different trees"))
        }
    };
    let problem = problem.in_context("results are not compared with published figures: ");
    terminal::note_error(&problem.with_help("name a table: --reference FILE"));
    None
}

/// Refuses published figures that no result was compared with.
pub fn refuse_unused(request: &JudgeRequest, compared: bool) -> Result<(), Failure> {
    let Some(path) = request.reference.as_ref().filter(|_| !compared) else {
        return Ok(());
    };
    let rows = match (&request.reference_id, &request.reference_system) {
        (Some(id), _) => format!("its row {id} is"),
        (None, Some(system)) => format!("its rows of {system} are"),
        (None, None) => "none of its rows is".to_owned(),
    };
    let relation = if request.reference_id.is_some() || request.reference_system.is_some() {
        "of other benchmarks or scenarios"
    } else {
        "of the same submitter, system, benchmark and scenario"
    };
    Err(Failure::usage(format!(
        "no result was compared with {}: {rows} {relation}",
        path.display()
    ))
    .with_help("choose a row: --reference-id ID, or the rows of a system: --reference-system NAME"))
}

fn read_directory(path: &Path, request: &JudgeRequest) -> Result<Vec<PublishedResult>, Failure> {
    if path.join("plan.json").exists() {
        let canonical_path = path.canonicalize();
        let at = canonical_path
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        return Ok(valid_results(&judge_run(&RunDirectory::from_path(at), false)?, None));
    }
    let trees = SuiteTrees::find(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let Some(trees) = trees else {
        return Err(Failure::usage(format!(
            "{} is neither a run nor a submission tree nor a table of results",
            path.display()
        )));
    };
    // Only the results that are compared with these must have an accuracy.
    let request = JudgeRequest { require_accuracy: false, ..request.clone() };
    let mut all = Vec::new();
    let each = |judged: JudgedBenchmark| {
        let official = judged.benchmark.official.as_deref();
        all.extend(valid_results(&judged.verdict, official));
    };
    trees.judge(&read_rules(&request)?, |_| {}, each)?;
    Ok(all)
}
