//! Follows a step by its files: output as it grows, the exit code when it is there, time
//! limits, and whether the container still lives. The engine may be away meanwhile.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::control::{StepControl, StepExit};
use super::latest::Latest;
use super::session::Session;
use crate::engine::api::ExecStatus;
use crate::journal::What;
use crate::logs::lines::LineSplitter;
use crate::logs::sanitize;
use crate::plan::step::{ExecStep, Step};
use crate::plan::text::duration;

/// How a followed step came to its end.
pub enum Followed {
    /// It wrote its exit code.
    Exited(StepExit),
    /// The run is to stop.
    Stopped,
    /// It ran out of time, or was silent too long.
    TimedOut {
        /// Which limit.
        because: String,
    },
    /// It will never write its exit code.
    Died {
        /// What happened.
        because: String,
        /// What to do.
        advice: String,
    },
}

/// The longest pause between two looks at the files.
const PAUSE: Duration = Duration::from_millis(50);
/// The shortest one.
const LEAST_PAUSE: Duration = Duration::from_millis(1);
/// How often the engine is asked whether the container lives.
const LOOK: Duration = Duration::from_secs(2);
/// Bytes read at once.
const BLOCK: usize = 256 << 10;
/// Bytes that are read to show the latest lines.
const TAIL: u64 = 4096;
/// How often the latest lines are shown.
const SHOW: Duration = Duration::from_millis(100);

/// Follows a step to its end.
pub async fn follow(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    control: &StepControl,
    container: &str,
    exec: Option<&str>,
) -> Followed {
    let began = session
        .state()
        .began
        .get(&step.number)
        .copied()
        .unwrap_or_else(Timestamp::now);
    let mut output = Output::open(session, step, &control.output());
    let taken_up = Instant::now();
    let mut looked = taken_up;
    let mut last_output = Instant::now();
    loop {
        let grew = output.look();
        if grew {
            last_output = Instant::now();
        }
        if let Some(exit) = control.exit() {
            while output.look() {}
            output.finish();
            return Followed::Exited(exit);
        }
        if session.stop.is_cancelled() {
            return Followed::Stopped;
        }
        let elapsed = u64::try_from((Timestamp::now() - began).get_seconds().max(0)).unwrap_or(0);
        let elapsed = elapsed
            .max(u64::try_from(Timestamp::now().as_second() - began.as_second()).unwrap_or(0));
        if elapsed >= command.timeout_s {
            return Followed::TimedOut {
                because: format!("it did not end within {}", duration(command.timeout_s)),
            };
        }
        if let Some(silence) = command.silence_s
            && last_output.elapsed().as_secs() >= silence
        {
            return Followed::TimedOut {
                because: format!("it was silent for {}", duration(silence)),
            };
        }
        if looked.elapsed() > LOOK {
            looked = Instant::now();
            if let Some((because, advice)) = dead(session, control, container, exec).await {
                if let Some(exit) = control.exit() {
                    return Followed::Exited(exit);
                }
                return Followed::Died { because, advice };
            }
        }
        if !(grew && session.options.all_output) {
            // A short step's end is seen at once, and a long one is not bothered.
            let pause = (taken_up.elapsed() / 100).clamp(LEAST_PAUSE, PAUSE);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = session.stop.cancelled() => {}
            }
        }
    }
}

/// Why the step will never write its exit code, if so.
async fn dead(
    session: &Session,
    control: &StepControl,
    container: &str,
    exec: Option<&str>,
) -> Option<(String, String)> {
    let resume = format!(
        "go on in a new container with: retrial resume {}",
        session.run.id()
    );
    // An engine that is away says nothing about the container: the files do.
    let state = session.engine.container(container).await.ok()?;
    let Some(state) = state else {
        return Some((
            "the container is gone: somebody removed it".to_owned(),
            resume,
        ));
    };
    if !state.running {
        if control.exit().is_some() {
            return None;
        }
        let code = state
            .exit_code
            .map_or_else(String::new, |code| format!(" with exit code {code}"));
        let because = if state.oom_killed {
            format!("the container was killed for want of memory{code}")
        } else if session.control.ended().as_deref() == Some("deadline") {
            "the container ended at its deadline: nobody had followed the step to its time limit"
                .to_owned()
        } else {
            format!(
                "the container ended{code} while the step was running: it was stopped, or its first process was killed"
            )
        };
        return Some((because, resume));
    }
    let status = session.engine.exec_status(exec?).await.ok()?;
    if let ExecStatus::Exited(code) = status {
        // The exit file is renamed just before the process ends; give it one more look.
        tokio::time::sleep(Duration::from_millis(200)).await;
        if control.exit().is_some() {
            return None;
        }
        let full = disk_full(session.run.path());
        let because = if full {
            format!(
                "the disk of {} is full: the step could not write its exit code (the engine says {code})",
                session.run.path().display()
            )
        } else {
            format!(
                "the step's shell was killed before it could write its exit code (the engine says {code})"
            )
        };
        let advice = if full {
            "make room, or keep runs elsewhere: --home DIR".to_owned()
        } else {
            resume
        };
        return Some((because, advice));
    }
    None
}

fn disk_full(path: &Path) -> bool {
    rustix::fs::statvfs(path)
        .is_ok_and(|status| status.f_bavail.saturating_mul(status.f_frsize) < 64 << 10)
}

/// The growing output: shown line by line, or as its latest lines. For the latter only its end
/// is read: however fast it grows, following it costs next to nothing.
struct Output<'a> {
    session: &'a Session,
    step: &'a Step,
    file: Option<File>,
    /// How much of it was seen.
    length: u64,
    /// How much of it was shown.
    shown_to: u64,
    shown: Instant,
    latest: Latest,
    splitter: LineSplitter,
    block: Vec<u8>,
}

impl<'a> Output<'a> {
    fn open(session: &'a Session, step: &'a Step, path: &Path) -> Self {
        Self {
            session,
            step,
            file: File::open(path).ok(),
            length: 0,
            shown_to: 0,
            shown: Instant::now(),
            latest: Latest::default(),
            splitter: LineSplitter::new(),
            block: Vec::new(),
        }
    }

    /// Looks once; false if nothing new is there.
    fn look(&mut self) -> bool {
        if self.session.options.all_output {
            return self.read_block();
        }
        let metadata = self.file.as_ref().and_then(|file| file.metadata().ok());
        let Some(length) = metadata.map(|metadata| metadata.len()) else {
            return false;
        };
        let grew = length > self.length;
        self.length = length;
        self.show_latest(false);
        grew
    }

    fn read_block(&mut self) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        self.block.resize(BLOCK, 0);
        let count = file.read(&mut self.block).unwrap_or(0);
        let (session, step) = (self.session, self.step);
        self.splitter.push(&self.block[..count], |line| {
            let line = sanitize(&line.text).into_owned();
            session.show(step, What::Output { line });
        });
        count > 0
    }

    /// Shows the latest lines, ten times a second at most but for the last of them.
    fn show_latest(&mut self, at_the_end: bool) {
        if !at_the_end && self.shown.elapsed() < SHOW {
            return;
        }
        self.read_tail();
        let lines = self.latest.lines(at_the_end);
        if !lines.is_empty() {
            self.shown = Instant::now();
        }
        for line in lines {
            self.session.show(self.step, What::Output { line });
        }
    }

    /// Reads what came since the last time, at most its end.
    fn read_tail(&mut self) {
        let Some(file) = self.file.as_mut().filter(|_| self.length > self.shown_to) else {
            return;
        };
        let from = self.shown_to.max(self.length.saturating_sub(TAIL));
        if from > self.shown_to {
            self.latest.skip();
        }
        let mut tail = Vec::new();
        if file.seek(SeekFrom::Start(from)).is_ok()
            && file.take(self.length - from).read_to_end(&mut tail).is_ok()
        {
            self.latest.push(&tail);
        }
        self.shown_to = self.length;
    }

    fn finish(&mut self) {
        if self.session.options.all_output {
            let (session, step) = (self.session, self.step);
            self.splitter.finish(|line| {
                let line = sanitize(&line.text).into_owned();
                session.show(step, What::Output { line });
            });
        } else {
            self.show_latest(true);
        }
    }
}

/// The last lines of a file, made harmless.
#[must_use]
pub fn last_lines(path: &Path, count: usize) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(32 << 10)))?;
        let mut bytes = Vec::new();
        file.take(64 << 10).read_to_end(&mut bytes)?;
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
