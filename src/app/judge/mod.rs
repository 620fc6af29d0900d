//! Verdicts on existing results: submission trees, a part of one, and other folders.
//! No engine is needed.

mod reference;

use std::path::Path;

use retrial_results::directory::TreeSelection;
pub use retrial_results::directory::{ResultSet, SuiteTrees};

use crate::app::failure::Failure;
use crate::app::launch::stand_ins::open_with_stand_ins;
use crate::app::options::{GlobalOptions, JudgeRequest, PlanRequest, RecipeRequest};
use crate::app::{catalog, open, terminal};
use retrial_document::ErrorText;
use retrial_plan::Plan;
use retrial_recipe::model::JudgeRules;
use retrial_results::directory::{JudgeBasis, JudgeError, gather_folders, is_compared};
use retrial_results::evidence::other_suite::OtherSuiteResult;
use retrial_results::evidence::tree::{JudgedBenchmark, TreeFault};
use retrial_results::verdict::{self, ExitCode, Outcome, RuleCheck, Verdict};

/// A verdict on results of a folder.
pub struct JudgedResults {
    /// The folder's path, as the user named the directory that it is in.
    pub path: String,
    /// The verdict on all results of the folder.
    pub verdict: Verdict,
    /// Rules of a benchmark as a whole, in addition to those of its results.
    pub rules: Vec<RuleCheck>,
}

/// What is found of submission trees in addition to the verdicts on their benchmarks.
pub struct JudgedTrees {
    /// The exit code for all of them.
    pub exit: ExitCode,
    /// The faults of the tree itself.
    pub faults: Vec<TreeFault>,
    /// The name of the table, tree or run that results were compared with.
    pub reference: Option<String>,
}

/// Selects the results with one of these outcomes, or all if none is named. Returns whether anything is left: results,
/// or a benchmark that has the outcome as a whole.
pub fn select_outcomes(verdict: &mut Verdict, outcomes: &[String]) -> bool {
    let is_selected = |outcome: Outcome| {
        outcomes.is_empty() || outcomes.iter().any(|word| word == outcome.word())
    };
    verdict.results.retain(|result| is_selected(result.outcome));
    is_selected(verdict.outcome) || !verdict.results.is_empty()
}

/// Finds the submission trees in a directory. None if there are none, or if a recipe determines how
/// results are judged.
///
/// # Errors
/// The directory cannot be read, its results are of a suite that is not judged, or none is of the benchmark, division
/// or scenario that the request names.
pub fn find_trees(directory: &Path, request: &JudgeRequest) -> Result<Option<SuiteTrees>, Failure> {
    if request.recipe.is_some() {
        return Ok(None);
    }
    let trees = SuiteTrees::find(directory).map_err(|error| {
        Failure::host(format!("failed to read {}: {error}", directory.display()))
    })?;
    let trees = match trees {
        Some(SuiteTrees::Inference(trees)) => {
            let our_trees =
                trees.reject_other_suites().map_err(|other| other_suite_failure(&other))?;
            SuiteTrees::Inference(our_trees)
        }
        Some(trees) => trees,
        None => return Ok(None),
    };
    let selection = TreeSelection {
        benchmark: request.benchmark.as_deref(),
        division: request.division,
        scenario: request.scenario.as_ref(),
    };
    Ok(Some(trees.select(&selection)?))
}

/// Returns the failure of results of a suite that is not judged.
fn other_suite_failure(other: &OtherSuiteResult) -> Failure {
    Failure::usage(other.to_string())
}

/// Reads the rules, and the published figures that results are compared with: of `--reference`, else of
/// the trees' own table.
fn read_basis(request: &JudgeRequest, trees: Option<&SuiteTrees>) -> Result<JudgeBasis, Failure> {
    let mut basis = read_rules(request)?;
    let requested = reference::read_reference(request)?;
    basis.published = requested.or_else(|| reference::read_round_table(trees?));
    Ok(basis)
}

/// Reads the rules; there are no published figures yet.
fn read_rules(request: &JudgeRequest) -> Result<JudgeBasis, Failure> {
    let basis = JudgeBasis {
        rounds: catalog::load_rounds(&request.rules)?,
        published: None,
        rules: JudgeRules::default(),
        round: request.round.clone(),
        benchmark: request.benchmark.clone(),
        division: request.division,
        scenario: request.scenario.clone(),
        require_accuracy: request.require_accuracy,
        force: request.force,
    };
    basis.require_known_round()?;
    Ok(basis)
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        Self::usage(ErrorText::of(&error))
    }
}

/// The evidence of every result in or below a directory.
pub fn gather_results(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<ResultSet>, Failure> {
    match find_trees(directory, request)? {
        Some(trees) => Ok(trees.gather(&read_basis(request, Some(&trees))?)?),
        None => gather_by_recipe(global, directory, request),
    }
}

/// The evidence in folders outside of submission trees, by the plan of `--recipe` if there is one.
fn gather_by_recipe(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<ResultSet>, Failure> {
    let basis = read_basis(request, None)?;
    let plan = plan_of_recipe(global, request)?;
    Ok(gather_folders(directory, plan.as_ref(), &basis)?)
}

/// The plan of `--recipe`, by which results are read.
fn plan_of_recipe(global: &GlobalOptions, request: &JudgeRequest) -> Result<Option<Plan>, Failure> {
    let Some(recipe) = &request.recipe else {
        return Ok(None);
    };
    let recipe = RecipeRequest { recipe: recipe.clone(), settings: request.settings.clone() };
    // Host paths that must be set for a run do not affect the published figures.
    let (opened, _) = open_with_stand_ins(&recipe)?;
    let mut everything = PlanRequest::whole_recipe(recipe);
    everything.files.rules.clone_from(&request.rules);
    let host = open::probe_host(global);
    opened.plan(global, &everything, Some(&host)).map(Some)
}

/// The verdicts on every result in or below a directory.
pub fn judge_results_below(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<JudgedResults>, Failure> {
    if let Some(trees) = find_trees(directory, request)? {
        let mut all = Vec::new();
        judge_trees(&trees, request, |judged| {
            all.push(JudgedResults {
                path: judged.benchmark.path,
                verdict: judged.verdict,
                rules: judged.benchmark.rules,
            });
        })?;
        return Ok(all);
    }
    let gathered = gather_by_recipe(global, directory, request)?.into_iter();
    let verdicts = gathered.map(|one| JudgedResults {
        path: one.path.display().to_string(),
        verdict: verdict::judge(&one.context, &one.evidence),
        rules: Vec::new(),
    });
    let judged: Vec<JudgedResults> = verdicts.collect();
    let compared = judged.iter().any(|one| is_compared(&one.verdict));
    reference::refuse_unused(request, compared)?;
    Ok(judged)
}

/// Judges the benchmarks of submission trees, and passes on each verdict in its order.
pub fn judge_trees(
    trees: &SuiteTrees,
    request: &JudgeRequest,
    mut each: impl FnMut(JudgedBenchmark),
) -> Result<JudgedTrees, Failure> {
    let mut compared = false;
    let basis = read_basis(request, Some(trees))?;
    let (exit, faults) = trees.judge(&basis, terminal::note_error, |judged| {
        compared |= is_compared(&judged.verdict);
        each(judged);
    })?;
    reference::refuse_unused(request, compared)?;
    Ok(JudgedTrees { exit, faults, reference: basis.published.map(|published| published.name) })
}
