//! Where a step's command runs: in the run's container, started by the engine, or on this machine.
//! Either way it runs under the same script, in a session of its own, and survives a kill of the tool.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::control::{Control, GRACE_S, mark, step_command};
use super::engine_back::with_engine;
use super::error::Halt;
use super::host;
use super::redact;
use super::session::Session;
use crate::plan::step::{ExecStep, Step};
use crate::store::journal::StepFault;
use retrial_container::first_process::CONTROL;
use retrial_engine::api::{ExecSpec, ExecStatus};
use retrial_engine::error::{EngineError, Refusal};

/// How long a script may take that ends processes or looks for them, on a host with very many.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a command runs.
#[derive(Debug, Clone)]
pub enum Target {
    /// In this container, under this control directory.
    Container(String, Control),
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
    /// Its status; none if nobody can tell now.
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

impl Target {
    /// The run's container.
    ///
    /// # Errors
    /// If there is none.
    pub fn main(session: &Session) -> Result<Self, Halt> {
        Ok(Self::Container(
            session.container()?,
            session.control.clone(),
        ))
    }

    /// The control directory of the steps there.
    pub fn control<'a>(&'a self, session: &'a Session) -> &'a Control {
        match self {
            Self::Container(_, control) => control,
            Self::Host => &session.host_control,
        }
    }

    /// Starts a step's command.
    pub async fn start(
        &self,
        session: &Session,
        step: &Step,
        command: &ExecStep,
    ) -> Result<Started, Halt> {
        let Self::Container(container, _) = self else {
            let child = host::start(session, step, command)?;
            return Ok(Started::Process(Box::new(child)));
        };
        let after = command.timeout_s.saturating_add(GRACE_S);
        session.set_deadline(Some(after))?;
        let spec = spec(session, step, command);
        let exec = || session.engine.exec_detached(container, &spec);
        match with_engine(session, step, exec).await {
            Ok(id) => Ok(Started::Exec(id)),
            Err(error) => Err(refused(session, container, &error).await),
        }
    }

    /// Runs one of the control directory's scripts for a step. Returns its output if it succeeded in
    /// time: a container may have put a pipe in place of a file that it reads.
    pub async fn script(
        &self,
        session: &Session,
        step: &Step,
        name: &str,
        arguments: &[&str],
    ) -> Option<String> {
        let script = self.run_script(session, step, name, arguments);
        tokio::time::timeout(PATIENCE, script).await.ok().flatten()
    }

    async fn run_script(
        &self,
        session: &Session,
        step: &Step,
        name: &str,
        arguments: &[&str],
    ) -> Option<String> {
        let directory = self.control_path(session);
        let words = ["/bin/sh".to_owned(), format!("{directory}/{name}")];
        let arguments = arguments.iter().map(|argument| (*argument).to_owned());
        let command = words.into_iter().chain([step.directory()]).chain(arguments);
        match self {
            Self::Container(container, _) => {
                let mut spec = ExecSpec::as_root(command);
                spec.env.push(mark(&session.run, step));
                let output = session.engine.exec(container, &spec).await.ok()?;
                (output.code == 0).then_some(output.stdout)
            }
            Self::Host => {
                let mut process = Command::new("/bin/sh");
                process
                    .args(command.skip(1))
                    .envs([mark(&session.run, step)]);
                process.stdin(Stdio::null()).stderr(Stdio::null());
                process.kill_on_drop(true);
                let output = process.output().await.ok()?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                output.status.success().then_some(text)
            }
        }
    }

    /// Signals a step's processes. Returns `pid name` of each, none if nobody answers.
    pub async fn signal(&self, session: &Session, step: &Step, signal: &str) -> Option<String> {
        self.script(session, step, "terminate", &[signal]).await
    }

    /// What to do about a forged exit code or a changed script.
    pub fn forgery_advice(&self) -> &'static str {
        match self {
            Self::Container(..) => {
                "something in the container wrote to /.retrial: read the recipe's commands and the \
                 image's programs"
            }
            Self::Host => {
                "something on this host wrote to the run's directory: read the recipe's commands with \
                 `on: host`, and the programs that they start"
            }
        }
    }

    /// The control directory as the command sees it.
    pub fn control_path(&self, session: &Session) -> String {
        match self {
            Self::Container(..) => CONTROL.to_owned(),
            Self::Host => session.host_control.path().display().to_string(),
        }
    }
}

/// The exec that starts the container's side of a step.
pub fn spec(session: &Session, step: &Step, command: &ExecStep) -> ExecSpec {
    let mut env = command.env.clone();
    env.push(mark(&session.run, step));
    env.extend(redact::environment(&command.secrets, &session.secrets));
    ExecSpec {
        command: step_command(CONTROL, step, command),
        env,
        workdir: command.workdir.clone(),
        user: command.user.clone(),
        privileged: false,
    }
}

/// Why the engine did not start a command.
async fn refused(session: &Session, container: &str, error: &EngineError) -> Halt {
    let text = error.to_string();
    if matches!(
        error.refusal(),
        Some(Refusal::UnknownUser | Refusal::WorkingDirectory)
    ) {
        return Halt::failed(
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
    let advice = format!("continue with: retrial resume {}", session.run.id());
    Halt::failed(StepFault::Host, because, advice)
}
