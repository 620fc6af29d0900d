//! The validity of a run by LoadGen's own rules. The rules of a round come after that.

use std::fmt::Display;

use serde::Serialize;

use super::summary::Completeness;
use super::{EarlyStopping, LoadgenRun, ResultStatus, TestMode};

/// The most error messages of a log that become reasons.
const MESSAGES_SHOWN: usize = 3;

/// The validity of a run.
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
}
impl LoadgenRun {
    /// Returns whether the run is valid by LoadGen's own rules, and why not.
    pub fn validity(&self) -> ValidityReport {
        let mut broken = Vec::new();
        let mode = self.mode();
        if mode != Some(TestMode::Accuracy) {
            results(self, &mut broken);
        }
        if mode == Some(TestMode::FindPeak) {
            broken.push(
                "mode FindPeakPerformance searches for a rate and measures nothing".to_owned(),
            );
        }
        errors(self, &mut broken);
        not_one_run(self, &mut broken);
        if !broken.is_empty() {
            return ValidityReport {
                verdict: Validity::Invalid,
                reasons: broken,
            };
        }
        let reasons = unknown(self);
        let verdict = if reasons.is_empty() {
            Validity::Valid
        } else {
            Validity::Unknown
        };
        ValidityReport { verdict, reasons }
    }
}

/// Reads LoadGen's result of a performance test.
fn results(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let of_summary = run.summary.as_ref().and_then(|summary| summary.result);
    let of_detail = run.detail.as_ref().and_then(|detail| detail.result);
    let unmet = run.constraints().broken().collect::<Vec<_>>().join(", ");
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
        reasons.push(if unmet.is_empty() {
            "LoadGen's result is INVALID".to_owned()
        } else {
            format!("LoadGen's result is INVALID, not satisfied: {unmet}")
        });
        recommendations(run, reasons);
        let stopping = run.early_stopping();
        let failed = stopping.blocks().filter(|(_, stop)| {
            stop.successful == Some(false)
                || (stop.successful.is_none() && stop.estimates.is_empty())
        });
        reasons
            .extend(failed.map(|(name, stop)| format!("{name}: {}", without_bullets(&stop.text))));
    } else if !unmet.is_empty() {
        reasons.push(format!(
            "not satisfied, although LoadGen's result is not INVALID: {unmet}"
        ));
    }
}

fn recommendations(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let of_summary = run.summary.iter();
    let of_summary = of_summary.flat_map(|summary| &summary.recommendations);
    let mut texts: Vec<&str> = of_summary.map(String::as_str).collect();
    if texts.is_empty() {
        let reason = run.detail.iter();
        let reason = reason.filter_map(|detail| detail.invalid_reason.as_deref());
        let parts = reason.flat_map(|text| text.split(" * ")).map(str::trim);
        texts.extend(parts.filter(|text| !text.is_empty()));
    }
    reasons.extend(texts.into_iter().map(|text| format!("LoadGen: {text}")));
}

/// Adds the reasons of counted errors: a VALID run can have some, and the official checker accepts that.
fn errors(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let Some(count) = run.errors().filter(|&count| count > 0) else {
        return;
    };
    let plural = if count == 1 { "" } else { "s" };
    let log = where_counted(run, count);
    reasons.push(format!(
        "LoadGen counted {count} error{plural} in the {log}"
    ));
    let messages = run.detail.iter().flat_map(|detail| &detail.error_messages);
    let mut shown: Vec<&str> = Vec::new();
    for message in messages {
        if shown.len() < MESSAGES_SHOWN && !shown.contains(&message.as_str()) {
            shown.push(message);
        }
    }
    reasons.extend(
        shown
            .into_iter()
            .map(|text| format!("LoadGen's error: {text}")),
    );
}

/// Names the log that has the most errors; that is the number which counts.
fn where_counted(run: &LoadgenRun, count: u64) -> &'static str {
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
fn not_one_run(run: &LoadgenRun, reasons: &mut Vec<String>) {
    let (Some(summary), Some(detail)) = (&run.summary, &run.detail) else {
        return;
    };
    let mut differing: Vec<String> = Vec::new();
    differing.extend(differs("scenario", summary.scenario, detail.scenario));
    differing.extend(differs("mode", summary.mode, detail.mode));
    let names = [&summary.sut_name, &detail.sut_name];
    let [printed, logged] = names.map(|name| name.as_deref().map(squeezed));
    differing.extend(differs("SUT name", printed, logged));
    let settings = summary.parameters.differing(&detail.parameters);
    differing.extend(settings.into_iter().map(str::to_owned));
    let figures = run.disagreements();
    let figures = figures.into_iter();
    differing
        .extend(figures.map(|(name, printed, logged)| format!("{name} ({printed}, {logged})")));
    let unreadable = run.unreadable_in_summary();
    differing
        .extend(unreadable.map(|(name, printed, logged)| format!("{name} ({printed}, {logged})")));
    let estimates = |stopping: &EarlyStopping| {
        let blocks = stopping.blocks();
        blocks
            .flat_map(|(_, stop)| stop.estimates.clone())
            .collect::<Vec<_>>()
    };
    let [printed, logged] = [&summary.early_stopping, &detail.early_stopping].map(estimates);
    if !printed.is_empty() && !logged.is_empty() && printed != logged {
        differing.push("estimates of early stopping".to_owned());
    }
    if detail.is_complete() {
        let unlogged = run.unlogged().into_iter();
        differing.extend(unlogged.map(|name| format!("{name} (missing in the detail log)")));
    }
    if !differing.is_empty() {
        let more = differing.len().saturating_sub(MESSAGES_SHOWN);
        differing.truncate(MESSAGES_SHOWN);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let list = differing.join(", ");
        reasons.push(format!("the summary and detail log disagree: {list}{more}"));
    }
}

/// Collapses white space, which does not matter in a summary.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `scenario (Server, Offline)`, unless both logs state the same or one states none.
fn differs<T: PartialEq + Display>(
    name: &str,
    ours: Option<T>,
    theirs: Option<T>,
) -> Option<String> {
    let (ours, theirs) = (ours?, theirs?);
    (ours != theirs).then(|| format!("{name} ({ours}, {theirs})"))
}

fn unknown(run: &LoadgenRun) -> Vec<String> {
    if run.summary.is_none() && run.detail.is_none() {
        return vec!["there is neither a summary nor a detail log".to_owned()];
    }
    let mut reasons = Vec::new();
    let tests = run.detail.as_ref().map_or(0, |detail| detail.tests);
    if tests > 1 {
        reasons.push(format!(
            "the detail log holds {tests} tests: give one run's file"
        ));
    }
    let mode = run.mode();
    if mode.is_none() {
        reasons.push("neither log states in which mode the test ran".to_owned());
    }
    if mode != Some(TestMode::Accuracy) && run.result().is_none() {
        reasons.push("neither log states whether the result is VALID: the test did not end, or its log was truncated".to_owned());
    }
    let completeness = run.summary.as_ref().map(|summary| summary.completeness);
    if run.errors().is_none() && completeness != Some(Completeness::Excerpt) {
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
        if detail.malformed > 0 {
            reasons.push(format!(
                "{} lines of the detail log cannot be read",
                detail.malformed
            ));
        }
    }
    reasons
}

fn without_bullets(text: &str) -> String {
    text.replace(" * ", " ").trim_start_matches("* ").to_owned()
}
