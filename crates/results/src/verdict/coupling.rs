//! The effect of accuracy on performance.

use super::qualifier::merge_qualifiers;
use super::{
    Evidence, Outcome, Qualifier, QualifierKind, ReasonSentence, ResultVerdict, RunContext,
};
use retrial_mlperf::{Division, ScenarioName};
use retrial_recipe::model::Mode;

/// Speed without accuracy is qualified, speed with an accuracy that failed is invalid.
pub(crate) fn couple_accuracy(
    context: &RunContext,
    evidence: &[Evidence],
    results: &mut [ResultVerdict],
) {
    if context.is_smoke_test() {
        return;
    }
    let accuracy: Vec<(ScenarioName, Outcome, bool, ReasonSentence)> = results
        .iter()
        .zip(evidence)
        .filter(|(result, _)| result.mode == Mode::Accuracy)
        .map(|(result, evidence)| {
            // The open division has no limits: its accuracy is stated.
            let has_limits = || evidence.limited_figures().next().is_some();
            let is_open = result.division == Some(Division::Open);
            let judged = result.outcome == Outcome::Reproduced
                || (result.outcome == Outcome::Measured && (is_open || has_limits()));
            (result.scenario.clone(), result.outcome, judged, result.sentence.clone())
        })
        .collect();
    for result in results.iter_mut().filter(|result| result.mode == Mode::Performance) {
        let own = accuracy.iter().find(|(scenario, ..)| *scenario == result.scenario);
        if let Some((_, Outcome::Invalid, _, sentence)) = own
            && result.valid
        {
            result.outcome = Outcome::Invalid;
            result.valid = false;
            result.sentence = sentence.prefixed("accuracy failed, so its speed does not count");
            continue;
        }
        let has_own = own.is_some() || context.accuracy_scenarios.contains(&result.scenario);
        let is_shown = if has_own || context.is_mlperf_inference() {
            own.is_some_and(|(_, _, judged, _)| *judged)
        } else {
            let has_any = !accuracy.is_empty() || !context.accuracy_scenarios.is_empty();
            !has_any && !context.require_accuracy
                || accuracy.iter().any(|(_, _, judged, _)| *judged)
        };
        if result.valid && !is_shown {
            let what = if own.is_some() { "judged" } else { "measured" };
            let reason = format!("the accuracy of {} was not {what}", result.scenario);
            if context.require_accuracy {
                undecide_without_accuracy(result, &reason);
            }
            let qualifier = Qualifier::new(QualifierKind::PerformanceOnly, reason);
            merge_qualifiers(&mut result.qualifiers, [qualifier]);
        }
    }
}

/// `--require-accuracy`: speed alone decides nothing that it would decide well.
fn undecide_without_accuracy(result: &mut ResultVerdict, reason: &str) {
    if !matches!(result.outcome, Outcome::Reproduced | Outcome::Measured) {
        return;
    }
    result.outcome = Outcome::Inconclusive;
    let words = format!("{reason}, which --require-accuracy requires");
    result.sentence = result.sentence.prefixed(&words);
    for judgement in &mut result.judgements {
        if judgement.outcome == Outcome::Reproduced {
            judgement.outcome = Outcome::Inconclusive;
            judgement.sentence = judgement.sentence.prefixed(&words);
        }
    }
}
