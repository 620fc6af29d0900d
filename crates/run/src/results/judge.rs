//! Judges a run from its own files, with the same result during the run and later.

use miette::Diagnostic;
use thiserror::Error;

use crate::error::{Halt, RunError};
use crate::interrupt::run_on_thread;
use crate::step::StepSession;
use retrial_plan::Plan;
use retrial_plan::step::StepCondition;
use retrial_recipe::ResolvedRecipe;
use retrial_results::evidence::context::gather_context;
use retrial_results::evidence::other_recipe::{OtherRecipeError, plan_by_other_recipe};
use retrial_results::evidence::plan_source::derive_judged_facts;
use retrial_results::evidence::run::{self, RunFiles};
use retrial_results::verdict::{
    self, Evidence, Qualifier, QualifierKind, RunContext, StageDecision, Verdict,
};
use retrial_store::journal::EventKind;
use retrial_store::{RunDirectory, StoreError};

/// Why a run is not judged by another recipe.
#[derive(Debug, Error, Diagnostic)]
#[error(transparent)]
#[diagnostic(transparent)]
pub enum RejudgeError {
    Run(#[from] RunError),
    Recipe(#[from] OtherRecipeError),
}

/// The verdict on a finished run, from its files alone.
///
/// # Errors
/// If the run's files are missing or damaged.
pub fn judge_run(directory: &RunDirectory, require_accuracy: bool) -> Result<Verdict, RunError> {
    let (mut context, evidence) = read_evidence(directory)?;
    context.require_accuracy |= require_accuracy;
    Ok(verdict::judge(&context, &evidence))
}

/// The verdict on a run by the figures, published figures, limits and claims of another recipe, which was resolved with
/// the run's settings. Nothing is written: the run keeps its own verdict.
///
/// # Errors
/// If the run's files are missing or damaged, or the recipe would execute anything else.
pub fn judge_run_by_recipe(
    directory: &RunDirectory,
    other: &ResolvedRecipe,
    require_accuracy: bool,
) -> Result<Verdict, RejudgeError> {
    let own_plan: Plan = directory.read_json("plan.json").map_err(RunError::from)?;
    let plan = plan_by_other_recipe(directory, &own_plan, other)?;
    let state = directory.read_state().map_err(RunError::from)?;
    let files = RunFiles::with_telemetry(directory, &plan, &state);
    let mut context = gather_context(&files);
    context.require_accuracy |= require_accuracy;
    if plan != own_plan {
        let reason = format!("judged by {}", other.recipe.name);
        context.qualifiers.push(Qualifier::new(QualifierKind::ChangedRecipe, reason));
    }
    Ok(verdict::judge(&context, &run::gather_evidence(&files)))
}

/// The context and the evidence of a run's verdict, from its files alone.
///
/// # Errors
/// If the run's files are missing or damaged.
pub fn read_evidence(directory: &RunDirectory) -> Result<(RunContext, Vec<Evidence>), RunError> {
    let plan = derive_judged_facts(directory, directory.read_json("plan.json")?);
    let state = directory.read_state()?;
    let files = RunFiles::with_telemetry(directory, &plan, &state);
    Ok((gather_context(&files), run::gather_evidence(&files)))
}

/// The same, of a run that is compared with others or pooled with them.
///
/// # Errors
/// Also if a line of its journal cannot be read: what it says of the run is unknown.
pub fn read_complete_evidence(
    directory: &RunDirectory,
) -> Result<(RunContext, Vec<Evidence>), RunError> {
    if let Some(line) = directory.read_state()?.unreadable.into_iter().next() {
        return Err(StoreError::Damaged { path: directory.journal_path(), line }.into());
    }
    read_evidence(directory)
}

/// Judges a run by a plan that may differ from its own: with the rules of another round.
pub fn judge_files(files: &RunFiles<'_>) -> Verdict {
    verdict::judge(&gather_context(files), &run::gather_evidence(files))
}

/// The judge step: writes the verdict to `verdict.json`.
pub(crate) async fn record_verdict(session: &StepSession<'_>) -> Result<Verdict, Halt> {
    let (run, require_accuracy) =
        (session.run_session.run.clone(), session.run_session.options.require_accuracy);
    let judge = move || judge_run(&run, require_accuracy);
    let verdict = run_on_thread(&session.run_session.stop, judge).await??;
    session.run_session.run.write_json("verdict.json", &verdict)?;
    let event = EventKind::Judged {
        outcome: verdict.qualified_outcome().to_string(),
        sentence: verdict.sentence().clone(),
    };
    session.record(event)?;
    Ok(verdict)
}

/// Returns why this step's trial is not needed, if the trials so far decide. A stopped run does not wait for
/// the result.
pub(crate) async fn find_decision(session: &StepSession<'_>) -> Option<String> {
    let StepCondition::UntilDecided { stages: all_stages } = &session.step.when else {
        return None;
    };
    let (measurement, trial) = session.run_session.plan.served_trial(session.step)?;
    // Only whole stages count: the latest one before this trial.
    let mut stages = all_stages.iter().copied().enumerate().rev();
    let warmup = session.run_session.plan.measurements.get(measurement)?.warmup;
    let (decided, completed) = stages.find(|(_, completed)| warmup + *completed < trial)?;
    let (directory, plan, state) = (
        session.run_session.run.clone(),
        session.run_session.plan.clone(),
        session.run_session.state(),
    );
    let owned_stages = all_stages.clone();
    let decide = move || {
        let files = RunFiles::without_telemetry(&directory, &plan, &state);
        let mut evidence = run::gather_measurement(&files, measurement);
        evidence.trials.retain(|earlier| earlier.trial <= warmup + completed);
        evidence.stages.clone_from(&owned_stages);
        verdict::decide_stage(&gather_context(&files), &evidence, decided)
    };
    match run_on_thread(&session.run_session.stop, decide).await.ok()? {
        StageDecision::Stop { reason } => {
            Some(format!("decided after {completed} trials: {reason}"))
        }
        StageDecision::Continue { .. } => None,
    }
}
