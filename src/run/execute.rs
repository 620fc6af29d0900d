//! Goes through the plan, step by step.

use std::time::Instant;

use jiff::Timestamp;

use super::error::RunError;
use super::quiet::{self, Measuring};
use super::session::Session;
use super::watching::TelemetryRecorder;
use super::{collect, container, copy_out, exec, fill, host, image, installed, judge, models};
use crate::plan::cached::PopulateStep;
use crate::plan::step::{Action, Plan, Purpose, Step};
use crate::results::verdict::{ExitCode, Verdict};
use crate::store::StoreError;
use crate::store::journal::{AbortReason, StepEnd, StepFault, What};
use retrial_recipe::model::Place;

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The verdict, if it came to one.
    pub verdict: Option<Verdict>,
    /// The exit code.
    pub exit: ExitCode,
    /// Why it ended early, if it did.
    pub reason: Option<AbortReason>,
}

/// Executes what is left of the plan.
///
/// # Errors
/// Where the run's own files cannot be written, or the run is over already.
pub async fn execute(session: &Session) -> Result<Ended, RunError> {
    let before = session.state();
    if let Some((0 | 1 | 5, _)) = before.over {
        return Err(RunError::Over {
            run: session.run.id().to_owned(),
            how: "it came to its verdict".to_owned(),
            path: session.run.path().display().to_string(),
            recipe: session.plan.recipe.clone(),
        });
    }
    let mut run = Run {
        session,
        completed_steps: Vec::new(),
        abort_reason: None,
        verdict: None,
        fault: None,
        watching: TelemetryRecorder::default(),
        measuring: None,
    };
    // What is being measured since before this process is not disturbed either.
    let mut steps = session.plan.steps.iter();
    if steps.any(|step| before.open.contains(&step.number) && quiet::measures(step)) {
        run.measuring = quiet::measuring(session).await?;
    }
    let lives = run.reattach().await?;
    run.completed_steps = session
        .state()
        .taken_up()
        .completed_steps(&session.plan, lives);
    session.say(
        None,
        What::RunBegan {
            run: session.run.id().to_owned(),
            steps: session.plan.steps.len(),
            pid: std::process::id(),
            done_before: run.completed_steps.clone(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        },
    )?;
    let outcome = run.steps().await;
    if let Err(error) = outcome {
        let _ = container::teardown(session).await;
        // The disk may be full: then this cannot be written either, and the caller says it.
        let message = error.to_string();
        let _ = session.say(
            None,
            What::RunEnded {
                exit_code: ExitCode::Host.code(),
                reason: Some(AbortReason::Error { message }),
            },
        );
        return Err(error);
    }
    let exit = run.exit();
    session.say(
        None,
        What::RunEnded {
            exit_code: exit.code(),
            reason: run.abort_reason.clone(),
        },
    )?;
    Ok(Ended {
        verdict: run.verdict,
        exit,
        reason: run.abort_reason,
    })
}

/// One process's way through the plan.
pub(super) struct Run<'a> {
    pub(super) session: &'a Session,
    /// Steps that are not done again.
    pub(super) completed_steps: Vec<u32>,
    /// Why nothing more is measured.
    pub(super) abort_reason: Option<AbortReason>,
    /// The gravest fault of the steps that failed.
    pub(super) fault: Option<StepFault>,
    verdict: Option<Verdict>,
    watching: TelemetryRecorder,
    /// Held from the first measurement to the last.
    measuring: Option<Measuring>,
}

impl Run<'_> {
    async fn steps(&mut self) -> Result<(), RunError> {
        let plan: &Plan = &self.session.plan;
        for step in &plan.steps {
            if self.completed_steps.contains(&step.number) {
                self.show_completed(step);
                continue;
            }
            let end = if let Some(reason) = self.skip_reason(step).await? {
                self.ended(step, StepEnd::Skipped { reason }, 0.0)?
            } else {
                if self.measuring.is_none() && quiet::measures(step) {
                    self.measuring = quiet::measuring(self.session).await?;
                }
                self.done(step).await?
            };
            self.consequences(step, &end);
            if !quiet::more_is_measured(plan, step) {
                self.measuring = None;
            }
        }
        Ok(())
    }

    /// Says that a step stands from before; the journal has it.
    fn show_completed(&mut self, step: &Step) {
        let Some((end, _)) = self.session.state().ended.remove(&step.number) else {
            return;
        };
        self.session.show(
            step,
            What::StepEnded {
                end: end.clone(),
                seconds: 0.0,
            },
        );
        self.consequences(step, &end);
    }

    /// Does a step and says how it ended.
    pub(super) async fn done(&mut self, step: &Step) -> Result<StepEnd, RunError> {
        let (before, begun) = (self.running_for(step), Instant::now());
        let end = self.one(step).await?;
        Ok(self.ended(step, end, before + begun.elapsed().as_secs_f64())?)
    }

    fn ended(&self, step: &Step, end: StepEnd, seconds: f64) -> Result<StepEnd, StoreError> {
        self.session.say(
            Some(step),
            What::StepEnded {
                end: end.clone(),
                seconds,
            },
        )?;
        Ok(end)
    }

    /// Seconds for which a step has been running since before this process; 0 for the others.
    fn running_for(&self, step: &Step) -> f64 {
        let state = self.session.state();
        let began = state
            .began
            .get(&step.number)
            .filter(|_| state.open.contains(&step.number));
        match (&step.action, began) {
            (Action::Exec(_) | Action::Populate(_) | Action::Host(_), Some(began)) => {
                Timestamp::now()
                    .duration_since(*began)
                    .as_secs_f64()
                    .max(0.0)
            }
            _ => 0.0,
        }
    }

    async fn one(&mut self, planned: &Step) -> Result<StepEnd, RunError> {
        let session = self.session;
        let state = session.state();
        let step = &models::with_commits(session, planned);
        let follows = state.open.contains(&step.number)
            && match &step.action {
                Action::Exec(_) | Action::Host(_) => true,
                Action::Populate(fill) if fill.on == Place::Host => true,
                Action::Populate(_) => state.made_by == Some(step.number),
                _ => false,
            };
        // What is running is ended by its own step; what was measured is still fetched.
        let at_any_time = follows
            || matches!(
                step.action,
                Action::Collect { .. } | Action::Judge | Action::Remove
            );
        if session.stop.is_cancelled() && !at_any_time {
            return Ok(StepEnd::Stopped);
        }
        let (doing, timeout_s) = (doing(step), timeout(step));
        let what = if follows {
            What::StepFollowed {
                doing,
                began: state.began.get(&step.number).copied(),
                timeout_s,
            }
        } else {
            What::StepBegan { doing, timeout_s }
        };
        session.say(Some(step), what)?;
        match &step.action {
            Action::Pull { reference, policy } => {
                image::pull(session, step, reference, *policy).await
            }
            Action::Build(build) => image::build(session, step, build).await,
            Action::FetchModel(model) => {
                let _disturbing = quiet::disturbing(session).await;
                let spec = models::spec(model);
                models::fetch(session, step, &model.model, &spec, &model.locked).await
            }
            Action::Create => container::create(session, step).await,
            Action::Exec(command) => {
                let work = Box::pin(exec::run(session, step, command, follows));
                self.watching.during(session, step, command, work).await
            }
            Action::Host(command) => host::run(session, step, command, follows).await,
            Action::Populate(filling) => fill::fill(session, step, filling, follows).await,
            Action::CopyOut { path, to } => copy_out::copy_out(session, step, path, to).await,
            Action::Collect {
                measurement,
                trial,
                of,
                path,
            } => collect::collect(session, step, *measurement, *trial, *of, path).await,
            Action::Judge => {
                installed::record(session).await;
                self.verdict = Some(judge::judge_and_keep(session, step)?);
                Ok(StepEnd::Done { exit_code: None })
            }
            Action::Remove => container::remove_step(session).await,
        }
    }

    /// What the end of a step means for the others.
    fn consequences(&mut self, step: &Step, end: &StepEnd) {
        match end {
            StepEnd::Failed { fault, because, .. } => {
                self.fault = self.fault.max(Some(*fault));
                let continues = match &step.action {
                    Action::Exec(exec) => {
                        exec.purpose != Purpose::Prepare && *fault != StepFault::Host
                    }
                    Action::Collect { .. } => *fault != StepFault::Host,
                    Action::Remove | Action::Judge => true,
                    _ => false,
                };
                if !continues {
                    self.abort_reason
                        .get_or_insert_with(|| AbortReason::StepFailed {
                            name: step.name.clone(),
                            error: first_line(because).to_owned(),
                        });
                }
            }
            StepEnd::Stopped => {
                self.abort_reason.get_or_insert(AbortReason::Stopped);
            }
            StepEnd::Done { .. } | StepEnd::Skipped { .. } => {}
        }
    }

    fn exit(&self) -> ExitCode {
        let aborted = self.abort_reason.is_some() || self.verdict.is_none();
        if self.session.stop.is_cancelled() && aborted {
            return ExitCode::Interrupted;
        }
        match self.fault {
            Some(StepFault::Request) => ExitCode::Usage,
            Some(StepFault::Host) => ExitCode::Host,
            Some(StepFault::Command | StepFault::Timeout) => ExitCode::StepFailed,
            Some(StepFault::NoResult) | None => self
                .verdict
                .as_ref()
                .map_or(ExitCode::Host, |verdict| verdict.exit_code),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The first line of a script, with `…` if there are more.
fn first_command(script: &str) -> String {
    let mut lines = script
        .lines()
        .map(|line| line.trim().trim_end_matches('\\'));
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let mut words: Vec<&str> = first.split_whitespace().collect();
    if lines.any(|line| !line.is_empty()) {
        words.push("…");
    }
    words.join(" ")
}

/// A step in one line, for a progress line.
fn doing(step: &Step) -> String {
    match &step.action {
        Action::Pull { reference, .. } => format!("pull {reference}"),
        Action::Build(build) => format!("build {}", build.tag),
        Action::FetchModel(model) => format!("fetch {} at {}", model.repository, model.revision),
        Action::Create => "create the container".to_owned(),
        Action::CopyOut { path, .. } => format!("copy {path} out of the image"),
        Action::Exec(exec)
        | Action::Host(exec)
        | Action::Populate(PopulateStep { command: exec, .. }) => first_command(&exec.run),
        Action::Collect { path, .. } => format!("collect {path}"),
        Action::Judge => "judge".to_owned(),
        Action::Remove => "remove the container".to_owned(),
    }
}

/// The longest time that a step may take, where it has a limit.
fn timeout(step: &Step) -> Option<u64> {
    match &step.action {
        Action::Exec(exec)
        | Action::Host(exec)
        | Action::Populate(PopulateStep { command: exec, .. }) => Some(exec.timeout_s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("make run", "make run")]
    #[case("\n  mkdir -p   /tmp/results\n  make run\n", "mkdir -p /tmp/results …")]
    #[case("make run \\\n  --all", "make run …")]
    #[case("make run\n\n", "make run")]
    #[case("", "")]
    fn a_script_is_shown_by_its_first_line(#[case] script: &str, #[case] shown: &str) {
        assert_eq!(first_command(script), shown);
    }
}
