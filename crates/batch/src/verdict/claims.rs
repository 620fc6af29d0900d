//! The claims of a batch: the tests of each, by the evidence of the cells.

use itertools::Itertools as _;

use super::subject::JudgedSubject;
use super::tester::{ClaimTestOptions, ClaimTester};
use crate::BatchClaim;
use retrial_results::verdict::claim::{self, ClaimVerdict, TestedClaim};

/// Returns notes on what the claims leave out by the plan.
pub(super) fn claim_notes(
    claims: &[BatchClaim],
    subjects: &[JudgedSubject],
    rules: ClaimTestOptions,
) -> Vec<String> {
    let find = |name: &str| subjects.iter().find(|subject| subject.name == name);
    let parts = claims.iter().flat_map(|claim| claim.parts.iter().map(move |part| (claim, part)));
    let testers = parts.map(|(claim, part)| ClaimTester { claim, part, rules });
    testers.flat_map(|tester| tester.planning_notes(&find)).unique().collect()
}

pub(super) fn judge_claims(
    claims: &[BatchClaim],
    subjects: &[JudgedSubject],
    rules: ClaimTestOptions,
) -> Vec<ClaimVerdict> {
    let find = |name: &str| subjects.iter().find(|subject| subject.name == name);
    let tested = claims.iter().map(|claim| {
        let parts = claim.parts.iter();
        let tester = |part| ClaimTester { claim, part, rules };
        TestedClaim {
            text: claim.text.clone(),
            source: claim.source.clone(),
            not_always: claim.not_always,
            tests: parts.flat_map(|part| tester(part).build_tests(&find)).collect(),
        }
    });
    claim::judge_claims(tested.collect(), rules.alpha)
}
