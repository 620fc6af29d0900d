//! Judges claims by the evidence.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::model::{ClaimOutcome, ClaimPart, ClaimVerdict, RequiredRatio};
use super::part::{DecisionMethod, PartTest};
use super::sentence;
use super::subject::JudgedSubject;
use super::tester::{ClaimTestOptions, ClaimTester};
use crate::BatchClaim;
use retrial_results::verdict::Bounds;
use retrial_results::verdict::compare::finite_exp;
use retrial_stats::holm_step_down;

/// Returns notes on what the claims leave out by the plan.
pub(super) fn claim_notes(
    claims: &[BatchClaim],
    subjects: &[JudgedSubject],
    rules: ClaimTestOptions,
) -> Vec<String> {
    let find = |name: &str| subjects.iter().find(|subject| subject.name == name);
    let parts = claims
        .iter()
        .flat_map(|claim| claim.parts.iter().map(move |part| (claim, part)));
    let testers = parts.map(|(claim, part)| ClaimTester { claim, part, rules });
    testers
        .flat_map(|tester| tester.planning_notes(&find))
        .unique()
        .collect()
}

/// Judges all claims: the error that any of them is decided wrongly is shared between them.
pub(super) fn judge_claims(
    claims: &[BatchClaim],
    subjects: &[JudgedSubject],
    rules: ClaimTestOptions,
) -> Vec<ClaimVerdict> {
    let find = |name: &str| subjects.iter().find(|subject| subject.name == name);
    let tested: Vec<Vec<PartTest>> = claims
        .iter()
        .map(|claim| {
            let parts = claim.parts.iter();
            let tester = |part| ClaimTester { claim, part, rules };
            parts
                .flat_map(|part| tester(part).build_tests(&find))
                .collect()
        })
        .collect();
    let family: Vec<&PartTest> = tested
        .iter()
        .flatten()
        .filter(|tested| tested.shares_error())
        .collect();
    let decisions = holm_step_down(family.len(), |position, share| {
        family[position].outcome(rules.alpha / share) != ClaimOutcome::NotDecided
    });
    let open = decisions.iter().filter(|decided| !**decided).count();
    let mut decided = decisions.into_iter();
    let mut finished = |part_test: PartTest| {
        let outcome = if part_test.shares_error() && !decided.next().unwrap_or(false) {
            ClaimOutcome::NotDecided
        } else {
            part_test.outcome(rules.alpha)
        };
        finish_part(part_test, outcome, rules.alpha, open)
    };
    let verdicts = claims.iter().zip(tested);
    verdicts
        .map(|(claim, tests)| {
            let parts: Vec<ClaimPart> = tests.into_iter().map(&mut finished).collect();
            let outcome = combined_outcome(claim, &parts);
            ClaimVerdict {
                claim: claim.text.clone(),
                source: claim.source.clone(),
                outcome,
                sentence: sentence::summarize_claim(outcome, claim.not_always, &parts),
                parts,
            }
        })
        .collect()
}

/// Completes a part with its outcome, bounds and sentence. `open` is the number of tests that share the error with it
/// while none of them is decided.
fn finish_part(mut tested: PartTest, outcome: ClaimOutcome, alpha: f64, open: usize) -> ClaimPart {
    let difference = match &tested.test {
        DecisionMethod::Ratio(difference) => Some((difference, 1.0)),
        DecisionMethod::Gap(gap) => Some((&gap.between, -1.0)),
        DecisionMethod::Limits(..) | DecisionMethod::NotTestable(_) => None,
    };
    let part = &mut tested.part;
    part.outcome = outcome;
    if let Some((difference, sign)) = difference {
        part.ratio = Some(finite_exp(sign * difference.center));
        part.bounds = difference.bounds(alpha).map(|(lower, upper)| {
            let (first, second) = (sign * lower, sign * upper);
            Bounds::from_logs((first.min(second), first.max(second)))
        });
        if outcome == ClaimOutcome::NotDecided {
            let shared = alpha / f64::from(u32::try_from(open.max(1)).unwrap_or(u32::MAX));
            let RequiredRatio { claim, margin, .. } = part.required;
            part.more_trials = claim.map(|claim| difference.more_trials(claim, margin, shared));
        }
    }
    tested.part.sentence = sentence::describe_part(&tested, alpha);
    let uncorrected = tested.outcome(alpha);
    if outcome == ClaimOutcome::NotDecided && uncorrected != outcome {
        let _ = write!(
            tested.part.sentence,
            " Alone it would be {uncorrected}: the error is shared by all claims."
        );
    }
    tested.part
}

/// Combines the outcomes of parts: supported if all are, contradicted if one is; the other way round for a claim of an
/// exception.
fn combined_outcome(claim: &BatchClaim, parts: &[ClaimPart]) -> ClaimOutcome {
    let outcomes = parts.iter().map(|part| part.outcome);
    let decisive = if claim.not_always {
        outcomes.min()
    } else {
        outcomes.max()
    };
    decisive.unwrap_or(ClaimOutcome::NotDecided)
}
