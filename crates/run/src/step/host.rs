//! Steps on the host: by the same script as in a container, in a control directory that no
//! container sees (one could otherwise put its own command in the place of the recipe's).

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use super::session::StepSession;
use crate::access::RunSession;
use crate::control::{step_command, step_mark};
use crate::error::Halt;
use crate::redact;
use retrial_plan::step::{ExecStep, RECIPE_DIRECTORY};
use retrial_store::RunDirectory;
use retrial_store::journal::StepFault;

/// The variables of our own environment that a command on the host inherits. The recipe names all others.
const INHERITED_VARIABLES: [&str; 20] = [
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

/// The directory in which host steps run, and to which `copy_from_image` copies.
pub fn host_files_directory(session: &RunSession) -> PathBuf {
    session.run.join("host/files")
}

/// Starts the host's side of a step, in a session of its own: it survives a hangup or a Ctrl-C at our
/// terminal.
pub fn start_host_step(session: &StepSession<'_>, command: &ExecStep) -> Result<Child, Halt> {
    let control = session.run_session.host_control.path().display().to_string();
    let mut process = Command::new("setsid");
    process
        .args(step_command(&control, session.step, command))
        .env_clear()
        .envs(INHERITED_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(run_variables(session.run_session))
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .envs(recipe_files_variable(session.run_session, command)?)
        .envs([step_mark(&session.run_session.run, session.step)])
        .envs(redact::redaction_environment(&command.secrets, &session.run_session.secrets))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let directory = command
        .workdir
        .clone()
        .map_or_else(|| host_files_directory(session.run_session), PathBuf::from);
    if !directory.is_dir() {
        return Err(Halt::failure(
            StepFault::Request,
            format!("its working directory {} does not exist", directory.display()),
            "correct the step's `workdir:`; without one it is the run's directory for host files",
        ));
    }
    process.current_dir(directory).spawn().map_err(|error| {
        Halt::failure(
            StepFault::Host,
            format!("`setsid` could not be started: {error}"),
            "install util-linux",
        )
    })
}

/// Kills the processes of a run's steps on this machine, by their mark: the scripts that end them were removed.
pub fn kill_step_processes(run: &RunDirectory) {
    let mark = format!("RETRIAL_STEP={}/", run.id());
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else {
            continue;
        };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        if variables.any(|variable| variable.starts_with(mark.as_bytes())) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The directory of the recipe's copied files, for a command that names it. An earlier step may have written there.
fn recipe_files_variable(
    session: &RunSession,
    command: &ExecStep,
) -> Result<Option<(&'static str, PathBuf)>, Halt> {
    if !command.env.iter().any(|(name, _)| name == RECIPE_DIRECTORY) {
        return Ok(None);
    }
    if let Some(digest) = &session.plan.companions {
        session.companions.verify(digest)?;
    }
    Ok(Some((RECIPE_DIRECTORY, session.companions.root())))
}

/// The variables that describe the run to a command on the host.
fn run_variables(session: &RunSession) -> Vec<(&'static str, String)> {
    let state = session.state();
    let image = state.image.clone().unwrap_or_else(|| session.plan.image.clone());
    let mut variables = vec![
        ("RETRIAL_RUN_DIR", session.run.path().display().to_string()),
        ("RETRIAL_HOST_DIR", host_files_directory(session).display().to_string()),
        ("RETRIAL_IMAGE", image),
    ];
    let endpoint = &session.engine.info().endpoint;
    if endpoint.contains("://") {
        variables.push(("DOCKER_HOST", endpoint.clone()));
    }
    variables
}
