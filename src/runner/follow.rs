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
/// How often the engine is asked whether the container lives.
const LOOK: Duration = Duration::from_secs(2);
/// Bytes read at once.
const BLOCK: usize = 256 << 10;

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
    let mut pause = Duration::from_millis(1);
    let mut looked = Instant::now();
    let mut last_output = Instant::now();
    loop {
        let grew = output.read_on();
        if grew {
            last_output = Instant::now();
            pause = Duration::from_millis(1);
        }
        if let Some(exit) = control.exit() {
            while output.read_on() {}
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
        if !grew {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = session.stop.cancelled() => {}
            }
            pause = (pause * 3 / 2).min(PAUSE);
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

/// The growing output: read block by block, shown line by line or as its latest line.
struct Output<'a> {
    session: &'a Session,
    step: &'a Step,
    file: Option<File>,
    block: Vec<u8>,
    splitter: LineSplitter,
    shown: Instant,
    latest: Latest,
}

impl<'a> Output<'a> {
    fn open(session: &'a Session, step: &'a Step, path: &Path) -> Self {
        Self {
            session,
            step,
            file: File::open(path).ok(),
            block: vec![0; BLOCK],
            splitter: LineSplitter::new(),
            shown: Instant::now(),
            latest: Latest::default(),
        }
    }

    /// Reads one block; false if nothing new is there.
    fn read_on(&mut self) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        let Ok(count) = file.read(&mut self.block) else {
            return false;
        };
        if count == 0 {
            self.show_latest(false);
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
            self.latest.push(&self.block[..count]);
            self.show_latest(false);
        }
        true
    }

    /// Shows the latest lines, ten times a second at most but for the last of them.
    fn show_latest(&mut self, at_the_end: bool) {
        if !at_the_end && self.shown.elapsed() < Duration::from_millis(100) {
            return;
        }
        let lines = self.latest.lines(at_the_end);
        if !lines.is_empty() {
            self.shown = Instant::now();
        }
        for line in lines {
            self.session.show(self.step, What::Output { line });
        }
    }

    fn finish(&mut self) {
        if self.session.options.all_output {
            let (session, step) = (self.session, self.step);
            self.splitter.finish(|line| {
                session.show(
                    step,
                    What::Output {
                        line: sanitize(&line.text).into_owned(),
                    },
                );
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
