//! The validity of a run by LoadGen's own rules. The rules of a round come after that.

use std::fmt::Display;

use serde::Serialize;

use super::summary::Completeness;
use super::{EarlyStopping, LoadgenRun, ResultStatus, SUMMARY_FILE, TestMode};
use crate::check::{Rule, StatingLines};

/// The most error messages of a log that become reasons.
const MAX_MESSAGES_SHOWN: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Validity {
    /// LoadGen found nothing wrong.
    Valid,
    /// LoadGen reports INVALID, an unmet constraint or an error, or its logs contradict each other.
    Invalid,
    /// The logs end too early to decide.
    Unknown,
}

/// Whether a run is valid, and why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValidityReport {
    /// Whether the run is valid.
    pub verdict: Validity,
    /// The reasons why it is invalid or unknown; empty where it is valid.
    pub reasons: Vec<String>,
    /// The lines of the logs that state the reasons, as far as a line states them.
    #[serde(skip)]
    pub stated_in: Vec<StatingLines>,
}

/// The rule that `LoadGen` itself states a run to be valid.
pub fn validity_rule() -> Rule {
    Rule::from("LoadGen's result").with_lines(validity_lines())
}

fn validity_lines() -> Vec<StatingLines> {
    let keys = ["result_validity", "result_invalid_reason"].map(Into::into);
    let texts = vec!["Result is".into()];
    vec![StatingLines::Entries(keys.into()), StatingLines::Texts { file: SUMMARY_FILE, texts }]
}

/// A rule that `LoadGen` reports no errors.
pub fn error_rule(name: &str) -> Rule {
    Rule::of_entries(name, ["num_errors"]).or_in(StatingLines::Errors)
}

impl LoadgenRun {
    /// Returns whether the run is valid by LoadGen's own rules, and why not.
    pub fn validity(&self) -> ValidityReport {
        let mut broken = Vec::new();
        let mode = self.mode();
        if mode != Some(TestMode::Accuracy) {
            add_result_reasons(self, &mut broken);
        }
        if mode == Some(TestMode::FindPeak) {
            broken.push(
                "mode FindPeakPerformance searches for a rate and measures nothing".to_owned(),
            );
        }
        add_error_reasons(self, &mut broken);
        add_log_differences(self, &mut broken);
        if !broken.is_empty() {
            let stated_in = self.lines_of_reasons();
            return ValidityReport { verdict: Validity::Invalid, reasons: broken, stated_in };
        }
        let reasons = reasons_for_unknown(self);
        let verdict = if reasons.is_empty() { Validity::Valid } else { Validity::Unknown };
        ValidityReport { verdict, reasons, stated_in: Vec::new() }
    }

    /// The lines that state why it is invalid: LoadGen's result, its errors, and the figures in which its logs disagree.
    fn lines_of_reasons(&self) -> Vec<StatingLines> {
        let of_summary = self.summary.as_ref().and_then(|summary| summary.result);
        let of_detail = self.detail.as_ref().and_then(|detail| detail.result);
        let is_invalid = [of_summary, of_detail].contains(&Some(ResultStatus::Invalid));
        let mut lines = if is_invalid { validity_lines() } else { Vec::new() };
        if self.error_count().is_some_and(|count| count > 0) {
            lines.push(StatingLines::Errors);
        }
        let unreadable = self.unreadable_in_summary().map(|(name, ..)| name);
        let disagreements = self.figure_disagreements().into_iter().map(|(name, ..)| name);
        let figures = disagreements.chain(unreadable);
        lines.extend(figures.map(|name| StatingLines::Figure(name.to_owned())));
        lines
    }
}

/// Reads LoadGen's result of a performance test.
fn add_result_reasons(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let of_summary = run.summary.as_ref().and_then(|summary| summary.result);
    let of_detail = run.detail.as_ref().and_then(|detail| detail.result);
    let unmet = run.constraints().unmet_names().collect::<Vec<_>>().join(", ");
    match (of_summary, of_detail) {
        (Some(ResultStatus::Valid), Some(ResultStatus::Invalid)) => {
            reasons
                .push("the detail log reports INVALID, but the summary reports VALID".to_owned());
        }
        (Some(ResultStatus::Invalid), Some(ResultStatus::Valid)) => {
            reasons
                .push("the summary reports INVALID, but the detail log reports VALID".to_owned());
        }
        _ => {}
    }
    if run.result() == Some(ResultStatus::Invalid) {
        if !unmet.is_empty() {
            reasons.push(format!("LoadGen's result is INVALID, not satisfied: {unmet}"));
        } else if reasons.is_empty() {
            reasons.push("LoadGen's result is INVALID".to_owned());
        }
        add_recommendations(run, reasons);
        let stopping = run.early_stopping();
        let failed = stopping.nonempty_blocks().filter(|(_, stop)| {
            stop.successful == Some(false)
                || (stop.successful.is_none() && stop.estimates.is_empty())
        });
        reasons.extend(failed.map(|(name, stop)| format!("{name}: {}", strip_bullets(&stop.text))));
    } else if !unmet.is_empty() {
        reasons.push(format!("not satisfied, although LoadGen's result is not INVALID: {unmet}"));
    }
}

fn add_recommendations(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let texts = run.summary.iter().flat_map(|summary| &summary.recommendations);
    let mut texts: Vec<&str> = texts.map(String::as_str).collect();
    if texts.is_empty() {
        let details = run.detail.iter();
        let reason = details.filter_map(|detail| detail.invalid_reason.as_deref());
        let parts = reason.flat_map(|text| text.split(" * ")).map(str::trim);
        texts.extend(parts.filter(|text| !text.is_empty()));
    }
    reasons.extend(texts.into_iter().map(|text| format!("LoadGen: {text}")));
}

/// Adds the reasons of counted errors: a VALID run can have some, and the official checker accepts that.
fn add_error_reasons(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let Some(count) = run.error_count().filter(|&count| count > 0) else {
        return;
    };
    let plural = if count == 1 { "" } else { "s" };
    let log = logs_with_count(run, count);
    reasons.push(format!("LoadGen counted {count} error{plural} in the {log}"));
    let messages = run.detail.iter().flat_map(|detail| &detail.error_messages);
    let mut shown: Vec<&str> = Vec::new();
    for message in messages {
        if shown.len() < MAX_MESSAGES_SHOWN && !shown.contains(&message.as_str()) {
            shown.push(message);
        }
    }
    reasons.extend(shown.into_iter().map(|text| format!("LoadGen's error: {text}")));
}

/// Names the log that has the most errors; that is the number which counts.
fn logs_with_count(run: &LoadgenRun, count: u64) -> &'static str {
    let of_summary = run.summary.as_ref().and_then(|summary| summary.errors);
    let detail = run.detail.as_ref();
    let of_detail = detail.map(|detail| detail.num_errors.unwrap_or(0).max(detail.errors));
    match (of_summary == Some(count), of_detail == Some(count)) {
        (true, true) => "summary and the detail log",
        (true, false) => "summary",
        (false, _) => "detail log",
    }
}

/// Adds a reason if the two logs are not of one run: they prove nothing then.
fn add_log_differences(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let (Some(summary), Some(detail)) = (&run.summary, &run.detail) else {
        return;
    };
    let mut differing: Vec<String> = Vec::new();
    differing.extend(describe_difference("scenario", summary.scenario, detail.scenario));
    differing.extend(describe_difference("mode", summary.mode, detail.mode));
    let names = [&summary.sut_name, &detail.sut_name];
    let [printed, logged] = names.map(|name| name.as_deref().map(collapse_whitespace));
    differing.extend(describe_difference("SUT name", printed, logged));
    let settings = summary.parameters.names_of_differing(&detail.parameters);
    differing.extend(settings.into_iter().map(str::to_owned));
    let disagreements = run.figure_disagreements();
    let figures = disagreements.into_iter();
    differing
        .extend(figures.map(|(name, printed, logged)| format!("{name} ({printed}, {logged})")));
    let unreadable = run.unreadable_in_summary();
    differing
        .extend(unreadable.map(|(name, printed, logged)| format!("{name} ({printed}, {logged})")));
    let estimates = |stopping: &EarlyStopping| {
        let blocks = stopping.nonempty_blocks();
        blocks.flat_map(|(_, stop)| stop.estimates.clone()).collect::<Vec<_>>()
    };
    let [printed, logged] = [&summary.early_stopping, &detail.early_stopping].map(estimates);
    if !printed.is_empty() && !logged.is_empty() && printed != logged {
        differing.push("estimates of early stopping".to_owned());
    }
    if detail.is_complete() {
        let unlogged = run.figures_missing_in_detail().into_iter();
        differing.extend(unlogged.map(|name| format!("{name} (missing in the detail log)")));
    }
    if !differing.is_empty() {
        let more = differing.len().saturating_sub(MAX_MESSAGES_SHOWN);
        differing.truncate(MAX_MESSAGES_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let list = differing.join(", ");
        reasons.push(format!("the summary and detail log disagree: {list}{more}"));
    }
}

/// Collapses white space, which does not matter in a summary.
fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `scenario (Server, Offline)`, unless both logs state the same or one states none.
fn describe_difference<T: PartialEq + Display>(
    name: &str,
    ours: Option<T>,
    theirs: Option<T>,
) -> Option<String> {
    let (ours, theirs) = (ours?, theirs?);
    (ours != theirs).then(|| format!("{name} ({ours}, {theirs})"))
}

fn reasons_for_unknown(run: &LoadgenRun) -> Vec<String> {
    if run.summary.is_none() && run.detail.is_none() {
        return vec!["there is neither a summary nor a detail log".to_owned()];
    }
    let mut reasons = Vec::new();
    let tests = run.detail.as_ref().map_or(0, |detail| detail.tests);
    if tests > 1 {
        reasons.push(format!("the detail log holds {tests} tests: give one run's file"));
    }
    let mode = run.mode();
    if mode.is_none() {
        reasons.push("neither log states in which mode the test ran".to_owned());
    }
    if mode != Some(TestMode::Accuracy) && run.result().is_none() {
        reasons.push("neither log states whether the result is VALID: the test did not end, or its log was truncated".to_owned());
    }
    let completeness = run.summary.as_ref().map(|summary| summary.completeness);
    let is_whole = completeness.is_some_and(|completeness| completeness != Completeness::Excerpt);
    if let Some(summary) = &run.summary
        && mode == Some(TestMode::Performance)
        && is_whole
        && summary.result.is_none()
        && run.result().is_some()
    {
        reasons.push(
            "the summary has no line `Result is`, but the detail log has a result".to_owned(),
        );
    }
    if run.error_count().is_none() && completeness != Some(Completeness::Excerpt) {
        reasons
            .push("the logs end before LoadGen counts its errors: they were truncated".to_owned());
    }
    // The errors' line is the last: a file that was truncated lacks it.
    if let Some(summary) = &run.summary
        && summary.completeness == Completeness::CutOff
        && summary.errors.is_none()
    {
        let missing = summary.missing.join(", ");
        reasons.push(format!("the summary was truncated, without: {missing}"));
    }
    if let Some(detail) = &run.detail {
        if detail.entries == 0 {
            reasons.push("no line of the detail log is LoadGen's".to_owned());
        } else if !detail.is_complete() {
            reasons.push("the detail log ends before its test does: it was truncated".to_owned());
        }
        reasons.extend(
            detail
                .describe_malformed_lines()
                .map(|lines| format!("{lines} of the detail log cannot be read")),
        );
    }
    reasons
}

fn strip_bullets(text: &str) -> String {
    text.replace(" * ", " ").trim_start_matches("* ").to_owned()
}
