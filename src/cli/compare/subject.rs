//! What is typed as one side of a comparison: a run, a folder, several runs pooled, a batch's cell.

use std::path::Path;

use super::{listed, refuse_filters};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::options::{CompareRequest, JudgeRequest};
use crate::cli::{judge, runs};
use crate::history::{Filter, RunSummary};
use crate::results::evidence::environment;
use crate::results::verdict::comparison::Subject;
use crate::run::evidence_of;
use crate::store::RunDirectory;

/// Everything that is named.
pub fn all(global: &GlobalOptions, arguments: &CompareRequest) -> Result<Vec<Subject>, Failure> {
    refuse_filters(arguments)?;
    let subjects = arguments.subjects.iter();
    subjects
        .map(|name| subject(global, name, arguments))
        .collect()
}

fn subject(
    global: &GlobalOptions,
    name: &str,
    arguments: &CompareRequest,
) -> Result<Subject, Failure> {
    let path = Path::new(name);
    if path.is_dir() && !path.join("plan.json").exists() {
        return folder(global, name, arguments);
    }
    if path.exists() {
        return run(global, name);
    }
    if let Some((batch, cell)) = name.split_once(':') {
        return of_cell(global, batch, cell);
    }
    if name.contains('+') {
        let runs: Result<Vec<Subject>, Failure> =
            name.split('+').map(|one| run(global, one.trim())).collect();
        return Ok(Subject::pooled(name, runs?));
    }
    run(global, name).map_err(|failure| hinted(global, name, failure))
}

fn folder(
    global: &GlobalOptions,
    name: &str,
    arguments: &CompareRequest,
) -> Result<Subject, Failure> {
    let asked = JudgeRequest {
        directory: name.to_owned(),
        recipe: arguments.filter.recipe.first().cloned(),
        settings: arguments.filter.settings.clone(),
        ..JudgeRequest::default()
    };
    let groups = judge::gather(global, Path::new(name), &asked)?.into_iter();
    let groups: Vec<_> = groups
        .map(|(_, context, evidence)| (context, evidence))
        .collect();
    Ok(Subject::of(name, &groups, Vec::new()))
}

/// A run by its directory or id.
fn run(global: &GlobalOptions, name: &str) -> Result<Subject, Failure> {
    let path = Path::new(name);
    let run = if path.join("plan.json").exists() {
        let path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("{name}: {error}")))?;
        RunDirectory::at(path)
    } else {
        global.home.find(name)?
    };
    of_directory(&run)
}

fn of_directory(run: &RunDirectory) -> Result<Subject, Failure> {
    let evidence = evidence_of(run, false)?;
    let mut subject = Subject::of(run.id(), &[evidence], environment::of_run(run));
    subject.runs = 1;
    Ok(subject)
}

/// All runs of a batch's cell, in the order of its rounds.
fn of_cell(global: &GlobalOptions, batch: &str, cell: &str) -> Result<Subject, Failure> {
    let rows = runs::index(global).runs(&Filter::of_batch(batch));
    let mut batches: Vec<&str> = rows.iter().filter_map(of_batch).collect();
    batches.dedup();
    batches.sort_unstable();
    batches.dedup();
    let [id] = batches[..] else {
        let found: Vec<String> = batches.iter().map(|id| (*id).to_owned()).collect();
        return Err(Failure::usage(if found.is_empty() {
            format!("{batch}:{cell}: no run of a batch {batch} is in the history: retrial runs")
        } else {
            format!(
                "{batch}:{cell} could be of several batches:{}",
                listed(&found)
            )
        }));
    };
    let mut found: Vec<&RunSummary> = rows.iter().filter(|row| is_of_cell(row, cell)).collect();
    found.sort_by_key(|row| row.batch.as_ref().map(|batch| batch.trial));
    if found.is_empty() {
        return Err(Failure::usage(format!(
            "batch {id} has no cell {cell}; it has:{}",
            listed(&cells(&rows))
        )));
    }
    let runs = found
        .iter()
        .map(|row| of_directory(&RunDirectory::at(row.path.clone())))
        .collect::<Result<Vec<Subject>, Failure>>()?;
    Ok(Subject::pooled(format!("{id}:{cell}"), runs))
}

fn of_batch(row: &RunSummary) -> Option<&str> {
    row.batch.as_ref().map(|batch| batch.id.as_str())
}

/// A cell's name is its axes' values, in whichever order they are typed.
fn is_of_cell(row: &RunSummary, cell: &str) -> bool {
    let sorted = |name: &str| {
        let mut parts: Vec<String> = name.split(',').map(|part| part.trim().to_owned()).collect();
        parts.sort();
        parts
    };
    row.batch
        .as_ref()
        .is_some_and(|batch| batch.cell == cell || sorted(&batch.cell) == sorted(cell))
}

fn cells(rows: &[RunSummary]) -> Vec<String> {
    let mut cells: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(row.batch.as_ref()?.cell.clone()))
        .collect();
    cells.sort();
    cells.dedup();
    cells
}

/// No run is called so; a batch may be.
fn hinted(global: &GlobalOptions, name: &str, failure: Failure) -> Failure {
    let rows = runs::index(global).runs(&Filter::of_batch(name));
    if name.is_empty() || rows.is_empty() {
        return failure;
    }
    Failure::usage(format!(
        "{name} is a batch: name one of its cells, {name}:CELL{}",
        listed(&cells(&rows))
    ))
}
