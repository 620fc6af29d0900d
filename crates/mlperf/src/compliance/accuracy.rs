//! The tests of what a performance run answered.

use super::performance::{check_names, percent};
use super::words::{Word, check_none, check_word, lines, number};
use super::{Files, TestRequirements};
use crate::accuracy::Accuracy;
use crate::check::RuleCheck;
use crate::loadgen::Scenario;

const VERIFY: &str = "verify_accuracy.txt";

/// TEST01: the answers of a performance run, sampled, are those of the accuracy run. Where they
/// are not (a system need not be deterministic), their accuracy must be the same.
pub(super) fn sampled(asked: &TestRequirements, files: &Files, checks: &mut Vec<RuleCheck>) {
    const LOGS: [&str; 4] = [
        "mlperf_log_accuracy.json",
        "accuracy.txt",
        "baseline_accuracy.txt",
        "compliance_accuracy.txt",
    ];
    const RULE: &str = "TEST01 answers";
    let text = match &files.verify_accuracy {
        Ok(text) => text,
        Err(because) => {
            let asked = format!("TEST PASS in {VERIFY}, or the accuracies of both runs");
            checks.push(RuleCheck::new(
                RULE,
                format!("{VERIFY}: {because}"),
                asked,
                false,
            ));
            return;
        }
    };
    if Word::of(text) == Word::Pass {
        check_word(RULE, VERIFY, &files.verify_accuracy, checks);
        check_none(
            "TEST01 answers that differ",
            text,
            "num_perf_log_data_mismatch",
            checks,
        );
        if asked.always_logs {
            check_names(
                "TEST01 accuracy logs",
                "accuracy",
                files.accuracy.as_deref(),
                &LOGS[..2],
                checks,
            );
        }
        return;
    }
    check_names(
        "TEST01 accuracy logs",
        "accuracy",
        files.accuracy.as_deref(),
        &LOGS,
        checks,
    );
    if asked.deltas.is_empty() {
        let asked = "which accuracies to compare, from the rules of the round";
        checks.push(RuleCheck::new(
            RULE,
            "TEST FAIL, and no rules",
            asked,
            false,
        ));
    }
    // What is not there was told with the logs above; it says nothing of the answers.
    let both = ["baseline_accuracy.txt", "compliance_accuracy.txt"];
    let there = |file: &&str| files.accuracy.iter().flatten().any(|known| known == file);
    if !both.iter().all(there) {
        return;
    }
    for (name, share) in &asked.deltas {
        let asked = format!("the two within {}", percent(*share));
        let value = |read: &Result<Accuracy, String>| match read {
            Ok(read) => read
                .figure(name)
                .map(|found| found.value)
                .ok_or_else(|| format!("no {name}")),
            Err(because) => Err(because.clone()),
        };
        let (found, kept) = match (value(&files.baseline), value(&files.compliance)) {
            (Ok(baseline), Ok(compliance)) => {
                let apart = (1.0 - baseline / compliance).abs();
                // Written so that a figure of zero (no number) keeps nothing.
                let kept = baseline.abs() > 0.0 && compliance.abs() > 0.0 && apart <= *share;
                (
                    format!("{baseline} and {compliance}: {}", percent(apart)),
                    kept,
                )
            }
            (Err(because), _) => (format!("{because} in baseline_accuracy.txt"), false),
            (_, Err(because)) => (format!("{because} in compliance_accuracy.txt"), false),
        };
        checks.push(RuleCheck::new(format!("TEST01 {name}"), found, asked, kept));
    }
}

/// TEST06: the first token is the one that was reported, the sequence ends once, its length is
/// the reported one.
pub(super) fn tokens(asked: &TestRequirements, files: &Files, checks: &mut Vec<RuleCheck>) {
    let text = match &files.verify_accuracy {
        Ok(text) => text.as_str(),
        Err(because) => {
            let asked = format!("{VERIFY} with its three checks");
            checks.push(RuleCheck::new(
                "TEST06",
                format!("{VERIFY}: {because}"),
                asked,
                false,
            ));
            return;
        }
    };
    // In Offline there is no first token to be early with, and the script leaves it out.
    let may_skip = asked
        .scenario
        .is_none_or(|scenario| scenario == Scenario::Offline);
    for (rule, begin, skip) in [
        ("TEST06 first token", "First token check pass:", may_skip),
        ("TEST06 end of sequence", "EOS check pass:", false),
        ("TEST06 sample length", "Sample length check pass:", false),
    ] {
        let mut words = lines(text)
            .filter_map(|line| line.strip_prefix(begin))
            .map(str::trim);
        let all: Vec<&str> = words.by_ref().take(8).collect();
        let passed = !all.is_empty()
            && all
                .iter()
                .all(|word| *word == "True" || (skip && *word == "Skipped"));
        let found = if all.is_empty() {
            format!("no line `{begin}`")
        } else {
            retrial_readings::nearest::shortened(&all.join(", "))
        };
        let asked = if skip { "True or Skipped" } else { "True" };
        checks.push(RuleCheck::new(rule, found, asked, passed));
    }
}

/// TEST07: the accuracy of a performance run is above its threshold.
pub(super) fn threshold(asked: &TestRequirements, files: &Files, checks: &mut Vec<RuleCheck>) {
    if let Some((_, text)) = check_word("TEST07 accuracy", VERIFY, &files.verify_accuracy, checks) {
        check_limit(asked, "TEST07 score", text, "Accuracy score", checks);
    }
}

/// TEST08: the normalized entropy of each answer is that of the accuracy run.
pub(super) fn entropy(asked: &TestRequirements, files: &Files, checks: &mut Vec<RuleCheck>) {
    if let Some((_, text)) = check_word("TEST08 entropy", VERIFY, &files.verify_accuracy, checks) {
        check_none(
            "TEST08 answers without a counterpart",
            text,
            "num_unmatched",
            checks,
        );
        check_none(
            "TEST08 answers that differ",
            text,
            "num_ne_mismatch",
            checks,
        );
        // The script takes a tolerance of the submitter's, and prints it in percent.
        if let (Some(used), Some(most)) = (number(text, "tolerance"), asked.within) {
            let kept = used <= most * 100.0 + 1e-9;
            let asked = format!("at most {}", percent(most));
            checks.push(RuleCheck::new(
                "TEST08 tolerance",
                format!("{used} %"),
                asked,
                kept,
            ));
        }
    }
}

/// TEST09: the mean number of output tokens lies in its range.
pub(super) fn output_length(asked: &TestRequirements, files: &Files, checks: &mut Vec<RuleCheck>) {
    const FILE: &str = "verify_output_len.txt";
    if let Some((_, text)) = check_word(
        "TEST09 output length",
        FILE,
        &files.verify_output_len,
        checks,
    ) {
        check_limit(
            asked,
            "TEST09 mean output tokens",
            text,
            "Mean output tokens",
            checks,
        );
    }
}

/// A printed figure against the round's limit for the test.
fn check_limit(
    asked: &TestRequirements,
    rule: &str,
    text: &str,
    name: &str,
    checks: &mut Vec<RuleCheck>,
) {
    let Some(value) = number(text, name) else {
        return;
    };
    for (_, limit) in &asked.limits {
        let kept = limit.min.is_none_or(|min| value >= min)
            && limit.max.is_none_or(|max| value <= max)
            && limit.below.is_none_or(|below| value < below);
        let bounds = [
            ("at least", limit.min),
            ("at most", limit.max),
            ("below", limit.below),
        ];
        let words = bounds
            .into_iter()
            .filter_map(|(word, bound)| Some(format!("{word} {}", bound?)));
        let words: Vec<String> = words.collect();
        checks.push(RuleCheck::new(
            rule,
            value.to_string(),
            words.join(" and "),
            kept,
        ));
    }
}
