//! Judges claims by their tests.

use std::fmt::Write as _;

use super::model::{ClaimPart, ClaimVerdict, RequiredRatio};
use super::part::{DecisionMethod, PartTest};
use super::sentence;
use crate::verdict::Bounds;
use crate::verdict::outcome::ClaimOutcome;
use crate::verdict::published_figure::finite_exp;
use retrial_stats::holm_step_down;

/// A claim with the tests of its parts.
pub struct TestedClaim {
    /// The claim as it was written.
    pub text: String,
    /// Where it was published.
    pub source: Option<String>,
    /// The claim is that at least one part is an exception.
    pub not_always: bool,
    pub tests: Vec<PartTest>,
}

/// Judges all claims: the error `alpha` that any of them is decided wrongly is shared between them.
pub fn judge_claims(claims: Vec<TestedClaim>, alpha: f64) -> Vec<ClaimVerdict> {
    let tests = claims.iter().flat_map(|claim| &claim.tests);
    let family: Vec<&PartTest> = tests.filter(|test| test.shares_error()).collect();
    let decisions = holm_step_down(family.len(), |position, share| {
        family[position].outcome(alpha / share) != ClaimOutcome::NotDecided
    });
    let open = decisions.iter().filter(|decided| !**decided).count();
    let mut decided = decisions.into_iter();
    let mut finished = |part_test: PartTest, is_only_part: bool| {
        let outcome = if part_test.shares_error() && !decided.next().unwrap_or(false) {
            ClaimOutcome::NotDecided
        } else {
            part_test.outcome(alpha)
        };
        finish_part(part_test, outcome, alpha, open, is_only_part)
    };
    let verdicts = claims.into_iter().map(|claim| {
        let is_only_part = claim.tests.len() == 1;
        let tests = claim.tests.into_iter();
        let parts: Vec<ClaimPart> = tests.map(|test| finished(test, is_only_part)).collect();
        let outcome = combined_outcome(claim.not_always, &parts);
        ClaimVerdict {
            claim: claim.text,
            source: claim.source,
            outcome,
            sentence: sentence::summarize_claim(outcome, claim.not_always, &parts),
            parts,
        }
    });
    verdicts.collect()
}

/// Completes a part with its outcome, bounds and sentence. `open` is the number of tests that share the error with it
/// while none of them is decided.
fn finish_part(
    mut tested: PartTest,
    outcome: ClaimOutcome,
    alpha: f64,
    open: usize,
    is_only_part: bool,
) -> ClaimPart {
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
    tested.part.sentence = sentence::describe_part(&tested, alpha, is_only_part);
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
fn combined_outcome(not_always: bool, parts: &[ClaimPart]) -> ClaimOutcome {
    let outcomes = parts.iter().map(|part| part.outcome);
    let decisive = if not_always { outcomes.min() } else { outcomes.max() };
    decisive.unwrap_or(ClaimOutcome::NotDecided)
}
