//! The audit's tests of a scenario that was measured at an endpoint.

use super::submission::ScenarioFolder;
use crate::evidence::folder::is_not_found;
use crate::verdict::{Evidence, RuleCheck, number};
use retrial_mlperf::compliance::Test;
use retrial_mlperf::endpoints::{audit_name, check_audit_outcome, is_audit_required};
use retrial_mlperf::rounds::{ComplianceTest, InferenceRules};
use retrial_mlperf::submission;
use retrial_store::open;

/// The largest outcome that is read.
const MAX_OUTCOME_BYTES: u64 = 1 << 20;
/// Mean length of the answers, which TEST09 limits.
const TOKENS_PER_SAMPLE: &str = "TOKENS_PER_SAMPLE";

/// Checks the tests that a closed result needs; `performance` is its performance run.
pub(crate) fn check_endpoint_audit(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: &Evidence,
) -> Vec<RuleCheck> {
    let Some(rules) = rules.filter(|_| !place.submitter.is_open()) else {
        return Vec::new();
    };
    let tests = rules.compliance.iter();
    let checks = tests.filter_map(|(name, limits)| match name.parse().ok()? {
        Test::Test09 => Some(check_answer_lengths(limits, performance)),
        test => check_outcome(place, test),
    });
    checks.collect()
}

/// Reads what the client wrote of a test.
fn check_outcome(place: &ScenarioFolder, test: Test) -> Option<RuleCheck> {
    let file = format!("audit/audit_{}.json", audit_name(test)?);
    let folder = place.results_path();
    let failed = |reason: String| RuleCheck::violation(test.word(), reason, "passed");
    let content =
        open::read_text_beneath(&place.submitter.root, &folder.join(&file), MAX_OUTCOME_BYTES);
    match content {
        Ok(content) => Some(match submission::parse_object(&content) {
            Ok(outcome) => check_audit_outcome(test, &outcome),
            Err(error) => failed(format!("{file}: {error}")),
        }),
        Err(error) if is_not_found(&error) => {
            is_audit_required(test).then(|| failed(format!("{file} is missing")))
        }
        Err(error) => Some(failed(format!("{file}: {}", error.reason_without_path()))),
    }
}

/// TEST09 needs no run of its own at an endpoint: its limits are held against the performance run.
fn check_answer_lengths(test: &ComplianceTest, performance: &Evidence) -> RuleCheck {
    let mut limits = test.limits.iter();
    let limit = limits.find(|(name, _)| name == TOKENS_PER_SAMPLE);
    let trial = performance.trials.first();
    let mean = trial.and_then(|trial| Some(trial.figure(TOKENS_PER_SAMPLE)?.value));
    let measured = mean.map_or_else(
        || "no mean length of the answers".to_owned(),
        |mean| format!("{} tokens on average", number::format_grouped(mean)),
    );
    let (required, passed) = match limit {
        Some((_, limit)) => {
            (limit.describe(number::format_grouped), mean.is_some_and(|mean| limit.allows(mean)))
        }
        None => ("stated".to_owned(), mean.is_some()),
    };
    RuleCheck::new(Test::Test09.word(), measured, required, passed)
}
