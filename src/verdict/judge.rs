//! From evidence to verdict: outcomes, accuracy coupled to performance, the run's own word.

use std::collections::BTreeMap;

use super::compare::{Compared, Side, compare, exp, holm, unit};
use super::more_trials::more_trials;
use super::outliers::outliers;
use super::qualifier::merge;
use super::rules::{Checked, check};
use super::statistics::{Method, aggregate};
use super::{
    Bounds, Context, Evidence, ExitCode, FigureValue, Judgement, Noise, Outcome, Qualifier,
    QualifierKind, Reference, ResultVerdict, TrialVerdict, Verdict, notice, reference, sentence,
};
use crate::recipe::model::Mode;

/// Version of verdict.json.
const SCHEMA: u32 = 1;
/// `LoadGen` prints rates with six digits.
const PRINTED_RATE: f64 = 1e-5;

/// Judges a run: the same evidence gives the same verdict, whoever asks and when.
#[must_use]
pub fn judge(context: &Context, evidence: &[Evidence]) -> Verdict {
    let drafts: Vec<Draft> = evidence.iter().map(|one| Draft::of(context, one)).collect();
    // Only valid results are tested, so only they share the error.
    let family: Vec<&Compared> = drafts
        .iter()
        .filter(|draft| draft.is_valid())
        .flat_map(|draft| &draft.compared)
        .collect();
    let mut worse = holm(&family).into_iter();
    let mut results: Vec<ResultVerdict> = drafts
        .iter()
        .map(|draft| {
            let tested = if draft.is_valid() {
                draft.compared.len()
            } else {
                0
            };
            draft.finish(context, &worse.by_ref().take(tested).collect::<Vec<_>>())
        })
        .collect();
    couple_accuracy(context, evidence, &mut results);
    overall(context, results)
}

/// A result whose figures are compared, and not yet corrected for one another.
pub(super) struct Draft<'a> {
    evidence: &'a Evidence,
    checked: Checked,
    pub compared: Vec<Compared>,
}

impl<'a> Draft<'a> {
    pub fn of(context: &Context, evidence: &'a Evidence) -> Self {
        Self {
            evidence,
            checked: check(evidence),
            compared: compare(context, evidence),
        }
    }

    pub fn is_valid(&self) -> bool {
        self.checked.failed.is_empty() && self.checked.invalid.is_empty()
    }

    /// The result; `worse` says for each compared figure whether it is, after correction.
    pub fn finish(&self, context: &Context, worse: &[bool]) -> ResultVerdict {
        let evidence = self.evidence;
        let judgements: Vec<Judgement> = self
            .compared
            .iter()
            .enumerate()
            .map(|(position, compared)| {
                let worse = worse.get(position).copied().unwrap_or(false);
                self.judgement(context, compared, worse)
            })
            .collect();
        let deciding = deciding(evidence, &judgements);
        let figures = aggregated(evidence);
        let broken = self.checked.failed.first().or(self.checked.invalid.first());
        let (outcome, sentence) = match (broken, deciding) {
            (Some(reason), _) => {
                let outcome = if self.checked.failed.is_empty() {
                    Outcome::Invalid
                } else {
                    Outcome::Failed
                };
                (outcome, self.broken_sentence(reason))
            }
            (None, Some(judgement)) => (judgement.outcome, judgement.sentence.clone()),
            (None, None) => (Outcome::Measured, measured_sentence(evidence, &figures)),
        };
        let mut qualifiers = context.qualifiers.clone();
        merge(&mut qualifiers, self.qualifiers(context, &judgements));
        ResultVerdict {
            path: evidence.path.clone(),
            system: context.submission.system.clone(),
            benchmark: context.submission.benchmark.clone(),
            scenario: evidence.scenario.clone(),
            mode: evidence.mode,
            deciding: deciding
                .map(|judgement| judgement.figure.clone())
                .or_else(|| main_figure(evidence, &figures)),
            figures,
            valid: outcome != Outcome::Invalid && outcome != Outcome::Failed,
            rules: self.checked.rules.clone(),
            references: deciding
                .map(|one| one.references.clone())
                .unwrap_or_default(),
            ratio: deciding.and_then(|one| one.ratio),
            bounds: deciding.and_then(|one| one.bounds),
            margin: deciding.map(|one| one.margin),
            noise: deciding.map(|one| one.noise),
            trials: self.trials(),
            outcome,
            qualifiers,
            sentence,
            judgements,
        }
    }

    fn judgement(&self, context: &Context, compared: &Compared, worse: bool) -> Judgement {
        let estimate = compared.estimate.as_ref();
        let bounds = estimate.and_then(|estimate| estimate.bounds(compared.alpha));
        let outcome = match compared.side(compared.alpha) {
            _ if compared.values.is_empty() => Outcome::Invalid,
            Side::Holds => Outcome::Reproduced,
            // Accuracy under what was published breaks the benchmark's own rule.
            _ if worse && self.evidence.mode != Mode::Performance => Outcome::Invalid,
            _ if worse => Outcome::NotReproduced,
            Side::Worse | Side::Open => Outcome::Inconclusive,
        };
        let asks_for_more = outcome == Outcome::Inconclusive;
        let mut judgement = Judgement {
            figure: compared.figure.clone(),
            measured: compared.measured(),
            references: references(compared),
            ratio: estimate.map(|estimate| exp(estimate.center)),
            bounds: bounds.map(|(lower, upper)| Bounds {
                lower: exp(lower),
                upper: exp(upper),
            }),
            confidence: 1.0 - compared.alpha,
            margin: compared.margin,
            noise: noise(compared),
            trials: u32::try_from(self.evidence.trials.len()).unwrap_or(u32::MAX),
            holds_within: bounds.map(|(lower, _)| (1.0 - exp(lower)).max(0.0)),
            more_trials: estimate
                .filter(|_| asks_for_more)
                .map(|estimate| more_trials(estimate, compared.threshold, compared.alpha)),
            outcome,
            sentence: String::new(),
        };
        let looks = self.evidence.stages.len();
        let confidence = 1.0 - context.alpha(1);
        judgement.sentence = sentence::of_figure(compared, &judgement, confidence, looks);
        judgement
    }

    fn broken_sentence(&self, reason: &str) -> String {
        let others = self.checked.failed.len() + self.checked.invalid.len() - 1;
        match others {
            0 => format!("{reason}."),
            1 => format!("{reason} (and 1 more rule was broken)."),
            others => format!("{reason} (and {others} more rules were broken)."),
        }
    }

    fn trials(&self) -> Vec<TrialVerdict> {
        let mut trials: Vec<TrialVerdict> = self
            .evidence
            .trials
            .iter()
            .enumerate()
            .map(|(position, trial)| TrialVerdict {
                trial: trial.trial,
                path: trial.path.clone(),
                step: trial.outcome.clone(),
                valid: self
                    .checked
                    .valid_trials
                    .get(position)
                    .copied()
                    .unwrap_or(false),
                figures: trial
                    .figures
                    .iter()
                    .filter(|(_, figure)| figure.value.is_finite())
                    .map(|(name, figure)| (name.clone(), figure.clone()))
                    .collect(),
                outlier_in: Vec::new(),
            })
            .collect();
        for compared in &self.compared {
            for position in outliers(&compared.values) {
                trials[position].outlier_in.push(compared.figure.clone());
            }
        }
        trials
    }

    fn qualifiers(&self, context: &Context, judgements: &[Judgement]) -> Vec<Qualifier> {
        let mut found = Vec::new();
        if context.rules.reimplemented {
            let because = "the workload's own script was never published";
            found.push(Qualifier::new(QualifierKind::Reimplemented, because));
        }
        found.extend(other_target(self.evidence));
        if self.is_valid() {
            found.extend(
                judgements
                    .iter()
                    .filter(|judgement| {
                        judgement
                            .ratio
                            .is_some_and(|it| it > 1.0 + judgement.margin.abs())
                    })
                    .map(|judgement| {
                        let because = format!(
                            "{} is better than published by more than the margin: look twice",
                            judgement.figure
                        );
                        Qualifier::new(QualifierKind::Above, because)
                    }),
            );
        }
        found
    }
}

/// Server and Interactive compare at the published target rate only.
fn other_target(evidence: &Evidence) -> Option<Qualifier> {
    let published = evidence
        .published_target_qps
        .filter(|rate| rate.is_finite() && *rate > 0.0)?;
    let scenario = evidence.scenario.to_ascii_lowercase();
    if scenario != "server" && scenario != "interactive" {
        return None;
    }
    let other = evidence
        .trials
        .iter()
        .filter_map(|trial| trial.parameters.get("target_qps").copied())
        .find(|found| found.is_nan() || (found - published).abs() > PRINTED_RATE * published)?;
    let because = format!(
        "{}'s target rate was {} queries/s, published at {}",
        evidence.scenario,
        super::number::grouped(other),
        super::number::grouped(published)
    );
    Some(Qualifier::new(QualifierKind::Modified, because))
}

/// The judgement that decides: the worst; of equals the published metric, else the first.
fn deciding<'a>(evidence: &Evidence, judgements: &'a [Judgement]) -> Option<&'a Judgement> {
    let worst = judgements.iter().map(|judgement| judgement.outcome).max()?;
    let mut equals = judgements
        .iter()
        .filter(|judgement| judgement.outcome == worst);
    let metric = evidence.published_metric.as_deref();
    equals
        .clone()
        .find(|judgement| Some(judgement.figure.as_str()) == metric)
        .or_else(|| equals.next())
}

/// The figure that is shown first where nothing was published.
fn main_figure(evidence: &Evidence, figures: &BTreeMap<String, FigureValue>) -> Option<String> {
    let metric = evidence
        .published_metric
        .clone()
        .filter(|name| figures.contains_key(name));
    metric
        .or_else(|| {
            evidence
                .limits
                .iter()
                .map(|(name, _)| name.clone())
                .find(|it| figures.contains_key(it))
        })
        .or_else(|| figures.keys().next().cloned())
}

fn measured_sentence(evidence: &Evidence, figures: &BTreeMap<String, FigureValue>) -> String {
    let kept = match (evidence.mode, evidence.limits.len()) {
        (_, 0) => "nothing was published to compare with",
        (Mode::Performance, _) => "its limits are kept, and nothing was published to compare with",
        (Mode::Accuracy | Mode::Compliance, _) => "the benchmark's own limits are kept",
    };
    match main_figure(evidence, figures).and_then(|name| Some((figures.get(&name)?.clone(), name)))
    {
        Some((figure, name)) => {
            let shown = super::number::figure(figure.value, &figure.unit);
            format!("{name}: {shown}; {kept}.")
        }
        None => "valid, by the benchmark's own word.".to_owned(),
    }
}

/// Every figure that is there in a trial, its trials made one.
fn aggregated(evidence: &Evidence) -> BTreeMap<String, FigureValue> {
    let mut values: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for trial in &evidence.trials {
        for (name, figure) in &trial.figures {
            if figure.value.is_finite() {
                values.entry(name).or_default().push(figure.value);
            }
        }
    }
    values
        .into_iter()
        .map(|(name, values)| {
            let unit = unit(evidence, name);
            let how = reference::meta(evidence, name, &unit).aggregate;
            // Counts and differences may be zero or less: those have no logarithm.
            let value = aggregate(&values, how).unwrap_or_else(|| {
                let count = f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX));
                values.iter().map(|value| value / count).sum()
            });
            (name.clone(), FigureValue::new(value, unit))
        })
        .collect()
}

fn references(compared: &Compared) -> Vec<Reference> {
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

fn noise(compared: &Compared) -> Noise {
    match compared
        .estimate
        .as_ref()
        .map(|estimate| (&estimate.method, estimate.deviation()))
    {
        Some((Method::Assumed { noise, .. }, _)) => Noise::Assumed(*noise),
        Some((_, Some(deviation))) => Noise::Measured(deviation),
        _ => Noise::Unknown,
    }
}

/// Speed without accuracy is qualified, speed with an accuracy that failed is invalid.
fn couple_accuracy(context: &Context, evidence: &[Evidence], results: &mut [ResultVerdict]) {
    let accuracy: Vec<(String, Outcome, bool, String)> = results
        .iter()
        .zip(evidence)
        .filter(|(result, _)| result.mode == Mode::Accuracy)
        .map(|(result, evidence)| {
            let judged = result.outcome == Outcome::Reproduced
                || (result.outcome == Outcome::Measured && !evidence.limits.is_empty());
            (
                result.scenario.clone(),
                result.outcome,
                judged,
                result.sentence.clone(),
            )
        })
        .collect();
    for result in results
        .iter_mut()
        .filter(|result| result.mode == Mode::Performance)
    {
        let own = accuracy
            .iter()
            .find(|(scenario, ..)| *scenario == result.scenario);
        if let Some((_, Outcome::Invalid, _, sentence)) = own
            && result.valid
        {
            result.outcome = Outcome::Invalid;
            result.valid = false;
            result.sentence = format!("accuracy failed, so its speed does not count: {sentence}");
            continue;
        }
        let has_own = own.is_some() || context.accuracy_scenarios.contains(&result.scenario);
        let shown = if has_own || context.is_mlperf_inference() {
            own.is_some_and(|(_, _, judged, _)| *judged)
        } else {
            let asked = !accuracy.is_empty() || !context.accuracy_scenarios.is_empty();
            !asked && !context.require_accuracy || accuracy.iter().any(|(_, _, judged, _)| *judged)
        };
        if result.valid && !shown {
            let because = if own.is_some() {
                format!("the accuracy of {} was not judged", result.scenario)
            } else {
                format!("the accuracy of {} was not measured", result.scenario)
            };
            let qualifier = Qualifier::new(QualifierKind::PerformanceOnly, because);
            merge(&mut result.qualifiers, [qualifier]);
        }
    }
}

fn overall(context: &Context, results: Vec<ResultVerdict>) -> Verdict {
    // A run without a result is no pass.
    let outcome = results
        .iter()
        .map(|result| result.outcome)
        .max()
        .unwrap_or(Outcome::Invalid);
    let mut qualifiers = context.qualifiers.clone();
    for result in &results {
        merge(&mut qualifiers, result.qualifiers.iter().cloned());
    }
    let performance_only = qualifiers
        .iter()
        .any(|qualifier| qualifier.kind == QualifierKind::PerformanceOnly);
    let exit_code = match ExitCode::from(outcome) {
        ExitCode::Success if performance_only && context.require_accuracy => ExitCode::Inconclusive,
        code => code,
    };
    Verdict {
        schema: SCHEMA,
        submission: context.submission.clone(),
        variant: context.variant.clone(),
        outcome,
        sentence: sentence::of_run(outcome, &results),
        qualifiers,
        exit_code,
        notice: notice(&context.submission),
        confidence: 1.0 - context.alpha(1),
        results,
    }
}
