//! Executes a command line in a process without a terminal, and returns what it prints as the result of a tool.

use std::process::Stdio;
use std::time::Duration;

use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::command_line::CommandLine;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::runtime;
use retrial_document::ErrorText;

/// The size of an answer, bytes; of a longer one the end is kept.
const MAX_OUTPUT: usize = 1 << 20;
/// Of the output of steps, which a client's model reads as it is.
const MAX_TEXT: usize = 64 << 10;
/// A file may be a pipe to which nobody writes.
const TIMEOUT: Duration = Duration::from_mins(10);

/// What a command printed, and how it ended.
#[derive(Debug, Serialize)]
struct Answer {
    /// None if it was killed.
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Bytes before the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<MissingApproval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    notes: String,
}

/// What a person has to approve.
#[derive(Debug, Serialize)]
struct MissingApproval {
    reason: String,
    privileges: Vec<String>,
    /// The command that asks for it.
    command: String,
}

/// A failure as a command prints it with `--output json`.
#[derive(Deserialize)]
struct PrintedFailure {
    errors: Vec<ErrorText>,
    #[serde(default)]
    approval: Vec<String>,
}

/// Executes a command line to its end.
pub async fn execute(
    global: &GlobalOptions,
    line: CommandLine,
    cancelled: CancellationToken,
) -> CallToolResult {
    if !line.is_plain() {
        return refuse("an argument has characters that a terminal does not show as they are");
    }
    let limit = if line.prints_json { MAX_OUTPUT } else { MAX_TEXT };
    let child = tokio::select! {
        ended = timeout(TIMEOUT, run_to_end(global, &line, limit)) => ended,
        () = cancelled.cancelled() => return refuse("the request was cancelled"),
    };
    match child {
        Ok(Ok(ended)) => ended.into_result(global, &line),
        Ok(Err(failure)) => refuse(&failure.to_error().to_string()),
        Err(_) => refuse("it took more than 10 minutes and was ended"),
    }
}

/// The result of a tool whose command was not executed to its end.
pub fn refuse(message: &str) -> CallToolResult {
    CallToolResult::structured_error(json!({ "failure": { "errors": [{ "message": message }] } }))
}

struct EndedProcess {
    exit_code: Option<i32>,
    output: LastBytes,
    errors: LastBytes,
}

async fn run_to_end(
    global: &GlobalOptions,
    line: &CommandLine,
    limit: usize,
) -> Result<EndedProcess, Failure> {
    let global = GlobalOptions { log: None, ..global.clone() };
    let mut child = Command::new(runtime::program_path()?)
        .args(runtime::forwarded_arguments(&global, &[]))
        .args(line.arguments())
        .env_remove("RETRIAL_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Failure::host(format!("cannot start a process: {error}")))?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let read = tokio::join!(read_last(output, limit), read_last(errors, MAX_TEXT), child.wait());
    let (Ok(output), Ok(errors), Ok(status)) = read else {
        return Err(Failure::host("cannot read the output of a process"));
    };
    Ok(EndedProcess { exit_code: status.code(), output, errors })
}

/// The last bytes of a stream.
#[derive(Debug, Default)]
struct LastBytes {
    bytes: Vec<u8>,
    omitted: usize,
}

async fn read_last(
    stream: Option<impl AsyncRead + Unpin>,
    limit: usize,
) -> std::io::Result<LastBytes> {
    let mut last = LastBytes::default();
    let Some(mut stream) = stream else {
        return Ok(last);
    };
    while stream.read_buf(&mut last.bytes).await? > 0 {
        if last.bytes.len() > 2 * limit {
            last.keep(limit);
        }
    }
    last.keep(limit);
    Ok(last)
}

impl LastBytes {
    fn keep(&mut self, limit: usize) {
        let excess = self.bytes.len().saturating_sub(limit);
        self.bytes.drain(..excess);
        self.omitted += excess;
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl EndedProcess {
    /// A command prints a result or fails: what it prints of something that is not reproduced is a result.
    fn into_result(self, global: &GlobalOptions, line: &CommandLine) -> CallToolResult {
        let text = self.output.text();
        let errors = self.errors.text();
        let (notes, last) = errors.trim_end().rsplit_once('\n').unwrap_or(("", errors.trim_end()));
        let failure: Option<PrintedFailure> = serde_json::from_str(last).ok();
        let notes = if failure.is_some() { notes } else { &errors };
        let mut answer = Answer {
            exit_code: self.exit_code,
            result: None,
            omitted_bytes: Some(self.output.omitted).filter(|omitted| *omitted > 0),
            approval: None,
            failure: serde_json::from_str(last).ok().filter(|_| failure.is_some()),
            notes: notes.trim_end().to_owned(),
        };
        if let Some(PrintedFailure { errors, approval }) = failure
            && !approval.is_empty()
        {
            let reason = errors.into_iter().map(|error| error.message).collect::<Vec<_>>();
            let command = line.for_person(global);
            // Without its remedies, which are a person's.
            answer.failure = None;
            answer.approval =
                Some(MissingApproval { reason: reason.join("\n"), privileges: approval, command });
        }
        if !line.prints_json {
            answer.result = (self.exit_code == Some(0)).then(|| text.into());
        } else if let Ok(value) = serde_json::from_str(&text) {
            answer.result = Some(value);
        } else if answer.omitted_bytes.is_some() {
            return refuse("the result has more than 1 MiB: select less by the arguments");
        }
        let is_result = answer.result.is_some() && answer.failure.is_none();
        let value = serde_json::to_value(answer).unwrap_or_default();
        if is_result {
            CallToolResult::structured(value)
        } else {
            CallToolResult::structured_error(value)
        }
    }
}
