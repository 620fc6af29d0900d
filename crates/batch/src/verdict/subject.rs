//! A cell, or another host's runs, as far as comparisons need them.

use retrial_recipe::model::Mode;
use retrial_results::verdict::comparison::{PooledMeasurement, SideMeasurement};
use retrial_results::verdict::{Evidence, Outcome, ResultVerdict, RunContext, Verdict, judge};

use super::evidence::{RunEvidence, find_own_failure};
use super::not_testable::NotTestable;
use super::pool::pool_runs;
use crate::accuracy::violates_only_limits;
use crate::journal::CellFailure;
use crate::planned_figures::PlannedFigures;

/// Where the runs of a subject are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectOrigin {
    /// A cell of the batch that was run by it: its trials belong to rounds.
    Cell,
    /// A cell of the batch that another host measured.
    ExternalCell,
    /// Another host, whose runs are no cell.
    ExternalSystem,
}

/// A cell or another host's runs, judged.
pub(super) struct JudgedSubject {
    pub name: String,
    /// The verdicts, one for each benchmark.
    pub verdicts: Vec<Verdict>,
    pub rounds: Vec<SubjectMeasurement>,
    /// The first run that has no evidence: the number of its trial, and why.
    pub first_lost_run: Option<(u32, String)>,
    /// The failure of a cell by itself.
    pub failure: Option<CellFailure>,
    pub origin: SubjectOrigin,
}

/// One scenario in one mode, with the trials behind its figures, and its limits.
pub(super) struct SubjectMeasurement {
    pub measurement: PooledMeasurement,
    /// The trial number of each of its values, in their order.
    pub trials: Vec<u32>,
    pub result: ResultVerdict,
    /// The figures that have limits of the benchmark's own.
    pub limited_figures: Vec<String>,
    /// The figures that it was planned to give.
    pub figures: PlannedFigures,
}

impl JudgedSubject {
    /// Judges the trials of all runs together.
    pub fn from_runs(name: &str, runs: &[RunEvidence], origin: SubjectOrigin) -> Self {
        let mut subject = Self {
            name: name.to_owned(),
            verdicts: Vec::new(),
            rounds: Vec::new(),
            first_lost_run: runs.iter().find_map(|run| {
                let lost = run.evidence.as_ref().err()?;
                Some((run.trial, lost.reason.clone()))
            }),
            failure: find_own_failure(runs).cloned(),
            origin,
        };
        for (context, evidence) in pool_runs(runs) {
            let verdict = judge(&context, &evidence);
            let results = evidence.iter().zip(&verdict.results);
            let measured = results.map(|(evidence, result)| {
                SubjectMeasurement::from_evidence(&context, evidence, result)
            });
            subject.rounds.extend(measured);
            subject.verdicts.push(verdict);
        }
        subject
    }

    /// Returns whether its trials are those of the batch's rounds.
    pub fn has_rounds(&self) -> bool {
        self.origin == SubjectOrigin::Cell
    }

    /// Returns whether a scenario that only another subject has is missing here. Results of other hosts have no plan:
    /// they are to have the scenarios of the cells.
    pub fn owes_scenarios_of(&self, other: &Self) -> bool {
        match self.origin {
            SubjectOrigin::Cell => false,
            SubjectOrigin::ExternalCell => other.origin != SubjectOrigin::ExternalSystem,
            SubjectOrigin::ExternalSystem => true,
        }
    }

    /// Explains why it has no result at all, or none in this mode: accuracy is measured in the first trial only.
    pub fn why_lost(&self, mode: Mode) -> Option<NotTestable> {
        let has_mode = |rounds: &SubjectMeasurement| rounds.measurement.mode == mode;
        if self.failure.is_some() {
            return self.why_failed();
        }
        let (trial, reason) = self.first_lost_run.as_ref()?;
        (!self.rounds.iter().any(has_mode)).then(|| NotTestable::LostTrial {
            subject: self.name.clone(),
            trial: *trial,
            reason: reason.clone(),
        })
    }

    /// Explains why it failed, if it failed by itself.
    pub fn why_failed(&self) -> Option<NotTestable> {
        let failure = self.failure.clone()?;
        Some(NotTestable::CellFailed { subject: self.name.clone(), failure })
    }

    /// Explains why a figure of it cannot be compared; none if it can.
    pub fn why_unusable(&self, like: &PooledMeasurement, figure: &str) -> Option<NotTestable> {
        if self.failure.is_some() {
            return self.why_failed();
        }
        let find = |by_benchmark| {
            let mut all = self.rounds.iter();
            all.find(|rounds| rounds.measurement.is_like(like, by_benchmark))
        };
        let rounds = find(true).or_else(|| find(false))?;
        let (subject, measurement) = (self.name.clone(), &rounds.measurement);
        if !measurement.valid {
            let reason = rounds.result.sentence.clause().to_owned();
            return Some(match measurement.outcome {
                Outcome::Failed => NotTestable::Failed { subject, reason },
                outcome => NotTestable::Invalid { subject, outcome, reason },
            });
        }
        let scenario = measurement.scenario.clone();
        let mut figures = measurement.figures.iter();
        let named = if figure.is_empty() { "figure" } else { figure }.to_owned();
        match figures.find(|known| known.name == figure) {
            None => Some(NotTestable::NoFigureInScenario { subject, figure: named, scenario }),
            Some(known) if known.trials.is_none() => {
                Some(NotTestable::TrialWithoutFigure { subject, figure: named, scenario })
            }
            Some(_) => None,
        }
    }

    /// Returns whether a run of it failed.
    pub fn has_failed(&self) -> bool {
        let mut verdicts = self.verdicts.iter();
        verdicts.any(|verdict| verdict.outcome == Outcome::Failed)
    }
}

impl SubjectMeasurement {
    fn from_evidence(context: &RunContext, evidence: &Evidence, result: &ResultVerdict) -> Self {
        let limited_figures: Vec<String> = evidence.limited_figures().map(str::to_owned).collect();
        let mut measurement = PooledMeasurement::new(context, evidence, result);
        // An accuracy below its limit is not a valid result, but a figure: how it compares with
        // another's is what one would know.
        measurement.valid |= evidence.plan.mode == Mode::Accuracy
            && result.outcome == Outcome::Invalid
            && violates_only_limits(result, &limited_figures);
        Self {
            figures: PlannedFigures::new(evidence, &measurement, result),
            measurement,
            trials: evidence.trials.iter().map(|trial| trial.trial).collect(),
            result: result.clone(),
            limited_figures,
        }
    }

    /// Returns the measurement with the trials of these rounds only.
    fn cut_to_rounds(&self, rounds: &[u32]) -> PooledMeasurement {
        let mut cut = self.measurement.clone();
        for figure in &mut cut.figures {
            let Some(trials) = &mut figure.trials else {
                continue;
            };
            let trials_with_rounds = trials.iter().zip(&self.trials);
            let retained = trials_with_rounds.filter(|(_, round)| rounds.contains(round));
            *trials = retained.map(|(value, _)| *value).collect();
            if trials.is_empty() {
                figure.trials = None;
            }
        }
        cut
    }
}

/// Two subjects as they are compared: cut to the rounds that both have, where rounds make pairs.
pub(super) struct AlignedSubjects<'a> {
    pub subjects: [&'a JudgedSubject; 2],
    measurements: [Vec<PooledMeasurement>; 2],
    /// Whether the trials of a round are compared as pairs.
    pub paired: bool,
    pub notes: Vec<String>,
}

impl<'a> AlignedSubjects<'a> {
    /// A baseline and a candidate; rounds of two cells make pairs if they were interleaved.
    pub fn new(
        baseline: &'a JudgedSubject,
        candidate: &'a JudgedSubject,
        interleaved: bool,
    ) -> Self {
        let subjects = [baseline, candidate];
        let mut cut = Self {
            measurements: subjects.map(|subject| {
                let measured = subject.rounds.iter();
                measured.map(|rounds| rounds.measurement.clone()).collect()
            }),
            subjects,
            paired: interleaved && subjects.iter().all(|one| one.has_rounds()),
            notes: Vec::new(),
        };
        if !cut.paired {
            return cut;
        }
        for (at, ours) in baseline.rounds.iter().enumerate() {
            let like =
                |theirs: &SubjectMeasurement| ours.measurement.is_like(&theirs.measurement, false);
            let Some(position) = candidate.rounds.iter().position(like) else {
                continue;
            };
            let theirs = &candidate.rounds[position];
            let common = |round: &&u32| theirs.trials.contains(round);
            let common: Vec<u32> = ours.trials.iter().filter(common).copied().collect();
            if common.len() < ours.trials.len() || common.len() < theirs.trials.len() {
                cut.notes.push(format!(
                    "{} {}: {} and {} have {} of their {} and {} rounds in common, and only those are compared",
                    ours.measurement.scenario,
                    ours.measurement.mode,
                    candidate.name,
                    baseline.name,
                    common.len(),
                    theirs.trials.len(),
                    ours.trials.len(),
                ));
            }
            cut.measurements[0][at] = ours.cut_to_rounds(&common);
            cut.measurements[1][position] = theirs.cut_to_rounds(&common);
        }
        cut
    }

    /// Returns the measurements of the baseline and of the candidate, with their names.
    pub fn sides(&self) -> [Vec<SideMeasurement<'_>>; 2] {
        [0, 1].map(|side| {
            SideMeasurement::from_measurements(&self.subjects[side].name, &self.measurements[side])
        })
    }
}
