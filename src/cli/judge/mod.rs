//! `retrial judge`: a verdict on existing results.

mod near;
mod tree;

use std::path::Path;

use super::batch;
use crate::app::curves;
use crate::app::failure::Failure;
use crate::app::judge::{self, JudgedResults};
use crate::app::launch::{OpenedRecipe, find_recipe};
use crate::app::open::{self, RunOrBatch};
use crate::app::options::{GlobalOptions, JudgeRequest, OutputFormat};
use crate::app::{follow, terminal};
use retrial_document::measures::format;
use retrial_plan::Plan;
use retrial_recipe::ParamSetting;
use retrial_report::{OpenRun, ReportedVerdict, content};
use retrial_results::verdict::{ExitCode, Outcome, ResultVerdict};
use retrial_run::judge_run_by_recipe;
use retrial_store::RunDirectory;

/// Judges a run or a batch by its files, a submission tree or a part of one, or other folders of
/// results.
pub fn judge_results(global: &GlobalOptions, request: &JudgeRequest) -> Result<ExitCode, Failure> {
    let path = Path::new(&request.directory);
    if path.is_file() && path.extension().is_some_and(|ending| ending == "json") {
        refuse_unused_options("rows", &request.directory, request)?;
        return curves::check_and_print(global, path);
    }
    match open::find_results(&global.home, &request.directory)? {
        Some(RunOrBatch::Run(run)) => {
            refuse_unused_options("run", run.id(), request)?;
            if let Some(recipe) = &request.recipe {
                return judge_by_other_recipe(global, &run, recipe, request);
            }
            return judge_one_run(global, &run, request.require_accuracy);
        }
        Some(RunOrBatch::Batch(directory)) => {
            refuse_unused_options("batch", directory.id(), request)?;
            return batch::judge_evidence_so_far(global, &directory);
        }
        None => {}
    }
    if let Some(trees) = judge::find_trees(path, request)? {
        return tree::judge_and_print(global, &trees, request);
    }
    if !request.outcome.is_empty() {
        return Err(Failure::usage(
            "--outcome selects results of submission trees, and this is none",
        )
        .with_help("runs of Retrial: retrial runs --outcome invalid"));
    }
    let judged = judge::judge_results_below(global, path, request)?;
    print_folders(global, &judged);
    if request.recipe.is_none() && global.output == OutputFormat::Text && !global.quiet {
        near::print_near(global, &judged)?;
    }
    let exits = judged.iter().map(|one| one.verdict.exit_code);
    Ok(ExitCode::first_applicable(exits))
}

/// Refuses options that say how results are judged: a run or a batch was planned with all of that.
fn refuse_unused_options(kind: &str, name: &str, request: &JudgeRequest) -> Result<(), Failure> {
    let options = [
        ("--recipe", request.recipe.is_some() && kind != "run"),
        ("--scenario", request.scenario.is_some()),
        ("--round", request.round.is_some()),
        ("--benchmark", request.benchmark.is_some()),
        ("--division", request.division.is_some()),
        ("--rules", !request.rules.is_empty()),
        ("--reference", request.reference.is_some()),
        ("--outcome", !request.outcome.is_empty()),
    ];
    let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    if kind == "rows" {
        return Err(Failure::usage(format!(
            "{option} does not apply to rows, which are checked by themselves"
        ))
        .with_help("measure what they state: retrial new NAME --from-inferencex FILE"));
    }
    Err(Failure::usage(format!("{option} does not apply to {kind} {name}: it is judged by the recipe and rules that it was run with")).with_help("judge a run by a corrected recipe: retrial judge RUN --recipe FILE"))
}

/// Judges a run's own files by a recipe with other figures, with the settings of the run.
fn judge_by_other_recipe(
    global: &GlobalOptions,
    run: &RunDirectory,
    recipe: &str,
    request: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    let plan: Plan = run.read_json("plan.json")?;
    let settings: Vec<ParamSetting> = plan.settings().chain(request.settings.to_vec()).collect();
    let entry = find_recipe(recipe)?;
    let other = OpenedRecipe::resolve(entry, &settings, plan.smoke_test);
    let other = other.map_err(|problems| {
        let own = run.path().join("recipe.yaml");
        Failure::usage(format!(
            "run {} is of the recipe {}, and {recipe} does not accept its settings",
            run.id(),
            plan.recipe
        ))
        .with_help(format!("correct a copy of the run's own recipe: {}", own.display()))
        .with_problems(problems)
    })?;
    let verdict = judge_run_by_recipe(run, &other.resolved, request.require_accuracy)?;
    follow::print_verdict_of_run(global, run, &verdict)?;
    Ok(verdict.exit_code)
}

pub fn judge_one_run(
    global: &GlobalOptions,
    run: &RunDirectory,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    let verdict = follow::judge_and_print(global, run, require_accuracy)?;
    let state = run.read_state().unwrap_or_default();
    if follow::open_run(run, &state) == Some(OpenRun::Interrupted) {
        return Ok(ExitCode::Interrupted);
    }
    // Only the run's journal records that a failure was the host's, such as a failed pull.
    let ended = state.over.and_then(|(code, _)| ExitCode::try_from(code).ok());
    let host = ended.filter(|code| *code == ExitCode::Host && verdict.outcome == Outcome::Failed);
    Ok(host.unwrap_or(verdict.exit_code))
}

fn print_folders(global: &GlobalOptions, judged: &[JudgedResults]) {
    let results = || judged.iter().flat_map(|one| &one.verdict.results);
    if global.output == OutputFormat::Json && judged.len() > 1 {
        let results: Vec<_> = results().collect();
        return terminal::print_json(&serde_json::json!({ "results": results }));
    }
    let shown: Vec<ReportedVerdict<'_>> =
        judged.iter().map(|one| ReportedVerdict::new(one.path.clone(), &one.verdict)).collect();
    if follow::print_for_ci(global, &shown) {
        return;
    }
    for entry in &shown {
        follow::print_verdict(global, entry);
    }
    if judged.len() > 1 && global.output != OutputFormat::Json {
        let counts = content::count_outcomes(results().map(ResultVerdict::qualified_outcome));
        terminal::print_text(&format!(
            "\n{} with results, each judged separately: {}\n",
            format::format_count(judged.len(), "group"),
            counts
        ));
    }
}
