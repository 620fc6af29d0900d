//! Subjects of a comparison: a run, a folder, several runs pooled, a batch's cell.

use std::path::Path;

use itertools::Itertools as _;

use super::pool::{Pool, PooledRun, count_runs_once};
use crate::app::failure::Failure;
use crate::app::judge;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::{CompareRequest, GlobalOptions, JudgeRequest};
use crate::app::runs;
use retrial_document::{list_choices, suggest_nearest};
use retrial_history::{RunFilter, RunSummary};
use retrial_plan::BatchPosition;
use retrial_results::evidence::environment;
use retrial_results::evidence::identity::copies::find_copy_of_run;
use retrial_results::verdict::comparison::{ComparisonSubject, Fact};
use retrial_results::verdict::{Evidence, RunContext};
use retrial_run::read_complete_evidence;
use retrial_store::RunDirectory;

/// Reads the subjects. A run that is pooled a second time adds nothing, and one that two subjects have is noted.
pub fn read_subjects(
    global: &GlobalOptions,
    request: &CompareRequest,
) -> Result<Vec<ComparisonSubject>, Failure> {
    refuse_filters(request)?;
    let names = request.subjects.iter();
    let mut subjects: Vec<Subject> =
        names.map(|name| read_subject(global, name, request)).collect::<Result<_, _>>()?;
    count_runs_once(&mut subjects);
    Ok(subjects.into_iter().map(into_comparison).collect())
}

/// A folder of results, a run, or several.
type Subject = Pool<SubjectRun>;

/// A run, or a folder of results with as many groups of evidence as it has benchmarks.
struct SubjectRun {
    name: String,
    groups: Vec<(RunContext, Vec<Evidence>)>,
    environment: Vec<Fact>,
    is_folder: bool,
}

impl SubjectRun {
    fn all_evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.groups.iter().flat_map(|(_, evidence)| evidence)
    }

    fn into_comparison(self) -> ComparisonSubject {
        let mut subject =
            ComparisonSubject::from_evidence(self.name, &self.groups, self.environment);
        subject.runs = usize::from(!self.is_folder);
        subject
    }
}

impl PooledRun for SubjectRun {
    fn name(&self) -> &str {
        &self.name
    }

    fn find_copy(&self, other: &Self) -> Option<String> {
        let mut trials = self.all_evidence().flat_map(|evidence| &evidence.trials);
        trials.find_map(|trial| find_copy_of_run(trial, other.all_evidence()))
    }
}

fn into_comparison(subject: Subject) -> ComparisonSubject {
    let mut runs: Vec<_> = subject.runs.into_iter().map(SubjectRun::into_comparison).collect();
    let mut compared = match runs.pop() {
        Some(only) if runs.is_empty() => ComparisonSubject { name: subject.name, ..only },
        last => {
            runs.extend(last);
            ComparisonSubject::pool(subject.name, runs)
        }
    };
    compared.notes.extend(subject.notes);
    compared
}

/// Refuses filters, which select runs of the history, if subjects are named.
fn refuse_filters(request: &CompareRequest) -> Result<(), Failure> {
    let filter = RunFilter { recipe: Vec::new(), settings: Vec::new(), ..request.filter.clone() };
    if !filter.is_unrestricted() || request.filter.recipe.len() > 1 {
        return Err(Failure::usage(
            "--outcome, --suite, --submitter, --benchmark, --gpu, --rocm, --batch, --host, --since, \
             --until and several recipes select runs of the history: they need --by",
        ));
    }
    if !request.filter.settings.is_empty() && request.filter.recipe.is_empty() {
        return Err(Failure::usage("--set requires --recipe or --by"));
    }
    Ok(())
}

fn read_subject(
    global: &GlobalOptions,
    name: &str,
    request: &CompareRequest,
) -> Result<Subject, Failure> {
    if !Path::new(name).exists() {
        if let Some((batch, cell)) = name.split_once(':') {
            return match open::find_results(&global.home, batch) {
                Ok(Some(RunOrBatch::Batch(found))) => read_cell(global, found.id(), cell),
                // The history may have runs of a batch that is not here.
                _ => read_cell(global, batch, cell),
            };
        }
        if name.contains('+') {
            let runs = name.split('+').map(|one| read_run(global, one.trim()));
            let runs = runs.collect::<Result<_, _>>()?;
            return Ok(Pool::new(name, runs));
        }
    }
    match open::find_results(&global.home, name) {
        Ok(Some(RunOrBatch::Run(run))) => Ok(single_run(evidence_of_run(&run)?)),
        Ok(Some(RunOrBatch::Batch(batch))) => {
            Err(cell_required(batch.id(), &runs_of_batch(global, batch.id())))
        }
        Ok(None) => read_folder(global, name, request),
        // The history may have runs of a batch that is not here.
        Err(failure) => match runs_of_batch(global, name) {
            rows if name.is_empty() || rows.is_empty() => Err(failure),
            rows => Err(cell_required(name, &rows)),
        },
    }
}

fn read_folder(
    global: &GlobalOptions,
    name: &str,
    request: &CompareRequest,
) -> Result<Subject, Failure> {
    let request = JudgeRequest {
        recipe: request.filter.recipe.first().cloned(),
        settings: request.filter.settings.clone().into(),
        force: true,
        ..JudgeRequest::default()
    };
    let gathered = judge::gather_results(global, Path::new(name), &request)?.into_iter();
    Ok(single_run(SubjectRun {
        name: name.to_owned(),
        groups: gathered.map(|one| (one.context, one.evidence)).collect(),
        environment: Vec::new(),
        is_folder: true,
    }))
}

fn single_run(run: SubjectRun) -> Subject {
    Pool::new(run.name.clone(), vec![run])
}

/// A run by its directory or id.
fn read_run(global: &GlobalOptions, name: &str) -> Result<SubjectRun, Failure> {
    match open::find_results(&global.home, name)? {
        Some(RunOrBatch::Run(run)) => evidence_of_run(&run),
        _ => Err(global
            .home
            .find_run(name)
            .err()
            .map_or_else(|| Failure::usage(format!("{name} is not a run")), Failure::from)),
    }
}

fn evidence_of_run(run: &RunDirectory) -> Result<SubjectRun, Failure> {
    Ok(SubjectRun {
        name: run.id().to_owned(),
        groups: vec![read_complete_evidence(run)?],
        environment: environment::facts_of_run(run),
        is_folder: false,
    })
}

/// The runs of batches whose id contains this.
fn runs_of_batch(global: &GlobalOptions, id: &str) -> Vec<RunSummary> {
    runs::open_index(global).runs(&RunFilter::for_batch(id))
}

/// All runs of a batch's cell, in the order of its rounds.
fn read_cell(global: &GlobalOptions, batch: &str, cell: &str) -> Result<Subject, Failure> {
    let rows = runs_of_batch(global, batch);
    let batches = distinct_values(&rows, |batch| &batch.id);
    let [id] = &batches[..] else {
        return Err(if batches.is_empty() {
            Failure::usage(format!("{batch}:{cell}: the history has no run of a batch {batch}"))
                .with_help("see: retrial runs")
        } else {
            let message =
                format!("{batch}:{cell}: {batch} is part of the names of several batches");
            Failure::usage(message).with_help(list_choices(&batches))
        });
    };
    let mut found: Vec<&RunSummary> =
        rows.iter().filter(|row| belongs_to_cell(row, cell)).collect();
    found.sort_by_key(|row| row.batch.as_ref().map(|batch| batch.trial));
    if found.is_empty() {
        let cells = distinct_values(&rows, |batch| &batch.cell);
        let help = suggest_nearest(cell, cells.iter().map(String::as_str));
        return Err(Failure::usage(format!("batch {id} has no cell {cell}"))
            .with_help(help.unwrap_or_else(|| list_choices(&cells))));
    }
    let runs = found.iter().map(|row| evidence_of_run(&row.directory()));
    let runs = runs.collect::<Result<_, _>>()?;
    Ok(Pool::new(format!("{id}:{cell}"), runs))
}

/// A cell's name is its axes' values, in whichever order they are typed.
fn belongs_to_cell(row: &RunSummary, cell: &str) -> bool {
    let batch = row.batch.as_ref();
    batch.is_some_and(|batch| {
        batch.cell == cell || sorted_axis_values(&batch.cell) == sorted_axis_values(cell)
    })
}

fn sorted_axis_values(cell: &str) -> Vec<&str> {
    cell.split(',').map(str::trim).sorted().collect()
}

/// Returns a property of the batches of these runs, each value once.
fn distinct_values(rows: &[RunSummary], value: impl Fn(&BatchPosition) -> &String) -> Vec<String> {
    let batches = rows.iter().filter_map(|row| row.batch.as_ref());
    batches.map(value).sorted().dedup().cloned().collect()
}

fn cell_required(id: &str, rows: &[RunSummary]) -> Failure {
    let message = format!("{id} is a batch: name one of its cells, {id}:CELL");
    let cells = distinct_values(rows, |batch| &batch.cell);
    let names: Vec<String> = cells.iter().map(|cell| format!("{id}:{cell}")).collect();
    Failure::usage(message).with_help(list_choices(&names))
}
