//! One trial of a run: how its step ended, and what it gave.

use std::path::Path;

use super::RunFiles;
use crate::evidence::figures::TextFile;
use crate::evidence::identity::window::StepWindow;
use crate::evidence::telemetry::{StepSpan, StepTelemetry};
use crate::evidence::trial_files::TrialFiles;
use crate::verdict::{StepOutcome, TrialEvidence};
use retrial_plan::StepCondition;
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::step::Step;
use retrial_store::journal::{SkipReason, StepEnd, StepFault};

pub(crate) struct RunTrial<'a> {
    pub files: &'a RunFiles<'a>,
    pub index: usize,
    pub measured: &'a MeasurementPlan,
    pub number: u32,
}

impl<'a> RunTrial<'a> {
    /// Finds its files; none where it was not needed.
    pub fn find(&self) -> Option<TrialFiles<'a>> {
        let measure = self.find_step(Step::runs_measurement)?;
        let check = self.find_step(Step::checks_results);
        let collect = self.find_step(Step::collects_results);
        let end = self.step_end(measure);
        if matches!(&measure.when, StepCondition::UntilDecided { .. })
            && !matches!(end, Some(StepEnd::Done { .. } | StepEnd::Failed { .. }))
        {
            // A trial that was not needed, or not reached: no evidence either way.
            return None;
        }
        let path = self.measured.results_directory(self.number);
        let folder = self.files.directory.join(&path);
        let span = self.step_span(measure);
        let telemetry = span.clone().map(|span| StepTelemetry {
            recorded: &self.files.telemetry,
            plan: self.files.plan,
            step: measure,
            span,
        });
        let missing = collect.and_then(|collect| self.reason_not_collected(collect));
        let outcome = match (self.step_outcome(end), missing) {
            (StepOutcome::Finished, Some(reason)) => StepOutcome::NoNewResult { reason },
            (outcome, _) => outcome,
        };
        let trial = TrialEvidence {
            telemetry: telemetry.as_ref().and_then(|telemetry| telemetry.summarize(None)),
            step: span.map(|span| span.wall_span()),
            outcome,
            ..TrialEvidence::new_finished(self.number, path)
        };
        let failed_check = match check.and_then(|check| self.step_end(check)) {
            Some(StepEnd::Failed { reason, exit_code, .. }) => {
                failed_outcome(format!("its check failed: {reason}"), *exit_code)
            }
            _ => StepOutcome::Finished,
        };
        Some(TrialFiles {
            check: failed_check,
            outputs: self.output_texts(measure, check),
            window: self.step_window((measure, check), &folder),
            telemetry,
            is_warmup: self.number <= self.measured.warmup,
            ..TrialFiles::of_run(self.measured, self.files.plan, trial, folder)
        })
    }

    fn step_end(&self, step: &Step) -> Option<&'a StepEnd> {
        let (end, _) = self.files.state.ended.get(&step.number)?;
        Some(end)
    }

    /// Returns how a step ended; one that a service's failure kept from starting failed as that one did.
    fn step_outcome(&self, end: Option<&StepEnd>) -> StepOutcome {
        let Some(StepEnd::Skipped { reason: SkipReason::InputMissing { step } }) = end else {
            return outcome_of_end(end, self.files.is_running);
        };
        match self.files.state.ended.get(step) {
            Some((failed @ StepEnd::Failed { .. }, _)) => outcome_of_end(Some(failed), false),
            _ => outcome_of_end(end, self.files.is_running),
        }
    }

    fn find_step(&self, is_kind: impl Fn(&Step) -> bool) -> Option<&'a Step> {
        let mut steps = self.files.plan.steps.iter();
        steps.find(|step| step.belongs_to_trial(self.index, self.number) && is_kind(step))
    }

    fn reason_not_collected(&self, collect: &Step) -> Option<String> {
        match self.step_end(collect) {
            Some(StepEnd::Done { .. }) => None,
            Some(StepEnd::Failed { reason, .. }) => Some(reason.clone()),
            Some(StepEnd::Skipped { reason }) => Some(reason.to_string()),
            Some(StepEnd::Stopped) | None => Some("its results were not collected".to_owned()),
        }
    }

    /// Returns the start and the end of a step.
    fn step_span(&self, step: &Step) -> Option<StepSpan> {
        let state = self.files.state;
        let (_, ended) = state.ended.get(&step.number)?;
        Some(StepSpan {
            run: state.since.clone(),
            started: state.started.get(&step.number)?.clone(),
            ended: ended.clone(),
        })
    }

    /// Returns the time of its step, and of the check of its results.
    fn step_window(
        &self,
        (measure, check): (&Step, Option<&Step>),
        results: &Path,
    ) -> Option<StepWindow<'a>> {
        let (started, ended) = self.step_span(measure)?.wall_span();
        let checked = check.and_then(|check| Some(self.step_span(check)?.wall_span()));
        let older = self.find_step(Step::collects_results).and_then(|collect| {
            let older = self.files.state.older.get(&collect.number)?;
            Some(older.as_slice())
        });
        Some(StepWindow {
            started,
            ended: checked.map_or(ended, |(_, ended)| ended),
            results: results.to_owned(),
            older: older.unwrap_or_default(),
        })
    }

    /// Returns the outputs of the trial's steps, the check's first.
    fn output_texts(&self, measure: &Step, check: Option<&Step>) -> Vec<TextFile> {
        let steps = check.into_iter().chain([measure]);
        let run = self.files.directory.path();
        steps.map(|step| TextFile::step_output(run, &step.directory_name())).collect()
    }
}

fn failed_outcome(reason: String, exit_code: Option<i64>) -> StepOutcome {
    StepOutcome::Failed { reason, code: exit_code.and_then(|code| i32::try_from(code).ok()) }
}

/// Returns the outcome of a trial by the end of its step. The journal records how a step ended, for the run; a verdict
/// has an outcome for trials of folders, too, which have no step.
fn outcome_of_end(ended: Option<&StepEnd>, is_running: bool) -> StepOutcome {
    match ended {
        Some(StepEnd::Done { .. }) => StepOutcome::Finished,
        Some(StepEnd::Failed { fault: StepFault::Timeout, reason, .. }) => {
            StepOutcome::TimedOut { reason: reason.clone() }
        }
        Some(StepEnd::Failed { reason, exit_code, .. }) => {
            failed_outcome(reason.clone(), *exit_code)
        }
        Some(StepEnd::Skipped { reason }) => StepOutcome::NotRun {
            reason: match reason {
                SkipReason::Aborted { reason } => reason.to_string(),
                other => other.to_string(),
            },
        },
        Some(StepEnd::Stopped) => StepOutcome::Stopped,
        None if is_running => StepOutcome::Running,
        None => StepOutcome::NotRun { reason: "it was not reached".to_owned() },
    }
}
