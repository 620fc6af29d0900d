//! From evidence to verdict: the figures of all results corrected for one another, accuracy coupled
//! to performance, the outcome of the run.

use super::claim::{ClaimVerdict, judge_figure_claims};
use super::coupling::couple_accuracy;
use super::draft::ResultDraft;
use super::published_figure::{PublishedFigureTrials, find_worse};
use super::qualifier::merge_qualifiers;
use super::sentence::{RunSentences, describe_run};
use super::{
    Evidence, ExitCode, Outcome, ResultVerdict, RuleCheck, RunContext, Verdict, telemetry,
    trademark_notice,
};

/// Version of verdict.json.
const SCHEMA: u32 = 1;

/// Judges a run: the same evidence always gives the same verdict.
pub fn judge(context: &RunContext, evidence: &[Evidence]) -> Verdict {
    let drafts: Vec<ResultDraft> =
        evidence.iter().map(|one| ResultDraft::new(context, one)).collect();
    // Only valid results are tested, so only they share the error.
    let family: Vec<&PublishedFigureTrials> =
        drafts.iter().filter(|draft| draft.is_valid()).flat_map(|draft| &draft.compared).collect();
    let mut worse = find_worse(&family).into_iter();
    let mut results: Vec<ResultVerdict> = drafts
        .iter()
        .map(|draft| {
            let tested = if draft.is_valid() { draft.compared.len() } else { 0 };
            draft.finish(context, &worse.by_ref().take(tested).collect::<Vec<_>>())
        })
        .collect();
    // After the coupling: it asks whether the accuracy itself holds.
    couple_accuracy(context, evidence, &mut results);
    telemetry::undecide_if_idle(evidence, &mut results);
    if let Some(part) = context.unreadable.first() {
        let words = format!("{part}: what it says of the run is unknown, so nothing is decided");
        for result in results.iter_mut().filter(|result| result.valid) {
            result.undecide(&words);
        }
    }
    let claims = judge_figure_claims(context, evidence, &results);
    combine_results(context, results, claims)
}

/// Judges a benchmark of a submission: its results, and the rules of the benchmark as a whole, without which no result
/// of it counts.
pub(crate) fn judge_whole_benchmark(
    context: &RunContext,
    evidence: &[Evidence],
    rules: &[RuleCheck],
) -> Verdict {
    let mut verdict = judge(context, evidence);
    let violated: Vec<&RuleCheck> = rules.iter().filter(|rule| !rule.passed).collect();
    if let Some(first) = violated.first()
        && verdict.outcome < Outcome::Invalid
    {
        verdict.outcome = Outcome::Invalid;
        verdict.exit_code = ExitCode::from(Outcome::Invalid);
        verdict.headline = match violated.len() {
            1 => "A rule of the whole benchmark is violated.".to_owned(),
            count => format!("{count} rules of the whole benchmark are violated."),
        };
        verdict.detail = first.to_string();
    }
    verdict
}

fn combine_results(
    context: &RunContext,
    results: Vec<ResultVerdict>,
    claims: Vec<ClaimVerdict>,
) -> Verdict {
    let worst_result = results.iter().map(|result| result.outcome).max();
    // A run without a result is no pass.
    let worst_result = worst_result.unwrap_or(Outcome::Invalid);
    let claim_outcomes = claims.iter().map(|claim| Outcome::from(claim.outcome));
    let outcome = claim_outcomes.fold(worst_result, Outcome::max);
    let mut qualifiers = context.qualifiers.clone();
    merge_qualifiers(&mut qualifiers, context.execution.iter().chain(&context.part).cloned());
    for result in &results {
        merge_qualifiers(&mut qualifiers, result.qualifiers.iter().cloned());
    }
    let RunSentences { headline, detail } = describe_run(worst_result, &results, &claims);
    Verdict {
        schema: SCHEMA,
        submission: context.submission.clone(),
        variant: context.variant.clone(),
        outcome,
        headline,
        detail,
        qualifiers,
        warnings: context.warnings.clone(),
        exit_code: ExitCode::from(outcome),
        notice: trademark_notice(&context.submission),
        confidence: 1.0 - context.error_per_analysis(1),
        results,
        claims,
    }
}
