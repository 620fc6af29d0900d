//! The tests of a performance run's answers.

use super::TestFileError;
use super::checker::{Checker, format_precise_percent};
use super::script_result::{ScriptResult, find_last_number, trimmed_lines};
use crate::accuracy::Accuracy;
use crate::check::Rule;
use crate::loadgen::TestScenario;

const VERIFY_ACCURACY_FILE: &str = "verify_accuracy.txt";

/// TEST01: the answers of a performance run, sampled, are those of the accuracy run. Where they
/// are not (a system need not be deterministic), their accuracy must be the same.
pub(super) fn check_sampled_answers(checker: &mut Checker<'_>) {
    const LOGS: [&str; 4] = [
        "mlperf_log_accuracy.json",
        "accuracy.txt",
        "baseline_accuracy.txt",
        "compliance_accuracy.txt",
    ];
    const RULE: &str = "TEST01 answers";
    let (requirements, files) = (checker.requirements, checker.files);
    let required = format!("TEST PASS in {VERIFY_ACCURACY_FILE}, or the accuracies of both runs");
    let Some(text) = verified_text(checker, RULE, required) else {
        return;
    };
    let result = ScriptResult::parse(text);
    let passed = result == ScriptResult::Pass;
    if passed {
        checker.check_word(RULE, VERIFY_ACCURACY_FILE, &files.verify_accuracy);
        let name = "num_perf_log_data_mismatch";
        checker.check_zero("TEST01 answers that differ", VERIFY_ACCURACY_FILE, text, name);
    }
    if !passed || requirements.always_logs {
        let logs = if passed { &LOGS[..2] } else { &LOGS };
        let names = files.accuracy.as_deref();
        checker.check_file_names("TEST01 accuracy logs", "accuracy", names, logs);
    }
    if !passed {
        if requirements.deltas.is_empty() {
            let required = "which accuracies to compare, from the rules of the round";
            let measured = format!("{}, and no rules", result.describe());
            let rule = ScriptResult::rule(RULE, VERIFY_ACCURACY_FILE);
            checker.add_check(rule, measured, required, false);
        }
        let exists = |file: &str| files.accuracy.iter().flatten().any(|name| name == file);
        let mut missing = LOGS[2..].to_vec();
        missing.retain(|file| !exists(file));
        if missing.is_empty() {
            check_accuracy_deltas(checker);
        } else {
            let are = if missing.len() == 1 { "is" } else { "are" };
            let measured = format!(
                "{} in {VERIFY_ACCURACY_FILE}, and {} {are} missing",
                result.describe(),
                missing.join(" and ")
            );
            let required = "TEST PASS, or accuracies of both runs that agree";
            let rule = ScriptResult::rule(RULE, VERIFY_ACCURACY_FILE);
            checker.add_check(rule, measured, required, false);
        }
    }
}

/// Returns what the script of a test printed; where that cannot be read, the rule is violated.
fn verified_text<'a>(
    checker: &mut Checker<'a>,
    rule: &str,
    required: String,
) -> Option<&'a String> {
    let files = checker.files;
    let read = files.verify_accuracy.as_ref();
    let failed = |error| format!("{VERIFY_ACCURACY_FILE}: {error}");
    read.map_err(|error| checker.add_check(rule, failed(error), required, false)).ok()
}

/// Compares the accuracies of the two runs.
fn check_accuracy_deltas(checker: &mut Checker<'_>) {
    let (requirements, files) = (checker.requirements, checker.files);
    for (name, share) in &requirements.deltas {
        let value = |read: &Result<Accuracy, TestFileError>, file: &str| {
            let accuracy = read.as_ref().map_err(|error| format!("{error} in {file}"))?;
            let figure = accuracy.figure(name).map(|figure| figure.value);
            figure.ok_or(format!("no {name} in {file}"))
        };
        let baseline = value(&files.baseline, "baseline_accuracy.txt");
        let compliance = value(&files.compliance, "compliance_accuracy.txt");
        let (measured, passed) = match (baseline, compliance) {
            (Ok(baseline), Ok(compliance)) => {
                let apart = (1.0 - baseline / compliance).abs();
                // Written so that a figure of zero (no number) passes nothing.
                let passed = baseline.abs() > 0.0 && compliance.abs() > 0.0 && apart <= *share;
                let measured =
                    format!("{baseline} and {compliance}: {}", format_precise_percent(apart));
                (measured, passed)
            }
            (Err(error), _) | (_, Err(error)) => (error, false),
        };
        let required = format!("the two within {}", format_precise_percent(*share));
        checker.add_check(format!("TEST01 {name}"), measured, required, passed);
    }
}

/// TEST06: the first token is the one that was reported, the sequence ends once, its length is
/// the reported one.
pub(super) fn check_tokens(checker: &mut Checker<'_>) {
    let requirements = checker.requirements;
    let required = format!("{VERIFY_ACCURACY_FILE} with its three checks");
    let Some(text) = verified_text(checker, "TEST06", required) else {
        return;
    };
    // The script prints no such word, but a failure that stands there is one.
    let result = ScriptResult::parse(text);
    if matches!(result, ScriptResult::Fail(_)) {
        let required = "no TEST FAIL in verify_accuracy.txt";
        let rule = ScriptResult::rule("TEST06 result", VERIFY_ACCURACY_FILE);
        checker.add_check(rule, result.describe(), required, false);
    }
    // In Offline there is no first token to be early with, and the script leaves it out.
    let may_skip = requirements.scenario.is_none_or(|scenario| scenario == TestScenario::Offline);
    for (rule, begin, skip) in [
        ("TEST06 first token", "First token check pass:", may_skip),
        ("TEST06 end of sequence", "EOS check pass:", false),
        ("TEST06 sample length", "Sample length check pass:", false),
    ] {
        let answers = trimmed_lines(text).filter_map(|line| line.strip_prefix(begin));
        let words: Vec<&str> = answers.map(str::trim).take(8).collect();
        let is_pass = |word: &&str| *word == "True" || (skip && *word == "Skipped");
        let passed = !words.is_empty() && words.iter().all(is_pass);
        let measured = if words.is_empty() {
            format!("no line `{begin}`")
        } else {
            retrial_readings::nearest::truncate_for_message(&words.join(", "))
        };
        let required = if skip { "True or Skipped" } else { "True" };
        let rule = Rule::of_text(rule, VERIFY_ACCURACY_FILE, begin);
        checker.add_check(rule, measured, required, passed);
    }
}

/// TEST07: the accuracy of a performance run is above its threshold.
pub(super) fn check_accuracy_threshold(checker: &mut Checker<'_>) {
    let files = checker.files;
    if let Some(text) =
        checker.check_word("TEST07 accuracy", VERIFY_ACCURACY_FILE, &files.verify_accuracy)
    {
        checker.check_limits("TEST07 score", VERIFY_ACCURACY_FILE, text, "Accuracy score");
    }
}

/// TEST08: the normalized entropy of each answer is that of the accuracy run.
pub(super) fn check_entropy(checker: &mut Checker<'_>) {
    let (requirements, files) = (checker.requirements, checker.files);
    let Some(text) =
        checker.check_word("TEST08 entropy", VERIFY_ACCURACY_FILE, &files.verify_accuracy)
    else {
        return;
    };
    let rule = "TEST08 answers without a counterpart";
    checker.check_zero(rule, VERIFY_ACCURACY_FILE, text, "num_unmatched");
    checker.check_zero("TEST08 answers that differ", VERIFY_ACCURACY_FILE, text, "num_ne_mismatch");
    // The script takes a tolerance of the submitter's, and prints it in percent.
    if let (Some(used), Some(most)) =
        (find_last_number(text, "tolerance"), requirements.rules.within)
    {
        let required = format!("at most {}", format_precise_percent(most));
        let passed = used <= most * 100.0 + 1e-9;
        let rule = Rule::of_text("TEST08 tolerance", VERIFY_ACCURACY_FILE, "tolerance");
        checker.add_check(rule, format!("{used} %"), required, passed);
    }
}

/// TEST09: checks that the mean number of output tokens is in its range.
pub(super) fn check_output_length(checker: &mut Checker<'_>) {
    const FILE: &str = "verify_output_len.txt";
    let text = &checker.files.verify_output_len;
    if let Some(text) = checker.check_word("TEST09 output length", FILE, text) {
        let rule = "TEST09 mean output tokens";
        checker.check_limits(rule, FILE, text, "Mean output tokens");
    }
}
