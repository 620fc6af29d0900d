//! One trial of a run: how its step ended, and what it gave.

use std::path::Path;

use jiff::Timestamp;

use super::RunFiles;
use super::window::measured_window;
use crate::evidence::figures::TextFile;
use crate::evidence::identity::window::StepWindow;
use crate::evidence::telemetry::StepSpan;
use crate::evidence::trial_files::TrialFiles;
use crate::verdict::{Evidence, StepOutcome, TrialEvidence};
use retrial_plan::StepCondition;
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::step::Step;
use retrial_recipe::model::Mode;
use retrial_store::journal::{AbortReason, SkipReason, StepEnd, StepFault};
use retrial_telemetry::TelemetrySummary;

pub(crate) struct RunTrial<'a> {
    pub files: &'a RunFiles<'a>,
    pub index: usize,
    pub measured: &'a MeasurementPlan,
    pub number: u32,
}

impl RunTrial<'_> {
    /// Returns the trials that it gave: none where it was not needed, several where its step trained several
    /// times.
    pub fn gather_trials(&self, evidence: &mut Evidence) -> Vec<TrialEvidence> {
        let Some(measure) = self.find_step(Step::runs_measurement) else {
            return Vec::new();
        };
        let check = self.find_step(Step::checks_results);
        let collect = self.find_step(Step::collects_results);
        let end = self.step_end(measure);
        if matches!(&measure.when, StepCondition::UntilDecided { .. })
            && !matches!(end, Some(StepEnd::Done { .. } | StepEnd::Failed { .. }))
        {
            // A trial that was not needed, or not reached: no evidence either way.
            return Vec::new();
        }
        let path = self.measured.results_directory(self.number);
        let folder = self.files.directory.join(&path);
        let mut trial = TrialEvidence::new_finished(self.number, path);
        trial.telemetry = self.telemetry_summary(measure, None);
        trial.step = self.step_span(measure).map(|span| span.wall_span());
        let missing = collect.and_then(|collect| self.reason_not_collected(collect));
        trial.outcome = match (self.step_outcome(end), missing) {
            (StepOutcome::Finished, Some(reason)) => StepOutcome::NoNewResult { reason },
            (outcome, _) => outcome,
        };
        if trial.outcome != StepOutcome::Finished {
            return vec![trial];
        }
        if let Some(StepEnd::Failed { reason, exit_code, .. }) =
            check.and_then(|check| self.step_end(check))
        {
            trial.outcome = failed_outcome(format!("its check failed: {reason}"), *exit_code);
        }
        self.read_results(measure, check, &folder, trial, evidence)
    }

    /// Reads its results, in the folder that they were collected to.
    fn read_results(
        &self,
        measure: &Step,
        check: Option<&Step>,
        folder: &Path,
        mut trial: TrialEvidence,
        evidence: &mut Evidence,
    ) -> Vec<TrialEvidence> {
        let files = TrialFiles::of_run(
            self.measured,
            self.files.plan,
            folder,
            self.output_texts(measure, check),
            self.step_window((measure, check), folder),
        );
        if let Some(run) = files.read_log(&mut trial, evidence)
            && let Some(window) = measured_window(&run)
        {
            trial.telemetry = self.telemetry_summary(measure, Some(window)).or(trial.telemetry);
        }
        if self.measured.mode == Mode::Compliance {
            files.check_tests(self.number, evidence);
        }
        files.read_figures(&trial, evidence)
    }

    fn step_end(&self, step: &Step) -> Option<&StepEnd> {
        let (end, _) = self.files.state.ended.get(&step.number)?;
        Some(end)
    }

    /// Returns how a step ended; one that a service's failure kept from starting failed as that one did.
    fn step_outcome(&self, end: Option<&StepEnd>) -> StepOutcome {
        let Some(StepEnd::Skipped { reason: SkipReason::InputMissing { step } }) = end else {
            return outcome_of_end(end);
        };
        match self.files.state.ended.get(step) {
            Some((failed @ StepEnd::Failed { .. }, _)) => outcome_of_end(Some(failed)),
            _ => outcome_of_end(end),
        }
    }

    fn find_step(&self, is_kind: impl Fn(&Step) -> bool) -> Option<&Step> {
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

    /// Returns the telemetry of a step, or of a window within it.
    fn telemetry_summary(
        &self,
        measure: &Step,
        window: Option<(Timestamp, Timestamp)>,
    ) -> Option<TelemetrySummary> {
        let (files, span) = (self.files, self.step_span(measure)?);
        files.telemetry.summarize_step(files.plan, measure, &span, window)
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
    fn step_window<'w>(
        &'w self,
        (measure, check): (&Step, Option<&Step>),
        results: &'w Path,
    ) -> Option<StepWindow<'w>> {
        let (started, ended) = self.step_span(measure)?.wall_span();
        let checked = check.and_then(|check| Some(self.step_span(check)?.wall_span()));
        let older = self.find_step(Step::collects_results).and_then(|collect| {
            let older = self.files.state.older.get(&collect.number)?;
            Some(older.as_slice())
        });
        Some(StepWindow {
            started,
            ended: checked.map_or(ended, |(_, ended)| ended),
            results,
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
fn outcome_of_end(ended: Option<&StepEnd>) -> StepOutcome {
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
        Some(StepEnd::Stopped) => StepOutcome::NotRun { reason: AbortReason::Stopped.to_string() },
        None => StepOutcome::NotRun { reason: "it was not reached".to_owned() },
    }
}
