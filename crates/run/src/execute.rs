//! Executes a plan, step by step.

mod peers;

use std::time::Instant;

use tracing::{Instrument as _, info, info_span};

use crate::access::measurement_lock::{self, SharedGuard};
use crate::access::{RunSession, directories, fill_run_values};
use crate::cache::populate;
use crate::container::{self, installed_packages};
use crate::error::{Halt, RunError};
use crate::failure_tracker::FailureTracker;
use crate::image::{self, copy_out};
use crate::interrupt::run_unless_stopped;
use crate::model;
use crate::results::{collect, judge, trial_figures};
use crate::service;
use crate::step::{StepSession, exec, summarize_step};
use crate::telemetry::{self, TelemetryRecorder};
use retrial_document::ErrorText;
use retrial_plan::step::{Action, Plan, Step};
use retrial_recipe::model::StepLocation;
use retrial_results::verdict::{ExitCode, Verdict};
use retrial_store::StoreError;
use retrial_store::clock::Moment;
use retrial_store::journal::{AbortReason, EventKind, StepEnd};
use retrial_store::process::ProcessIdentity;

#[derive(Debug)]
pub struct RunEnd {
    pub verdict: Option<Verdict>,
    pub exit: ExitCode,
    /// The reason, if it ended early.
    pub reason: Option<AbortReason>,
}

/// Executes the remaining steps of the plan. A complete run is only judged again.
///
/// # Errors
/// If the run's own files cannot be written.
pub async fn execute_plan(session: &RunSession) -> Result<RunEnd, RunError> {
    let before = session.state();
    if before.is_judged() {
        let verdict = judge::judge_run(&session.run, session.options.require_accuracy)?;
        return Ok(RunEnd { exit: verdict.exit_code, verdict: Some(verdict), reason: None });
    }
    let (mut run, _) = RunExecution::open_run(session).await?;
    let executed = tokio::select! {
        executed = Box::pin(run.execute_steps()) => executed,
        removed = directories::wait_until_removed(session) => Err(removed),
    };
    if let Err(error) = executed {
        container::tear_down_after_error(session, &error).await;
        run.detach_peers().await;
        let reason = Some(AbortReason::Error { error: ErrorText::of(&error) });
        let exit_code = ExitCode::Host.code();
        // This may fail on a full disk, too; the caller reports the error.
        let _ = session.record(EventKind::RunEnded { exit_code, reason });
        return Err(error);
    }
    run.detach_peers().await;
    session.clear_scratch();
    let stopped = session.stop.is_cancelled();
    let exit = run.failure_tracker.exit_code(run.verdict.as_ref(), stopped);
    let reason = run.failure_tracker.abort_reason.clone();
    let event = EventKind::RunEnded { exit_code: exit.code(), reason: reason.clone() };
    session.record(event)?;
    Ok(RunEnd { verdict: run.verdict, exit, reason })
}

/// The execution of the plan by one process.
pub(super) struct RunExecution<'a> {
    pub(super) session: &'a RunSession,
    /// Steps that are not executed again.
    pub(super) completed_steps: Vec<u32>,
    pub(super) failure_tracker: FailureTracker,
    verdict: Option<Verdict>,
    pub(super) telemetry: TelemetryRecorder,
    /// Held from the first measurement to the last.
    measuring: Option<SharedGuard>,
}

impl<'a> RunExecution<'a> {
    /// Reattaches to the state that an earlier process left, and records that this one continues the run. Also
    /// returns whether the run's container is alive.
    pub(super) async fn open_run(session: &'a RunSession) -> Result<(Self, bool), RunError> {
        let mut run = Self {
            session,
            completed_steps: Vec::new(),
            failure_tracker: FailureTracker::default(),
            verdict: None,
            telemetry: TelemetryRecorder::default(),
            measuring: None,
        };
        let before = session.state();
        let here = run.reattach_container().await?;
        // A measurement that an earlier process started, and that goes on, must not be disturbed either. One whose
        // container is gone does not: its steps, which may disturb others, are executed again.
        let is_open = |step: &Step| before.open.contains(&step.number);
        let mut steps = session.plan.steps.iter();
        if here && steps.any(|step| is_open(step) && measurement_lock::is_measuring_step(step)) {
            run.measuring = session.lock_shared().await?;
        }
        let others = session.others.as_ref();
        let lives = here && others.is_none_or(|others| others.containers_live);
        run.completed_steps = run.find_completed_steps(lives);
        let now = Moment::now();
        let event = EventKind::RunStarted {
            run: session.run.id().to_owned(),
            steps: session.plan.steps.len(),
            process: ProcessIdentity::current().clone(),
            completed_steps: run.completed_steps.clone(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            since: before.since.as_ref().map(|since| since.to_clock_of(&now)),
        };
        session.record(event)?;
        Ok((run, here))
    }
}

impl RunExecution<'_> {
    async fn execute_steps(&mut self) -> Result<(), RunError> {
        if self.failure_tracker.abort_reason.is_some() {
            return Ok(()); // Results of an earlier container could not be collected.
        }
        let plan: &Plan = &self.session.plan;
        for step in &plan.steps {
            if self.completed_steps.contains(&step.number) {
                self.emit_completed(step);
                continue;
            }
            let end = if let Some(reason) = self.skip_reason(step).await? {
                record_end(&StepSession::new(self.session, step), StepEnd::Skipped { reason }, 0.0)?
            } else {
                if self.measuring.is_none() && measurement_lock::is_measuring_step(step) {
                    self.measuring = self.session.lock_shared().await?;
                }
                self.execute_step(step).await?
            };
            self.failure_tracker.record_end(step, &end);
            if !measurement_lock::has_later_measurement(plan, step) {
                self.measuring = None;
            }
        }
        Ok(())
    }

    /// Shows the end of a step that is complete; the journal has it.
    fn emit_completed(&mut self, step: &Step) {
        if let Some((end, _)) = self.session.state().ended.get(&step.number).cloned() {
            self.failure_tracker.record_end(step, &end);
            let seconds = 0.0;
            StepSession::new(self.session, step).emit(EventKind::StepEnded { end, seconds });
        }
    }

    /// Executes a step: records its start, does its work, records its end.
    pub(super) async fn execute_step(&mut self, step: &Step) -> Result<StepEnd, RunError> {
        let session = StepSession::new(self.session, step);
        let (earlier, started) = (elapsed_before_s(&session), Instant::now());
        let span = info_span!("step", number = step.number, name = step.name);
        let done = self.attempt_step(step).instrument(span.clone()).await;
        if done.is_ok() {
            trial_figures::emit_figures(&session).await;
        }
        let end = Halt::to_step_end(done)?;
        let seconds = earlier + started.elapsed().as_secs_f64();
        span.in_scope(|| info!(?end, seconds, "ended"));
        Ok(record_end(&session, end, seconds)?)
    }

    /// Returns whether the step's command may be running since before this process.
    pub(super) fn may_be_running(&self, step: &Step) -> bool {
        let state = self.session.state();
        let survives = match &step.action {
            Action::Exec(_) | Action::Host(_) | Action::StartService(_) => true,
            Action::Populate(populate_step) => {
                populate_step.location == StepLocation::Host || state.made_by == Some(step.number)
            }
            _ => false,
        };
        survives && state.open.contains(&step.number)
    }

    /// Records the start of a step and does its work. Returns the exit code of its command.
    async fn attempt_step(&mut self, planned: &Step) -> Result<Option<i64>, Halt> {
        let step = &fill_run_values(self.session, planned, planned.measurement_and_trial());
        let session = &StepSession::new(self.session, step);
        let reattach = self.may_be_running(step);
        // A running command is ended by its own step, and results are collected even then.
        let even_when_stopped = reattach
            || matches!(
                step.action,
                Action::Collect { .. } | Action::StopService(_) | Action::Judge | Action::Remove
            );
        if session.run_session.stop.is_cancelled() && !even_when_stopped {
            return Err(StepEnd::Stopped.into());
        }
        self.session.engine.reset_waited_time();
        let timeout_s = step.recipe_command().map(|command| command.timeout_s);
        let summary = summarize_step(step);
        let now = Moment::now();
        let event = if reattach {
            EventKind::StepReattached {
                summary,
                started: session.start_time().map(|started| started.to_clock_of(&now)),
                timeout_s,
            }
        } else {
            EventKind::StepStarted { summary, timeout_s }
        };
        info!(reattach, "started");
        session.record(event)?;
        self.work_on_machines(session, reattach).await
    }

    /// Does the work of a step on all machines that have it.
    async fn work_on_machines(
        &mut self,
        session: &StepSession<'_>,
        reattach: bool,
    ) -> Result<Option<i64>, Halt> {
        let others = self.session.others.as_ref();
        match others.filter(|_| session.step.runs_on_others()) {
            None => self.run_with_replacement(session, reattach).await,
            Some(others) => Box::pin(self.work_with_peers(session, others, reattach)).await,
        }
    }

    /// Does the work of a step on this machine, once.
    pub(super) async fn run_action(
        &mut self,
        session: &StepSession<'_>,
        reattach: bool,
    ) -> Result<Option<i64>, Halt> {
        match &session.step.action {
            Action::Pull { reference, policy } => {
                image::pull_image(session, reference, *policy).await?;
            }
            Action::Build(build) => image::build_image(session, build).await?,
            Action::FetchModel(model) => {
                let _exclusive = session.run_session.lock_exclusive().await;
                model::fetch_model(session, model).await?;
            }
            Action::Create => container::create_main_container(session).await?,
            Action::Exec(command) => {
                let work = Box::pin(exec::run_in_container(session, command, reattach));
                let work = telemetry::with_peer_telemetry(session, work);
                let during = self.telemetry.sample_during(session, work);
                return during.await.map(Some);
            }
            Action::Host(command) => {
                return exec::run_on_host(session, command, reattach).await.map(Some);
            }
            Action::StartService(service) => {
                Box::pin(service::start_service(session, service, reattach)).await?;
            }
            Action::StopService(ending) => Box::pin(service::stop_service(session, ending)).await?,
            Action::Populate(populate_step) => {
                // Its state is large, and most steps need none of it.
                Box::pin(populate::populate_cache(session, populate_step, reattach)).await?;
            }
            Action::CopyOut { path, to } => copy_out::copy_from_image(session, path, to).await?,
            Action::Collect { measurement, trial, of, path, .. } => {
                collect::collect_results(session, *measurement, *trial, *of, path).await?;
            }
            Action::Judge => {
                let content = run_unless_stopped(
                    &session.run_session.stop,
                    installed_packages::find_content(session.run_session),
                )
                .await?;
                let judging = async {
                    if let Some(content) = content {
                        let run = session.run_session.run.clone();
                        // A panic there ends no run.
                        let _ = tokio::task::spawn_blocking(move || content.store(&run)).await;
                    }
                    judge::record_verdict(session).await
                };
                let ending = async {
                    if self.is_removed_next() {
                        container::remove_ahead(session.run_session).await;
                    }
                };
                let (verdict, ()) = tokio::join!(judging, ending);
                self.verdict = Some(verdict?);
            }
            Action::Remove => container::run_remove_step(session.run_session).await?,
        }
        Ok(None)
    }
}

/// Seconds for which a command has been running since before this process; 0 for other steps.
fn elapsed_before_s(session: &StepSession<'_>) -> f64 {
    let step = session.step;
    let is_open =
        step.recipe_command().is_some() && session.run_session.state().open.contains(&step.number);
    if is_open { session.age().as_secs_f64() } else { 0.0 }
}

fn record_end(
    session: &StepSession<'_>,
    end: StepEnd,
    seconds: f64,
) -> Result<StepEnd, StoreError> {
    let event = EventKind::StepEnded { end: end.clone(), seconds };
    session.record(event)?;
    Ok(end)
}
