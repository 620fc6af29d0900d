//! The performance of a test's run against the submitted one's.

use super::checker::{Checker, format_precise_percent};
use super::script_result::find_last_number;
use crate::check::{Rule, StatingLines};
use crate::loadgen::TestScenario;

const FILE: &str = "verify_performance.txt";
const SCORES: [&str; 2] = ["reference score", "test score"];

/// Checks the word of `verify_performance.txt`, its two scores, and the run's logs.
pub(super) fn check_performance(checker: &mut Checker<'_>) {
    let (test, files) = (checker.requirements.test, checker.files);
    let verified =
        checker.check_word(&format!("{test} performance"), FILE, &files.verify_performance);
    if let Some(verified) = verified {
        check_scores(checker, verified);
    }
    checker.check_file_names(
        &format!("{test} performance logs"),
        "performance/run_1",
        files.performance.as_deref(),
        &["mlperf_log_summary.txt", "mlperf_log_detail.txt"],
    );
}

/// Checks the two scores that the script printed against its own rule.
fn check_scores(checker: &mut Checker<'_>, text: &str) {
    let scores = SCORES.map(|name| find_last_number(text, name));
    let [Some(reference), Some(tested)] = scores else {
        return;
    };
    let requirements = checker.requirements;
    let widen = |share: f64| widen_for_short_latency(requirements.scenario, reference, share);
    let rules = &requirements.rules;
    let (required, passed) = match (rules.within.map(widen), rules.above.map(widen)) {
        (Some(share), _) => {
            let range = reference * (1.0 - share)..=reference * (1.0 + share);
            let required = format!("within {}", format_precise_percent(share));
            (required, range.contains(&tested))
        }
        (None, Some(share)) => {
            let required = format!("less than {} above", format_precise_percent(share));
            (required, tested < reference * (1.0 + share))
        }
        (None, None) => return,
    };
    let lines = StatingLines::Texts { file: FILE, texts: SCORES.map(Into::into).into() };
    let rule = Rule::stated_in(format!("{} score", requirements.test), lines);
    checker.add_check(rule, format!("{tested} of {reference}"), required, passed);
}

/// Short latencies scatter, so that the scripts allow twice as much. They compare what they
/// printed, which is a rate in some rounds and a latency in others.
fn widen_for_short_latency(scenario: Option<TestScenario>, reference: f64, share: f64) -> f64 {
    let short = match scenario {
        Some(TestScenario::SingleStream) => 200_000.0,
        Some(TestScenario::MultiStream) => 1_600_000.0,
        _ => return share,
    };
    if reference <= short { share * 2.0 } else { share }
}
