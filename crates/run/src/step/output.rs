//! A step's output: one file with two names while the step runs, one of them in the control directory. We read
//! it by the other name, which the container cannot replace.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use itertools::Itertools as _;

use super::mirror::{self, Mirror};
use super::session::StepSession;
use super::tail::OutputTail;
use super::target::StepCommand;
use crate::error::Halt;
use crate::interrupt::run_on_thread;
use retrial_plan::failure::{FailureCause, find_cause};
use retrial_plan::step::ExecStep;
use retrial_readings::lines::LineSplitter;
use retrial_readings::nearest::truncate_to_chars;
use retrial_readings::sanitize;
use retrial_store::files::set_mode;
use retrial_store::journal::LiveEvent;
use retrial_store::{StoreError, open};

const READ_BLOCK_BYTES: usize = 256 << 10;
/// Bytes that are read to show the latest lines.
const TAIL_BYTES: u64 = 4096;
/// Bytes at the end of an output in which the last lines are.
const SHOWN_BYTES: u64 = 32 << 10;
/// Bytes at the end of an output in which the cause of a failure is searched for.
const SEARCHED_BYTES: u64 = 8 << 20;
/// The number of characters shown of each of the last lines.
const MAX_LINE_CHARS: usize = 500;
/// The interval between updates of the latest lines.
const DISPLAY_INTERVAL: Duration = Duration::from_millis(100);

/// Opens a step's output, following no link.
pub fn open_output(session: &StepSession<'_>) -> Result<File, StoreError> {
    let relative = Path::new(&session.step.directory_name()).join("output.log");
    open::open_beneath(&session.run_session.local.steps_directory(), &relative)
}

/// Creates the output of a step, and its control directory. Output of an earlier attempt is moved
/// aside.
pub fn create_output(command: &StepCommand<'_>) -> Result<(), StoreError> {
    let session = &command.session;
    let path = session.output_path(&session.run_session.local);
    let directory = session.step_directory(&session.run_session.run);
    if directory.exists() {
        let name = |attempt| format!("{}.{attempt}", session.step.directory_name());
        let mut free = (1..10_000)
            .map(|attempt| session.run_session.run.steps_directory().join(name(attempt)));
        if let Some(aside) = free.find(|aside| !aside.exists()) {
            fs::rename(&directory, &aside).map_err(StoreError::io("rename", &directory))?;
        }
    }
    fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
    if session.run_session.has_scratch() {
        let local = session.step_directory(&session.run_session.local);
        // The run's directory contains the output of an earlier attempt.
        let _ = fs::remove_dir_all(&local);
        fs::create_dir_all(&local).map_err(StoreError::io("create", &local))?;
    }
    File::create_new(&path).map_err(StoreError::io("create", &path))?;
    set_mode(&path, 0o666)?;
    command.files.prepare(&command.exec.run, &command.exec.results, &path)
}

/// Removes the container's access to a step's output, cuts it at its limit, and removes secrets that
/// the step's own filter may have missed.
pub async fn finalize_output(command: &StepCommand<'_>) -> Result<(), Halt> {
    let session = &command.session;
    // Only the container's root can have removed the name.
    let _ = command.files.remove_output_link();
    let path = session.output_path(&session.run_session.local);
    let file = open_output(session)?;
    file.set_permissions(fs::Permissions::from_mode(0o644))
        .map_err(StoreError::io("change the permissions of", &path))?;
    let limit = max_log_bytes(command.exec);
    if file.metadata().is_ok_and(|status| status.len() > limit) {
        let cut = File::options().write(true).open(&path);
        cut.and_then(|file| file.set_len(limit)).map_err(StoreError::io("cut", &path))?;
    }
    if let Some(redactor) = session.run_session.redactor.clone() {
        let output = path.clone();
        let redacted =
            run_on_thread(&session.run_session.stop, move || redactor.redact_file(&output)).await;
        if redacted.is_err() {
            // It may still contain a secret.
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
        redacted??;
    }
    mirror::copy_complete_output(session).await
}

/// The maximum output of a command, bytes.
pub fn max_log_bytes(command: &ExecStep) -> u64 {
    command.max_log.unwrap_or(4 << 30)
}

/// The growing output: shown line by line, or as its latest lines. For the latter only its end is read, so
/// following costs little however fast it grows.
pub struct OutputFollower<'a> {
    session: StepSession<'a>,
    file: Option<File>,
    mirror: Option<Mirror>,
    /// The number of bytes read.
    length: u64,
    /// The length that it had when it was looked at last, bytes.
    seen_length: u64,
    shown_bytes: u64,
    last_shown: Instant,
    tail: OutputTail,
    splitter: LineSplitter,
    block: Vec<u8>,
}

impl<'a> OutputFollower<'a> {
    /// Opens a step's output, to be read from its first byte.
    pub fn open(session: &StepSession<'a>) -> Self {
        Self {
            session: *session,
            file: open_output(session).ok(),
            mirror: Mirror::for_step(session),
            length: 0,
            seen_length: 0,
            shown_bytes: 0,
            last_shown: Instant::now(),
            tail: OutputTail::default(),
            splitter: LineSplitter::new(),
            block: Vec::new(),
        }
    }

    /// Reads new output; returns false if there is none.
    pub fn read_new_output(&mut self) -> bool {
        self.mirror_new_output();
        if self.session.run_session.options.all_output {
            return self.read_block();
        }
        let length = self.current_length();
        let grew = length > self.length;
        self.length = length;
        self.emit_latest_lines(false);
        grew
    }

    /// Returns how much was removed from the output since it was looked at last, bytes: `> /dev/stdout` empties it.
    pub fn take_lost_length(&mut self) -> Option<u64> {
        let length = self.current_length();
        let before = std::mem::replace(&mut self.seen_length, length);
        before.checked_sub(length).filter(|lost| *lost > 0)
    }

    /// Copies new output to the directory where others read it, if that is another one.
    pub fn mirror_new_output(&mut self) {
        if let (Some(mirror), Some(file)) = (&mut self.mirror, &self.file) {
            mirror.copy_new_output(file);
        }
    }

    /// Reads only the current content: a process may write forever.
    pub fn emit_remaining_output(&mut self) {
        let length = self.current_length();
        if !self.session.run_session.options.all_output {
            self.length = length;
            self.emit_latest_lines(true);
            return;
        }
        while self.length < length && self.read_block() {}
        let session = self.session;
        self.splitter.finish(|line| emit_line(&session, &line.text));
    }

    /// Returns its current length, bytes.
    pub fn current_length(&self) -> u64 {
        let status = self.file.as_ref().and_then(|file| file.metadata().ok());
        status.map_or(self.length, |status| status.len())
    }

    fn read_block(&mut self) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        self.block.resize(READ_BLOCK_BYTES, 0);
        let count = file.read(&mut self.block).unwrap_or(0);
        self.length += count as u64;
        let session = self.session;
        let block = &self.block[..count];
        self.splitter.push(block, |line| emit_line(&session, &line.text));
        count > 0
    }

    /// Shows the latest lines, ten times a second at most but for the last of them.
    fn emit_latest_lines(&mut self, at_the_end: bool) {
        if !at_the_end && self.last_shown.elapsed() < DISPLAY_INTERVAL {
            return;
        }
        self.read_tail();
        let lines = self.tail.drain_lines(at_the_end);
        if !lines.is_empty() {
            self.last_shown = Instant::now();
        }
        for line in lines {
            self.session.emit(LiveEvent::Output { line });
        }
    }

    /// Reads new output, at most its end.
    fn read_tail(&mut self) {
        let Some(file) = self.file.as_mut().filter(|_| self.length > self.shown_bytes) else {
            return;
        };
        let from = self.shown_bytes.max(self.length.saturating_sub(TAIL_BYTES));
        if from > self.shown_bytes {
            self.tail.mark_gap();
        }
        let mut tail = Vec::new();
        if file.seek(SeekFrom::Start(from)).is_ok()
            && file.take(self.length - from).read_to_end(&mut tail).is_ok()
        {
            self.tail.push(&tail);
        }
        self.shown_bytes = self.length;
    }
}

fn emit_line(session: &StepSession<'_>, line: &str) {
    let line = sanitize(line).into_owned();
    session.emit(LiveEvent::Output { line });
}

/// The end of a step's output, at most so many bytes; nothing if it cannot be read.
fn read_end(session: &StepSession<'_>, most_bytes: u64) -> Vec<u8> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = open_output(session).map_err(io::Error::other)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most_bytes)))?;
        let mut bytes = Vec::new();
        file.take(2 * most_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().unwrap_or_default()
}

/// The cause of a failed step that its output states, if it states a known one.
pub fn find_stated_cause(session: &StepSession<'_>) -> Option<FailureCause> {
    let output = read_end(session, SEARCHED_BYTES);
    find_cause(&output, |line| session.run_session.redact(line))
}

/// The last lines of a step's output, sanitized and shortened.
pub fn read_last_lines(session: &StepSession<'_>, count: usize) -> Vec<String> {
    let bytes = read_end(session, SHOWN_BYTES);
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().tail(count).map(|line| {
        let mut parts = line.rsplit('\r');
        let shown = parts.find(|part| !part.is_empty()).unwrap_or("");
        truncate_to_chars(&sanitize(shown), MAX_LINE_CHARS)
    });
    last.collect()
}
