//! A person's own process in a container: terminal to terminal, or pipe to pipe.

use std::io::{IsTerminal, Write};

use bollard::Docker as Client;
use bollard::container::LogOutput;
use bollard::exec::{ResizeExecOptions, StartExecOptions, StartExecResults};
use bollard::models::ExecConfig;
use futures_util::StreamExt;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::io::AsyncWriteExt;
use tokio::signal::unix::{SignalKind, signal};

use super::DockerEngine;
use super::exec::{create_exec, wait_for_exit_code};
use super::fault::to_container_error;
use crate::api::ExecSpec;
use crate::error::EngineError;

impl DockerEngine {
    /// Runs a person's own process in a container, with our standard input and output; returns its
    /// exit code.
    ///
    /// # Errors
    /// The container is not running, or the engine refuses.
    pub async fn run_interactive(
        &self,
        container: &str,
        spec: &ExecSpec,
    ) -> Result<i64, EngineError> {
        let client = &self.client;
        let failed = |error| to_container_error("run a process in", container, error);
        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let attach = ExecConfig {
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            tty: Some(terminal),
            ..ExecConfig::default()
        };
        let id = create_exec(client, container, spec, attach).await?;
        let options =
            StartExecOptions { detach: false, tty: terminal, ..StartExecOptions::default() };
        let started = client.start_exec(&id, Some(options)).await.map_err(failed)?;
        let StartExecResults::Attached { mut output, mut input } = started else {
            return wait_for_exit_code(client, container, &id).await;
        };
        let raw = terminal.then(RawTerminal::enter).flatten();
        resize_terminal(client, &id, terminal).await;
        let typing = tokio::spawn(async move {
            // The end of the process, which is waited for, ends the session; it may have closed its input before.
            let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut input).await;
            // It may have ended already.
            let _ = input.shutdown().await;
        });
        let mut resized = signal(SignalKind::window_change()).ok();
        loop {
            let window = async {
                match &mut resized {
                    Some(resized) => resized.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                chunk = output.next() => match chunk {
                    Some(Ok(LogOutput::StdErr { message })) => write_flushed(&mut std::io::stderr(), &message),
                    Some(Ok(other)) => write_flushed(&mut std::io::stdout(), &other.into_bytes()),
                    Some(Err(_)) | None => break,
                },
                _ = window => resize_terminal(client, &id, terminal).await,
            }
        }
        typing.abort();
        drop(raw);
        wait_for_exit_code(client, container, &id).await
    }
}

fn write_flushed(to: &mut impl Write, bytes: &[u8]) {
    // A terminal that is gone does not end the process.
    let _ = to.write_all(bytes).and_then(|()| to.flush());
}

async fn resize_terminal(client: &Client, exec: &str, terminal: bool) {
    if let (true, Some((width, height))) = (terminal, terminal_size::terminal_size()) {
        let options = ResizeExecOptions { height: height.0, width: width.0 };
        // The process may have ended; a wrong size is only ugly.
        let _ = client.resize_exec(exec, options).await;
    }
}

/// The terminal passes every key on while this lives.
struct RawTerminal {
    original_settings: Termios,
}

impl RawTerminal {
    fn enter() -> Option<Self> {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        Some(Self { original_settings: before })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.original_settings);
    }
}
