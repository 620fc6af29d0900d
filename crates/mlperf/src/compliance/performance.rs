//! The performance of a test's run against the submitted one's.

use super::checker::{Checker, percent};
use super::script_result::number;
use crate::loadgen::TestScenario;

/// Checks the word of `verify_performance.txt`, its two scores, and the run's logs.
pub(super) fn check(checker: &mut Checker<'_>) {
    let (test, files) = (checker.requirements.test, checker.files);
    let verified = checker.word(
        &format!("{test} performance"),
        "verify_performance.txt",
        &files.verify_performance,
    );
    if let Some(verified) = verified {
        scores(checker, verified);
    }
    checker.names(
        &format!("{test} performance logs"),
        "performance/run_1",
        files.performance.as_deref(),
        &["mlperf_log_summary.txt", "mlperf_log_detail.txt"],
    );
}

/// Checks the two scores that the script printed against its own rule.
fn scores(checker: &mut Checker<'_>, text: &str) {
    let scores = ["reference score", "test score"].map(|name| number(text, name));
    let [Some(reference), Some(tested)] = scores else {
        return;
    };
    let requirements = checker.requirements;
    let widen = |share: f64| widened(requirements.scenario, reference, share);
    let rules = &requirements.rules;
    let (required, passed) = match (rules.within.map(widen), rules.above.map(widen)) {
        (Some(share), _) => {
            let range = reference * (1.0 - share)..=reference * (1.0 + share);
            let required = format!("within {}", percent(share));
            (required, range.contains(&tested))
        }
        (None, Some(share)) => {
            let required = format!("less than {} above", percent(share));
            (required, tested < reference * (1.0 + share))
        }
        (None, None) => return,
    };
    let rule = format!("{} score", requirements.test);
    checker.add(rule, format!("{tested} of {reference}"), required, passed);
}

/// Short latencies scatter, so that the scripts allow twice as much. They compare what they
/// printed, which is a rate in some rounds and a latency in others.
fn widened(scenario: Option<TestScenario>, reference: f64, share: f64) -> f64 {
    let short = match scenario {
        Some(TestScenario::SingleStream) => 200_000.0,
        Some(TestScenario::MultiStream) => 1_600_000.0,
        _ => return share,
    };
    if reference <= short {
        share * 2.0
    } else {
        share
    }
}
