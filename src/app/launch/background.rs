//! Hands a run or a batch over to a background process.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, getppid, getsid};
use serde_json::json;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::{runtime, terminal};
use retrial_document::ErrorText;
use retrial_results::verdict::ExitCode;
use retrial_store::error::RecordKind;
use retrial_store::lock::FileLock;
use retrial_store::process::ProcessIdentity;
use retrial_store::{RecordDirectory, StoreError};

/// The output of the background process, in the directory of the run or batch.
const LOG_FILE: &str = "detached.log";
/// How long the background process may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts a background process that executes a run or a batch, and waits until it follows it.
pub fn start_in_background(
    global: &GlobalOptions,
    kind: RecordKind,
    record: &RecordDirectory,
) -> Result<ExitCode, Failure> {
    if let Some(holder) = FileLock::find_holder(&record.lock_path()) {
        let run = record.id().to_owned();
        return Err(StoreError::Busy { run, holder: Box::new(holder) }.into());
    }
    let journal = record.journal_path();
    let journal = std::fs::OpenOptions::new().create(true).append(true).open(&journal);
    journal.map_err(StoreError::io("create", &record.journal_path()))?;
    let before = journal_length(record);
    let mut child = spawn_background_process(global, record, Stdio::null())?;
    let path = record.join(LOG_FILE);
    let id = record.id();
    // Until it follows, `attach` and `stop` would find no process.
    let since = Instant::now();
    let has_begun = || journal_length(record) > before;
    let is_followed = || has_begun() && FileLock::find_holder(&record.lock_path()).is_some();
    while !is_followed() && since.elapsed() < START_TIMEOUT {
        if let Ok(Some(_)) = child.try_wait() {
            if has_begun() {
                break;
            }
            let output = std::fs::read_to_string(&path).unwrap_or_default();
            return Err(Failure::host(format!(
                "{id}: the background process ended immediately\n{}",
                output.trim_end()
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = match global.output {
        OutputFormat::Json => {
            let mut line = json!({ "path": record.path() });
            line[kind.to_string()] = json!(id);
            format!("{line}\n")
        }
        _ => format!("{id}\n"),
    };
    terminal::print_text(&text);
    if !global.quiet {
        let program = global.home.command_prefix();
        terminal::note_error(
            &ErrorText::new("running in the background")
                .with_help(format!("follow it: {program} attach {id}"))
                .with_help(format!("judge it: {program} judge {id}"))
                .with_help(format!("stop it: {program} stop {id}")),
        );
    }
    Ok(ExitCode::Success)
}

/// Starts a process that executes a run or a batch. Its standard input is the lock that it takes over, or empty.
pub fn spawn_background_process(
    global: &GlobalOptions,
    record: &RecordDirectory,
    input: Stdio,
) -> Result<Child, Failure> {
    let program = runtime::program_path()?;
    let path = record.join(LOG_FILE);
    let log = std::fs::File::create(&path).map_err(StoreError::io("create", &path))?;
    let errors = log.try_clone().map_err(StoreError::io("open", &path))?;
    let directory = record.path().display().to_string();
    let mut words = vec!["resume", "--in-background", &directory];
    words.extend(global.notify.iter().flat_map(|command| ["--notify", command]));
    let spawned = Command::new(&program)
        .args(runtime::forwarded_arguments(global, &words))
        .stdin(input)
        .stdout(log)
        .stderr(errors)
        .spawn();
    spawned.map_err(|error| Failure::host(format!("cannot start a background process: {error}")))
}

/// Waits until a background process has a session of its own: the end of this one would take it along.
pub fn wait_for_own_session(child: &Child) {
    let process = Pid::from_child(child);
    let since = Instant::now();
    while getsid(Some(process)) != Ok(process) && since.elapsed() < START_TIMEOUT {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for the end of the process that handed over a run or a batch, which writes the journal until then.
pub fn wait_for_predecessor(record: &RecordDirectory) {
    let since = Instant::now();
    let predecessor = FileLock::find_predecessor(&record.lock_path());
    let is_parent = |process: &ProcessIdentity| {
        let parent = getppid().map(Pid::as_raw_pid);
        parent.and_then(|pid| pid.try_into().ok()) == Some(process.pid)
    };
    while predecessor.as_ref().is_some_and(is_parent) && since.elapsed() < START_TIMEOUT {
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn journal_length(record: &RecordDirectory) -> u64 {
    std::fs::metadata(record.journal_path()).map_or(0, |journal| journal.len())
}
