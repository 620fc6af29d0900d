//! The verdict on a batch from its directories and those of its runs.

use std::path::Path;

use crate::app::failure::Failure;
use crate::app::judge;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::{GlobalOptions, JudgeRequest};
use retrial_batch::run::evidence_of_cells;
use retrial_batch::verdict::{
    BatchVerdict, CellEnvironments, ExternalRun, LostRun, RunChoices, RunEvidence, SubjectEvidence,
    assign_to_cells, judge_batch,
};
use retrial_batch::{BatchPlan, ExternalResult};
use retrial_plan::Plan;
use retrial_results::evidence::environment;
use retrial_results::verdict::comparison::{
    Fact, FactGroup, StackVersions, compare_fact_groups, describe_joint_changes,
};
use retrial_results::verdict::{Evidence, ExitCode, RunContext};
use retrial_run::read_complete_evidence;
use retrial_store::files::list_directory;
use retrial_store::{Home, RecordDirectory, RunDirectory, StoreError};

/// The most cells whose environments are compared: a wider table is not readable.
const MAX_COMPARED_CELLS: usize = 12;

/// Judges the current evidence of a batch.
pub fn judge_directory(
    global: &GlobalOptions,
    directory: &RecordDirectory,
) -> Result<BatchVerdict, Failure> {
    let plan: BatchPlan = directory.read_json("batch.json")?;
    if let Some(search) = &plan.search {
        return super::search::judge_search_directory(global, directory, &plan, search);
    }
    let mut cells = evidence_of_cells(&global.home, directory, &plan)?;
    let external_results = plan.external_results.iter();
    let subjects: Vec<SubjectEvidence> = external_results
        .map(|one| {
            let runs = read_external_runs(global, one);
            if one.cells.is_empty() {
                return SubjectEvidence {
                    name: one.name.clone(),
                    runs: runs.into_iter().map(|run| run.run).collect(),
                };
            }
            assign_to_cells(&plan, one, runs, &mut cells)
        })
        .collect();
    let mut verdict = judge_batch(Some(directory.id()), &plan, &cells, &subjects);
    let environments = read_environments(&global.home, &verdict);
    let changes = describe_joint_changes_of(&verdict, &environments);
    let changes = changes.into_iter().filter(|change| !verdict.notes.contains(change));
    verdict.notes.extend(changes.collect::<Vec<_>>());
    verdict.environments = compare_environments(&environments);
    Ok(verdict)
}

/// Reads the environments of the cells that were measured, by their names: the containers of a cell are of one image, so
/// that its first run represents them. Telemetry is of one run only.
fn read_environments(home: &Home, verdict: &BatchVerdict) -> Vec<(String, Vec<Fact>)> {
    let measured = verdict.all_results().filter(|cell| cell.verdict.is_some());
    let cells = measured.filter_map(|cell| {
        let first = cell.runs.iter().find(|run| run.lost.is_none())?;
        let directory = RunDirectory::from_path(home.runs_directory().join(&first.run));
        let facts = environment::facts_of_run(&directory).into_iter();
        let lasting = facts.filter(|fact| fact.group != FactGroup::Telemetry);
        Some((cell.name.clone(), lasting.collect()))
    });
    cells.take(MAX_COMPARED_CELLS).collect()
}

fn compare_environments(environments: &[(String, Vec<Fact>)]) -> Option<CellEnvironments> {
    let cells: Vec<String> = environments.iter().map(|(name, _)| name.clone()).collect();
    let facts: Vec<&[Fact]> = environments.iter().map(|(_, facts)| facts.as_slice()).collect();
    let groups = compare_fact_groups(&cells, &facts);
    (cells.len() > 1).then_some(CellEnvironments { cells, groups })
}

/// Says what changed together between a cell and the one that it is compared with, as it was read in their containers.
fn describe_joint_changes_of(
    verdict: &BatchVerdict,
    environments: &[(String, Vec<Fact>)],
) -> Vec<String> {
    let stacks = environments.iter().map(|(_, facts)| StackVersions::from_facts(facts));
    let stacks: Vec<StackVersions> = stacks.collect();
    let stack_of = |name: &String| {
        let position = environments.iter().position(|(other, _)| other == name)?;
        stacks.get(position)
    };
    let pairs = verdict.all_results();
    let pairs =
        pairs.filter_map(|cell| Some((stack_of(cell.against.as_ref()?)?, stack_of(&cell.name)?)));
    describe_joint_changes(pairs, &stacks)
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

/// The name of a run or a folder, its evidence, and the choices of its plan.
type FoundEvidence = (String, (RunContext, Vec<Evidence>), Option<RunChoices>);

/// The runs of another host, by id or directory, and its folders of results.
fn read_external_runs(global: &GlobalOptions, result: &ExternalResult) -> Vec<ExternalRun> {
    let mut runs = Vec::new();
    for name in &result.runs {
        let found = match find_evidence(global, name) {
            Ok(all) => all.into_iter().map(Ok).collect(),
            Err(failure) => vec![Err(LostRun {
                // The host that measured it is another one.
                exit: ExitCode::Inconclusive,
                reason: failure.to_error().message,
            })],
        };
        for evidence in found {
            let (run, evidence, choices) = match evidence {
                Ok((run, evidence, choices)) => (run, Ok(evidence), choices),
                Err(lost) => (name.clone(), Err(lost), None),
            };
            runs.push(ExternalRun {
                run: RunEvidence {
                    run,
                    trial: u32::try_from(runs.len() + 1).unwrap_or(u32::MAX),
                    start: None,
                    evidence,
                    failure: None,
                },
                choices,
            });
        }
    }
    runs
}

/// The evidence of a run, of each run in a folder of run directories, or of each benchmark in a folder of results.
fn find_evidence(global: &GlobalOptions, name: &str) -> Result<Vec<FoundEvidence>, Failure> {
    let folder = Some(Path::new(name)).filter(|folder| folder.is_dir());
    let inside = folder.map(run_directories_in).transpose()?.unwrap_or_default();
    if !inside.is_empty() {
        let runs = inside.iter();
        return runs.map(|run| read_run(&run.path().display().to_string(), run)).collect();
    }
    if let Some(RunOrBatch::Run(run)) = open::find_results(&global.home, name)? {
        return Ok(vec![read_run(name, &run)?]);
    }
    let gathered = judge::gather_results(global, name.as_ref(), &JudgeRequest::default())?;
    let groups = gathered.into_iter();
    Ok(groups.map(|one| (name.to_owned(), (one.context, one.evidence), None)).collect())
}

/// The evidence of a run, with the choices of its plan.
fn read_run(name: &str, run: &RunDirectory) -> Result<FoundEvidence, Failure> {
    let plan: Plan = run.read_json("plan.json")?;
    let params = plan.params.iter();
    let variants = plan.variant.iter();
    let values = params
        .map(|(name, value)| (name.clone(), value.to_string()))
        .chain(variants.map(|(axis, value)| (axis.clone(), value.clone())));
    let choices = RunChoices { recipe: plan.recipe.clone(), values: values.collect() };
    Ok((name.to_owned(), read_complete_evidence(run)?, Some(choices)))
}

/// The run directories in a folder, by name.
fn run_directories_in(folder: &Path) -> Result<Vec<RunDirectory>, StoreError> {
    let paths = list_directory(folder)?.into_iter().map(|name| folder.join(name));
    let runs = paths.filter(|path| path.join("plan.json").exists());
    Ok(runs.map(RunDirectory::from_path).collect())
}
