//! Runs of other hosts: those that measured cells of the batch, and systems of their own.

use itertools::Itertools as _;

use super::evidence::{RunEvidence, SubjectEvidence};
use super::model::CellVerdict;
use super::subject::JudgedSubject;
use crate::{BatchPlan, Cell, ExternalResult, NamedValues};
use retrial_results::verdict::Verdict;

/// A run of another host.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalRun {
    /// Its name, and its evidence.
    pub run: RunEvidence,
    /// The choices of its plan; none of a folder of results, which has no plan.
    pub choices: Option<RunChoices>,
}

/// The choices by which a run was planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunChoices {
    /// The recipe's name or path.
    pub recipe: String,
    /// The value of each axis of variants and of each param.
    pub values: NamedValues,
}

/// Adds runs of another host to the cells that they measured, each by the choices of its plan. Runs without a plan are
/// of the only cell that the host measured. Returns the runs of no cell.
pub fn assign_to_cells(
    plan: &BatchPlan,
    other: &ExternalResult,
    runs: Vec<ExternalRun>,
    cells: &mut [SubjectEvidence],
) -> SubjectEvidence {
    let measured: Vec<&Cell> = plan
        .external_cells
        .iter()
        .filter(|cell| cell.external.as_ref() == Some(&other.name))
        .collect();
    let mut unmatched = Vec::new();
    for ExternalRun { mut run, choices } in runs {
        let cell = match (&choices, &measured[..]) {
            (Some(choices), cells) => cells.iter().find(|cell| choices.is_of_cell(cell)),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let name = cell.map(|cell| &cell.name);
        match cells.iter_mut().find(|one| Some(&one.name) == name) {
            Some(cell) => {
                run.trial = u32::try_from(cell.runs.len() + 1).unwrap_or(u32::MAX);
                cell.runs.push(run);
            }
            None => unmatched.push(run),
        }
    }
    SubjectEvidence { name: other.name.clone(), runs: unmatched }
}

impl RunChoices {
    /// Returns whether a run with these choices is of a cell. A recipe of a path may be elsewhere on another host.
    fn is_of_cell(&self, cell: &Cell) -> bool {
        let file_name = |recipe: &str| recipe.rsplit('/').next().map(str::to_owned);
        file_name(&self.recipe) == file_name(&cell.path) && cell.axes.is_subset_of(&self.values)
    }
}

/// The other hosts' runs that are no cells of the batch.
pub(super) fn external_systems<'a>(
    plan: &'a BatchPlan,
    external_results: &'a [SubjectEvidence],
) -> impl Iterator<Item = &'a SubjectEvidence> {
    external_results.iter().filter(|evidence| {
        find_external(plan, &evidence.name).is_none_or(|one| one.cells.is_empty())
    })
}

fn find_external<'a>(plan: &'a BatchPlan, name: &str) -> Option<&'a ExternalResult> {
    plan.external_results.iter().find(|one| one.name == name)
}

/// The results of another host, one for each benchmark.
pub(super) fn judge_external(
    evidence: &SubjectEvidence,
    subject: &JudgedSubject,
    cells: &[CellVerdict],
) -> Vec<CellVerdict> {
    if subject.verdicts.is_empty() {
        return vec![CellVerdict {
            external: Some(evidence.name.clone()),
            ..CellVerdict::from_runs(&evidence.name, None, &evidence.runs)
        }];
    }
    let is_alone = subject.verdicts.len() == 1 && cells.iter().map(|cell| &cell.recipe).all_equal();
    let to_cell = |(at, verdict): (usize, &Verdict)| {
        let benchmark = &verdict.submission.benchmark;
        let is_like = |cell: &&CellVerdict| {
            let verdict = cell.verdict.as_ref();
            verdict.is_some_and(|verdict| verdict.submission.benchmark == *benchmark)
        };
        let like = cells.iter().find(is_like);
        let recipe = like.map_or(benchmark, |cell| &cell.recipe).clone();
        let name =
            if is_alone { evidence.name.clone() } else { format!("{recipe},{}", evidence.name) };
        let runs = evidence.runs.iter().filter(|run| match &run.evidence {
            Ok((context, _)) => context.submission.benchmark == *benchmark,
            // Nobody knows of which benchmark it is.
            Err(_) => at == 0,
        });
        CellVerdict {
            recipe,
            external: Some(evidence.name.clone()),
            ..CellVerdict::from_runs(&name, Some(verdict), runs)
        }
    };
    subject.verdicts.iter().enumerate().map(to_cell).collect()
}

/// Runs that are of none of the cells that their host measured.
pub(super) fn note_unmatched_runs(
    plan: &BatchPlan,
    external_results: &[SubjectEvidence],
) -> Vec<String> {
    let with_cells = external_results.iter().filter_map(|evidence| {
        let other = find_external(plan, &evidence.name).filter(|one| !one.cells.is_empty())?;
        Some((evidence, &other.cells))
    });
    let notes = with_cells.flat_map(|(evidence, cells)| {
        evidence.runs.iter().map(move |run| {
            let reason = run.evidence.as_ref().err();
            let reason = reason.map_or_else(String::new, |lost| format!(": {}", lost.reason));
            format!(
                "{}: {} is of no cell with {cells}, and is not part of the batch{reason}",
                evidence.name, run.run
            )
        })
    });
    notes.collect()
}
