//! `retrial resume --from CHECK`: has a check of a run count as not done, so that it is run again on the results
//! that were collected.

use crate::app::failure::Failure;
use retrial_plan::Plan;
use retrial_plan::step::Step;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, EventKind, Journal};
use retrial_store::lock::FileLock;

/// Resets a check, by its step's name or number.
pub fn reset_check(run: &RunDirectory, name: &str) -> Result<(), Failure> {
    let _lock = FileLock::acquire(&run.lock_path(), run.id())?;
    let plan: Plan = run.read_json("plan.json")?;
    let check = find_check(&plan, name)?;
    let state = run.read_state()?;
    let collecting = plan.find_collecting_step(check);
    let is_collected = collecting.is_some_and(|step| state.is_done(step.number));
    if !is_collected {
        return Err(Failure::usage(format!("--from {name}: its results were not collected"))
            .with_help(format!(
                "to continue the run and measure the rest: retrial resume {}",
                run.id()
            )));
    }
    let event = Event::new("local", Some(check), EventKind::CheckReset);
    Ok(Journal::open(&run.journal_path())?.write(&event)?)
}

fn find_check<'a>(plan: &'a Plan, name: &str) -> Result<&'a Step, Failure> {
    let number: Option<u32> = name.parse().ok();
    let is_match = |step: &&Step| step.name == name || number == Some(step.number);
    let mut checks = plan.steps.iter().filter(|step| step.checks_results());
    checks.clone().find(is_match).ok_or_else(|| {
        let is_step = plan.steps.iter().any(|step| is_match(&step));
        let reason = if is_step { "only a check can be run again" } else { "no such step" };
        let names: Vec<&str> = checks.by_ref().map(|step| step.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Failure::usage(format!("--from {name}: {reason}"))
            .with_help(format!("checks of the run: {names}"))
    })
}
