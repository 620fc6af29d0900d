//! One result: its rules checked and its figures compared, then worded.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::figures::{
    aggregate_figures, declared_figures, describe_measured, describe_validity, figure_columns,
    main_figure, unjudged_references,
};
use super::published_figure::{PublishedFigureTrials, compare_figures, finite_exp};
use super::qualifier::{
    Qualifier, QualifierKind, SMOKE_TEST_REASON, explains_better_figure, merge_qualifiers,
};
use super::qualify::{MAX_PLAUSIBLE_RATIO, qualifiers_of_exceeding, qualifiers_of_result};
use super::rules::{RuleFindings, check_rules};
use super::{
    Bounds, Evidence, FigureValue, Judgement, Noise, Outcome, ReasonSentence, Reference,
    ResultVerdict, RunContext, TrialEvidence, TrialVerdict, sentence, telemetry,
};
use retrial_recipe::model::{Claim, Mode};
use retrial_stats::{BoundsMethod, Decision, estimate_more_trials, find_outliers};

/// A result whose figures are compared, and not yet corrected for one another.
pub(crate) struct ResultDraft<'a> {
    evidence: &'a Evidence,
    checked: RuleFindings,
    pub compared: Vec<PublishedFigureTrials>,
    /// The run's that say what was measured, and what the evidence adds.
    qualifiers: Vec<Qualifier>,
}

impl<'a> ResultDraft<'a> {
    pub fn new(context: &RunContext, evidence: &'a Evidence) -> Self {
        let mut qualifiers = context.qualifiers.clone();
        merge_qualifiers(&mut qualifiers, qualifiers_of_result(evidence, context));
        Self {
            evidence,
            checked: check_rules(evidence, context.is_smoke_test()),
            compared: if context.is_smoke_test() {
                Vec::new()
            } else {
                compare_figures(context, evidence)
            },
            qualifiers,
        }
    }

    pub fn is_valid(&self) -> bool {
        self.checked.failed.is_empty()
            && self.checked.invalid.is_empty()
            && !self.checked.is_running
    }

    /// Returns the result; `worse` says for each compared figure whether it is, after correction.
    pub fn finish(&self, context: &RunContext, worse: &[bool]) -> ResultVerdict {
        let evidence = self.evidence;
        let judgements: Vec<Judgement> = self
            .compared
            .iter()
            .enumerate()
            .map(|(position, compared)| {
                let is_worse = worse.get(position).copied().unwrap_or(false);
                self.judge_figure(context, compared, is_worse)
            })
            .collect();
        let deciding = deciding_judgement(evidence, &judgements);
        let mut figures = aggregate_figures(evidence);
        for judgement in judgements.iter().filter(|judgement| !judgement.slow.is_empty()) {
            let typical = judgement.measured.clone();
            figures.extend(typical.map(|figure| (judgement.figure.clone(), figure)));
        }
        let (outcome, clause) = self.decide_outcome(context, deciding, &figures);
        let mut qualifiers = self.qualifiers.clone();
        merge_qualifiers(&mut qualifiers, context.execution.iter().cloned());
        if self.is_valid() {
            merge_qualifiers(&mut qualifiers, qualifiers_of_exceeding(&judgements));
        }
        let named = deciding
            .map(|judgement| judgement.figure.clone())
            .or_else(|| main_figure(evidence, &figures));
        let telemetry_summary = telemetry::summarize_result(evidence, named.as_deref(), &figures);
        ResultVerdict {
            path: evidence.path.clone(),
            round: context.submission.round.clone(),
            division: context.submission.division,
            submitter: context.submission.submitter.clone(),
            system: context.submission.system.clone(),
            benchmark: context.submission.benchmark.clone(),
            scenario: evidence.plan.scenario.clone(),
            point: evidence.plan.point.clone(),
            mode: evidence.plan.mode,
            trials: self.trial_verdicts(named.as_deref()),
            warmups: self.warmup_verdicts(named.as_deref()),
            lines: Vec::new(),
            deciding: named,
            telemetry: telemetry_summary,
            declared: declared_figures(evidence, &figures),
            columns: figure_columns(evidence),
            unjudged: unjudged_references(evidence, &figures),
            figures,
            valid: !matches!(outcome, Outcome::Invalid | Outcome::Failed | Outcome::Running)
                && evidence.unknown_rules.is_none(),
            rules: self.checked.rules.clone(),
            references: deciding.map(|judgement| judgement.references.clone()).unwrap_or_default(),
            ratio: deciding.and_then(|judgement| judgement.ratio),
            bounds: deciding.and_then(|judgement| judgement.bounds),
            margin: deciding.map(|judgement| judgement.margin),
            noise: deciding.map(|judgement| judgement.noise),
            outcome,
            qualifiers,
            sentence: ReasonSentence::from_clause(clause),
            judgements,
        }
    }

    /// Returns the outcome, and the clause that gives its reason.
    fn decide_outcome(
        &self,
        context: &RunContext,
        deciding: Option<&Judgement>,
        figures: &BTreeMap<String, FigureValue>,
    ) -> (Outcome, String) {
        let measured = |validity: &str| {
            let clause = describe_measured(self.evidence, figures, validity);
            (Outcome::Measured, clause)
        };
        if let Some(reason) = self.checked.failed.first() {
            return (Outcome::Failed, self.describe_violation(reason));
        }
        if let Some(reason) = self.checked.invalid.first() {
            return (Outcome::Invalid, self.describe_violation(reason));
        }
        if self.checked.is_running {
            return (Outcome::Running, "its measurement has not ended".to_owned());
        }
        if context.is_smoke_test() {
            return measured(&format!("{}: {SMOKE_TEST_REASON}", QualifierKind::SmokeTest));
        }
        if let Some(judgement) = deciding {
            let clause = judgement.sentence.clause();
            return (judgement.outcome, clause.to_owned());
        }
        match self.reason_not_shown(None) {
            Some(clause) => (Outcome::Inconclusive, clause),
            None => measured(&describe_validity(self.evidence, context.submission.division)),
        }
    }

    fn judge_figure(
        &self,
        context: &RunContext,
        compared: &PublishedFigureTrials,
        worse: bool,
    ) -> Judgement {
        let estimate = compared.estimate.as_ref();
        let noise = trial_noise(compared);
        let bounds = compared.bounds(compared.alpha);
        let ratio = estimate.map(|estimate| finite_exp(estimate.center));
        let claim = compared.deciding_expectation().claim;
        // Far better than published, for no stated reason.
        let is_implausible = ratio.is_some_and(|ratio| ratio > MAX_PLAUSIBLE_RATIO)
            && claim != Claim::Better
            && !explains_better_figure(&self.qualifiers);
        let decision = compared.decide(compared.alpha);
        let unshown = self.reason_not_shown(ratio).filter(|_| decision == Decision::Holds);
        let is_unshown = unshown.is_some();
        let outcome = match decision {
            _ if self.checked.is_running => Outcome::Running,
            _ if compared.values.is_empty() => Outcome::Invalid,
            Decision::Holds if is_implausible || is_unshown => Outcome::Inconclusive,
            Decision::Holds => Outcome::Reproduced,
            // Accuracy under what was published breaks the benchmark's own rule.
            _ if worse && self.evidence.plan.mode != Mode::Performance => Outcome::Invalid,
            _ if worse => Outcome::NotReproduced,
            Decision::Worse | Decision::Open => Outcome::Inconclusive,
        };
        let asks_for_more = outcome == Outcome::Inconclusive;
        let mut judgement = Judgement {
            figure: compared.figure.clone(),
            measured: compared.aggregated_figure(),
            better: compared.better,
            references: reference_values(compared),
            ratio,
            bounds: bounds.map(Bounds::from_logs),
            confidence: 1.0 - compared.alpha,
            claim,
            margin: compared.margin,
            normalised_by: compared.factor,
            noise,
            noise_basis: match (noise, &compared.assumed) {
                (Noise::Assumed(noise), Some(assumed)) if noise > 0.0 => {
                    Some(assumed.basis.clone())
                }
                _ => None,
            },
            trials: u32::try_from(self.evidence.trials.len()).unwrap_or(u32::MAX),
            outliers: self.trial_numbers(find_outliers(&compared.values)),
            slow: self.trial_numbers(estimate.map_or(Vec::new(), |estimate| estimate.slow.clone())),
            order: estimate.and_then(|estimate| estimate.order),
            slow_start: estimate.and_then(|estimate| estimate.slow_start),
            holds_within: bounds.map(|(lower, upper)| {
                let either_way = claim == Claim::Equivalent;
                let furthest = if either_way { lower.min(-upper) } else { lower };
                (1.0 - finite_exp(furthest)).max(0.0)
            }),
            more_trials: estimate.filter(|_| asks_for_more && !is_implausible && !is_unshown).map(
                |estimate| {
                    let distance = compared.region.distance_to_edge(estimate.center);
                    estimate_more_trials(estimate, distance, compared.alpha)
                },
            ),
            outcome,
            sentence: ReasonSentence::default(),
        };
        let looks = self.evidence.stages.len();
        let confidence = 1.0 - context.error_per_analysis(1);
        let clause = unshown.unwrap_or_else(|| {
            let one_of_several = self.compared.len() > 1;
            sentence::describe_figure(compared, &judgement, confidence, looks, one_of_several)
        });
        judgement.sentence = ReasonSentence::from_clause(clause);
        judgement
    }

    /// Returns the clause on a result that violates nothing and is not shown to be valid either: a trial is
    /// an excerpt of a log, trials are missing, or no round's rules are known for it.
    fn reason_not_shown(&self, ratio: Option<f64>) -> Option<String> {
        let agreement = ratio.map(|ratio| format!("the figure agrees ({ratio:.3}), "));
        let figure = agreement.unwrap_or_default();
        if self.evidence.trials.iter().any(|trial| trial.excerpt) {
            return Some(format!("Incomplete log: {figure}validity cannot be shown"));
        }
        if let Some(missing) = self.evidence.missing_trials.as_ref().filter(|_| ratio.is_some()) {
            return Some(format!("{figure}but {missing}"));
        }
        let reason = self.evidence.unknown_rules.as_ref()?;
        let subject = match self.evidence.plan.mode {
            Mode::Accuracy => "accuracy",
            Mode::Performance | Mode::Compliance => "validity",
        };
        Some(format!("{figure}{subject} not judged: {reason}"))
    }

    fn trial_numbers(&self, positions: Vec<usize>) -> Vec<u32> {
        let trials = &self.evidence.trials;
        let number = |position: usize| trials[position].trial;
        positions.into_iter().map(number).collect()
    }

    fn describe_violation(&self, reason: &str) -> String {
        let others = self.checked.causes.count.saturating_sub(1);
        match others {
            0 => reason.to_owned(),
            1 => format!("{reason} (and 1 more rule was violated)"),
            others => format!("{reason} (and {others} more rules were violated)"),
        }
    }

    /// Nothing is said of their validity but how their steps ended.
    fn warmup_verdicts(&self, deciding: Option<&str>) -> Vec<TrialVerdict> {
        let warmups = self.evidence.warmups.iter();
        warmups.map(|trial| trial_verdict(trial, true, deciding)).collect()
    }

    fn trial_verdicts(&self, deciding: Option<&str>) -> Vec<TrialVerdict> {
        let valid = |position: usize| self.checked.valid_trials.get(position).copied();
        let numbered_trials = self.evidence.trials.iter().enumerate();
        let mut trials: Vec<TrialVerdict> = numbered_trials
            .map(|(position, trial)| {
                trial_verdict(trial, valid(position).unwrap_or(false), deciding)
            })
            .collect();
        for compared in &self.compared {
            for position in find_outliers(&compared.values) {
                trials[position].outlier_in.push(compared.figure.clone());
            }
        }
        trials
    }
}

fn trial_verdict(trial: &TrialEvidence, valid: bool, deciding: Option<&str>) -> TrialVerdict {
    let figures = trial.figures.iter().filter(|(_, figure)| figure.value.is_finite());
    TrialVerdict {
        trial: trial.trial,
        path: trial.path.clone(),
        step: trial.outcome.clone(),
        valid,
        figures: figures
            .map(|(name, figure)| (name.clone(), figure.clone().with_half_digit(0.0)))
            .collect(),
        outlier_in: Vec::new(),
        telemetry: telemetry::summarize_trial(trial, deciding),
    }
}

/// Returns the judgement that decides: the worst; of equals the published metric, else the first.
fn deciding_judgement<'a>(
    evidence: &Evidence,
    judgements: &'a [Judgement],
) -> Option<&'a Judgement> {
    let worst = judgements.iter().map(|judgement| judgement.outcome).max()?;
    let equals = judgements.iter().filter(|judgement| judgement.outcome == worst);
    let metric = evidence.published_metric.as_ref();
    equals.find_or_first(|judgement| Some(&judgement.figure) == metric)
}

fn reference_values(compared: &PublishedFigureTrials) -> Vec<Reference> {
    compared
        .expectations
        .iter()
        .enumerate()
        .filter(|(_, expectation)| expectation.value.is_finite())
        .map(|(position, expectation)| Reference {
            value: expectation.value,
            kind: expectation.kind,
            source: expectation.source.clone(),
            sigma: expectation.sigma.filter(|sigma| sigma.is_finite()),
            ratio: compared.ratio_to(expectation.value),
            decides: position == compared.decisive,
        })
        .collect()
}

fn trial_noise(compared: &PublishedFigureTrials) -> Noise {
    let Some(estimate) = &compared.estimate else {
        return Noise::Unknown;
    };
    let assumed = compared.assumed.as_ref().map(|noise| noise.value);
    match estimate.trial_deviation() {
        None => Noise::Unknown,
        Some(noise) if matches!(estimate.method, BoundsMethod::Assumed { .. }) => {
            Noise::Assumed(noise)
        }
        // Two trials whose own is less.
        Some(noise) if compared.values.len() == 2 && noise > 0.0 && assumed == Some(noise) => {
            Noise::Assumed(noise)
        }
        Some(noise) => Noise::Measured(noise),
    }
}
