//! The performance of a test's run against the submitted one's.

use super::words::{check_word, number};
use super::{Files, TestRequirements};
use crate::check::RuleCheck;
use crate::loadgen::Scenario;

/// Files that may lie beside the required ones.
const OPTIONAL: [&str; 4] = [
    "mlperf_log_accuracy.json",
    "mlperf_log_trace.json",
    "results.json",
    ".gitkeep",
];

/// The word of `verify_performance.txt`, its two scores, and the run's logs.
pub(super) fn check(asked: &TestRequirements, files: &Files, checks: &mut Vec<RuleCheck>) {
    const FILE: &str = "verify_performance.txt";
    let rule = format!("{} performance", asked.test);
    if let Some((_, text)) = check_word(&rule, FILE, &files.verify_performance, checks) {
        check_scores(asked, text, checks);
    }
    let required = ["mlperf_log_summary.txt", "mlperf_log_detail.txt"];
    let rule = format!("{} performance logs", asked.test);
    check_names(
        &rule,
        "performance/run_1",
        files.performance.as_deref(),
        &required,
        checks,
    );
}

/// The two scores that the script printed, against its own rule.
fn check_scores(asked: &TestRequirements, text: &str, checks: &mut Vec<RuleCheck>) {
    let scores = ["reference score", "test score"].map(|name| number(text, name));
    let [Some(reference), Some(tested)] = scores else {
        return;
    };
    let found = format!("{tested} of {reference}");
    let rule = format!("{} score", asked.test);
    if let Some(share) = asked.within {
        let share = widened(asked.scenario, reference, share);
        let kept = (reference * (1.0 - share)..=reference * (1.0 + share)).contains(&tested);
        checks.push(RuleCheck::new(
            rule,
            found,
            format!("within {}", percent(share)),
            kept,
        ));
    } else if let Some(share) = asked.above {
        let share = widened(asked.scenario, reference, share);
        let kept = tested < reference * (1.0 + share);
        checks.push(RuleCheck::new(
            rule,
            found,
            format!("less than {} above", percent(share)),
            kept,
        ));
    }
}

/// Short latencies scatter, so that the scripts let twice as much pass. They compare what they
/// printed, which is a rate in some rounds and a latency in others.
fn widened(scenario: Option<Scenario>, reference: f64, share: f64) -> f64 {
    let short = match scenario {
        Some(Scenario::SingleStream) => 200_000.0,
        Some(Scenario::MultiStream) => 1_600_000.0,
        _ => return share,
    };
    if reference <= short {
        share * 2.0
    } else {
        share
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e5).round() / 1e3)
}

/// The files of a folder: all that are required, and no others but a few.
pub(super) fn check_names(
    rule: &str,
    folder: &str,
    names: Option<&[String]>,
    required: &[&str],
    checks: &mut Vec<RuleCheck>,
) {
    let asked = format!("{} in {folder}", required.join(", "));
    let Some(names) = names else {
        checks.push(RuleCheck::new(
            rule,
            format!("no folder {folder}"),
            asked,
            false,
        ));
        return;
    };
    let is_there = |name: &str| names.iter().any(|there| there == name);
    let missing = required
        .iter()
        .filter(|name| !is_there(name))
        .map(|name| format!("no {name}"));
    let known =
        |name: &String| required.contains(&name.as_str()) || OPTIONAL.contains(&name.as_str());
    let more = names
        .iter()
        .filter(|name| !known(name))
        .map(|name| format!("also {name}"));
    let wrong: Vec<String> = missing.chain(more).take(6).collect();
    let found = if wrong.is_empty() {
        "all there".to_owned()
    } else {
        wrong.join(", ")
    };
    checks.push(RuleCheck::new(rule, found, asked, wrong.is_empty()));
}
