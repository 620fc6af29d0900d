//! One command of the recipe: started or taken up again, followed to its end, and what it left
//! running is ended.

use super::control::{GRACE_S, StepExit};
use super::ending::{end_left, end_step};
use super::error::RunError;
use super::follow::{Followed, disk_full, ended_words, follow};
use super::output;
use super::place::Place;
use super::session::Session;
use crate::plan::step::{ExecStep, Step};
use crate::store::journal::{StepEnd, StepFault, What};

/// Lines of output that a failure shows.
const LAST_LINES: usize = 12;

/// Runs a step's command in the container; `again` if it may be running since before a kill of
/// the tool.
pub async fn run(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    again: bool,
) -> Result<StepEnd, RunError> {
    let Some(container) = session.state().container else {
        return Ok(StepEnd::host("there is no container to run it in"));
    };
    let end = run_at(session, step, command, &Place::Container(container), again).await;
    session.control.set_deadline(Some(GRACE_S))?;
    end
}

/// Runs a step's command at its place.
pub async fn run_at(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    place: &Place,
    again: bool,
) -> Result<StepEnd, RunError> {
    let control = place.control(session).step(&step.directory());
    if !(again && control.exists()) {
        output::begin(session, step, &control, command)?;
    }
    let mut started = None;
    if !control.started() {
        match place.start(session, step, command).await? {
            Ok(process) => started = Some(process),
            Err(end) => {
                output::keep(session, step, &control, command)?;
                return Ok(end);
            }
        }
    }
    let followed = follow(session, step, command, &control, place, started).await;
    if !matches!(followed, Followed::Exited(_)) {
        end_step(session, step, &control, place).await;
    }
    let left = if let Followed::Exited(exit) = &followed {
        exit.left.clone()
    } else {
        Vec::new()
    };
    if !left.is_empty() {
        session.say(Some(step), What::LeftRunning { processes: left })?;
        end_left(session, step, place).await;
    }
    output::keep(session, step, &control, command)?;
    Ok(ended(session, step, command, followed))
}

/// How the step ended, in words.
fn ended(session: &Session, step: &Step, command: &ExecStep, followed: Followed) -> StepEnd {
    let (fault, because, exit_code, advice) = match followed {
        Followed::Stopped => return StepEnd::Stopped,
        Followed::Exited(exit) if exit.terminated_by_us => {
            let advice = format!(
                "go on in a new container with: retrial resume {}",
                session.run.id()
            );
            (StepFault::Host, ended_words(session, ""), None, advice)
        }
        Followed::Exited(exit) => match exited(session, command, &exit) {
            None => {
                return StepEnd::Done {
                    exit_code: Some(exit.code),
                };
            }
            Some((fault, because, advice)) => (fault, because, Some(exit.code), advice.to_owned()),
        },
        Followed::TimedOut { because } => {
            let advice = "give it longer with `timeout:` (or `silence:`) in the recipe";
            (StepFault::Timeout, because, None, advice.to_owned())
        }
        Followed::Died(death) => (death.fault, death.because, None, death.advice),
    };
    let last_lines = output::last_lines(&session.run, step, LAST_LINES);
    StepEnd::Failed {
        fault,
        because,
        exit_code,
        last_lines,
        advice,
    }
}

/// What went wrong with a step that wrote its exit code, if anything did.
fn exited(
    session: &Session,
    command: &ExecStep,
    exit: &StepExit,
) -> Option<(StepFault, String, &'static str)> {
    let killed = exit.oom_kills.unwrap_or(0);
    let path = session.run.path();
    if exit.cut || disk_full(path) {
        let because = format!(
            "the disk of {} is full: what the step wrote may be cut off",
            path.display()
        );
        return Some((
            StepFault::Host,
            because,
            "make room, or keep runs elsewhere: --home DIR",
        ));
    }
    if killed > 0 {
        let processes = if killed == 1 {
            "a process".to_owned()
        } else {
            format!("{killed} processes")
        };
        let because = format!(
            "the kernel killed {processes} of it for want of memory (its own exit code: {})",
            exit.code
        );
        return Some((
            StepFault::Command,
            because,
            "give the container or the host more memory, or the benchmark a smaller batch",
        ));
    }
    (exit.code != 0).then(|| {
        (
            StepFault::Command,
            exit_words(exit.code),
            advice_for(exit.code, command),
        )
    })
}

fn exit_words(code: i64) -> String {
    match code {
        126 => "its command cannot be executed (exit code 126)".to_owned(),
        127 => "a command was not found (exit code 127)".to_owned(),
        code if code > 128 && code < 193 => {
            let signal = code - 128;
            let name = match signal {
                2 => " (INT)",
                6 => " (ABRT)",
                7 => " (BUS)",
                9 => " (KILL)",
                11 => " (SEGV)",
                13 => " (PIPE)",
                15 => " (TERM)",
                _ => "",
            };
            format!("it was ended by signal {signal}{name} (exit code {code})")
        }
        code => format!("it ended with exit code {code}"),
    }
}

fn advice_for(code: i64, command: &ExecStep) -> &'static str {
    if code == 127 && command.shell.is_none() {
        "if the guide's commands rely on a login shell's PATH, set `shell: [bash, -ilc]` in the recipe's container"
    } else {
        "read its output; look into the container with --keep on-failure and `retrial shell`"
    }
}
