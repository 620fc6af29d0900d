//! Steps on the host: by the same script as in a container, in a control directory that no
//! container sees (one could otherwise put its own command in the place of the recipe's).

use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::ending::mark;
use super::error::RunError;
use super::exec;
use super::place::{Place, shell};
use super::redact;
use super::session::Session;
use crate::plan::step::{ExecStep, Step};
use crate::store::StoreError;
use crate::store::journal::{StepEnd, StepFault};

/// What a command on the host gets of our own environment. Nothing else: what it depends on
/// should stand in the recipe.
const INHERITED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "DOCKER_CONFIG",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
];

/// Where host steps work, and what `copy_from_image` gives lies.
pub fn files(session: &Session) -> PathBuf {
    session.run.join("host/files")
}

/// Runs a step's command on the host; `again` if it may be running since before a kill of the tool.
pub async fn run(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    again: bool,
) -> Result<StepEnd, RunError> {
    let files = files(session);
    std::fs::create_dir_all(&files).map_err(StoreError::io("create", &files))?;
    if !again {
        session.host_control.lay_out_for_host()?;
    }
    exec::run_at(session, step, command, &Place::Host, again).await
}

/// Starts the host's side of a step, in a session of its own: a hangup or a Ctrl-C at our terminal
/// is not for it.
pub fn start(session: &Session, step: &Step, command: &ExecStep) -> Result<Child, StepEnd> {
    let mut process = Command::new("setsid");
    process
        .arg("/bin/sh")
        .arg(session.host_control.path().join("step"))
        .arg(step.directory())
        .args(shell(command))
        .env_clear()
        .envs(
            INHERITED
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .envs(own_variables(session))
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .envs([mark(session, step)])
        .envs(redact::environment(&command.secrets, &session.secrets))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let directory = command
        .workdir
        .clone()
        .map_or_else(|| files(session), PathBuf::from);
    if !directory.is_dir() {
        return Err(StepEnd::failed(
            StepFault::Request,
            format!("its working directory {} is not there", directory.display()),
            "correct the step's `workdir:`; without one it is the run's directory for host files",
        ));
    }
    process.current_dir(directory).spawn().map_err(|error| {
        StepEnd::failed(
            StepFault::Host,
            format!("`setsid` could not be started: {error}"),
            "install util-linux",
        )
    })
}

/// What a command on the host is told of the run.
fn own_variables(session: &Session) -> Vec<(&'static str, String)> {
    let state = session.state();
    let image = state.image.unwrap_or_else(|| session.plan.image.clone());
    let mut variables = vec![
        ("RETRIAL_RUN_DIR", session.run.path().display().to_string()),
        ("RETRIAL_HOST_DIR", files(session).display().to_string()),
        ("RETRIAL_IMAGE", image),
    ];
    let endpoint = &session.engine.info().endpoint;
    if endpoint.contains("://") {
        variables.push(("DOCKER_HOST", endpoint.clone()));
    }
    variables
}
