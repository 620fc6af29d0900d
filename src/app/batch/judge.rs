//! The verdict on a batch from its directories and those of its runs.

use crate::app::failure::Failure;
use crate::app::judge;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::{GlobalOptions, JudgeRequest};
use retrial_batch::run::evidence_of_cells;
use retrial_batch::verdict::{BatchVerdict, LostRun, RunEvidence, SubjectEvidence, judge_batch};
use retrial_batch::{BatchPlan, ExternalResult};
use retrial_results::verdict::{Evidence, RunContext};
use retrial_run::read_evidence;
use retrial_store::RecordDirectory;

/// Judges the current evidence of a batch.
pub fn judge_directory(
    global: &GlobalOptions,
    directory: &RecordDirectory,
) -> Result<BatchVerdict, Failure> {
    let plan: BatchPlan = directory.read_json("batch.json")?;
    if let Some(search) = &plan.search {
        return super::search::judge_search_directory(global, directory, &plan, search);
    }
    let cells = evidence_of_cells(&global.home, directory, &plan)?;
    let external_results = plan.external_results.iter();
    let subjects: Vec<SubjectEvidence> = external_results
        .map(|one| external_evidence(global, one))
        .collect();
    Ok(judge_batch(Some(directory.id()), &plan, &cells, &subjects))
}

/// Judges a batch, and writes its verdict into its directory.
pub fn judge_and_write(
    global: &GlobalOptions,
    directory: &RecordDirectory,
) -> Result<BatchVerdict, Failure> {
    let verdict = judge_directory(global, directory)?;
    directory.write_json("verdict.json", &verdict)?;
    Ok(verdict)
}

/// The evidence of another host: runs by id or directory, or folders of results.
fn external_evidence(global: &GlobalOptions, result: &ExternalResult) -> SubjectEvidence {
    let mut runs = Vec::new();
    for name in &result.runs {
        let groups = match evidence_by_name(global, name) {
            Ok(groups) => groups.into_iter().map(Ok).collect(),
            Err(failure) => vec![Err(LostRun {
                exit: failure.exit,
                reason: failure.to_error().message,
            })],
        };
        for group in groups {
            runs.push(RunEvidence {
                run: name.clone(),
                trial: u32::try_from(runs.len() + 1).unwrap_or(u32::MAX),
                evidence: group,
            });
        }
    }
    SubjectEvidence {
        name: result.name.clone(),
        runs,
    }
}

fn evidence_by_name(
    global: &GlobalOptions,
    name: &str,
) -> Result<Vec<(RunContext, Vec<Evidence>)>, Failure> {
    if let Some(RunOrBatch::Run(run)) = open::find_results(&global.home, name)? {
        return Ok(vec![read_evidence(&run)?]);
    }
    let gathered = judge::gather_results(global, name.as_ref(), &JudgeRequest::default())?;
    let groups = gathered.into_iter();
    Ok(groups.map(|one| (one.context, one.evidence)).collect())
}
