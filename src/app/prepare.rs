//! Plans a run and checks everything that can be checked before anything is fetched. Runs of batches
//! are prepared in the same way.

use std::path::Path;

use crate::app::failure::Failure;
use crate::app::open::{self, OpenedRecipe};
use crate::app::options::{GlobalOptions, PlanRequest, RunRequest};
use crate::app::{free_space, preflight, terminal};
use retrial_engine::api::Engine;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_run::{PreparedRun, read_secrets};

/// Plans a run as the command line requests.
pub fn plan_run(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    run: &RunRequest,
    opened: &OpenedRecipe,
    host: &HostView,
) -> Result<Plan, Failure> {
    require_complete(opened)?;
    let mut plan = open::plan_recipe(global, arguments, opened, true, host)?;
    if !opened.entry.is_builtin() {
        withdraw_unset_secrets(global, &mut plan);
    }
    // Options that can change a figure are in the plan, where the verdict's context reads them.
    let RunRequest {
        allow: _,
        telemetry,
        // Unmet requirements and warnings are in the plan.
        force: _,
        no_wait,
        require_accuracy,
        verify_cache,
    } = run;
    plan.require_accuracy = *require_accuracy;
    plan.verify_cache = *verify_cache;
    plan.no_wait = *no_wait;
    plan.telemetry = *telemetry;
    Ok(plan)
}

/// Withdraws secrets that are not set: no approval is requested for them, and a resumed run does not get them.
fn withdraw_unset_secrets(global: &GlobalOptions, plan: &mut Plan) {
    let named = plan.secrets.clone();
    let set = read_secrets(plan);
    plan.withdraw_secrets(|name| set.contains_key(name));
    for name in named.iter().filter(|name| !plan.secrets.contains(name)) {
        warn_of_unset_secret(global, name);
    }
}

fn warn_of_unset_secret(global: &GlobalOptions, name: &str) {
    if !global.quiet {
        terminal::print_note(&format!(
            "warning: {name} is not set; steps that need it will fail"
        ));
    }
}

/// Refuses a recipe that is not complete.
fn require_complete(opened: &OpenedRecipe) -> Result<(), Failure> {
    let open = &opened.resolved.recipe.incomplete;
    if open.is_empty() {
        return Ok(());
    }
    let name = &opened.entry.name;
    let failure = Failure::usage(format!("{name} is incomplete:"));
    let failure = open.iter().fold(failure, |failure, part| {
        failure.with_help(format!("- {part}"))
    });
    Err(failure.with_help("complete it, and remove these lines from `incomplete`"))
}

/// Checks what can be checked without an engine.
pub fn check_before_engine(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    run: &RunRequest,
    plan: &Plan,
) -> Result<(), Failure> {
    require_secrets(global, arguments, plan)?;
    check_requirements(plan, run.force)
}

/// Examines the host and its engine, and completes the plan.
pub async fn prepare_run(
    global: &GlobalOptions,
    host: HostView,
    engine: &dyn Engine,
    recipe: String,
    mut plan: Plan,
    force: bool,
) -> Result<PreparedRun, Failure> {
    let examination = preflight::examine_host(global, host, Ok(engine), Some(&plan)).await;
    plan.warnings = examination.refuse_or_warn(&plan.recipe, force)?;
    plan.warnings.extend(simulated_host_warning(global));
    free_space::check_images_fit(engine, &[&plan], force).await?;
    let host = examination.host_record(engine, &plan);
    Ok(PreparedRun { recipe, plan, host })
}

/// The host's GPUs and settings are not those of this machine.
fn simulated_host_warning(global: &GlobalOptions) -> Option<String> {
    let root = &global.root;
    let is_elsewhere = root.as_path() != Path::new("/");
    is_elsewhere.then(|| {
        let root = root.display();
        format!("--root {root}: the host's GPUs and settings are those of that directory")
    })
}

/// A secret of `--secret` must be set; one of the recipe should be.
pub fn require_secrets(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    plan: &Plan,
) -> Result<(), Failure> {
    let set = read_secrets(plan);
    for name in plan.secrets.iter().filter(|name| !set.contains_key(*name)) {
        if arguments.options.secrets.contains(name) {
            return Err(Failure::usage(format!(
                "--secret {name}: no such environment variable"
            )));
        }
        warn_of_unset_secret(global, name);
    }
    Ok(())
}

/// Refuses a host that does not meet the requirements of a plan, unless it is forced.
pub fn check_requirements(plan: &Plan, force: bool) -> Result<(), Failure> {
    let stops = plan.unmet.iter().filter(|check| check.prevents_start());
    let lines: Vec<String> = stops.map(preflight::describe_with_fix).collect();
    if lines.is_empty() || force {
        return Ok(());
    }
    Err(Failure::host(format!(
        "this host does not meet the requirements of {}:\n{}",
        plan.recipe,
        lines.join("\n")
    ))
    .with_help("run it anyway with --force: the verdict is then marked 'other hardware'"))
}

/// Refuses a machine on which a plan needs a privilege that was not approved for another one.
pub fn check_privileges(approved: &Plan, here: &Plan) -> Result<(), Failure> {
    let new = here.unapproved_privilege(approved);
    new.map_or(Ok(()), |new| {
        Err(Failure::usage(format!(
            "this node needs a privilege that was not approved: {} ({new})",
            new.name
        ))
        .with_help(format!(
            "plan and approve it there: retrial run {} --allow {}",
            approved.recipe, new.name
        )))
    })
}
