//! A command of a step, where it runs: in a container, started by the engine, or on this machine. Either way
//! it runs under the same script, in a session of its own, and survives a kill of the tool.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::host;
use super::session::StepSession;
use crate::access::RunSession;
use crate::control::{ControlDirectory, DEADLINE_GRACE_S, StepControl, step_command, step_mark};
use crate::error::Halt;
use crate::redact;
use retrial_container::first_process::CONTROL_MOUNT;
use retrial_document::ErrorText;
use retrial_engine::EngineError;
use retrial_engine::api::{Engine, ExecSpec, ExecStatus};
use retrial_engine::docker::EngineRefusal;
use retrial_plan::service::ServiceStep;
use retrial_plan::step::ExecStep;
use retrial_store::journal::{StepEnd, StepFault};

/// The timeout of a script that ends or searches processes, on a host with very many.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(5);

/// A command of a step, where it runs.
pub struct StepCommand<'a> {
    pub session: StepSession<'a>,
    /// The command, with its environment and limits.
    pub exec: &'a ExecStep,
    /// The container; none: it runs on this machine.
    pub container: Option<String>,
    pub control: ControlDirectory,
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
    pub async fn query_status(&mut self, session: &RunSession) -> Option<ExecStatus> {
        match self {
            Self::Exec(exec) => {
                let status = session.engine.call_once(|engine| engine.query_exec_status(exec));
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
            files: control.step_control(session.step),
        }
    }

    /// Returns the command in the run's container.
    ///
    /// # Errors
    /// If there is none.
    pub fn for_container(session: &StepSession<'a>, exec: &'a ExecStep) -> Result<Self, Halt> {
        let container = Some(session.run_session.require_container()?);
        Ok(Self::new(session, exec, container, &session.run_session.control))
    }

    pub fn for_host(session: &StepSession<'a>, exec: &'a ExecStep) -> Self {
        Self::new(session, exec, None, &session.run_session.host_control)
    }

    /// Returns the command of a service, in the container where it runs.
    ///
    /// # Errors
    /// If there is no such container.
    pub fn for_service(session: &StepSession<'a>, service: &'a ServiceStep) -> Result<Self, Halt> {
        if service.own_container.is_none() {
            return Self::for_container(session, &service.command);
        }
        let state = session.run_session.state();
        let id = state.service_containers.get(&session.step.number).cloned();
        let id =
            id.ok_or_else(|| Halt::host_failure("the service's container no longer exists"))?;
        let control = &session.run_session.service_controls[&service.service];
        Ok(Self::new(session, &service.command, Some(id), control))
    }

    /// Starts the command: by the engine in a container, else as a child process.
    pub async fn start(&self) -> Result<StartedCommand, Halt> {
        let session = &self.session;
        let Some(container) = &self.container else {
            return Ok(StartedCommand::Process(Box::new(host::start_host_step(
                session, self.exec,
            )?)));
        };
        let after = self.exec.timeout_s.saturating_add(DEADLINE_GRACE_S);
        session.run_session.set_deadline(Some(after))?;
        let spec = self.exec_spec();
        let started = session.with_engine(|engine| engine.exec_detached(container, &spec));
        match started.await {
            Ok(id) => Ok(StartedCommand::Exec(id)),
            Err(error) => Err(start_refusal(session.run_session, container, &error).await),
        }
    }

    /// Returns the exec that starts the container's side of it.
    pub fn exec_spec(&self) -> ExecSpec {
        let (session, exec) = (&self.session, self.exec);
        let mut env = exec.env.clone();
        env.push(step_mark(&session.run_session.run, session.step));
        env.extend(redact::redaction_environment(&exec.secrets, &session.run_session.secrets));
        ExecSpec {
            command: step_command(CONTROL_MOUNT, session.step, exec),
            env,
            workdir: exec.workdir.clone(),
            user: exec.user.clone(),
        }
    }

    /// Runs one of the control directory's scripts for the step, and waits for an unavailable engine. Returns its
    /// output if it succeeded in time: a container may have put a pipe in place of a file that it reads.
    pub async fn run_script(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let Some(container) = &self.container else {
            return self.run_script_on_host(name, arguments).await;
        };
        let spec = self.script_exec_spec(name, arguments);
        let run = async |engine: &dyn Engine| {
            if let Ok(output) =
                timeout(SCRIPT_TIMEOUT, engine.exec_attached(container, &spec)).await
            {
                return output.map(Some);
            }
            // The script hangs, or the engine.
            let state = self
                .session
                .run_session
                .engine
                .call_once(|engine| engine.inspect_container(container));
            state.await.map(|_| None)
        };
        let output = self.session.with_engine(run).await.ok()??;
        (output.code == 0).then_some(output.stdout)
    }

    /// [`Self::run_script`], which does not wait for an unavailable engine.
    pub async fn run_script_once(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let Some(container) = &self.container else {
            return self.run_script_on_host(name, arguments).await;
        };
        let spec = self.script_exec_spec(name, arguments);
        let answer = self
            .session
            .run_session
            .engine
            .call_once(|engine| engine.exec_attached(container, &spec));
        let output = answer.await.ok()?;
        (output.code == 0).then_some(output.stdout)
    }

    /// Returns the program and the arguments that run a script for the step.
    fn script_command_line(&self, name: &str, arguments: &[&str]) -> Vec<String> {
        let script = format!("{}/{name}", self.control_path());
        let words = ["/bin/sh".to_owned(), script, self.session.step.directory_name()];
        let owned_arguments = arguments.iter().map(|&argument| argument.to_owned());
        words.into_iter().chain(owned_arguments).collect()
    }

    fn script_exec_spec(&self, name: &str, arguments: &[&str]) -> ExecSpec {
        let words = self.script_command_line(name, arguments);
        let mut spec = ExecSpec::as_root(words);
        spec.env.push(step_mark(&self.session.run_session.run, self.session.step));
        spec
    }

    async fn run_script_on_host(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let [shell, words @ ..] = &self.script_command_line(name, arguments)[..] else {
            return None;
        };
        let mut process = Command::new(shell);
        let mark = step_mark(&self.session.run_session.run, self.session.step);
        process.args(words).envs([mark]);
        process.stdin(Stdio::null()).stderr(Stdio::null());
        process.kill_on_drop(true);
        let output = timeout(SCRIPT_TIMEOUT, process.output()).await.ok()?.ok()?;
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
            Some(_) => CONTROL_MOUNT.to_owned(),
            None => self.control.path().display().to_string(),
        }
    }
}

/// Returns why the engine did not start a command.
async fn start_refusal(session: &RunSession, container: &str, error: &EngineError) -> Halt {
    if matches!(error.refusal(), Some(EngineRefusal::UnknownUser | EngineRefusal::WorkingDirectory))
    {
        let advice = "does the image have the `user:` and the `workdir:` of the step?";
        let error = ErrorText::of(error).with_help(advice);
        return StepEnd::error(StepFault::Request, error).into();
    }
    let inspection = session.with_engine(|engine| engine.inspect_container(container));
    let state = inspection.await.ok().flatten();
    let text: ErrorText = match state {
        Some(state) if !state.running => "the container had ended before the step began".into(),
        None if !error.is_unavailable() => "the container was removed by someone else".into(),
        _ => ErrorText::of(error),
    };
    let advice = format!("continue with: retrial resume {}", session.run.id());
    Halt::host_failure(text.with_help(advice))
}
