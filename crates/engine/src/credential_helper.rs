//! Asks a credential helper: a program of its own, which may wait for somebody, print without an end, or never
//! end. It gets a limited time, and is killed with its process group if the question is abandoned.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The timeout of a helper: it may prompt on a screen that the user does not see.
const HELPER_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of an answer, bytes.
const MAX_ANSWER_BYTES: u64 = 1 << 20;
/// The maximum size of a message that is shown, bytes.
const MAX_MESSAGE_BYTES: u64 = 4 << 10;
/// The message with which a helper reports on standard output that it has no credentials.
const NOT_FOUND: &str = "credentials not found";

/// A credential helper's answer to `get`, as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct HelperResponse {
    /// The user; `<token>`: the secret is an identity token.
    pub username: String,
    /// The password, or the identity token.
    pub secret: String,
}

/// A helper that returned no credentials.
#[derive(Debug, Error)]
pub enum HelperError {
    /// The helper cannot be started, or its pipes cannot be read.
    #[error("{program} could not be run: {source}")]
    Start {
        /// The helper's program: `docker-credential-NAME`.
        program: String,
        /// Why it could not be started, or its pipes could not be read.
        #[source]
        source: std::io::Error,
    },
    /// The helper did not respond within its timeout.
    #[error("{program} did not respond within {} s", HELPER_TIMEOUT.as_secs())]
    NoResponse {
        /// The helper's program: `docker-credential-NAME`.
        program: String,
    },
    /// It failed. Its standard output may have the secret; its standard error is for people.
    #[error("{program} failed: {message}")]
    Failed {
        /// The helper's program: `docker-credential-NAME`.
        program: String,
        /// What it printed on standard error, at most 4 KiB of it.
        message: String,
    },
    /// The helper succeeded, and its answer is not the JSON of credentials.
    #[error("{program} did not return JSON")]
    Malformed {
        /// The helper's program: `docker-credential-NAME`.
        program: String,
    },
}

/// Asks a helper for a registry's credentials; none if it has none.
///
/// # Errors
/// If it cannot be started, fails, or exceeds its timeout.
pub async fn query_helper(
    name: &str,
    registry: &str,
) -> Result<Option<HelperResponse>, HelperError> {
    query_program(format!("docker-credential-{name}"), registry, HELPER_TIMEOUT).await
}

async fn query_program(
    program: String,
    registry: &str,
    limit: Duration,
) -> Result<Option<HelperResponse>, HelperError> {
    tracing::debug!(program, registry, "asking a credential helper");
    let started = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut helper = match started {
        Ok(child) => Helper { child },
        Err(source) => return Err(HelperError::Start { program, source }),
    };
    let Ok(conversation) = timeout(limit, helper.query_registry(registry)).await else {
        return Err(HelperError::NoResponse { program });
    };
    match conversation {
        Ok((true, output, _)) => match serde_json::from_slice(&output) {
            Ok(answer) => Ok(Some(answer)),
            Err(_) => Err(HelperError::Malformed { program }),
        },
        Ok((false, output, _)) if String::from_utf8_lossy(&output).contains(NOT_FOUND) => Ok(None),
        Ok((false, _, message)) => {
            let message = String::from_utf8_lossy(&message).trim().to_owned();
            Err(HelperError::Failed { program, message })
        }
        Err(source) => Err(HelperError::Start { program, source }),
    }
}

/// A helper, whose process group is killed unless it has ended.
struct Helper {
    child: Child,
}

impl Helper {
    /// Returns whether it succeeded, its answer, and its message.
    async fn query_registry(
        &mut self,
        registry: &str,
    ) -> std::io::Result<(bool, Vec<u8>, Vec<u8>)> {
        let input = self.child.stdin.take();
        let (output, errors) = (self.child.stdout.take(), self.child.stderr.take());
        let question = async {
            if let Some(mut input) = input {
                // One that has its answer already need not read the question.
                let _ = input.write_all(registry.as_bytes()).await;
            }
        };
        let answer = read_beginning(output, MAX_ANSWER_BYTES);
        let ((), answer, message) =
            tokio::join!(question, answer, read_beginning(errors, MAX_MESSAGE_BYTES));
        let status = self.child.wait().await?;
        Ok((status.success(), answer, message))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // An ended process has no id any more.
        let group = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = group.and_then(Pid::from_raw) {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Reads all of a stream, and returns its beginning.
async fn read_beginning(stream: Option<impl AsyncRead + Unpin>, limit: u64) -> Vec<u8> {
    let mut beginning = Vec::new();
    if let Some(mut stream) = stream {
        // What arrived before a failed read is all there is; a malformed answer is reported.
        let _ = (&mut stream).take(limit).read_to_end(&mut beginning).await;
        // Only so that the helper is not blocked by a full pipe.
        let _ = copy(&mut stream, &mut sink()).await;
    }
    beginning
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use super::*;

    /// Asks a helper that is this shell script.
    async fn answer(script: &str, limit: Duration) -> Result<Option<HelperResponse>, HelperError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docker-credential-test");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        query_program(path.display().to_string(), "127.0.0.1:5000", limit).await
    }

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn an_answer_and_its_absence_are_told_apart() {
        let script =
            r#"read -r registry; echo "{\"Username\": \"me\", \"Secret\": \"of $registry\"}""#;
        let found = answer(script, LONG).await.unwrap().unwrap();
        assert_eq!((&*found.username, &*found.secret), ("me", "of 127.0.0.1:5000"));
        let none = answer("echo credentials not found in native keychain; exit 1", LONG).await;
        assert!(none.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_helper_that_hangs_is_killed_with_its_processes() {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let script = format!("sleep 300 & echo $$ $! >{}; wait", pids.display());
        let since = Instant::now();
        let silent = answer(&script, Duration::from_millis(500)).await;
        assert!(matches!(silent, Err(HelperError::NoResponse { .. })));
        assert!(since.elapsed() < LONG);
        for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
            let is_alive = || {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                !stat.is_empty() && !stat.contains(") Z ")
            };
            while is_alive() && since.elapsed() < LONG {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(!is_alive(), "{pid} still runs");
        }
    }

    #[tokio::test]
    async fn a_long_message_is_cut() {
        let script = "yes an error of many words | head -c 3000000 >&2; exit 1";
        let Err(HelperError::Failed { message, .. }) = answer(script, LONG).await else {
            panic!("it did not fail");
        };
        assert!(message.starts_with("an error of many words\n"));
        assert!(message.len() <= 4096, "{}", message.len());
    }
}
