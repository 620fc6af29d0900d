//! One command of the recipe in the container: started or taken up again, followed to its
//! end, and what it left running is ended.

use std::time::Duration;

use super::control::{GRACE_S, StepControl, StepExit};
use super::engine_back::with_engine;
use super::error::RunError;
use super::follow::{Followed, follow};
use super::redact;
use super::session::Session;
use crate::engine::api::ExecSpec;
use crate::engine::error::EngineError;
use crate::journal::{StepEnd, StepFault, What};
use crate::plan::first_process::{CONTROL, DEFAULT_SHELL};
use crate::plan::shell::takes_text;
use crate::plan::step::{ExecStep, Step};
use crate::store::StoreError;

/// How long a process may take to end after TERM.
const TERM_GRACE: Duration = Duration::from_secs(10);

/// Runs a step's command; `again` if it may be running since before a kill of the tool.
pub async fn run(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    again: bool,
) -> Result<StepEnd, RunError> {
    let Some(container) = session.state().container else {
        return Ok(fault(
            StepFault::Host,
            "there is no container to run it in".to_owned(),
            "",
        ));
    };
    let control = session.control.step(&step.directory());
    if !(again && control.exists()) {
        set_aside(session, step)?;
        control.prepare(&command.run, &command.results)?;
        show_output(session, step, &control)?;
    }
    let mut exec_id = None;
    if !control.started() {
        let after = command.timeout_s.saturating_add(GRACE_S);
        session.control.set_deadline(Some(after))?;
        let spec = exec_spec(session, step, command);
        match with_engine(session, step, || {
            session.engine.exec_detached(&container, &spec)
        })
        .await
        {
            Ok(id) => exec_id = Some(id),
            Err(error) => {
                keep_output(session, step, &control, command)?;
                return Ok(refused(session, &container, &error).await);
            }
        }
    }
    let followed = follow(
        session,
        step,
        command,
        &control,
        &container,
        exec_id.as_deref(),
    )
    .await;
    let end = match followed {
        Followed::Exited(exit) => {
            exited(session, step, &control, &container, command, exit).await?
        }
        Followed::Stopped => {
            end_step(session, step, &control, &container).await;
            StepEnd::Stopped
        }
        Followed::TimedOut { because } => {
            end_step(session, step, &control, &container).await;
            failed(
                StepFault::Timeout,
                because,
                None,
                "give it longer with `timeout:` (or `silence:`) in the recipe",
                &control,
            )
        }
        Followed::Died { because, advice } => {
            failed(StepFault::Host, because, None, &advice, &control)
        }
    };
    keep_output(session, step, &control, command)?;
    session.control.set_deadline(Some(GRACE_S))?;
    Ok(end)
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
    env.push((
        "RETRIAL_STEP".to_owned(),
        format!("{}/{}", session.run.id(), step.directory()),
    ));
    if !command.secrets.is_empty() {
        env.push(("RETRIAL_SECRETS".to_owned(), command.secrets.join(" ")));
        let values = command
            .secrets
            .iter()
            .filter_map(|name| Some((name.clone(), session.secrets.get(name)?.clone())));
        env.extend(values);
    }
    ExecSpec {
        command: words,
        env,
        workdir: command.workdir.clone(),
        user: command.user.clone(),
        privileged: false,
    }
}

fn fault(fault: StepFault, because: String, advice: &str) -> StepEnd {
    StepEnd::Failed {
        fault,
        because,
        exit_code: None,
        last_lines: Vec::new(),
        advice: advice.to_owned(),
    }
}

fn failed(
    fault: StepFault,
    because: String,
    exit_code: Option<i64>,
    advice: &str,
    control: &StepControl,
) -> StepEnd {
    StepEnd::Failed {
        fault,
        because,
        exit_code,
        last_lines: super::follow::last_lines(&control.output(), 12),
        advice: advice.to_owned(),
    }
}

async fn refused(session: &Session, container: &str, error: &EngineError) -> StepEnd {
    let state = session.engine.container(container).await.ok().flatten();
    let because = match state {
        Some(state) if !state.running => "the container had ended before the step began".to_owned(),
        None if !error.is_gone() => "the container is gone: somebody removed it".to_owned(),
        _ => error.to_string(),
    };
    fault(
        StepFault::Host,
        because,
        &format!("go on with: retrial resume {}", session.run.id()),
    )
}

/// The step's own exit: ends what it left, and says how it went.
async fn exited(
    session: &Session,
    step: &Step,
    control: &StepControl,
    container: &str,
    command: &ExecStep,
    exit: StepExit,
) -> Result<StepEnd, RunError> {
    if !exit.left.is_empty() {
        session.say(
            Some(step),
            What::LeftRunning {
                processes: exit.left.clone(),
            },
        )?;
        end_left(session, step, container).await;
    }
    let killed = exit.oom_kills.unwrap_or(0);
    if exit.code == 0 && killed == 0 {
        return Ok(StepEnd::Done { exit_code: Some(0) });
    }
    let (because, advice) = if killed > 0 {
        let processes = if killed == 1 {
            "a process".to_owned()
        } else {
            format!("{killed} processes")
        };
        (
            format!(
                "the kernel killed {processes} of it for want of memory (its own exit code: {})",
                exit.code
            ),
            "give the container or the host more memory, or the benchmark a smaller batch",
        )
    } else {
        (exit_words(exit.code), advice_for(exit.code, command))
    };
    Ok(failed(
        StepFault::Command,
        because,
        Some(exit.code),
        advice,
        control,
    ))
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

/// Ends a running step: TERM, wait, KILL.
async fn end_step(session: &Session, step: &Step, control: &StepControl, container: &str) {
    for signal in ["TERM", "KILL"] {
        signal_step(session, step, container, signal).await;
        let until = tokio::time::Instant::now() + TERM_GRACE;
        while tokio::time::Instant::now() < until {
            if control.exit().is_some() {
                end_left(session, step, container).await;
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Ends what a step left running.
async fn end_left(session: &Session, step: &Step, container: &str) {
    let until = tokio::time::Instant::now() + TERM_GRACE;
    let mut signal = "TERM";
    loop {
        let Some(left) = signal_step(session, step, container, signal).await else {
            return;
        };
        if left.is_empty() {
            return;
        }
        if tokio::time::Instant::now() > until {
            if signal == "KILL" {
                return;
            }
            signal = "KILL";
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

/// Signals a step's processes; gives the names of those that were there.
async fn signal_step(
    session: &Session,
    step: &Step,
    container: &str,
    signal: &str,
) -> Option<Vec<String>> {
    let spec = ExecSpec {
        command: [
            "/bin/sh",
            &format!("{CONTROL}/end"),
            &step.directory(),
            signal,
        ]
        .map(str::to_owned)
        .to_vec(),
        env: vec![(
            "RETRIAL_STEP".to_owned(),
            format!("{}/{}", session.run.id(), step.directory()),
        )],
        user: Some("0".to_owned()),
        ..Default::default()
    };
    let output = session.engine.exec(container, &spec).await.ok()?;
    Some(output.stdout.lines().map(str::to_owned).collect())
}

/// Output of an earlier try of the same step is kept beside.
fn set_aside(session: &Session, step: &Step) -> Result<(), StoreError> {
    let directory = session.run.steps().join(step.directory());
    if !directory.exists() {
        return Ok(());
    }
    for attempt in 1..1000 {
        let aside = session
            .run
            .steps()
            .join(format!("{}.{attempt}", step.directory()));
        if !aside.exists() {
            return std::fs::rename(&directory, &aside)
                .map_err(StoreError::io("rename", &directory));
        }
    }
    Ok(())
}

/// The step's directory in the run shows the output from the first byte: the same file.
fn show_output(session: &Session, step: &Step, control: &StepControl) -> Result<(), StoreError> {
    let directory = session.run.steps().join(step.directory());
    std::fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
    let path = directory.join("output.log");
    std::fs::hard_link(control.output(), &path).map_err(StoreError::io("create", &path))
}

/// The container can no longer write to what is kept: its link goes, and what it may have
/// put in its place is never read.
fn keep_output(
    session: &Session,
    step: &Step,
    control: &StepControl,
    command: &ExecStep,
) -> Result<(), StoreError> {
    let path = session
        .run
        .steps()
        .join(step.directory())
        .join("output.log");
    if !command.secrets.is_empty() {
        redact::file(&path, &command.secrets, &session.secrets)?;
    }
    let _ = std::fs::remove_file(control.output());
    match crate::store::run_directory::set_mode(&path, 0o644) {
        // Somebody else's file: the container's user replaced it.
        Err(StoreError::Io { source, .. })
            if source.kind() == std::io::ErrorKind::PermissionDenied =>
        {
            Ok(())
        }
        other => other,
    }
}
