//! A step's output: one file with two names while the step runs, one of them in the container's
//! control directory; read by ours only, which the container cannot replace.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::control::StepControl;
use super::redact;
use super::session::Session;
use crate::journal::What;
use crate::logs::lines::LineSplitter;
use crate::logs::sanitize;
use crate::plan::step::{ExecStep, Step};
use crate::store::{RunDirectory, StoreError, open};

/// Bytes read at once.
const BLOCK: usize = 256 << 10;
/// Between two shows of the latest line.
const SHOWN: Duration = Duration::from_millis(100);

/// Where a step's output lies in the run's directory.
pub fn path_of(run: &RunDirectory, step: &Step) -> PathBuf {
    run.steps().join(step.directory()).join("output.log")
}

/// Begins the output of a step, and its control directory. Output of an earlier try of the
/// same step is kept beside.
pub fn begin(
    session: &Session,
    step: &Step,
    control: &StepControl,
    command: &ExecStep,
) -> Result<(), StoreError> {
    let path = path_of(&session.run, step);
    let directory = session.run.steps().join(step.directory());
    if directory.exists() {
        let names = (1..10_000).map(|attempt| {
            session
                .run
                .steps()
                .join(format!("{}.{attempt}", step.directory()))
        });
        if let Some(aside) = names.into_iter().find(|aside| !aside.exists()) {
            fs::rename(&directory, &aside).map_err(StoreError::io("rename", &directory))?;
        }
    }
    fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
    let file = File::create_new(&path).map_err(StoreError::io("create", &path))?;
    file.set_permissions(fs::Permissions::from_mode(0o666))
        .map_err(StoreError::io("change the rights of", &path))?;
    control.prepare(&command.run, &command.results, &path)
}

/// Ends the output of a step: the container can no longer reach it, and what the step's own
/// filter may have let through is taken out.
pub fn keep(
    session: &Session,
    step: &Step,
    control: &StepControl,
    command: &ExecStep,
) -> Result<(), StoreError> {
    // Only its own root can have taken the name away.
    let _ = control.let_go();
    let path = path_of(&session.run, step);
    if !command.secrets.is_empty() {
        redact::file(&path, &command.secrets, &session.secrets)?;
    }
    let file = open::open_beneath(
        &session.run.steps(),
        &Path::new(&step.directory()).join("output.log"),
    )?;
    file.set_permissions(fs::Permissions::from_mode(0o644))
        .map_err(StoreError::io("change the rights of", &path))
}

/// The growing output: read block by block, shown line by line or as its latest line.
pub struct Output<'a> {
    session: &'a Session,
    step: &'a Step,
    file: Option<File>,
    block: Vec<u8>,
    splitter: LineSplitter,
    shown: Instant,
    latest: Vec<u8>,
}

impl<'a> Output<'a> {
    /// From the first byte.
    pub fn open(session: &'a Session, step: &'a Step) -> Self {
        let relative = Path::new(&step.directory()).join("output.log");
        Self {
            session,
            step,
            file: open::open_beneath(&session.run.steps(), &relative).ok(),
            block: vec![0; BLOCK],
            splitter: LineSplitter::new(),
            shown: Instant::now(),
            latest: Vec::new(),
        }
    }

    /// Reads one block; false if nothing new is there.
    pub fn read_on(&mut self) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        let Ok(count) = file.read(&mut self.block) else {
            return false;
        };
        if count == 0 {
            return false;
        }
        if self.session.options.all_output {
            let (session, step) = (self.session, self.step);
            self.splitter.push(&self.block[..count], |line| {
                session.show(
                    step,
                    What::Output {
                        line: sanitize(&line.text).into_owned(),
                    },
                );
            });
        } else {
            let from = count.saturating_sub(4096);
            self.latest.clear();
            self.latest.extend_from_slice(&self.block[from..count]);
            if self.shown.elapsed() > SHOWN {
                self.show_latest();
            }
        }
        true
    }

    /// Reads what is there now, and no more: something may write for ever.
    pub fn finish(&mut self) {
        let length = self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map_or(0, |status| status.len());
        while self.position() < length && self.read_on() {}
        if self.session.options.all_output {
            let (session, step) = (self.session, self.step);
            self.splitter.finish(|line| {
                session.show(
                    step,
                    What::Output {
                        line: sanitize(&line.text).into_owned(),
                    },
                )
            });
        } else if !self.latest.is_empty() {
            self.show_latest();
        }
    }

    fn position(&mut self) -> u64 {
        self.file
            .as_mut()
            .and_then(|file| file.stream_position().ok())
            .unwrap_or(u64::MAX)
    }

    fn show_latest(&mut self) {
        self.shown = Instant::now();
        let text = String::from_utf8_lossy(&self.latest);
        let lines: Vec<&str> = text
            .split(['\n', '\r'])
            .filter(|line| !line.trim().is_empty())
            .collect();
        for line in &lines[lines.len().saturating_sub(8)..] {
            self.session.show(
                self.step,
                What::Output {
                    line: sanitize(line).into_owned(),
                },
            );
        }
        self.latest.clear();
    }
}

/// The last lines of a step's output, made harmless.
#[must_use]
pub fn last_lines(run: &RunDirectory, step: &Step, count: usize) -> Vec<String> {
    let read = || -> Result<Vec<u8>, StoreError> {
        let relative = Path::new(&step.directory()).join("output.log");
        let path = path_of(run, step);
        let mut file = open::open_beneath(&run.steps(), &relative)?;
        let io = || StoreError::io("read", &path);
        let length = file.metadata().map_err(io())?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(32 << 10)))
            .map_err(io())?;
        let mut bytes = Vec::new();
        file.take(64 << 10).read_to_end(&mut bytes).map_err(io())?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .map(|line| {
            line.rsplit('\r')
                .find(|part| !part.is_empty())
                .unwrap_or("")
        })
        .collect();
    lines[lines.len().saturating_sub(count)..]
        .iter()
        .map(|line| sanitize(line).into_owned())
        .collect()
}
