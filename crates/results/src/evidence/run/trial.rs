//! One trial of a run: how its step ended, and what it gave.

use std::path::Path;

use jiff::Timestamp;

use super::RunFiles;
use super::window::measured_window;
use crate::evidence::figures::Text;
use crate::evidence::folder::{self, FolderError};
use crate::evidence::loadgen::{loadgen_evidence, not_of_its_kind};
use crate::evidence::readings::{Reading, readings};
use crate::evidence::{accuracy, markers};
use crate::verdict::{Evidence, StepOutcome, TrialEvidence};
use retrial_mlperf::loadgen::{self, Run, Scenario};
use retrial_plan::Condition;
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::step::Step;
use retrial_recipe::model::Mode;
use retrial_store::journal::{AbortReason, SkipReason, StepEnd, StepFault};
use retrial_telemetry::Summary;

/// How far a log's own start may lie outside its step: it is logged in whole seconds.
const CLOCK_SLACK_S: i64 = 2;

/// One trial of one measurement.
pub(crate) struct Trial<'a> {
    pub files: &'a RunFiles<'a>,
    pub index: usize,
    pub measured: &'a MeasurementPlan,
    pub number: u32,
}

impl Trial<'_> {
    /// What it gave: nothing where it was not needed, several trials where its step trained several
    /// times.
    pub fn gather(&self, evidence: &mut Evidence) -> Vec<TrialEvidence> {
        let Some(measure) = self.step(Step::measures) else {
            return Vec::new();
        };
        let check = self.step(Step::checks);
        let collect = self.step(Step::collects);
        let end = self.end(measure);
        if matches!(&measure.when, Condition::UntilDecided { .. })
            && !matches!(end, Some(StepEnd::Done { .. } | StepEnd::Failed { .. }))
        {
            // A trial that was not needed, or not reached: no evidence either way.
            return Vec::new();
        }
        let path = self.measured.results_directory(self.number);
        let folder = self.files.directory.join(&path);
        let mut trial = TrialEvidence::finished(self.number, path);
        trial.telemetry = self.watched(measure, None);
        let missing = collect.and_then(|collect| self.not_collected(collect));
        trial.outcome = match (self.outcome(end), missing) {
            (StepOutcome::Finished, Some(reason)) => StepOutcome::NoNewResult { reason },
            (outcome, _) => outcome,
        };
        if trial.outcome != StepOutcome::Finished {
            return vec![trial];
        }
        if let Some(StepEnd::Failed {
            reason, exit_code, ..
        }) = check.and_then(|check| self.end(check))
        {
            trial.outcome = failed(format!("its check failed: {reason}"), *exit_code);
        }
        self.read(measure, check, &folder, trial, evidence)
    }

    /// What its results say, in the folder that they were collected to.
    fn read(
        &self,
        measure: &Step,
        check: Option<&Step>,
        folder: &Path,
        mut trial: TrialEvidence,
        evidence: &mut Evidence,
    ) -> Vec<TrialEvidence> {
        if self.measured.loadgen
            && let Some(run) = self.read_loadgen(measure, folder, &mut trial, evidence)
            && let Some(window) = measured_window(&run)
        {
            trial.telemetry = self.watched(measure, Some(window)).or(trial.telemetry);
        }
        let markers = &self.files.plan.judge.invalid_if;
        let checks = markers::of_recipe(markers, folder, &self.outputs(measure, check));
        let checks = checks.into_iter().map(|check| check.on(Some(self.number)));
        evidence.checks.extend(checks);
        let readings = self.readings(measure, check, folder);
        let trials = readings.into_iter().map(|reading| {
            let mut read_trial = trial.clone();
            reading.add_to(&mut read_trial);
            if self.measured.loadgen && self.measured.mode == Mode::Accuracy {
                self.read_accuracy(&mut read_trial, check.unwrap_or(measure), folder);
            }
            read_trial
        });
        trials.collect()
    }

    /// How a step ended.
    fn end(&self, step: &Step) -> Option<&StepEnd> {
        let (end, _) = self.files.state.ended.get(&step.number)?;
        Some(end)
    }

    /// How a step ended; one that a service's failure kept from starting failed as that one did.
    fn outcome(&self, end: Option<&StepEnd>) -> StepOutcome {
        let Some(StepEnd::Skipped {
            reason: SkipReason::InputMissing { step },
        }) = end
        else {
            return outcome(end);
        };
        match self.files.state.ended.get(step) {
            Some((failed @ StepEnd::Failed { .. }, _)) => outcome(Some(failed)),
            _ => outcome(end),
        }
    }

    fn step(&self, is_kind: impl Fn(&Step) -> bool) -> Option<&Step> {
        let mut steps = self.files.plan.steps.iter();
        steps.find(|step| step.is_of(self.index, self.number) && is_kind(step))
    }

    fn not_collected(&self, collect: &Step) -> Option<String> {
        match self.end(collect) {
            Some(StepEnd::Done { .. }) => None,
            Some(StepEnd::Failed { reason, .. }) => Some(reason.clone()),
            Some(StepEnd::Skipped { reason }) => Some(reason.to_string()),
            Some(StepEnd::Stopped) | None => Some("its results were not collected".to_owned()),
        }
    }

    fn read_loadgen(
        &self,
        measure: &Step,
        folder: &Path,
        trial: &mut TrialEvidence,
        evidence: &mut Evidence,
    ) -> Option<Run> {
        let run = match folder::read(folder) {
            Ok(run) => run,
            // An audit's folder need not hold a LoadGen run (TEST06): its check decides.
            Err(FolderError::NoSummary) if self.measured.mode == Mode::Compliance => return None,
            Err(error) => {
                trial.outcome = StepOutcome::NoNewResult {
                    reason: error.to_string(),
                };
                return None;
            }
        };
        if let Some(reason) = self.stale(measure, &run) {
            trial.outcome = StepOutcome::NoNewResult { reason };
            return None;
        }
        loadgen_evidence(&run, evidence, trial);
        self.check_kind(&run, evidence);
        Some(run)
    }

    /// Checks that the step measured what the recipe declares.
    fn check_kind(&self, run: &Run, evidence: &mut Evidence) {
        let mode = match self.measured.mode {
            Mode::Accuracy => loadgen::Mode::Accuracy,
            Mode::Performance | Mode::Compliance => loadgen::Mode::Performance,
        };
        let checks = not_of_its_kind(run, mode, Scenario::from_word(&self.measured.scenario));
        let checks = checks.into_iter().map(|check| check.on(Some(self.number)));
        evidence.checks.extend(checks);
    }

    /// What was seen while the step ran, or within a window of it.
    fn watched(&self, measure: &Step, window: Option<(Timestamp, Timestamp)>) -> Option<Summary> {
        let (files, span) = (self.files, self.span(measure)?);
        files.telemetry.of_step(files.plan, measure, span, window)
    }

    /// When a step started and ended.
    fn span(&self, step: &Step) -> Option<(Timestamp, Timestamp)> {
        let started = self.files.state.started.get(&step.number)?;
        let (_, ended) = self.files.state.ended.get(&step.number)?;
        Some((*started, *ended))
    }

    /// Why a log cannot be of this step: its own start lies outside.
    fn stale(&self, measure: &Step, run: &Run) -> Option<String> {
        let logged = run.started_at()?;
        let (started, ended) = self.span(measure)?;
        let early = logged.as_second() < started.as_second() - CLOCK_SLACK_S;
        let late = logged.as_second() > ended.as_second() + CLOCK_SLACK_S;
        (early || late).then(|| {
            format!("its log starts at {logged}, outside of the step ({started} to {ended})")
        })
    }

    /// What the suite's accuracy script printed: into its file, or in the step that ran it.
    fn read_accuracy(&self, trial: &mut TrialEvidence, step: &Step, folder: &Path) {
        let output = Text::output_of(self.files.directory.path(), &step.directory());
        let rules = self.measured.rules.as_ref();
        let required = rules.map_or(&[][..], |rules| &rules.accuracy);
        accuracy::add_to(trial, &output.directory, &output.file, required);
        accuracy::add_to(trial, folder, Path::new(accuracy::ACCURACY), required);
    }

    /// What each run of the step gave by the recipe's own figures.
    fn readings(&self, measure: &Step, check: Option<&Step>, folder: &Path) -> Vec<Reading> {
        readings(&self.measured.figures, &|source| match &source.file {
            Some(file) => vec![Text {
                directory: folder.to_owned(),
                file: file.0.clone().into(),
            }],
            None => self.outputs(measure, check),
        })
    }

    /// The outputs of the trial's steps, the check's first.
    fn outputs(&self, measure: &Step, check: Option<&Step>) -> Vec<Text> {
        let steps = check.into_iter().chain([measure]);
        let run = self.files.directory.path();
        steps
            .map(|step| Text::output_of(run, &step.directory()))
            .collect()
    }
}

fn failed(reason: String, exit_code: Option<i64>) -> StepOutcome {
    StepOutcome::Failed {
        reason,
        code: exit_code.and_then(|code| i32::try_from(code).ok()),
    }
}

fn outcome(ended: Option<&StepEnd>) -> StepOutcome {
    match ended {
        Some(StepEnd::Done { .. }) => StepOutcome::Finished,
        Some(StepEnd::Failed {
            fault: StepFault::Timeout,
            reason,
            ..
        }) => StepOutcome::TimedOut {
            reason: reason.clone(),
        },
        Some(StepEnd::Failed {
            reason, exit_code, ..
        }) => failed(reason.clone(), *exit_code),
        Some(StepEnd::Skipped { reason }) => StepOutcome::NotRun {
            reason: match reason {
                SkipReason::Aborted { reason } => reason.to_string(),
                other => other.to_string(),
            },
        },
        Some(StepEnd::Stopped) => StepOutcome::NotRun {
            reason: AbortReason::Stopped.to_string(),
        },
        None => StepOutcome::NotRun {
            reason: "it was not reached".to_owned(),
        },
    }
}
