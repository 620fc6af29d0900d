//! Claims, held against the evidence.

use super::model::{ClaimOutcome, ClaimPart, ClaimVerdict};
use super::part::Tested;
use super::sentence;
use super::subject::Subject;
use super::tester::Tester;
use crate::batch::Claim;
use retrial_stats::step_down;

/// How claims are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Rounds of cells make pairs.
    pub paired: bool,
    /// Error of each one-sided bound.
    pub alpha: f64,
}

/// Judges all claims: the error that any of them is decided wrongly is shared between them.
pub(super) fn judge(claims: &[Claim], subjects: &[Subject], rules: Rules) -> Vec<ClaimVerdict> {
    let find = |name: &str| subjects.iter().find(|subject| subject.name == name);
    let tested: Vec<Vec<Tested>> = claims
        .iter()
        .map(|claim| {
            let parts = claim.parts.iter();
            let tester = |part| Tester { claim, part, rules };
            parts.flat_map(|part| tester(part).tests(&find)).collect()
        })
        .collect();
    let family: Vec<&Tested> = tested
        .iter()
        .flatten()
        .filter(|one| one.shares_error())
        .collect();
    let decided = step_down(family.len(), |one, share| {
        family[one].outcome(rules.alpha / share) != ClaimOutcome::NotDecided
    });
    let open = decided.iter().filter(|decided| !**decided).count();
    let mut decided = decided.into_iter();
    let outcomes: Vec<Vec<ClaimOutcome>> = tested
        .iter()
        .map(|tests| {
            let outcome = |one: &Tested| {
                if one.shares_error() && !decided.next().unwrap_or(false) {
                    ClaimOutcome::NotDecided
                } else {
                    one.outcome(rules.alpha)
                }
            };
            tests.iter().map(outcome).collect()
        })
        .collect();
    let verdicts = claims.iter().zip(tested).zip(outcomes);
    verdicts
        .map(|((claim, tests), outcomes)| {
            let parts = tests.into_iter().zip(outcomes);
            let parts: Vec<ClaimPart> = parts
                .map(|(one, outcome)| one.finish(outcome, rules.alpha, open))
                .collect();
            let outcome = of_all(claim, &parts);
            ClaimVerdict {
                claim: claim.text.clone(),
                source: claim.source.clone(),
                outcome,
                sentence: sentence::of_claim(outcome, claim.not_always, &parts),
                parts,
            }
        })
        .collect()
}

/// Supported where all parts are, contradicted where one is; of a claim that there is an exception the other way round.
fn of_all(claim: &Claim, parts: &[ClaimPart]) -> ClaimOutcome {
    let outcomes = parts.iter().map(|part| part.outcome);
    let decisive = if claim.not_always {
        outcomes.min()
    } else {
        outcomes.max()
    };
    decisive.unwrap_or(ClaimOutcome::NotDecided)
}
