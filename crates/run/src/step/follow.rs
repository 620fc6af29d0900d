//! Follows a step by its files: output as it grows, the exit code once it is there, time limits, and whether
//! its process can still end. The engine may be unavailable meanwhile.

use std::time::{Duration, Instant};

use super::output::{OutputFollower, max_log_bytes};
use super::target::{StartedCommand, StepCommand};
use super::watch::DirectoryWatch;
use crate::access::RunSession;
use crate::control::{ControlDirectory, StepExit};
use crate::detection::FailureWatch;
use retrial_document::ErrorText;
use retrial_document::measures::format::{format_bytes, format_time_limit};
use retrial_engine::api::{ContainerState, ExecStatus};
use retrial_plan::step::ExecStep;
use retrial_store::journal::{StepEnd, StepFault};

/// The longest interval between checks of the files.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The interval between queries whether the container is running.
const ENGINE_QUERY_INTERVAL: Duration = Duration::from_secs(2);
/// The number of such queries per script run that searches for the step's shell, if its exec is unknown.
const ENGINE_QUERIES_PER_PROBE: u32 = 5;

/// The longest time that an engine may take to notice that a step's shell has ended.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(10);

/// The fix for a full disk.
pub(crate) const FREE_SPACE_ADVICE: &str = "free some space, or keep runs elsewhere: --home DIR";
/// The fix for exhausted memory.
pub(crate) const MORE_MEMORY_ADVICE: &str =
    "give the container or the host more memory, or the benchmark a smaller batch";

/// Additional conditions and checks while a step is followed. The default implementation has none.
pub trait StepObserver {
    /// The value to return before the step has ended.
    type EarlyResult;

    /// Waits until the step need not be followed any more.
    async fn wait_for_outcome(&mut self) -> Result<Self::EarlyResult, StepEnd>;

    /// Checks files of other processes, at every iteration.
    fn check_files(&mut self) -> Result<(), StepEnd> {
        Ok(())
    }

    /// Queries the engine, at intervals.
    async fn probe_engine(&mut self) -> Result<(), StepEnd> {
        Ok(())
    }

    /// Returns whether the step was followed for long enough to be out of time: an earlier process may have used
    /// all of it, or an engine that did not respond.
    fn may_time_out(&self) -> bool {
        true
    }

    /// Returns the time in which this process could not look whether the outcome is there: it was stopped.
    fn blind_time(&self) -> Duration {
        Duration::ZERO
    }

    /// The end of a step that ran out of time.
    fn on_timeout(&self, end: StepEnd) -> StepEnd {
        end
    }

    /// The end of a step that shows that it has failed.
    fn on_failure(&self, end: StepEnd) -> StepEnd {
        end
    }

    /// Checks once more after the step itself has ended.
    async fn check_after_exit(&mut self, _exit: &StepExit) -> Result<(), StepEnd> {
        Ok(())
    }
}

/// The result of following a step.
pub enum FollowOutcome<T> {
    /// The step wrote its exit code.
    Exited(StepExit),
    /// The step is still running, and need not be followed.
    Running(T),
}

/// Follows a step until it writes its exit code, or no longer needs to be followed. Otherwise returns why it
/// did neither.
pub async fn follow_step<M: StepObserver>(
    command: &StepCommand<'_>,
    started: Option<StartedCommand>,
    meanwhile: &mut M,
) -> Result<FollowOutcome<M::EarlyResult>, StepEnd> {
    let (session, control) = (&command.session, &command.files);
    let mut output = OutputFollower::open(session);
    let mut liveness = LivenessProbe::new(started);
    let mut failure = FailureWatch::new(command)?;
    let mut watch = DirectoryWatch::for_renames(&control.path());
    let mut last_asked = Instant::now();
    let mut last_output = last_asked;
    loop {
        // Before the files are read: this process may have been stopped since they were last.
        let (age, checked_at) = (command.session.age(), Instant::now());
        let grew = output.read_new_output();
        if grew {
            last_output = Instant::now();
        }
        let exit = control.read_exit();
        check_output_length(command.exec, &output)?;
        report_lost_output(command, &mut output)?;
        if let Some(exit) = exit {
            output.emit_remaining_output();
            let exit = liveness.confirm_exit(command, exit).await?;
            meanwhile.check_after_exit(&exit).await?;
            if !exit.terminated_by_us {
                let found = failure.search_remaining_output(command, Some(exit.code)).await;
                found.map_err(|end| meanwhile.on_failure(end))?;
            }
            return Ok(FollowOutcome::Exited(exit));
        }
        if session.run_session.stop.is_cancelled() {
            return Err(StepEnd::Stopped);
        }
        if meanwhile.may_time_out() {
            let silent = checked_at.saturating_duration_since(last_output);
            let age = age.saturating_sub(meanwhile.blind_time());
            check_limits(command, age, silent).map_err(|end| meanwhile.on_timeout(end))?;
        }
        meanwhile.check_files()?;
        failure.search_new_output(command).map_err(|end| meanwhile.on_failure(end))?;
        if last_asked.elapsed() > ENGINE_QUERY_INTERVAL {
            last_asked = Instant::now();
            if let Some(end) = liveness.find_death(command).await {
                output.emit_remaining_output();
                return control.read_exit().map(FollowOutcome::Exited).ok_or(end);
            }
            meanwhile.probe_engine().await?;
            let found = failure.probe_children(command).await;
            found.map_err(|end| meanwhile.on_failure(end))?;
        }
        if grew && session.run_session.options.all_output {
            // A step may print faster than it is read: signals must still be handled.
            tokio::task::yield_now().await;
        } else {
            tokio::select! {
                () = watch.wait_for_change(MAX_CHECK_INTERVAL) => {}
                () = session.run_session.stop.cancelled() => {}
                awaited = meanwhile.wait_for_outcome() => {
                    let outcome = awaited?;
                    if control.read_exit().is_none() {
                        output.emit_remaining_output();
                        return Ok(FollowOutcome::Running(outcome));
                    }
                }
            }
        }
    }
}

/// Returns whether a command's output is within its limit; a sparse file counts in full.
pub(crate) fn check_output_length(
    command: &ExecStep,
    output: &OutputFollower<'_>,
) -> Result<(), StepEnd> {
    let limit = max_log_bytes(command);
    let length = output.current_length();
    if length <= limit {
        return Ok(());
    }
    let (length, limit) = (format_bytes(length), format_bytes(limit));
    let reason = format!("its output has {length}; at most {limit} is allowed");
    let advice = "print less, or allow more with `max_log:` in the recipe";
    Err(StepEnd::failure(StepFault::Command, reason, advice))
}

/// Records that output was removed, by the step or by another program: what it said is unknown.
fn report_lost_output(
    command: &StepCommand<'_>,
    output: &mut OutputFollower<'_>,
) -> Result<(), StepEnd> {
    let Some(lost) = output.take_lost_length() else {
        return Ok(());
    };
    let lost = format_bytes(lost);
    let incident = format!(
        "{lost} of its output were removed while it ran, and are lost: print to `>&2` or `>>/dev/stdout`; `>/dev/stdout` empties the output"
    );
    let recorded = command.session.report_incident(incident);
    recorded.map_err(|error| StepEnd::host_failure(ErrorText::of(&error)))
}

/// Checks that a command is within its time limits. The time to start it while the engine was unavailable, or to
/// query the engine whether it is ready, does not count.
fn check_limits(command: &StepCommand<'_>, age: Duration, silent: Duration) -> Result<(), StepEnd> {
    let exec = command.exec;
    let age = age.saturating_sub(command.session.run_session.engine.waited_time());
    let reason = if age >= Duration::from_secs(exec.timeout_s) {
        format!("it did not finish within {}", format_time_limit(exec.timeout_s))
    } else if let Some(silence) = exec.silence_s.filter(|silence| silent.as_secs() >= *silence) {
        format!("it printed nothing for {}", format_time_limit(silence))
    } else {
        return Ok(());
    };
    let advice = "allow more time with `timeout:` (or `silence:`) in the recipe";
    Err(StepEnd::failure(StepFault::Timeout, reason, advice))
}

/// Checks whether a step can still write its exit code.
pub(crate) struct LivenessProbe {
    /// None after a kill of the tool, or if the engine no longer has it.
    started: Option<StartedCommand>,
    /// The number of checks that found its exec unknown to the engine.
    unknown_count: u32,
}

impl LivenessProbe {
    pub(crate) fn new(started: Option<StartedCommand>) -> Self {
        Self { started, unknown_count: 0 }
    }

    /// Compares a written exit code with the engine's, if the engine has the process.
    async fn confirm_exit(
        &mut self,
        command: &StepCommand<'_>,
        exit: StepExit,
    ) -> Result<StepExit, StepEnd> {
        let until = Instant::now() + CONFIRM_TIMEOUT;
        while exit.code == 0
            && !exit.terminated_by_us
            && let Some(started) = &mut self.started
        {
            let reason = match started.query_status(command.session.run_session).await {
                Some(ExecStatus::Exited(code)) if code != 0 => {
                    format!("it reported exit code 0 but ended with {code}")
                }
                Some(ExecStatus::Running) if Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    continue;
                }
                Some(ExecStatus::Running)
                    if command.probe_shell().await.is_some_and(|found| found.alive) =>
                {
                    "it reported exit code 0 but is still running".to_owned()
                }
                _ => break,
            };
            let advice = command.forgery_advice();
            return Err(StepEnd::failure(StepFault::Command, reason, advice));
        }
        Ok(exit)
    }

    /// Returns why the step will never write its exit code, if so.
    pub(crate) async fn find_death(&mut self, command: &StepCommand<'_>) -> Option<StepEnd> {
        let session = &command.session;
        if let Some(container) = &command.container {
            // Without a response from the engine, only the files show the container's state.
            let inspection =
                session.run_session.engine.call_once(|engine| engine.inspect_container(container));
            let state = inspection.await.ok()?;
            if !state.as_ref().is_some_and(|state| state.running) {
                return Some(missing_container_end(command, state));
            }
        }
        let status = match &mut self.started {
            Some(started) => started.query_status(session.run_session).await?,
            None => ExecStatus::Unknown,
        };
        match status {
            ExecStatus::Running => None,
            ExecStatus::Exited(code) => self.explain_exit(command, code).await,
            ExecStatus::Unknown => {
                self.unknown_count += 1;
                if self.unknown_count % ENGINE_QUERIES_PER_PROBE == 1 {
                    self.explain_exit(command, 137).await
                } else {
                    None
                }
            }
        }
    }

    /// The recorded exec has ended, or none is recorded. A killed tool may have started another exec that runs
    /// the step.
    async fn explain_exit(&mut self, command: &StepCommand<'_>, code: i64) -> Option<StepEnd> {
        let (session, files) = (&command.session, &command.files);
        let found = command.probe_shell().await?;
        if found.alive || files.read_exit().is_some() {
            self.started = None;
            return None;
        }
        // The exit file is renamed just before the process ends: check once more.
        tokio::time::sleep(Duration::from_millis(200)).await;
        if files.read_exit().is_some() {
            return None;
        }
        let killed = files.read_oom_counts().0.zip(found.oom_kills);
        let (fault, reason, advice) = if let Some(path) = session.run_session.find_full_disk() {
            let reason = format!(
                "the disk of {} is full: the step could not write its exit code",
                path.display()
            );
            (StepFault::Host, reason, FREE_SPACE_ADVICE.to_owned())
        } else if killed.is_some_and(|(before, now)| now > before) {
            let reason = "the kernel killed the step's own shell, out of memory".to_owned();
            (StepFault::Command, reason, MORE_MEMORY_ADVICE.to_owned())
        } else if files.has_started() {
            let reason = format!(
                "the step's shell was killed before it could write its exit code (exit code {code})"
            );
            let advice = format!("continue with: retrial resume {}", session.run_session.run.id());
            (StepFault::Host, reason, advice)
        } else {
            let reason = format!("the step could not be started (exit code {code})");
            let advice = match command.container {
                Some(_) => {
                    "does the image have the step's `workdir:`, and may its `user:` enter it?"
                }
                None => "does this machine have /bin/sh and util-linux' `setsid`?",
            };
            (StepFault::Command, reason, advice.to_owned())
        };
        Some(StepEnd::failure(fault, reason, advice))
    }
}

/// Returns why a step cannot write its exit code: its container is not running.
fn missing_container_end(command: &StepCommand<'_>, state: Option<ContainerState>) -> StepEnd {
    let reason = match state {
        None => "the container was removed by someone else".to_owned(),
        Some(state) => {
            let code = format_exit_code(&state);
            if state.oom_killed {
                format!("the kernel killed the container, out of memory{code}")
            } else {
                container_end_reason(&command.control, &code)
            }
        }
    };
    StepEnd::failure(StepFault::Host, reason, resume_advice(command.session.run_session))
}

/// ` with exit code 137`, if there is one.
pub fn format_exit_code(state: &ContainerState) -> String {
    let code = state.exit_code;
    code.map_or_else(String::new, |code| format!(" with exit code {code}"))
}

/// The fix if the container ended through no fault of the step.
pub(crate) fn resume_advice(session: &RunSession) -> String {
    let run = session.run.id();
    format!("continue in a new container with: retrial resume {run}")
}

/// Returns why a container ended while a step was running.
pub fn container_end_reason(control: &ControlDirectory, code: &str) -> String {
    match control.end_reason().as_deref() {
        Some("deadline") => {
            "the container ended at its deadline: no process had followed the step until its time limit"
                .to_owned()
        }
        Some(_) => format!("the container was stopped{code} while the step was running"),
        None => format!("the container ended{code} while the step was running: it was killed"),
    }
}
