//! One command of the recipe: prepared, started or reattached, followed to its end. Processes that it leaves
//! running are terminated, and its output is stored.

use std::fs;

use super::exit::{verify_exit, with_output};
use super::follow::{FollowOutcome, follow_step};
use super::host;
use super::output;
use super::session::StepSession;
use super::target::{StartedCommand, StepCommand};
use super::watched::StepDependencies;
use crate::control::DEADLINE_GRACE_S;
use crate::error::Halt;
use crate::results::restore_results;
use retrial_plan::service::StopPolicy;
use retrial_plan::step::ExecStep;
use retrial_store::StoreError;
use retrial_store::journal::{EventKind, StepEnd, StepFault};

/// Runs a step's command in the container; `reattach` if it may be running since before a kill of
/// the tool. Returns its exit code, 0.
pub async fn run_in_container(
    session: &StepSession<'_>,
    command: &ExecStep,
    reattach: bool,
) -> Result<i64, Halt> {
    let command = StepCommand::for_container(session, command)?;
    let end = follow_to_end(&command, reattach).await;
    session.run_session.set_deadline(Some(DEADLINE_GRACE_S))?;
    end
}

/// Runs a step's command on the host, as [`run_in_container`] does in the container.
pub async fn run_on_host(
    session: &StepSession<'_>,
    command: &ExecStep,
    reattach: bool,
) -> Result<i64, Halt> {
    let files = host::host_files_directory(session.run_session);
    fs::create_dir_all(&files).map_err(StoreError::io("create", &files))?;
    if !reattach {
        session.run_session.host_control.lay_out_for_host()?;
    }
    follow_to_end(&StepCommand::for_host(session, command), reattach).await
}

async fn follow_to_end(command: &StepCommand<'_>, reattach: bool) -> Result<i64, Halt> {
    let session = &command.session;
    let mut needed = StepDependencies::for_command(command)?;
    let started = start_step_command(command, reattach).await?;
    let outcome = follow_step(command, started, &mut needed).await;
    let followed = outcome.map(|followed| match followed {
        FollowOutcome::Exited(exit) => exit,
        FollowOutcome::Running(never) => match never {},
    });
    match &followed {
        Err(end) => {
            // This process may end before the step does.
            let recorded = match end {
                StepEnd::Stopped => session.record(EventKind::StepStopping),
                _ => Ok(()),
            };
            command.terminate(StopPolicy::OF_COMMANDS).await;
            recorded?;
        }
        Ok(exit) if exit.leftovers.is_empty() => {}
        Ok(exit) => {
            let current_leftovers = command.find_leftovers().await;
            let leftovers = current_leftovers.unwrap_or_else(|| exit.leftovers.clone());
            if !leftovers.is_empty() {
                let redacted_processes =
                    leftovers.iter().map(|process| session.run_session.redact(process));
                let processes = redacted_processes.collect();
                session.record(EventKind::LeftoverProcesses { processes })?;
                command.terminate_leftovers(StopPolicy::OF_COMMANDS).await;
            }
        }
    }
    output::finalize_output(command).await?;
    let end = followed.and_then(|exit| {
        check_scripts(command)?;
        verify_exit(command, &exit)
    });
    end.map_err(|end| with_output(session, end).into())
}

/// Starts a step's command, unless an earlier process has.
pub async fn start_step_command(
    command: &StepCommand<'_>,
    reattach: bool,
) -> Result<Option<StartedCommand>, Halt> {
    if !(reattach && command.files.is_prepared()) {
        output::create_output(command)?;
    }
    if command.files.has_started() {
        return Ok(None);
    }
    restore_results(command).await?;
    check_scripts(command)?;
    match command.start().await {
        Ok(process) => Ok(Some(process)),
        Err(halt) => {
            output::finalize_output(command).await?;
            Err(halt)
        }
    }
}

/// Checks that the scripts that run steps are unchanged.
fn check_scripts(command: &StepCommand<'_>) -> Result<(), StepEnd> {
    let changed = command.control.changed_script();
    changed.map_or(Ok(()), |name| {
        let path = command.control_path();
        let reason = format!("{path}/{name}, which runs the steps, was changed");
        let advice = command.forgery_advice();
        Err(StepEnd::failure(StepFault::Command, reason, advice))
    })
}
