//! A command of a step, where it runs: in a container, started by the engine, or on this machine. Either way
//! it runs under the same script, in a session of its own, and survives a kill of the tool.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::host;
use super::session::StepSession;
use crate::access::RunSession;
use crate::control::{ControlDirectory, GRACE_S, StepControl, mark, step_command};
use crate::error::Halt;
use crate::redact;
use retrial_container::first_process::CONTROL;
use retrial_document::ErrorText;
use retrial_engine::EngineError;
use retrial_engine::api::{Engine, ExecSpec, ExecStatus};
use retrial_engine::docker::EngineRefusal;
use retrial_plan::service::ServiceStep;
use retrial_plan::step::ExecStep;
use retrial_store::journal::{StepEnd, StepFault};

/// The timeout of a script that ends or searches processes, on a host with very many.
const PATIENCE: Duration = Duration::from_secs(5);

/// A command of a step, where it runs.
pub struct StepCommand<'a> {
    /// The session at the step.
    pub session: StepSession<'a>,
    /// The command, with its environment and limits.
    pub exec: &'a ExecStep,
    /// The container; none: it runs on this machine.
    pub container: Option<String>,
    /// The control directory of the steps there.
    pub control: ControlDirectory,
    /// The step's own files in it.
    pub files: StepControl,
}

/// A command that this process has started.
pub enum StartedCommand {
    /// The id of the exec that the engine started.
    Exec(String),
    /// A process of ours.
    Process(Box<Child>),
}

impl StartedCommand {
    /// Queries its current status; none if it is unknown.
    pub async fn status(&mut self, session: &RunSession) -> Option<ExecStatus> {
        match self {
            Self::Exec(exec) => {
                let status = session.engine.ask(|engine| engine.exec_status(exec));
                status.await.ok()
            }
            Self::Process(child) => Some(match child.try_wait().ok()? {
                None => ExecStatus::Running,
                Some(status) => ExecStatus::Exited(status.code().map_or(137, i64::from)),
            }),
        }
    }
}

impl<'a> StepCommand<'a> {
    fn new(
        session: &StepSession<'a>,
        exec: &'a ExecStep,
        container: Option<String>,
        control: &ControlDirectory,
    ) -> Self {
        Self {
            session: *session,
            exec,
            container,
            control: control.clone(),
            files: control.step(session.step),
        }
    }

    /// Returns the command in the run's container.
    ///
    /// # Errors
    /// If there is none.
    pub fn in_container(session: &StepSession<'a>, exec: &'a ExecStep) -> Result<Self, Halt> {
        let container = Some(session.container()?);
        Ok(Self::new(session, exec, container, &session.control))
    }

    /// Returns the command on this machine.
    pub fn on_host(session: &StepSession<'a>, exec: &'a ExecStep) -> Self {
        Self::new(session, exec, None, &session.host_control)
    }

    /// Returns the command of a service, in the container where it runs.
    ///
    /// # Errors
    /// If there is no such container.
    pub fn of_service(session: &StepSession<'a>, service: &'a ServiceStep) -> Result<Self, Halt> {
        if service.own_container.is_none() {
            return Self::in_container(session, &service.command);
        }
        let state = session.state();
        let id = state.service_containers.get(&session.step.number).cloned();
        let id = id.ok_or_else(|| Halt::host("the service's container no longer exists"))?;
        let control = &session.service_controls[&service.service];
        Ok(Self::new(session, &service.command, Some(id), control))
    }

    /// Starts the command: by the engine in a container, else as a child process.
    pub async fn start(&self) -> Result<StartedCommand, Halt> {
        let session = &self.session;
        let Some(container) = &self.container else {
            return Ok(StartedCommand::Process(Box::new(host::start(
                session, self.exec,
            )?)));
        };
        let after = self.exec.timeout_s.saturating_add(GRACE_S);
        session.set_deadline(Some(after))?;
        let spec = self.spec();
        let started = session.with_engine(|engine| engine.exec_detached(container, &spec));
        match started.await {
            Ok(id) => Ok(StartedCommand::Exec(id)),
            Err(error) => Err(refused(session, container, &error).await),
        }
    }

    /// Returns the exec that starts the container's side of it.
    pub fn spec(&self) -> ExecSpec {
        let (session, exec) = (&self.session, self.exec);
        let mut env = exec.env.clone();
        env.push(mark(&session.run, session.step));
        env.extend(redact::environment(&exec.secrets, &session.secrets));
        ExecSpec {
            command: step_command(CONTROL, session.step, exec),
            env,
            workdir: exec.workdir.clone(),
            user: exec.user.clone(),
        }
    }

    /// Runs one of the control directory's scripts for the step, and waits for an unavailable engine. Returns its
    /// output if it succeeded in time: a container may have put a pipe in place of a file that it reads.
    pub async fn script(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let Some(container) = &self.container else {
            return self.script_on_host(name, arguments).await;
        };
        let spec = self.script_in_container(name, arguments);
        let run = async |engine: &dyn Engine| {
            if let Ok(output) = timeout(PATIENCE, engine.exec(container, &spec)).await {
                return output.map(Some);
            }
            // The script hangs, or the engine.
            let state = self
                .session
                .engine
                .ask(|engine| engine.container(container));
            state.await.map(|_| None)
        };
        let output = self.session.with_engine(run).await.ok()??;
        (output.code == 0).then_some(output.stdout)
    }

    /// [`Self::script`], which does not wait for an unavailable engine.
    pub async fn script_once(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let Some(container) = &self.container else {
            return self.script_on_host(name, arguments).await;
        };
        let spec = self.script_in_container(name, arguments);
        let output = self
            .session
            .engine
            .ask(|engine| engine.exec(container, &spec));
        let output = output.await.ok()?;
        (output.code == 0).then_some(output.stdout)
    }

    /// Returns the program and the arguments that run a script for the step.
    fn script_words(&self, name: &str, arguments: &[&str]) -> Vec<String> {
        let script = format!("{}/{name}", self.control_path());
        let words = [
            "/bin/sh".to_owned(),
            script,
            self.session.step.directory_name(),
        ];
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        words.into_iter().chain(arguments).collect()
    }

    fn script_in_container(&self, name: &str, arguments: &[&str]) -> ExecSpec {
        let words = self.script_words(name, arguments);
        let mut spec = ExecSpec::as_root(words);
        spec.env.push(mark(&self.session.run, self.session.step));
        spec
    }

    async fn script_on_host(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let [shell, words @ ..] = &self.script_words(name, arguments)[..] else {
            return None;
        };
        let mut process = Command::new(shell);
        let mark = mark(&self.session.run, self.session.step);
        process.args(words).envs([mark]);
        process.stdin(Stdio::null()).stderr(Stdio::null());
        process.kill_on_drop(true);
        let output = timeout(PATIENCE, process.output()).await.ok()?.ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }
    /// Returns the fix for a forged exit code or a changed script.
    pub fn forgery_advice(&self) -> &'static str {
        match self.container {
            Some(_) => {
                "something in the container wrote to /.retrial: read the recipe's commands and the \
                 image's programs"
            }
            None => {
                "something on this host wrote to the run's directory: read the recipe's commands with \
                 `on: host`, and the programs that they start"
            }
        }
    }

    /// Returns the control directory as the command sees it.
    pub fn control_path(&self) -> String {
        match self.container {
            Some(_) => CONTROL.to_owned(),
            None => self.control.path().display().to_string(),
        }
    }
}

/// Returns why the engine did not start a command.
async fn refused(session: &RunSession, container: &str, error: &EngineError) -> Halt {
    if matches!(
        error.refusal(),
        Some(EngineRefusal::UnknownUser | EngineRefusal::WorkingDirectory)
    ) {
        let advice = "does the image have the `user:` and the `workdir:` of the step?";
        let error = ErrorText::of(error).with_help(advice);
        return StepEnd::error(StepFault::Request, error).into();
    }
    let state = session.with_engine(|engine| engine.container(container));
    let state = state.await.ok().flatten();
    let text: ErrorText = match state {
        Some(state) if !state.running => "the container had ended before the step began".into(),
        None if !error.is_unavailable() => "the container was removed by someone else".into(),
        _ => ErrorText::of(error),
    };
    let advice = format!("continue with: retrial resume {}", session.run.id());
    Halt::host(text.with_help(advice))
}
