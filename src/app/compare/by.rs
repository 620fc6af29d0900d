//! Runs of the history along one axis, everything else being equal.

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use super::options;
use crate::app::failure::Failure;
use crate::app::options::{CompareRequest, GlobalOptions};
use crate::app::runs;
use crate::format;
use crate::history::{Grouped, PLACES, RunSummary, Together, by as along};
use crate::results::evidence::environment;
use crate::results::verdict::ExitCode;
use crate::results::verdict::comparison::{Comparison, Comparisons, Measurement, Subject, compare};
use crate::store::RunDirectory;

/// With at most so many values, the environments are read from the runs' files; with more, from
/// the index.
const LOOKED_AT: usize = 24;

type Choices<'a> = &'a BTreeMap<String, String>;

/// Compares the runs of the history that match the filters.
pub fn by(
    global: &GlobalOptions,
    axis: &str,
    request: &CompareRequest,
) -> Result<Comparisons, Failure> {
    let filter = request.filter.clone();
    let rows = runs::index(global).runs(&filter);
    let grouped = along(&rows, axis);
    if grouped.together.is_empty() {
        return Err(Failure::usage(nothing(
            global,
            axis,
            (&rows, filter.is_all()),
            &grouped,
        )));
    }
    let sides: usize = grouped.together.iter().map(|one| one.sides.len()).sum();
    let all_files = sides <= LOOKED_AT;
    let mut comparisons = Vec::new();
    for together in &grouped.together {
        comparisons.push(of(axis, together, request, all_files)?);
    }
    let mut notes = omitted(axis, &grouped);
    if !all_files {
        notes.push(format!(
            "with {sides} values in all, environments are compared by the index alone; select fewer \
             (--recipe, --set, --host) to compare every file"
        ));
    }
    Ok(Comparisons {
        schema: 1,
        by: axis.to_owned(),
        exit_code: ExitCode::first(comparisons.iter().map(|one: &Comparison| one.exit_code)),
        comparisons,
        notes,
    })
}

fn of(
    axis: &str,
    together: &Together<'_>,
    request: &CompareRequest,
    all_files: bool,
) -> Result<Comparison, Failure> {
    let mut sides: Vec<&(String, Vec<&RunSummary>)> = together.sides.iter().collect();
    if let Some(baseline) = &request.baseline {
        let Some(position) = sides.iter().position(|(value, _)| value == baseline) else {
            let values: Vec<&str> = sides.iter().map(|(value, _)| value.as_str()).collect();
            return Err(Failure::usage(format!(
                "--baseline {baseline}: {} has no such {axis}; it has {}",
                together.title,
                values.join(", ")
            )));
        };
        sides[..=position].rotate_right(1);
    }
    let subjects: Vec<Subject> = sides
        .into_iter()
        .map(|(value, runs)| side(&format!("{axis}={value}"), runs, all_files))
        .collect();
    let mut comparison = compare(&subjects, &options(request));
    comparison.title = Some(together.title.clone());
    Ok(comparison)
}

/// One value of the axis: its runs pooled, in the order in which they began.
fn side(name: &str, runs: &[&RunSummary], all_files: bool) -> Subject {
    let measured: Vec<Vec<Measurement>> = runs.par_iter().map(|row| measured(row)).collect();
    // Hundreds of runs in one environment list its facts once.
    let mut places = HashSet::new();
    let subjects = runs.iter().zip(measured).map(|(row, measured)| {
        let facts = if places.insert(facts_key(row)) {
            row.facts()
        } else {
            Vec::new()
        };
        let of = (&row.submission, &row.variant);
        Subject::of_run(&*row.id, of, measured, facts)
    });
    let subjects: Vec<Subject> = subjects.collect();
    let mut pool = Subject::pooled(name, subjects);
    let newest = runs.iter().rev().find(|row| row.outcome.is_some());
    if let Some(row) = newest.filter(|_| all_files) {
        let files = environment::of_run(&RunDirectory::at(row.path.clone()));
        if !files.is_empty() {
            pool.environment = files;
            if runs.len() > 1 {
                pool.notes.push(format!(
                    "the environment of {name} is that of its newest run, {}",
                    row.id
                ));
            }
        }
    }
    pool
}

fn measured(row: &RunSummary) -> Vec<Measurement> {
    let measured = row.measured.as_deref();
    let measured = measured.and_then(|text| serde_json::from_str(text).ok());
    measured.unwrap_or_default()
}

/// Everything that a row's facts are made of.
fn facts_key(row: &RunSummary) -> ([&str; 8], Choices<'_>, Choices<'_>) {
    let words = [
        &row.image,
        &row.digest,
        &row.gpus,
        &row.rocm,
        &row.driver,
        &row.host,
        &row.kernel,
        &row.tool,
    ];
    (words.map(String::as_str), &row.variant, &row.params)
}

fn omitted(axis: &str, grouped: &Grouped<'_>) -> Vec<String> {
    let counted = [
        (grouped.without, format!("have no {axis}")),
        (grouped.unjudged, "have no verdict".to_owned()),
        (
            grouped.alone,
            format!("have no counterpart with another {axis}"),
        ),
    ];
    counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} omitted: they {why}", format::count(count, "run")))
        .collect()
}

/// Why there is nothing to compare, and what there is.
fn nothing(
    global: &GlobalOptions,
    axis: &str,
    (rows, all): (&[RunSummary], bool),
    grouped: &Grouped<'_>,
) -> String {
    if rows.is_empty() {
        let home = global.home.runs();
        return if all {
            format!("there are no runs in {} yet", home.display())
        } else {
            let home = home.display();
            format!("no run in {home} matches; `retrial runs` lists all")
        };
    }
    if grouped.without == rows.len() {
        let mut known: Vec<&str> = rows
            .iter()
            .flat_map(|row| row.variant.keys().chain(&row.modified))
            .map(String::as_str)
            .collect();
        known.sort_unstable();
        known.dedup();
        known.extend(PLACES);
        return format!(
            "no run has an axis or a parameter {axis}; they have: {}",
            known.join(", ")
        );
    }
    let notes = omitted(axis, grouped).join("; ");
    format!("no two runs differ in {axis} alone: {notes}")
}
