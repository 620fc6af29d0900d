//! From the evidence of all cells to the verdict of the batch.

use super::claims;
use super::differences::compare_with_baselines;
use super::evidence::{RunEvidence, SubjectEvidence, find_own_failure};
use super::external::{external_systems, judge_external, note_unmatched_runs};
use super::model::{BatchAxis, BatchVerdict, CellVerdict};
use super::sentence;
use super::subject::{JudgedSubject, SubjectOrigin};
use super::tester::ClaimTestOptions;
use crate::{BatchPlan, Cell, RunOrder};
use retrial_recipe::model::Claim;
use retrial_results::verdict::claim::{ClaimOutcome, ClaimPart, ClaimVerdict};
use retrial_results::verdict::comparison::Change;
use retrial_results::verdict::{ExitCode, Outcome, Verdict};

const BATCH_VERDICT_SCHEMA_VERSION: u32 = 1;

/// Judges a batch: the same evidence always gives the same verdict. Runs of another host that are of none of its cells
/// remain in `external_results`, and are noted.
pub fn judge_batch(
    id: Option<&str>,
    plan: &BatchPlan,
    cells: &[SubjectEvidence],
    external_results: &[SubjectEvidence],
) -> BatchVerdict {
    let runs_of = |cell: &Cell| -> &[RunEvidence] {
        let subject = cells.iter().find(|subject| subject.name == cell.name);
        subject.map_or(&[], |subject| subject.runs.as_slice())
    };
    let cell_subjects = plan.all_cells().map(|cell| {
        let origin = match cell.external {
            None => SubjectOrigin::Cell,
            Some(_) => SubjectOrigin::ExternalCell,
        };
        JudgedSubject::from_runs(&cell.name, runs_of(cell), origin)
    });
    let systems: Vec<&SubjectEvidence> = external_systems(plan, external_results).collect();
    let subjects: Vec<JudgedSubject> = cell_subjects.chain(judge_systems(&systems)).collect();
    let paired = plan.execution.order == RunOrder::Interleaved;
    let confidence = plan.execution.confidence;
    let (by_cell, mut notes) = compare_with_baselines(plan, &subjects, paired);
    let mut cell_verdicts: Vec<CellVerdict> = plan
        .all_cells()
        .zip(&subjects)
        .map(|(cell, subject)| judge_cell(plan, cell, subject, runs_of(cell)))
        .collect();
    for (cell, difference) in by_cell {
        cell_verdicts[cell].differences.push(difference);
    }
    let rules = ClaimTestOptions { paired, alpha: 1.0 - confidence };
    let claim_verdicts = claims::judge_claims(&plan.claims, &subjects, rules);
    let outcomes: Vec<Option<Outcome>> = cell_verdicts.iter().map(|cell| cell.outcome).collect();
    let claim_outcomes: Vec<ClaimOutcome> =
        claim_verdicts.iter().map(|claim| claim.outcome).collect();
    let mut all_notes = execution_notes(plan);
    all_notes.extend(plan.joint_changes.iter().cloned());
    notes.retain(|note| !all_notes.contains(note));
    notes.dedup();
    all_notes.extend(notes);
    all_notes.extend(claims::claim_notes(&plan.claims, &subjects, rules));
    all_notes.extend(explain_differing_answers(&cell_verdicts, &claim_verdicts));
    all_notes.extend(note_unmatched_runs(plan, external_results));
    let external_subjects = &subjects[cell_verdicts.len()..];
    let external_verdicts = systems
        .iter()
        .zip(external_subjects)
        .flat_map(|(evidence, subject)| judge_external(evidence, subject, &cell_verdicts))
        .collect();
    BatchVerdict {
        schema: BATCH_VERDICT_SCHEMA_VERSION,
        batch: id.map(str::to_owned),
        title: plan.title.clone(),
        outcome: worst_outcome(&outcomes, plan.search.is_some()),
        sentence: sentence::summarize_batch(&cell_verdicts, &claim_outcomes),
        exit_code: batch_exit_code(&cell_verdicts, cells, &claim_outcomes),
        confidence,
        order: plan.execution.order,
        parallel: plan.execution.parallel,
        notes: all_notes,
        axes: plan
            .axes
            .iter()
            .map(|(name, values)| BatchAxis { name: name.clone(), values: values.clone() })
            .collect(),
        notice: subjects
            .iter()
            .flat_map(|subject| &subject.verdicts)
            .find_map(|verdict| verdict.notice.clone()),
        external_results: external_verdicts,
        cells: cell_verdicts,
        excluded: plan.excluded.clone(),
        claims: claim_verdicts,
        environments: None,
        search: None,
    }
}

/// The other hosts' runs that are no cells, judged.
fn judge_systems(systems: &[&SubjectEvidence]) -> impl Iterator<Item = JudgedSubject> {
    systems.iter().map(|evidence| {
        JudgedSubject::from_runs(&evidence.name, &evidence.runs, SubjectOrigin::ExternalSystem)
    })
}

/// The worst outcome of the cells. Of a cell without a result nothing is known, unless a search did not need it.
fn worst_outcome(cells: &[Option<Outcome>], is_search: bool) -> Option<Outcome> {
    let worst = cells.iter().copied().flatten().max()?;
    let is_whole = is_search || cells.iter().all(Option::is_some);
    Some(if is_whole { worst } else { worst.max(Outcome::Inconclusive) })
}

fn judge_cell(
    plan: &BatchPlan,
    cell: &Cell,
    subject: &JudgedSubject,
    runs: &[RunEvidence],
) -> CellVerdict {
    let is_baseline = |other: &Cell| other.baseline.as_ref() == Some(&cell.name);
    let judged = CellVerdict::from_runs(&cell.name, subject.verdicts.first(), runs);
    let failure = find_own_failure(runs).cloned();
    CellVerdict {
        outcome: if failure.is_some() { Some(Outcome::Failed) } else { judged.outcome },
        failure,
        recipe: cell.recipe.clone(),
        external: cell.external.clone(),
        axes: cell.axes.clone(),
        is_baseline: plan.all_cells().any(is_baseline),
        against: cell.baseline.clone(),
        trials: match cell.external {
            Some(_) => judged.trials,
            None => cell.trials,
        },
        ..judged
    }
}

/// Notes on the conditions of the measurement that affect what it shows.
fn execution_notes(plan: &BatchPlan) -> Vec<String> {
    let execution = &plan.execution;
    let at_once = format!(
        "up to {} runs executed at once, each on its own GPUs: shared memory, disk and power may have reduced speed",
        execution.parallel
    );
    let grouped = "trials ran cell by cell: drift cannot be distinguished from a difference";
    let is_grouped =
        execution.order == RunOrder::Grouped && plan.cells.len() > 1 && plan.search.is_none();
    let restated = "the claims were changed after a run had ended: they were not fixed before anything was measured";
    let possible_notes = [
        (execution.parallel > 1, at_once.as_str()),
        (is_grouped, grouped),
        (plan.restated, restated),
    ];
    let notes = possible_notes.into_iter().filter(|(applies, _)| *applies);
    notes.map(|(_, note)| note.to_owned()).collect()
}

/// Explains why a claim may be supported although the table of cells shows no difference: it has its own share of the
/// error.
fn explain_differing_answers(cells: &[CellVerdict], claims: &[ClaimVerdict]) -> Option<String> {
    let is_open = |part: &&ClaimPart| {
        let candidate = &part.candidate.subject;
        let baseline = part.baseline.as_ref().map(|side| &side.subject);
        let of_cell = cells.iter().filter(|cell| cell.name == *candidate);
        of_cell.flat_map(|cell| &cell.differences).any(|figure| {
            figure.change == Change::NoDifference
                && figure.scenario == part.scenario
                && figure.figure == part.figure
                && Some(&figure.baseline.subject) == baseline
        })
    };
    let parts = claims.iter().flat_map(|claim| &claim.parts);
    let mut better = parts.filter(|part| {
        part.outcome == ClaimOutcome::Supported && part.required.claim == Some(Claim::Better)
    });
    better.find(is_open).map(|part| {
        format!(
            "the claim about {} is supported, and the table of cells shows no difference: \
             a claim is one one-sided test; the cells are many two-sided tests, corrected for all of them",
            part.candidate.subject
        )
    })
}

/// Returns the first exit code that applies, of the lost runs, the cells and the claims.
fn batch_exit_code(
    cells: &[CellVerdict],
    evidence: &[SubjectEvidence],
    claims: &[ClaimOutcome],
) -> ExitCode {
    let runs = evidence.iter().flat_map(|cell| &cell.runs);
    let run_codes = runs.filter_map(|run| run.evidence.as_ref().err().map(|lost| lost.exit));
    let cell_codes = cells.iter().map(|cell| {
        let verdict: Option<&Verdict> = cell.verdict.as_ref();
        match (&cell.failure, verdict) {
            (Some(_), _) => ExitCode::Host,
            (None, verdict) => verdict.map_or(ExitCode::Inconclusive, |verdict| verdict.exit_code),
        }
    });
    let claim_codes = claims.iter().map(|outcome| match outcome {
        ClaimOutcome::Supported => ExitCode::Success,
        ClaimOutcome::NotDecided => ExitCode::Inconclusive,
        ClaimOutcome::Contradicted => ExitCode::NotReproduced,
    });
    ExitCode::first_applicable(run_codes.chain(cell_codes).chain(claim_codes))
}
