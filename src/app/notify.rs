//! The command of `--notify`, which the process that follows a run or a batch executes at its end.
//!
//! It changes neither the verdict nor the exit code.

use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::failure::Failure;
use super::options::GlobalOptions;
use super::terminal;
use retrial_results::verdict::ExitCode;
use retrial_store::RecordDirectory;
use retrial_store::error::RecordKind;

/// How long the command may take. It is not killed after that, but no longer waited for.
const NOTIFY_TIMEOUT: Duration = Duration::from_mins(1);

/// Executes the command of `--notify`, if there is one. Its output is on standard error.
pub async fn notify_of_end(
    global: &GlobalOptions,
    kind: RecordKind,
    record: &RecordDirectory,
    result: Result<ExitCode, &Failure>,
    reason: Option<String>,
    verdict: Option<impl Serialize>,
) {
    let Some(command) = &global.notify else {
        return;
    };
    let mut end = json!({ "path": record.path(), "verdict": verdict });
    end[kind.to_string()] = json!(record.id());
    end["exit_code"] = json!(result.unwrap_or_else(|failure| failure.exit).code());
    let failed = result.err().map(|failure| failure.to_error().to_string());
    if let Some(error) = failed.or(reason) {
        end["error"] = json!(error);
    }
    let input = terminal::to_json_line(&end);
    let problem = match tokio::time::timeout(NOTIFY_TIMEOUT, execute(command, &input)).await {
        Ok(Ok(status)) if status.success() => return,
        Ok(Ok(status)) => format!("ended with {status}"),
        Ok(Err(error)) => format!("failed to start: {error}"),
        Err(_) => format!("still running after {} s", NOTIFY_TIMEOUT.as_secs()),
    };
    terminal::print_note(&format!("warning: --notify '{command}': {problem}"));
}

async fn execute(command: &str, input: &str) -> std::io::Result<std::process::ExitStatus> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(std::io::stderr());
    let mut child = shell.spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        // A command need not read it.
        let _ = pipe.write_all(input.as_bytes()).await;
    }
    child.wait().await
}
