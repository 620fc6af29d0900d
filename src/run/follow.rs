//! Follows a step by its files: output as it grows, the exit code when it is there, time
//! limits, and whether the container still lives. The engine may be away meanwhile.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::control::{StepControl, StepExit};
use super::ending::look;
use super::output::Output;
use super::place::{Place, Started};
use super::session::Session;
use super::watch::Watch;
use crate::format::limit;
use crate::plan::step::{ExecStep, Step};
use crate::store::journal::StepFault;
use retrial_engine::api::ExecStatus;

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
    Died(ExitCause),
}

/// Why a step will never write its exit code.
pub struct ExitCause {
    /// Whose fault.
    pub fault: StepFault,
    /// What happened.
    pub because: String,
    /// What to do.
    pub advice: String,
}

/// The longest pause between two looks at the files.
const PAUSE: Duration = Duration::from_millis(50);
/// How often the engine is asked whether the container lives.
const LOOK: Duration = Duration::from_secs(2);
/// Every how many of these looks a process is started in the container to look there, if need be.
const CLOSE_LOOK: u32 = 5;

/// Follows a step to its end.
pub async fn follow(
    session: &Session,
    step: &Step,
    command: &ExecStep,
    control: &StepControl,
    place: &Place,
    started: Option<Started>,
) -> Followed {
    let began = session
        .state()
        .began
        .get(&step.number)
        .copied()
        .unwrap_or_else(Timestamp::now);
    let mut output = Output::open(session, step);
    let mut pulse = LivenessProbe {
        session,
        step,
        control,
        place,
        started,
        looks: 0,
    };
    let mut watch = Watch::renames(&control.path());
    let mut looked = Instant::now();
    let mut last_output = looked;
    loop {
        let grew = output.look();
        if grew {
            last_output = Instant::now();
        }
        if let Some(exit) = control.exit() {
            output.finish();
            return Followed::Exited(exit);
        }
        if session.stop.is_cancelled() {
            return Followed::Stopped;
        }
        let elapsed = Timestamp::now()
            .as_second()
            .saturating_sub(began.as_second());
        if u64::try_from(elapsed).unwrap_or(0) >= command.timeout_s {
            let because = format!("it did not end within {}", limit(command.timeout_s));
            return Followed::TimedOut { because };
        }
        if let Some(silence) = command.silence_s
            && last_output.elapsed().as_secs() >= silence
        {
            return Followed::TimedOut {
                because: format!("it was silent for {}", limit(silence)),
            };
        }
        if looked.elapsed() > LOOK {
            looked = Instant::now();
            if let Some(death) = pulse.dead().await {
                output.finish();
                return control
                    .exit()
                    .map_or(Followed::Died(death), Followed::Exited);
            }
        }
        if grew && session.options.all_output {
            // A step may print faster than it is read: signals are to be heard all the same.
            tokio::task::yield_now().await;
        } else {
            tokio::select! {
                () = watch.change(PAUSE) => {}
                () = session.stop.cancelled() => {}
            }
        }
    }
}

/// Looks whether a step can still come to its end.
struct LivenessProbe<'a> {
    session: &'a Session,
    step: &'a Step,
    control: &'a StepControl,
    place: &'a Place,
    /// None after a kill of the tool, or when the engine forgot it.
    started: Option<Started>,
    looks: u32,
}

impl LivenessProbe<'_> {
    /// Why the step will never write its exit code, if so.
    async fn dead(&mut self) -> Option<ExitCause> {
        if let Place::Container(container) = self.place
            && let Some(death) = self.without_container(container).await?
        {
            return Some(death);
        }
        let status = match &mut self.started {
            Some(started) => started.status(self.session).await?,
            None => ExecStatus::Unknown,
        };
        match status {
            ExecStatus::Running => None,
            ExecStatus::Exited(code) => self.exited(code).await,
            ExecStatus::Unknown => {
                self.looks += 1;
                if self.looks % CLOSE_LOOK == 1 {
                    self.exited(137).await
                } else {
                    None
                }
            }
        }
    }

    /// Why the container does not run, if so. An engine that is away says nothing about it: the
    /// files do.
    async fn without_container(&self, container: &str) -> Option<Option<ExitCause>> {
        let state = self.session.engine.container(container).await.ok()?;
        let because = match state {
            Some(state) if state.running => return Some(None),
            None => "the container is gone: somebody removed it".to_owned(),
            Some(state) => {
                let code = state
                    .exit_code
                    .map_or_else(String::new, |code| format!(" with exit code {code}"));
                if state.oom_killed {
                    format!("the container was killed for want of memory{code}")
                } else {
                    ended_words(self.session, &code)
                }
            }
        };
        let run = self.session.run.id();
        Some(Some(ExitCause {
            fault: StepFault::Host,
            because,
            advice: format!("go on in a new container with: retrial resume {run}"),
        }))
    }

    /// The exec that we know has ended, or we know of none. Another one of a tool that was
    /// killed may be the one that runs the step.
    async fn exited(&mut self, code: i64) -> Option<ExitCause> {
        let look = look(self.session, self.step, self.place).await?;
        if look.alive || self.control.exit().is_some() {
            self.started = None;
            return None;
        }
        // The exit file is renamed just before the process ends; give it one more look.
        tokio::time::sleep(Duration::from_millis(200)).await;
        if self.control.exit().is_some() {
            return None;
        }
        let path = self.session.run.path();
        let (before, _) = self.control.oom();
        let killed = before
            .zip(look.oom_kills)
            .is_some_and(|(before, now)| now > before);
        let started = self.control.started();
        Some(if disk_full(path) {
            ExitCause {
                fault: StepFault::Host,
                because: format!(
                    "the disk of {} is full: the step could not write its exit code",
                    path.display()
                ),
                advice: "make room, or keep runs elsewhere: --home DIR".to_owned(),
            }
        } else if killed {
            ExitCause {
                fault: StepFault::Command,
                because: "the kernel killed the step's own shell for want of memory".to_owned(),
                advice:
                    "give the container or the host more memory, or the benchmark a smaller batch"
                        .to_owned(),
            }
        } else if started {
            ExitCause {
                fault: StepFault::Host,
                because: format!(
                    "the step's shell was killed before it could write its exit code (exit code {code})"
                ),
                advice: format!("go on with: retrial resume {}", self.session.run.id()),
            }
        } else {
            ExitCause {
                fault: StepFault::Command,
                because: format!("the step could not be started (exit code {code})"),
                advice: match self.place {
                    Place::Container(_) => {
                        "does the image have the step's `workdir:`, and may its `user:` enter it?"
                    }
                    Place::Host => "does this machine have /bin/sh and util-linux' `setsid`?",
                }
                .to_owned(),
            }
        })
    }
}

/// Why a container ended while a step was running.
#[must_use]
pub fn ended_words(session: &Session, code: &str) -> String {
    match session.control.ended().as_deref() {
        Some("deadline") => {
            "the container ended at its deadline: nobody had followed the step to its time limit"
                .to_owned()
        }
        Some(_) => format!("the container was stopped{code} while the step was running"),
        None => format!("the container ended{code} while the step was running: it was killed"),
    }
}

/// Whether so little is free that what was written just now may be cut off.
#[must_use]
pub fn disk_full(path: &Path) -> bool {
    rustix::fs::statvfs(path)
        .is_ok_and(|status| status.f_bavail.saturating_mul(status.f_frsize) < 64 << 10)
}
