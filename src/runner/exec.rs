//! One command of the recipe in the container: started or taken up again, followed to its
//! end, and what it left running is ended.

use super::control::{GRACE_S, StepExit};
use super::ending::{end_left, end_step, mark};
use super::engine_back::with_engine;
use super::error::RunError;
use super::follow::{Followed, disk_full, ended_words, follow};
use super::output;
use super::redact;
use super::session::Session;
use crate::engine::api::ExecSpec;
use crate::engine::error::EngineError;
use crate::journal::{StepEnd, StepFault, What};
use crate::plan::first_process::{CONTROL, DEFAULT_SHELL};
use crate::plan::shell::takes_text;
use crate::plan::step::{ExecStep, Step};

/// Lines of output that a failure shows.
const LAST_LINES: usize = 12;

/// Runs a step's command; `again` if it may be running since before a kill of the tool.
pub async fn run(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    again: bool,
) -> Result<StepEnd, RunError> {
    let Some(container) = session.state().container else {
        return Ok(StepEnd::host("there is no container to run it in"));
    };
    let control = session.control.step(&step.directory());
    if !(again && control.exists()) {
        output::begin(session, step, &control, command)?;
    }
    let mut exec = None;
    if !control.started() {
        let after = command.timeout_s.saturating_add(GRACE_S);
        session.control.set_deadline(Some(after))?;
        let spec = exec_spec(session, step, command);
        match with_engine(session, step, || {
            session.engine.exec_detached(&container, &spec)
        })
        .await
        {
            Ok(id) => exec = Some(id),
            Err(error) => {
                output::keep(session, step, &control, command)?;
                return Ok(refused(session, &container, &error).await);
            }
        }
    }
    let followed = follow(session, step, command, &control, &container, exec).await;
    if !matches!(followed, Followed::Exited(_)) {
        end_step(session, step, &control, &container).await;
    }
    let left = if let Followed::Exited(exit) = &followed {
        exit.left.clone()
    } else {
        Vec::new()
    };
    if !left.is_empty() {
        session.say(Some(step), What::LeftRunning { processes: left })?;
        end_left(session, step, &container).await;
    }
    output::keep(session, step, &control, command)?;
    session.control.set_deadline(Some(GRACE_S))?;
    Ok(ended(session, step, command, followed))
}

/// The exec that starts the container's side of a step.
fn exec_spec(session: &Session, step: &Step, command: &ExecStep) -> ExecSpec {
    let mut words = vec![
        "/bin/sh".to_owned(),
        format!("{CONTROL}/step"),
        step.directory(),
    ];
    match &command.shell {
        None => words.extend(DEFAULT_SHELL.map(str::to_owned)),
        Some(shell) => {
            words.extend(shell.iter().cloned());
            if takes_text(shell) {
                // The command's file becomes $0 and is read by the shell itself.
                words.push(". \"$0\"".to_owned());
            }
        }
    }
    let mut env = command.env.clone();
    env.push(mark(session, step));
    env.extend(redact::environment(&command.secrets, &session.secrets));
    ExecSpec {
        command: words,
        env,
        workdir: command.workdir.clone(),
        user: command.user.clone(),
        privileged: false,
    }
}

async fn refused(session: &Session, container: &str, error: &EngineError) -> StepEnd {
    let text = error.to_string();
    let recipe = ["unable to find user", "no matching entries", "chdir to cwd"]
        .iter()
        .any(|words| text.contains(words));
    if recipe {
        return StepEnd::failed(
            StepFault::Request,
            text,
            "does the image have the `user:` and the `workdir:` of the step?",
        );
    }
    let state = session.engine.container(container).await.ok().flatten();
    let because = match state {
        Some(state) if !state.running => "the container had ended before the step began".to_owned(),
        None if !error.is_gone() => "the container is gone: somebody removed it".to_owned(),
        _ => text,
    };
    StepEnd::failed(
        StepFault::Host,
        because,
        format!("go on with: retrial resume {}", session.run.id()),
    )
}

/// How the step ended, in words.
fn ended(session: &Session, step: &Step, command: &ExecStep, followed: Followed) -> StepEnd {
    let (fault, because, exit_code, advice) = match followed {
        Followed::Stopped => return StepEnd::Stopped,
        Followed::Exited(exit) if exit.told_to_end => {
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
