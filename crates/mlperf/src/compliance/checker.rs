//! The parts that the checks of all tests share.

use super::script_result::{ScriptResult, find_last_number};
use super::{ComplianceFiles, TestFileError, TestRequirements};
use crate::check::{Rule, RuleCheck};

/// Files that are allowed next to the required ones.
const OPTIONAL_FILES: [&str; 4] =
    ["mlperf_log_accuracy.json", "mlperf_log_trace.json", "results.json", ".gitkeep"];

/// A test's requirements, its files and the checks so far.
pub(super) struct Checker<'a> {
    pub requirements: &'a TestRequirements,
    pub files: &'a ComplianceFiles,
    pub checks: Vec<RuleCheck>,
    /// Checks that logs are there.
    pub log_checks: Vec<RuleCheck>,
}

impl<'a> Checker<'a> {
    /// Adds a check with its measured and its required value.
    pub fn add_check(
        &mut self,
        rule: impl Into<Rule>,
        measured: impl Into<String>,
        required: impl Into<String>,
        passed: bool,
    ) {
        self.checks.push(RuleCheck::new(rule, measured, required, passed));
    }

    /// Checks a file's word; returns its text where there is one to look further into.
    pub fn check_word(
        &mut self,
        rule: &str,
        file: &'static str,
        text: &'a Result<String, TestFileError>,
    ) -> Option<&'a str> {
        let word = text.as_ref().map(|text| ScriptResult::parse(text));
        let measured =
            word.as_ref().map_or_else(|error| format!("{file}: {error}"), ScriptResult::describe);
        let passed = word == Ok(ScriptResult::Pass);
        let rule = ScriptResult::rule(rule, file);
        self.add_check(rule, measured, format!("TEST PASS in {file}"), passed);
        text.as_deref().ok()
    }

    /// Checks that a figure, where it is printed, is zero.
    pub fn check_zero(&mut self, rule: &str, file: &'static str, text: &str, name: &'static str) {
        if let Some(count) = find_last_number(text, name) {
            let rule = Rule::of_text(rule, file, name);
            let measured = format!("{name} = {count}");
            self.add_check(rule, measured, format!("{name} = 0"), count.abs() < 0.5);
        }
    }

    /// Checks a printed figure against the round's limits for the test.
    pub fn check_limits(&mut self, rule: &str, file: &'static str, text: &str, name: &'static str) {
        let requirements = self.requirements;
        if let Some(value) = find_last_number(text, name) {
            for (_, limit) in &requirements.rules.limits {
                let rule = Rule::of_text(rule, file, name);
                let required = limit.describe(|bound| bound.to_string());
                self.add_check(rule, value.to_string(), required, limit.allows(value));
            }
        }
    }

    /// Checks the logs in a folder: all that are required, and no others but a few. Of a missing one the rule is its
    /// path.
    pub fn check_file_names(
        &mut self,
        rule: &str,
        folder: &str,
        names: Option<&[String]>,
        required: &[&str],
    ) {
        let test = self.requirements.test;
        let Some(names) = names else {
            let check = RuleCheck::missing_requirement(folder, format!("{test} requires it"));
            return self.log_checks.push(check);
        };
        let exists = |name: &str| names.iter().any(|other| other == name);
        let missing_names = required.iter().filter(|name| !exists(name));
        let missing_checks = missing_names.map(|name| {
            let path = format!("{folder}/{name}");
            RuleCheck::missing_requirement(path, format!("{test} requires it"))
        });
        let missing: Vec<RuleCheck> = missing_checks.collect();
        let is_allowed = |name: &str| required.contains(&name) || OPTIONAL_FILES.contains(&name);
        let extra_names = names.iter().filter(|name| !is_allowed(name));
        let more: Vec<&str> = extra_names.map(String::as_str).take(6).collect();
        let words = format!("{} in {folder}", required.join(", "));
        if !more.is_empty() {
            let measured = format!("also {}", more.join(", "));
            self.log_checks.push(RuleCheck::violation(rule, measured, words));
        } else if missing.is_empty() {
            let check = RuleCheck::new(rule, "all there", words, true);
            self.log_checks.push(check);
        }
        self.log_checks.extend(missing);
    }
}

/// Formats a share as a percentage, to a thousandth of a percent.
pub(super) fn format_precise_percent(share: f64) -> String {
    format!("{} %", (share * 1e5).round() / 1e3)
}
