//! A command of a step, where it runs: in a container, started by the engine, or on this machine. Either way
//! it runs under the same script, in a session of its own, and survives a kill of the tool.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::control::{Control, GRACE_S, StepControl, mark, step_command};
use super::error::Halt;
use super::host;
use super::redact;
use super::session::Session;
use super::step_session::StepSession;
use retrial_container::first_process::CONTROL;
use retrial_engine::EngineError;
use retrial_engine::api::{ExecSpec, ExecStatus};
use retrial_engine::docker::Refusal;
use retrial_plan::service::ServiceStep;
use retrial_plan::step::ExecStep;
use retrial_store::journal::StepFault;

/// The timeout of a script that ends or searches processes, on a host with very many.
const PATIENCE: Duration = Duration::from_secs(5);

/// A command of a step, where it runs.
pub struct StepCommand<'a> {
    /// The step.
    pub session: StepSession<'a>,
    /// The command.
    pub exec: &'a ExecStep,
    /// The container; none: it runs on this machine.
    pub container: Option<String>,
    /// The control directory of the steps there.
    pub control: Control,
    /// The step's own files in it.
    pub files: StepControl,
}

/// A command that this process has started.
pub enum Started {
    /// The engine's exec.
    Exec(String),
    /// A process of ours.
    Process(Box<Child>),
}

impl Started {
    /// Its status; none if currently unknown.
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

impl<'a> StepCommand<'a> {
    fn new(
        session: &StepSession<'a>,
        exec: &'a ExecStep,
        container: Option<String>,
        control: &Control,
    ) -> Self {
        Self {
            session: *session,
            exec,
            container,
            control: control.clone(),
            files: control.step(session.step),
        }
    }

    /// In the run's container.
    ///
    /// # Errors
    /// If there is none.
    pub fn in_container(session: &StepSession<'a>, exec: &'a ExecStep) -> Result<Self, Halt> {
        let container = Some(session.container()?);
        Ok(Self::new(session, exec, container, &session.control))
    }

    /// On this machine.
    pub fn on_host(session: &StepSession<'a>, exec: &'a ExecStep) -> Self {
        Self::new(session, exec, None, &session.host_control)
    }

    /// Of a service, where that runs.
    ///
    /// # Errors
    /// If there is no such container.
    pub fn of_service(session: &StepSession<'a>, service: &'a ServiceStep) -> Result<Self, Halt> {
        if service.own_container.is_none() {
            return Self::in_container(session, &service.command);
        }
        let mut containers = session.state().service_containers;
        let id = containers.remove(&session.step.number);
        let id = id.ok_or_else(|| Halt::host("the service's container no longer exists"))?;
        let control = &session.service_controls[&service.service];
        Ok(Self::new(session, &service.command, Some(id), control))
    }

    /// Starts it.
    pub async fn start(&self) -> Result<Started, Halt> {
        let session = &self.session;
        let Some(container) = &self.container else {
            return Ok(Started::Process(Box::new(host::start(session, self.exec)?)));
        };
        let after = self.exec.timeout_s.saturating_add(GRACE_S);
        session.set_deadline(Some(after))?;
        let spec = self.spec();
        let exec = || session.engine.exec_detached(container, &spec);
        match session.with_engine(exec).await {
            Ok(id) => Ok(Started::Exec(id)),
            Err(error) => Err(refused(session, container, &error).await),
        }
    }

    /// The exec that starts the container's side of it.
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

    /// Runs one of the control directory's scripts for the step. Returns its output if it succeeded in
    /// time: a container may have put a pipe in place of a file that it reads.
    pub async fn script(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let script = self.run_script(name, arguments);
        tokio::time::timeout(PATIENCE, script).await.ok().flatten()
    }

    async fn run_script(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let session = &self.session;
        let script = format!("{}/{name}", self.control_path());
        let directory = session.step.directory();
        let words = [&*script, &*directory].into_iter();
        let words = words.chain(arguments.iter().copied());
        let mark = mark(&session.run, session.step);
        let Some(container) = &self.container else {
            let mut process = Command::new("/bin/sh");
            process.args(words).envs([mark]);
            process.stdin(Stdio::null()).stderr(Stdio::null());
            process.kill_on_drop(true);
            let output = process.output().await.ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            return output.status.success().then_some(text);
        };
        let mut spec = ExecSpec::as_root(["/bin/sh"].into_iter().chain(words));
        spec.env.push(mark);
        let output = session.engine.exec(container, &spec).await.ok()?;
        (output.code == 0).then_some(output.stdout)
    }

    /// The fix for a forged exit code or a changed script.
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

    /// The control directory as the command sees it.
    pub fn control_path(&self) -> String {
        match self.container {
            Some(_) => CONTROL.to_owned(),
            None => self.control.path().display().to_string(),
        }
    }
}

/// Returns why the engine did not start a command.
async fn refused(session: &Session, container: &str, error: &EngineError) -> Halt {
    let text = error.to_string();
    if matches!(
        error.refusal(),
        Some(Refusal::UnknownUser | Refusal::WorkingDirectory)
    ) {
        let advice = "does the image have the `user:` and the `workdir:` of the step?";
        return Halt::failed(StepFault::Request, text, advice);
    }
    let state = session.engine.container(container).await.ok().flatten();
    let reason = match state {
        Some(state) if !state.running => "the container had ended before the step began".to_owned(),
        None if !error.is_unavailable() => "the container was removed by someone else".to_owned(),
        _ => text,
    };
    let advice = format!("continue with: retrial resume {}", session.run.id());
    Halt::failed(StepFault::Host, reason, advice)
}
