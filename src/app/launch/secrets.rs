//! Secrets that a plan names and that are not set in the environment.

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_plan::Plan;
use retrial_run::read_secrets;

/// Returns the secrets that a plan names and that have no value.
pub(super) fn list_unset_secrets(plan: &Plan) -> Vec<String> {
    let set = read_secrets(plan);
    plan.secrets.iter().filter(|name| !set.contains_key(*name)).cloned().collect()
}

/// Withdraws secrets that are not set: no approval is requested for them, and a resumed run does not get them.
pub(super) fn withdraw_unset_secrets(global: &GlobalOptions, plan: &mut Plan) {
    let named = plan.secrets.clone();
    let set = read_secrets(plan);
    plan.withdraw_secrets(|name| set.contains_key(name));
    for name in named.iter().filter(|name| !plan.secrets.contains(name)) {
        warn_of_unset_secret(global, name);
    }
}

/// Refuses a plan if a secret of `--secret` is not set; warns of one of the recipe.
pub(super) fn require_secrets(
    global: &GlobalOptions,
    named_secrets: &[String],
    plan: &Plan,
) -> Result<(), Failure> {
    let set = read_secrets(plan);
    for name in plan.secrets.iter().filter(|name| !set.contains_key(*name)) {
        if named_secrets.contains(name) {
            return Err(Failure::usage(format!("--secret {name}: no such environment variable")));
        }
        warn_of_unset_secret(global, name);
    }
    Ok(())
}

fn warn_of_unset_secret(global: &GlobalOptions, name: &str) {
    if !global.quiet {
        terminal::print_note(&format!("warning: {name} is not set; steps that need it will fail"));
    }
}
