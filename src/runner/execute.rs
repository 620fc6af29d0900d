//! Goes through the plan, step by step.

use std::time::Instant;

use jiff::Timestamp;

use super::error::RunError;
use super::session::Session;
use super::{collect, container, exec, image, judge};
use crate::journal::{StepEnd, StepFault, What};
use crate::plan::choices::Keep;
use crate::plan::step::{Action, Condition, Plan, Purpose, Step};
use crate::store::StoreError;
use crate::verdict::{ExitCode, Verdict};

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The verdict, if it came to one.
    pub verdict: Option<Verdict>,
    /// The exit code.
    pub exit: ExitCode,
    /// Why it ended early, if it did.
    pub because: Option<String>,
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
    let lives = container::find_again(session, &before).await?;
    let standing = before.standing(&session.plan, lives);
    session.say(
        None,
        What::RunBegan {
            run: session.run.id().to_owned(),
            steps: session.plan.steps.len(),
            pid: std::process::id(),
            done_before: standing.clone(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        },
    )?;
    let mut run = Run {
        session,
        standing,
        stopper: None,
        verdict: None,
        faults: Vec::new(),
    };
    let outcome = run.steps().await;
    let because = run.stopper.clone();
    if let Err(error) = outcome {
        // The disk may be full: then this cannot be written either, and the caller says it.
        let because = Some(error.to_string());
        let _ = session.say(
            None,
            What::RunEnded {
                exit_code: ExitCode::Host.code(),
                because,
            },
        );
        let _ = container::remove(session).await;
        return Err(error);
    }
    let exit = run.exit();
    session.say(
        None,
        What::RunEnded {
            exit_code: exit.code(),
            because: because.clone(),
        },
    )?;
    Ok(Ended {
        verdict: run.verdict,
        exit,
        because,
    })
}

struct Run<'a> {
    session: &'a Session,
    standing: Vec<u32>,
    /// Why nothing more is measured.
    stopper: Option<String>,
    verdict: Option<Verdict>,
    faults: Vec<StepFault>,
}

impl Run<'_> {
    async fn steps(&mut self) -> Result<(), RunError> {
        let plan: &Plan = &self.session.plan;
        for step in &plan.steps {
            let end = if let Some(because) = self.left_out(step)? {
                self.session.say(
                    Some(step),
                    What::StepEnded {
                        end: StepEnd::Skipped { because },
                        seconds: 0.0,
                    },
                )?;
                continue;
            } else {
                let (before, begun) = (self.running_for(step), Instant::now());
                let end = self.one(step).await?;
                let seconds = before + begun.elapsed().as_secs_f64();
                self.session.say(
                    Some(step),
                    What::StepEnded {
                        end: end.clone(),
                        seconds,
                    },
                )?;
                end
            };
            self.consequences(step, &end);
        }
        Ok(())
    }

    /// Seconds for which a step has been running since before this process; 0 for the others.
    fn running_for(&self, step: &Step) -> f64 {
        let state = self.session.state();
        let began = state
            .began
            .get(&step.number)
            .filter(|_| !state.ended.contains_key(&step.number));
        match (&step.action, began) {
            (Action::Exec(_), Some(began)) => Timestamp::now()
                .duration_since(*began)
                .as_secs_f64()
                .max(0.0),
            _ => 0.0,
        }
    }

    /// Why a step is not done, if it is not.
    fn left_out(&mut self, step: &Step) -> Result<Option<String>, StoreError> {
        if self.standing.contains(&step.number) {
            return Ok(None);
        }
        if let Condition::Skipped { because } = &step.when {
            return Ok(Some(because.clone()));
        }
        let at_the_end = matches!(step.action, Action::Judge | Action::Remove);
        if let (Some(because), false) = (&self.stopper, at_the_end) {
            return Ok(Some(because.clone()));
        }
        if let Action::Collect { of, .. } = &step.action
            && let Some(because) = self.failed(*of)
        {
            return Ok(Some(because));
        }
        if let Action::Exec(exec) = &step.action
            && let Purpose::Check { of, .. } = exec.purpose
            && let Some(because) = self.failed(of)
        {
            return Ok(Some(because));
        }
        if let Condition::UntilDecided { stages } = &step.when
            && let Some(decision) = judge::decided(self.session, step, stages)
        {
            self.session.say(
                Some(step),
                What::Decided {
                    decision: decision.clone(),
                },
            )?;
            return Ok(Some(decision));
        }
        if step.action == Action::Remove {
            return Ok(self.kept(step));
        }
        Ok(None)
    }

    fn kept(&self, step: &Step) -> Option<String> {
        let Condition::Unless { keep } = &step.when else {
            return None;
        };
        let failed = !self.faults.is_empty() || self.stopper.is_some();
        let kept = match keep {
            Keep::Never => false,
            Keep::OnFailure => failed && !self.session.stop.is_cancelled(),
            Keep::Always => true,
        };
        if !kept {
            return None;
        }
        let _ = self.session.control.set_deadline(None);
        let run = self.session.run.id();
        Some(format!(
            "kept: look around with `retrial shell {run}`, remove it with `retrial clean {run}`"
        ))
    }

    fn failed(&self, number: u32) -> Option<String> {
        let state = self.session.state();
        match state.ended.get(&number) {
            Some((StepEnd::Done { .. }, _)) => None,
            Some(_) => Some(format!("step {number:02} was not done")),
            None => {
                (!self.standing.contains(&number)).then(|| format!("step {number:02} was not done"))
            }
        }
    }

    /// Does one step, or says that it stands from before.
    async fn one(&mut self, step: &Step) -> Result<StepEnd, RunError> {
        let session = self.session;
        if self.standing.contains(&step.number) {
            if step.action == Action::Judge {
                self.verdict = session.run.read_json("verdict.json").ok();
            }
            return Ok(StepEnd::Done { exit_code: None });
        }
        if session.stop.is_cancelled() && !matches!(step.action, Action::Judge | Action::Remove) {
            return Ok(StepEnd::Stopped);
        }
        let running = session.state();
        let follows =
            running.began.contains_key(&step.number) && !running.ended.contains_key(&step.number);
        if follows && matches!(step.action, Action::Exec(_)) {
            let began = running.began.get(&step.number).copied();
            let what = What::StepFollowed {
                doing: doing(step),
                began,
                timeout_s: timeout(step),
            };
            session.say(Some(step), what)?;
        } else {
            session.say(
                Some(step),
                What::StepBegan {
                    doing: doing(step),
                    timeout_s: timeout(step),
                },
            )?;
        }
        match &step.action {
            Action::Pull { reference, policy } => {
                image::pull(session, step, reference, *policy).await
            }
            Action::Build {
                context,
                dockerfile,
                args,
                tag,
            } => image::build(session, step, context, dockerfile, args, tag).await,
            Action::FetchModel { model, .. } => Ok(StepEnd::Failed {
                fault: StepFault::Request,
                because: format!("fetching model {model} from the hub comes with a later release"),
                exit_code: None,
                last_lines: Vec::new(),
                advice: format!(
                    "leave it out with --skip {} if the image or a mount has it",
                    step.name
                ),
            }),
            Action::Create => container::create(session, step).await,
            Action::Exec(command) => exec::run(session, step, command, follows).await,
            Action::Host(_) => Ok(StepEnd::Failed {
                fault: StepFault::Request,
                because: "steps on the host come with a later release".to_owned(),
                exit_code: None,
                last_lines: Vec::new(),
                advice: format!("do it by hand and leave it out with --skip {}", step.name),
            }),
            Action::Collect {
                measurement,
                trial,
                of,
                path,
            } => collect::collect(session, step, *measurement, *trial, *of, path).await,
            Action::Judge => {
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
                self.faults.push(*fault);
                let measured = match &step.action {
                    Action::Exec(exec) => {
                        exec.purpose != Purpose::Prepare && *fault != StepFault::Host
                    }
                    Action::Collect { .. } | Action::Remove | Action::Judge => true,
                    _ => false,
                };
                if !measured {
                    self.stopper.get_or_insert_with(|| {
                        format!("{} failed: {}", step.name, first_line(because))
                    });
                }
            }
            StepEnd::Stopped => {
                self.stopper
                    .get_or_insert_with(|| "the run was stopped".to_owned());
            }
            StepEnd::Done { .. } | StepEnd::Skipped { .. } => {}
        }
    }

    fn exit(&self) -> ExitCode {
        let has = |wanted: StepFault| self.faults.contains(&wanted);
        if self.session.stop.is_cancelled() {
            ExitCode::Interrupted
        } else if has(StepFault::Request) {
            ExitCode::Usage
        } else if has(StepFault::Host) {
            ExitCode::Host
        } else if has(StepFault::Command) || has(StepFault::Timeout) {
            ExitCode::StepFailed
        } else {
            self.verdict
                .as_ref()
                .map_or(ExitCode::Host, |verdict| verdict.exit_code)
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A step in one line, for a progress line.
fn doing(step: &Step) -> String {
    match &step.action {
        Action::Pull { reference, .. } => format!("pull {reference}"),
        Action::Build { tag, .. } => format!("build {tag}"),
        Action::FetchModel { repository, .. } => format!("fetch {repository}"),
        Action::Create => "create the container".to_owned(),
        Action::Exec(exec) | Action::Host(exec) => {
            exec.run.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Action::Collect { path, .. } => format!("collect {path}"),
        Action::Judge => "judge".to_owned(),
        Action::Remove => "remove the container".to_owned(),
    }
}

/// The longest time that a step may take, where it has a limit.
fn timeout(step: &Step) -> Option<u64> {
    match &step.action {
        Action::Exec(exec) | Action::Host(exec) => Some(exec.timeout_s),
        _ => None,
    }
}
