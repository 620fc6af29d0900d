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
    if let Some(problem) = execute_within(NOTIFY_TIMEOUT, command, &input).await {
        terminal::print_note(&format!("warning: --notify '{command}': {problem}"));
    }
}

/// Executes a command, waits for at most so long, and returns what went wrong.
async fn execute_within(limit: Duration, command: &str, input: &str) -> Option<String> {
    match tokio::time::timeout(limit, execute(command, input)).await {
        Ok(Ok(status)) if status.success() => None,
        Ok(Ok(status)) => Some(format!("ended with {status}")),
        Ok(Err(error)) => Some(format!("failed to start: {error}")),
        Err(_) => Some(format!("still running after {} s", limit.as_secs_f64())),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_that_takes_longer_is_not_waited_for_and_not_killed() {
        let directory = tempfile::tempdir().unwrap();
        let (begun, ended) = (directory.path().join("begun"), directory.path().join("ended"));
        let script = format!("cat > '{}'; sleep 1; touch '{}'", begun.display(), ended.display());
        let problem = execute_within(Duration::from_millis(100), &script, "{}\n").await;
        assert_eq!(problem.as_deref(), Some("still running after 0.1 s"));
        assert!(!ended.exists());
        let appears = async {
            while !ended.exists() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), appears).await.unwrap();
        assert_eq!(std::fs::read_to_string(begun).unwrap(), "{}\n");
    }

    #[tokio::test]
    async fn a_command_that_fails_is_told() {
        let limit = Duration::from_mins(1);
        assert_eq!(
            execute_within(limit, "exit 3", "").await.as_deref(),
            Some("ended with exit status: 3")
        );
        assert_eq!(execute_within(limit, "cat", "{}").await, None);
    }
}
