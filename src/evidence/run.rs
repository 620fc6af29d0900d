//! The evidence of one run: its plan, its journal, and what the steps left.

use std::collections::BTreeMap;
use std::path::Path;

use super::figures::{self, Text};
use super::folder;
use crate::journal::State;
use crate::journal::{StepEnd, StepFault};
use crate::logs::loadgen::{self, Run, Standing};
use crate::plan::measurement::MeasurementPlan;
use crate::plan::step::{Action, Plan, Purpose, Step};
use crate::recipe::model::Mode;
use crate::store::RunDirectory;
use crate::verdict::{
    Context, Evidence, FigureMeta, FigureValue, Qualifier, QualifierKind, StepOutcome,
    TrialEvidence, Validity, stages_of,
};

/// How far a log's own start may lie outside its step: it is kept in whole seconds.
const CLOCK_SLACK_S: i64 = 2;

/// The files of a run.
pub struct RunFiles<'a> {
    /// Its directory.
    pub directory: &'a RunDirectory,
    /// Its plan.
    pub plan: &'a Plan,
    /// What its journal says.
    pub state: &'a State,
}

/// What holds for the whole run.
#[must_use]
pub fn context(files: &RunFiles<'_>) -> Context {
    let plan = files.plan;
    let mut qualifiers = Vec::new();
    if !plan.modified.is_empty() {
        let set: Vec<String> = plan
            .modified
            .iter()
            .map(|name| {
                format!(
                    "--set {name}={}",
                    plan.params
                        .get(name)
                        .map(ToString::to_string)
                        .unwrap_or_default()
                )
            })
            .collect();
        qualifiers.push(Qualifier::new(QualifierKind::Modified, set.join(" ")));
    }
    let other_hardware = |lack: &&crate::plan::host::Lack| lack.fatal || lack.what == "gpu model";
    for lack in plan.lacks.iter().filter(other_hardware) {
        let because = format!("{} in place of {}", lack.found, lack.wanted);
        qualifiers.push(Qualifier::new(QualifierKind::OtherHardware, because));
    }
    if plan.judge.reimplemented {
        qualifiers.push(Qualifier::new(
            QualifierKind::Reimplemented,
            "the workload's own script was never published",
        ));
    }
    let pulled = plan
        .steps
        .iter()
        .any(|step| matches!(step.action, Action::Pull { .. }));
    if pulled && !plan.pinned {
        let ran = files
            .state
            .digests
            .iter()
            .find(|digest| of_repository(digest, &plan.image))
            .or(files.state.digests.first())
            .map_or(String::new(), |digest| format!("; ran {digest}"));
        qualifiers.push(Qualifier::new(
            QualifierKind::UnpinnedImage,
            format!("{} may move{ran}", plan.image),
        ));
    }
    let performance = plan
        .measurements
        .iter()
        .filter(|measured| measured.mode == Mode::Performance);
    let accuracy = plan
        .measurements
        .iter()
        .filter(|measured| measured.mode == Mode::Accuracy);
    Context {
        submission: plan.submission.clone(),
        rules: plan.judge.clone(),
        variant: plan.variant.clone(),
        qualifiers,
        same_sku: false,
        require_accuracy: false,
        accuracy_scenarios: accuracy.map(|measured| measured.scenario.clone()).collect(),
        published_figures: performance.map(|measured| measured.expect.len()).sum(),
    }
}

/// Whether a digest (`debian@sha256:…`) is of the repository that an image's name says: an engine
/// that pulled the same image from two registries lists both.
fn of_repository(digest: &str, image: &str) -> bool {
    let Some((repository, _)) = digest.split_once('@') else {
        return false;
    };
    let plain = |name: &str| {
        let name = name.trim_start_matches("docker.io/");
        name.trim_start_matches("library/").to_owned()
    };
    let rest = plain(image)
        .strip_prefix(&plain(repository))
        .map(str::to_owned);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@']))
}

/// The evidence of every measurement.
#[must_use]
pub fn gather(files: &RunFiles<'_>) -> Vec<Evidence> {
    (0..files.plan.measurements.len())
        .map(|index| gather_one(files, index))
        .collect()
}

/// The evidence of one measurement.
#[must_use]
pub fn gather_one(files: &RunFiles<'_>, index: usize) -> Evidence {
    let Some(measured) = files.plan.measurements.get(index) else {
        return Evidence::new("unknown", Mode::Performance);
    };
    let mut evidence = Evidence::new(measured.scenario.clone(), measured.mode);
    evidence.loadgen = measured.loadgen;
    evidence.stages = stages_of(measured.trials);
    evidence.expect.clone_from(&measured.expect);
    evidence.limits.clone_from(&measured.limits);
    evidence.published_target_qps = measured.target_qps;
    evidence.figure_meta = figure_meta(measured);
    for trial in 1..=measured.trials.max {
        let one = Trial {
            files,
            index,
            measured,
            number: trial,
        };
        if let Some(gathered) = one.gather(&mut evidence.published_metric) {
            evidence.trials.push(gathered);
        }
    }
    evidence
}

/// What is known of the figures that the recipe defines.
#[must_use]
pub fn figure_meta(measured: &MeasurementPlan) -> BTreeMap<String, FigureMeta> {
    let figures = measured.figures.iter();
    figures
        .map(|(name, figure)| {
            let meta = FigureMeta {
                better: figure.better,
                aggregate: figure.aggregate,
                noise: figure.noise,
                unit: figure.unit.clone(),
            };
            (name.clone(), meta)
        })
        .collect()
}

struct Trial<'a> {
    files: &'a RunFiles<'a>,
    index: usize,
    measured: &'a MeasurementPlan,
    number: u32,
}

impl Trial<'_> {
    fn gather(&self, published: &mut Option<String>) -> Option<TrialEvidence> {
        let measure = self.step(|step| match &step.action {
            Action::Exec(exec) => matches!(&exec.purpose, Purpose::Measure { measurements, trial } if measurements.contains(&self.index) && *trial == self.number),
            _ => false,
        })?;
        let check = self.step(|step| match &step.action {
            Action::Exec(exec) => matches!(exec.purpose, Purpose::Check { measurement, trial, .. } if measurement == self.index && trial == self.number),
            _ => false,
        });
        let collect = self.step(|step| matches!(step.action, Action::Collect { measurement, trial, .. } if measurement == self.index && trial == self.number));
        let ended = self
            .files
            .state
            .ended
            .get(&measure.number)
            .map(|(end, _)| end);
        if matches!(&measure.when, crate::plan::Condition::UntilDecided { .. })
            && !matches!(ended, Some(StepEnd::Done { .. } | StepEnd::Failed { .. }))
        {
            // A trial that was not needed, or not reached: no evidence either way.
            return None;
        }
        let relative = self.measured.results_directory(self.number);
        let mut trial = TrialEvidence::finished(self.number, relative.clone());
        trial.outcome = outcome(self.files, ended);
        if trial.outcome != StepOutcome::Finished {
            return Some(trial);
        }
        if let Some(collect) = collect
            && let Some(because) = self.not_collected(collect)
        {
            trial.outcome = StepOutcome::NoNewResult { because };
            return Some(trial);
        }
        if let Some(check) = check
            && let Some((
                StepEnd::Failed {
                    because, exit_code, ..
                },
                _,
            )) = self.files.state.ended.get(&check.number)
        {
            let code = exit_code.and_then(|code| i32::try_from(code).ok());
            trial.outcome = StepOutcome::Failed {
                because: format!("its check failed: {because}"),
                code,
            };
        }
        let folder = self.files.directory.join(&relative);
        if self.measured.loadgen {
            self.read_loadgen(measure, &folder, &mut trial, published);
        }
        self.read_figures(measure, check, &folder, &mut trial);
        Some(trial)
    }

    fn step(&self, wanted: impl Fn(&Step) -> bool) -> Option<&Step> {
        self.files.plan.steps.iter().find(|step| wanted(step))
    }

    fn not_collected(&self, collect: &Step) -> Option<String> {
        match self.files.state.ended.get(&collect.number) {
            Some((StepEnd::Done { .. }, _)) => None,
            Some((StepEnd::Failed { because, .. } | StepEnd::Skipped { because }, _)) => {
                Some(because.trim_start_matches("no new result: ").to_owned())
            }
            Some((StepEnd::Stopped, _)) | None => Some("its results were not fetched".to_owned()),
        }
    }

    fn read_loadgen(
        &self,
        measure: &Step,
        folder: &Path,
        trial: &mut TrialEvidence,
        published: &mut Option<String>,
    ) {
        let run = match folder::read(folder) {
            Ok(run) => run,
            Err(error) => {
                trial.outcome = StepOutcome::NoNewResult {
                    because: error.to_string(),
                };
                return;
            }
        };
        if let Some(because) = self.stale(measure, &run) {
            trial.outcome = StepOutcome::NoNewResult { because };
            return;
        }
        loadgen_evidence(&run, self.measured, trial, published);
    }

    /// Why a log cannot be of this step: its own start lies outside.
    fn stale(&self, measure: &Step, run: &Run) -> Option<String> {
        let started = run.started_at()?;
        let began = self.files.state.began.get(&measure.number)?;
        let ended = self
            .files
            .state
            .ended
            .get(&measure.number)
            .map(|(_, time)| *time)?;
        let early = started.as_second() < began.as_second() - CLOCK_SLACK_S;
        let late = started.as_second() > ended.as_second() + CLOCK_SLACK_S;
        (early || late).then(|| {
            format!("its log began at {started}, outside of the step ({began} to {ended})")
        })
    }

    fn read_figures(
        &self,
        measure: &Step,
        check: Option<&Step>,
        folder: &Path,
        trial: &mut TrialEvidence,
    ) {
        for (name, source) in &self.measured.figures {
            let texts: Vec<Text> = match &source.file {
                Some(file) => vec![Text {
                    directory: folder.to_owned(),
                    file: file.0.clone().into(),
                }],
                None => check
                    .into_iter()
                    .chain([measure])
                    .map(|step| figures::output_of(self.files.directory.path(), &step.directory()))
                    .collect(),
            };
            // A missing figure is told by the verdict, which knows whether it is asked for.
            match figures::find(source, &texts) {
                Ok(value) => drop(trial.figures.insert(name.clone(), value)),
                Err(because) => drop(trial.missing.insert(name.clone(), because)),
            }
        }
    }
}

fn outcome(files: &RunFiles<'_>, ended: Option<&StepEnd>) -> StepOutcome {
    match ended {
        Some(StepEnd::Done { .. }) => StepOutcome::Finished,
        Some(StepEnd::Failed {
            fault: StepFault::Timeout,
            because,
            ..
        }) => StepOutcome::TimedOut {
            because: because.clone(),
        },
        Some(StepEnd::Failed {
            because, exit_code, ..
        }) => StepOutcome::Failed {
            because: because.clone(),
            code: exit_code.and_then(|code| i32::try_from(code).ok()),
        },
        Some(StepEnd::Skipped { because }) => StepOutcome::NotRun {
            because: why(files, because),
        },
        Some(StepEnd::Stopped) => StepOutcome::NotRun {
            because: "the run was stopped".to_owned(),
        },
        None => StepOutcome::NotRun {
            because: "it was not reached".to_owned(),
        },
    }
}

/// Why a step was left out: where that is the failure of another one, with that one's own reason.
fn why(files: &RunFiles<'_>, because: &str) -> String {
    let blamed = files
        .plan
        .steps
        .iter()
        .find(|step| because == format!("{} failed", step.name));
    let end = blamed.and_then(|step| files.state.ended.get(&step.number));
    match end {
        Some((
            StepEnd::Failed {
                because: reason, ..
            },
            _,
        )) => {
            format!("{because}: {}", reason.lines().next().unwrap_or_default())
        }
        _ => because.to_owned(),
    }
}

/// What `LoadGen`'s logs say of a trial: figures under their own names and under those that
/// the recipe expects, validity, and what was asked for.
pub fn loadgen_evidence(
    run: &Run,
    measured: &MeasurementPlan,
    trial: &mut TrialEvidence,
    published: &mut Option<String>,
) {
    let all = run.figures();
    let value = |figure: &crate::logs::Figure| FigureValue::new(figure.value, figure.unit.clone());
    trial.figures.extend(
        all.iter()
            .map(|(name, figure)| (name.to_string(), value(figure))),
    );
    let named = measured
        .expect
        .iter()
        .map(|(name, _)| name)
        .chain(measured.limits.iter().map(|(name, _)| name));
    for name in named {
        if let Some(found) = run.resolve(name) {
            trial.figures.insert(name.clone(), value(&found.figure));
        }
    }
    if let (Some(scenario), Mode::Performance) = (run.scenario(), measured.mode) {
        let tokens = all
            .keys()
            .any(|name| name.as_ref() == loadgen::published_metric(scenario, true));
        *published = Some(loadgen::published_metric(scenario, tokens).to_owned());
    }
    let validity = run.validity();
    let mut reasons = validity.reasons;
    for disagreement in run.disagreements() {
        reasons.push(format!(
            "{}: the summary says {}, the detail log {}",
            disagreement.name, disagreement.summary.value, disagreement.detail.value
        ));
    }
    trial.validity = match validity.verdict {
        Standing::Valid if reasons.is_empty() => Validity::Valid,
        Standing::Unknown if reasons.is_empty() => Validity::NotStated,
        _ => Validity::Invalid(reasons),
    };
    if let Ok(serde_json::Value::Object(parameters)) = serde_json::to_value(run.parameters()) {
        let numbers: BTreeMap<String, f64> = parameters
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_f64()?)))
            .collect();
        trial.parameters.extend(numbers);
    }
}
