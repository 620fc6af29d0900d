//! One command of the recipe: prepared, started or reattached, followed to its end. What it leaves
//! running is ended, and its output is kept.

use std::fs;

use super::control::{GRACE_S, StepExit};
use super::error::Halt;
use super::failure::signal_name;
use super::follow::{FREE_SPACE, Followed, MORE_MEMORY, container_ended, follow, resume_advice};
use super::host;
use super::output;
use super::put_back::put_back;
use super::session::Session;
use super::target::{Started, Target};
use super::terminate::{Ending, leftovers, terminate_leftovers, terminate_step};
use super::watched::Needed;
use crate::plan::step::{ExecStep, Purpose, Step};
use crate::store::StoreError;
use crate::store::journal::{StepEnd, StepFault, What};

/// Lines of output that a failure shows.
const LAST_LINES: usize = 12;

/// Runs a step's command in the container; `reattach` if it may be running since before a kill of
/// the tool. Returns its exit code, 0.
pub async fn run(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    reattach: bool,
) -> Result<i64, Halt> {
    let target = Target::main(session)?;
    let end = run_at(session, step, command, &target, reattach).await;
    session.set_deadline(Some(GRACE_S))?;
    end
}

/// Runs a step's command on the host, as [`run`] does in the container.
pub async fn run_on_host(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    reattach: bool,
) -> Result<i64, Halt> {
    let files = host::files(session);
    fs::create_dir_all(&files).map_err(StoreError::io("create", &files))?;
    if !reattach {
        session.host_control.lay_out_for_host()?;
    }
    run_at(session, step, command, &Target::Host, reattach).await
}

async fn run_at(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    target: &Target,
    reattach: bool,
) -> Result<i64, Halt> {
    let control = target.control(session).step(&step.directory());
    let mut needed = Needed::of(session, step, command)?;
    let started = start(session, step, command, target, reattach).await?;
    let followed = follow(session, step, command, target, started, &mut needed).await;
    let followed = followed.map(|followed| match followed {
        Followed::Exited(exit) => exit,
        Followed::Running(never) => match never {},
    });
    match &followed {
        Err(_) => drop(terminate_step(session, step, target, Ending::default()).await),
        Ok(exit) if exit.left.is_empty() => {}
        Ok(exit) => {
            let left = leftovers(session, step, target).await;
            let left = left.unwrap_or_else(|| exit.left.clone());
            if !left.is_empty() {
                let processes = left.iter().map(|process| session.redacted(process));
                let processes = processes.collect();
                session.record(Some(step), What::LeftRunning { processes })?;
                terminate_leftovers(session, step, target, Ending::default()).await;
            }
        }
    }
    output::keep(session, step, &control, command).await?;
    let end = followed.and_then(|exit| {
        check_scripts(session, target)?;
        verify(session, target, command, &exit)
    });
    end.map_err(|end| with_last_lines(session, step, end).into())
}

/// Starts a step's command, unless an earlier process has.
pub async fn start(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    target: &Target,
    reattach: bool,
) -> Result<Option<Started>, Halt> {
    let control = target.control(session).step(&step.directory());
    if !(reattach && control.exists()) {
        output::begin(session, step, &control, command)?;
    }
    if control.started() {
        return Ok(None);
    }
    put_back(session, step, &control).await?;
    check_scripts(session, target)?;
    match target.start(session, step, command).await {
        Ok(process) => Ok(Some(process)),
        Err(halt) => {
            output::keep(session, step, &control, command).await?;
            Err(halt)
        }
    }
}

/// A failure with the last lines of a step, unless it has those of another one.
pub fn with_last_lines(session: &Session, step: &Step, mut end: StepEnd) -> StepEnd {
    if let StepEnd::Failed { last_lines, .. } = &mut end
        && last_lines.is_empty()
    {
        *last_lines = output::last_lines(&session.local, step, LAST_LINES);
    }
    end
}

/// Checks whether the scripts that run steps are still ours.
fn check_scripts(session: &Session, target: &Target) -> Result<(), StepEnd> {
    let changed = target.control(session).changed_script();
    changed.map_or(Ok(()), |name| {
        let path = target.control_path(session);
        let because = format!("something changed {path}/{name}, which runs the steps");
        let advice = target.forgery_advice();
        Err(StepEnd::failed(StepFault::Command, because, advice))
    })
}

/// Checks whether a command that wrote its exit code succeeded.
pub fn verify(
    session: &Session,
    target: &Target,
    command: &ExecStep,
    exit: &StepExit,
) -> Result<i64, StepEnd> {
    if exit.terminated_by_us {
        return Err(StepEnd::failed(
            StepFault::Host,
            container_ended(target.control(session), ""),
            resume_advice(session),
        ));
    }
    let code = exit.code;
    let full = session.full_disk();
    let killed = exit.oom_kills.unwrap_or(0);
    let (fault, because, advice) = if exit.cut || full.is_some() {
        let path = full.unwrap_or(session.run.path());
        let because = format!(
            "the disk of {} is full: the step's output may be cut off",
            path.display()
        );
        (StepFault::Host, because, FREE_SPACE.to_owned())
    } else if killed > 0 {
        let processes = match killed {
            1 => "a process".to_owned(),
            _ => format!("{killed} processes"),
        };
        let because =
            format!("the kernel killed {processes} of it, out of memory (its exit code: {code})");
        (StepFault::Command, because, MORE_MEMORY.to_owned())
    } else if code != 0 {
        (
            StepFault::Command,
            describe(code),
            advice(session, command, code),
        )
    } else {
        return Ok(code);
    };
    Err(StepEnd::Failed {
        fault,
        because,
        exit_code: Some(code),
        last_lines: Vec::new(),
        advice,
    })
}

fn advice(session: &Session, command: &ExecStep, code: i64) -> String {
    let is_collected = |of| session.plan.steps_of(of).any(Step::collects);
    match command.purpose {
        _ if code == 127 && command.shell.is_none() => {
            "if the guide's commands rely on a login shell's PATH, set `shell: [bash, -ilc]` in the recipe's container".to_owned()
        }
        Purpose::Check { of, .. } if is_collected(of) => format!(
            "read its output; once what it lacks is there, `retrial resume {}` runs it again on the collected \
             results, without measuring again",
            session.run.id()
        ),
        _ => "read its output; to inspect the container, use --keep on-failure and `retrial shell`".to_owned(),
    }
}

fn describe(code: i64) -> String {
    match code {
        126 => "its command cannot be executed (exit code 126)".to_owned(),
        127 => "a command was not found (exit code 127)".to_owned(),
        code if code > 128 && code < 193 => {
            let signal = i32::try_from(code - 128).unwrap_or_default();
            format!("it was ended by {} (exit code {code})", signal_name(signal))
        }
        code => format!("it ended with exit code {code}"),
    }
}
