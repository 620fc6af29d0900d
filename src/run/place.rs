//! Where a step's command runs: in the run's container, started by the engine, or on this
//! machine. Either way it runs under the same script, in a session of its own, and goes on when
//! the tool is killed.

use std::process::Stdio;

use tokio::process::{Child, Command};

use super::control::{Control, GRACE_S};
use super::ending::mark;
use super::engine_back::with_engine;
use super::host;
use super::redact;
use super::session::Session;
use crate::plan::shell::takes_text;
use crate::plan::step::{ExecStep, Step};
use crate::store::StoreError;
use crate::store::journal::{StepEnd, StepFault};
use retrial_container::first_process::{CONTROL, DEFAULT_SHELL};
use retrial_engine::api::{ExecSpec, ExecStatus};
use retrial_engine::error::EngineError;

/// Where a command runs.
#[derive(Debug, Clone)]
pub enum Place {
    /// In this container.
    Container(String),
    /// On this machine.
    Host,
}

/// A command that this process has started.
pub enum Started {
    /// The engine's exec.
    Exec(String),
    /// A process of ours.
    Process(Box<Child>),
}

impl Started {
    /// How it stands; none where nobody can say now.
    pub async fn status(&mut self, session: &Session) -> Option<ExecStatus> {
        match self {
            Self::Exec(exec) => session.engine.exec_status(exec).await.ok(),
            Self::Process(child) => Some(match child.try_wait().ok()? {
                None => ExecStatus::Running,
                Some(status) => ExecStatus::Exited(status.code().map_or(137, i64::from)),
            }),
        }
    }
}

impl Place {
    /// The control directory of the steps there.
    pub fn control<'a>(&self, session: &'a Session) -> &'a Control {
        match self {
            Self::Container(_) => &session.control,
            Self::Host => &session.host_control,
        }
    }

    /// Starts a step's command; how the step ends, if it cannot be started.
    pub async fn start(
        &self,
        session: &Session,
        step: &Step,
        command: &ExecStep,
    ) -> Result<Result<Started, StepEnd>, StoreError> {
        match self {
            Self::Container(container) => {
                let after = command.timeout_s.saturating_add(GRACE_S);
                session.control.set_deadline(Some(after))?;
                let spec = exec_spec(session, step, command);
                let started = with_engine(session, step, || {
                    session.engine.exec_detached(container, &spec)
                });
                Ok(match started.await {
                    Ok(id) => Ok(Started::Exec(id)),
                    Err(error) => Err(refused(session, container, &error).await),
                })
            }
            Self::Host => {
                let started = host::start(session, step, command);
                Ok(started.map(|child| Started::Process(Box::new(child))))
            }
        }
    }

    /// Runs one of the control directory's scripts for a step: its output, where it ran well.
    pub async fn script(
        &self,
        session: &Session,
        step: &Step,
        name: &str,
        arguments: &[&str],
    ) -> Option<String> {
        let mut command = vec![step.directory()];
        command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        match self {
            Self::Container(container) => {
                let script = ["/bin/sh".to_owned(), format!("{CONTROL}/{name}")];
                let spec = ExecSpec {
                    command: script.into_iter().chain(command).collect(),
                    env: vec![mark(session, step)],
                    user: Some("0".to_owned()),
                    ..Default::default()
                };
                let output = session.engine.exec(container, &spec).await.ok()?;
                (output.code == 0).then_some(output.stdout)
            }
            Self::Host => {
                let output = Command::new("/bin/sh")
                    .arg(session.host_control.path().join(name))
                    .args(command)
                    .envs([mark(session, step)])
                    .stdin(Stdio::null())
                    .stderr(Stdio::null())
                    .output()
                    .await
                    .ok()?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                output.status.success().then_some(text)
            }
        }
    }
}

/// The exec that starts the container's side of a step.
fn exec_spec(session: &Session, step: &Step, command: &ExecStep) -> ExecSpec {
    let script = [
        "/bin/sh".to_owned(),
        format!("{CONTROL}/step"),
        step.directory(),
    ];
    let mut env = command.env.clone();
    env.push(mark(session, step));
    env.extend(redact::environment(&command.secrets, &session.secrets));
    ExecSpec {
        command: script.into_iter().chain(shell(command)).collect(),
        env,
        workdir: command.workdir.clone(),
        user: command.user.clone(),
        privileged: false,
    }
}

/// The shell that reads a step's command, whose file becomes its last word.
pub fn shell(command: &ExecStep) -> Vec<String> {
    match &command.shell {
        None => DEFAULT_SHELL.map(str::to_owned).to_vec(),
        Some(shell) => {
            let mut words = shell.clone();
            if takes_text(shell) {
                // The command's file becomes $0 and is read by the shell itself.
                words.push(". \"$0\"".to_owned());
            }
            words
        }
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
