//! `retrial compare --by AXIS`: the history's runs along one axis, everything else being equal.

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use super::{options, print};
use crate::app::failure::Failure;
use crate::app::options::CompareRequest;
use crate::app::options::GlobalOptions;
use crate::cli::runs;
use crate::format;
use crate::history::{Grouped, PLACES, RunSummary, Together, by as along};
use crate::results::evidence::environment;
use crate::results::verdict::ExitCode;
use crate::results::verdict::comparison::{Comparison, Comparisons, Measurement, Subject, compare};
use crate::store::RunDirectory;

/// Of so many sides of comparisons every file is looked at; of more, what the index knows.
const LOOKED_AT: usize = 24;

/// Compares the runs of the history that are meant.
pub fn by(
    global: &GlobalOptions,
    axis: &str,
    arguments: &CompareRequest,
) -> Result<ExitCode, Failure> {
    let filter = arguments.filter.clone();
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
        comparisons.push(of(axis, together, arguments, all_files)?);
    }
    let mut notes = left_out(axis, &grouped);
    if !all_files {
        notes.push(format!(
            "of {sides} sides, what differs is told as far as the index knows it: with fewer \
             (--recipe, --set, --host) every file is looked at"
        ));
    }
    let all = Comparisons {
        schema: 1,
        by: axis.to_owned(),
        exit_code: ExitCode::first(comparisons.iter().map(|one: &Comparison| one.exit_code)),
        comparisons,
        notes,
    };
    print(global, &all);
    Ok(all.exit_code)
}

fn of(
    axis: &str,
    together: &Together<'_>,
    arguments: &CompareRequest,
    all_files: bool,
) -> Result<Comparison, Failure> {
    let mut sides: Vec<&(String, Vec<&RunSummary>)> = together.sides.iter().collect();
    if let Some(baseline) = &arguments.baseline {
        let Some(position) = sides.iter().position(|(value, _)| value == baseline) else {
            let values: Vec<&str> = sides.iter().map(|(value, _)| value.as_str()).collect();
            return Err(Failure::usage(format!(
                "--baseline {baseline}: {} has no such {axis}, but {}",
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
    let mut comparison = compare(&subjects, &options(arguments));
    comparison.title = Some(together.title.clone());
    Ok(comparison)
}

/// One value of the axis: its runs pooled, in the order in which they began.
fn side(name: &str, runs: &[&RunSummary], all_files: bool) -> Subject {
    let measured: Vec<Vec<Measurement>> = runs.par_iter().map(|row| measured(row)).collect();
    // Of hundreds of runs in one place its facts are told once.
    let mut places = HashSet::new();
    let subjects = runs.iter().zip(measured).map(|(row, measured)| {
        let facts = if places.insert(place(row)) {
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
                    "of {name} the environment is that of its newest run, {}",
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

/// What a row's facts are made of.
type FactKey<'a> = (
    [&'a str; 8],
    &'a BTreeMap<String, String>,
    &'a BTreeMap<String, String>,
);

fn place(row: &RunSummary) -> FactKey<'_> {
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

fn left_out(axis: &str, grouped: &Grouped<'_>) -> Vec<String> {
    let counted = [
        (grouped.without, format!("have no {axis}")),
        (grouped.unjudged, "have no verdict".to_owned()),
        (
            grouped.alone,
            format!("have no run of another {axis} beside them"),
        ),
    ];
    counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} left out: they {why}", format::count(count, "run")))
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
            format!("no run in {home} has all of that: `retrial runs` shows what there is")
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
    let notes = left_out(axis, grouped).join("; ");
    format!("no two runs differ in {axis} alone: {notes}")
}
