//! Processes in a running container, detached or with their output.

use std::path::Path;
use std::time::Duration;

use bollard::Docker as Client;
use bollard::container::LogOutput;
use bollard::exec::{StartExecOptions, StartExecResults};
use bollard::models::{ExecConfig, ExecInspectResponse};
use futures_util::StreamExt;
use tokio::time::sleep;

use super::create::format_environment;
use super::fault::{is_not_found_error, to_container_error, to_engine_error};
use crate::api::{ExecOutput, ExecSpec, ExecStatus};
use crate::error::EngineError;

/// The most bytes stored of each stream of a short process.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Starts a detached process.
pub async fn start_detached(
    client: &Client,
    container: &str,
    spec: &ExecSpec,
) -> Result<String, EngineError> {
    let id = create_exec(client, container, spec, ExecConfig::default()).await?;
    let options = StartExecOptions { detach: true, ..StartExecOptions::default() };
    client
        .start_exec(&id, Some(options))
        .await
        .map_err(|error| to_container_error("start a process in", container, error))?;
    Ok(id)
}

/// Returns the status of a process. A restarted engine has lost its earlier processes (404), though
/// they may still run: their own exit-code file then has the status.
pub async fn query_exec_status(
    client: &Client,
    exec: &str,
    is_podman: bool,
) -> Result<ExecStatus, EngineError> {
    let exec = match client.inspect_exec(exec).await {
        Ok(exec) => exec,
        Err(error) if is_not_found_error(&error) => return Ok(ExecStatus::Unknown),
        Err(error) => return Err(to_engine_error("inspect a process", error)),
    };
    if exec.running != Some(true) {
        return Ok(exec.exit_code.map_or(ExecStatus::Unknown, ExecStatus::Exited));
    }
    if is_podman && has_ended(client, exec).await {
        return Ok(ExecStatus::Unknown);
    }
    Ok(ExecStatus::Running)
}

/// Podman (4.3) reports a detached process as running for five minutes after its end. Its engine
/// is on this machine, or it would not share our files, so the process can be looked up, if the
/// container's first process is visible from here.
async fn has_ended(client: &Client, exec: ExecInspectResponse) -> bool {
    let container = exec.container_id.unwrap_or_default();
    let inspection = client.inspect_container(&container, None).await;
    let first = inspection.ok().and_then(|container| container.state?.pid);
    let is_alive = |reported_pid: Option<i64>| {
        let pid = reported_pid.filter(|pid| *pid > 0)?;
        Some(Path::new(&format!("/proc/{pid}")).exists())
    };
    (is_alive(first), is_alive(exec.pid)) == (Some(true), Some(false))
}

/// Runs a short process to its end.
pub async fn run_attached(
    client: &Client,
    container: &str,
    spec: &ExecSpec,
) -> Result<ExecOutput, EngineError> {
    let failed = |error| to_container_error("run a process in", container, error);
    let attach = ExecConfig {
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        ..ExecConfig::default()
    };
    let id = create_exec(client, container, spec, attach).await?;
    let started = client.start_exec(&id, None).await.map_err(failed)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    if let StartExecResults::Attached { mut output, .. } = started {
        while let Some(chunk) = output.next().await {
            match chunk.map_err(failed)? {
                LogOutput::StdErr { message } => append_bounded(&mut stderr, &message),
                other => append_bounded(&mut stdout, &other.into_bytes()),
            }
        }
    }
    Ok(ExecOutput {
        code: wait_for_exit_code(client, container, &id).await?,
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

/// The streams end a moment before the engine has noted the exit code.
pub(super) async fn wait_for_exit_code(
    client: &Client,
    container: &str,
    exec: &str,
) -> Result<i64, EngineError> {
    let mut pause = Duration::from_millis(2);
    loop {
        match query_exec_status(client, exec, false).await? {
            ExecStatus::Exited(code) => return Ok(code),
            ExecStatus::Running => sleep(pause).await,
            ExecStatus::Unknown => {
                // It was restarted meanwhile.
                return Err(EngineError::Disconnected {
                    operation: format!("run a process in {container}"),
                    reason: "it does not report how the process ended".to_owned(),
                });
            }
        }
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// Creates a process without starting it; `attach` has its streams and whether it has a terminal.
pub(super) async fn create_exec(
    client: &Client,
    container: &str,
    spec: &ExecSpec,
    attach: ExecConfig,
) -> Result<String, EngineError> {
    let request = ExecConfig {
        env: Some(format_environment(&spec.env)),
        cmd: Some(spec.command.clone()),
        user: spec.user.clone(),
        working_dir: spec.workdir.clone(),
        ..attach
    };
    client
        .create_exec(container, request)
        .await
        .map(|exec| exec.id)
        .map_err(|error| to_container_error("run a process in", container, error))
}

/// Appends up to the limit and drops the rest.
fn append_bounded(output: &mut Vec<u8>, more: &[u8]) {
    let room = MAX_OUTPUT_BYTES.saturating_sub(output.len());
    output.extend_from_slice(&more[..more.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_bounded() {
        let mut output = vec![0; MAX_OUTPUT_BYTES - 3];
        append_bounded(&mut output, b"abcdef");
        append_bounded(&mut output, b"more");
        assert_eq!(output.len(), MAX_OUTPUT_BYTES);
        assert!(output.ends_with(b"abc"));
    }
}
