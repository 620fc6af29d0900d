//! The evidence of one place: a scenario's performance, accuracy and compliance.

use super::files::MissingFile;
use super::submission::ScenarioFolder;
use super::{JudgeContext, compliance, endpoint, endpoint_audit, files, one_result, performance};
use crate::evidence::identity::copies::check_shared_log;
use crate::evidence::unknown_rules;
use crate::verdict::{Evidence, RuleCheck};
use retrial_mlperf::rounds::InferenceRules;
use retrial_mlperf::submission_layout::ScenarioPart;
use retrial_recipe::model::Mode;

/// The evidence of a place, with the rules for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioEvidence {
    /// The round's rules for it, where round, benchmark and scenario are known.
    pub rules: Option<InferenceRules>,
    /// Performance, accuracy, and each compliance test.
    pub evidence: Vec<Evidence>,
    /// Files without figures that are missing.
    pub missing: Vec<MissingFile>,
    /// Rules that are the benchmark's, not a result's.
    pub rules_of_benchmark: Vec<RuleCheck>,
}

/// Reads a place. Nothing of it is trusted, and nothing stops it: what is missing or cannot be read
/// is recorded in the evidence.
pub fn gather_place(place: &ScenarioFolder, judge_context: &JudgeContext<'_>) -> ScenarioEvidence {
    let rules = find_rules(place, judge_context);
    let is_endpoint = endpoint::is_endpoint(place);
    let (mut missing, rules_of_benchmark) = if place.requested_part.is_none() {
        files::check_place_files(place, is_endpoint)
    } else {
        (Vec::new(), Vec::new())
    };
    let named = judge_context.official_name(&place.submitter, &place.benchmark);
    let allowed = judge_context.round.is_none_or(|round| round.allows_endpoint(named));
    let mut evidence = Vec::new();
    let performance = place.includes_part(&ScenarioPart::Performance).then(|| {
        let mut evidence = if is_endpoint {
            endpoint::gather_run(place, rules.as_ref(), Mode::Performance, allowed)
        } else {
            performance::gather_performance(place, rules.as_ref(), &mut missing)
        };
        performance::add_expectation(&mut evidence, place, judge_context);
        evidence
    });
    let accuracy = place.includes_part(&ScenarioPart::Accuracy).then(|| {
        if is_endpoint {
            endpoint::gather_run(place, rules.as_ref(), Mode::Accuracy, allowed)
        } else {
            performance::gather_accuracy(place, rules.as_ref(), performance.as_ref(), &mut missing)
        }
    });
    let mut tests =
        compliance::gather_tests(place, rules.as_ref(), performance.as_ref(), &mut missing);
    if let Some(mut performance) = performance {
        for test in &mut tests {
            test.evidence.checks.extend(check_shared_log(&test.evidence, &performance));
        }
        let tested = tests.iter().map(|test| &test.evidence);
        let all: Vec<&Evidence> =
            [&performance].into_iter().chain(&accuracy).chain(tested).collect();
        let differences = one_result::find_differences(&all, rules.as_ref());
        performance.checks.extend(differences);
        let is_open = place.submitter.is_open();
        let is_comparable = !is_endpoint || endpoint::answers_same_requests(place);
        let tokens = accuracy.as_ref().filter(|_| is_comparable);
        let tokens =
            tokens.and_then(|accuracy| one_result::check_tokens(&performance, accuracy, is_open));
        performance.checks.extend(tokens);
        if place.requested_part.is_none() {
            let checks = if is_endpoint {
                endpoint_audit::check_endpoint_audit(place, rules.as_ref(), &performance)
            } else {
                compliance::check_required_tests(place, rules.as_ref(), &tests)
            };
            performance.checks.extend(checks);
        }
        evidence.push(performance);
    }
    evidence.extend(accuracy);
    evidence.extend(tests.into_iter().map(|test| test.evidence));
    // A benchmark or scenario that a known round does not have is reported for the benchmark.
    if judge_context.round.is_none() {
        let named = judge_context.official_name(&place.submitter, &place.benchmark);
        let scenario = place.scenario_name();
        let reason = unknown_rules::reason_for_result(judge_context.round, named, &scenario);
        for one in &mut evidence {
            one.unknown_rules = Some(reason.clone());
        }
    }
    ScenarioEvidence { rules, evidence, missing, rules_of_benchmark }
}

/// Returns the round's rules for a place.
fn find_rules(place: &ScenarioFolder, judge_context: &JudgeContext<'_>) -> Option<InferenceRules> {
    let named = judge_context.official_name(&place.submitter, &place.benchmark);
    judge_context.round?.benchmark_rules(named, place.scenario()?)
}
