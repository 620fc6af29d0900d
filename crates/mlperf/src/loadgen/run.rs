//! The two logs of a run, combined.

use jiff::Timestamp;

use super::summary::{Completeness, Constraints};
use super::{
    EarlyStopping, LoadgenDetail, LoadgenSummary, Parameters, ResultStatus, TestMode, TestScenario,
    names,
};
use crate::check::RuleCheck;
use retrial_readings::figure::{Figure, Figures};

/// Half the last printed digit plus this share of the value covers how much the summary and the
/// detail log of all 7,839 published runs of v4.1, v5.1 and v6.0 differ.
const MAX_RELATIVE_DISAGREEMENT: f64 = 2e-5;

/// Part of the names of early stopping's estimates.
const ESTIMATE_NAME_PART: &str = "early_stopping";

/// The name of LoadGen's summary.
pub const SUMMARY_FILE: &str = "mlperf_log_summary.txt";
/// The name of LoadGen's detail log.
pub const DETAIL_FILE: &str = "mlperf_log_detail.txt";

/// The files that LoadGen wrote in one run: either log may be missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadgenRun {
    /// What `mlperf_log_summary.txt` says; none if there is no such file.
    pub summary: Option<LoadgenSummary>,
    /// What `mlperf_log_detail.txt` says; none if there is no such file.
    pub detail: Option<LoadgenDetail>,
}

impl LoadgenRun {
    /// Returns whether all that is there is an excerpt of a summary, as guides print it: it shows figures, and not
    /// that the rules were followed.
    pub fn is_excerpt(&self) -> bool {
        let summary = self.summary.as_ref().filter(|_| self.detail.is_none());
        summary.is_some_and(|summary| summary.completeness == Completeness::Excerpt)
    }

    /// Checks that the logs could be read, and are whole: a detail log without its test's end, or with lines that are
    /// none, was truncated or changed, and what it says of errors and figures is not all. `faults` are the files that
    /// cannot be read, with the reasons. Of two logs one may be missing.
    pub fn check_files(&self, faults: &[(&str, String)]) -> Vec<RuleCheck> {
        let is_none = self.summary.is_none() && self.detail.is_none() && faults.is_empty();
        let missing = [SUMMARY_FILE, DETAIL_FILE].map(|name| (name, "missing"));
        let unreadable = faults.iter().map(|(name, reason)| (*name, reason.as_str()));
        let absent = missing.into_iter().filter(|_| is_none).chain(unreadable);
        let mut checks: Vec<RuleCheck> = absent
            .map(|(name, reason)| RuleCheck::violation(name, reason, "LoadGen's log of this run"))
            .collect();
        if let Some(detail) = &self.detail {
            let end = (!detail.is_complete()).then(|| "it ends before the test ends".to_owned());
            let lines = detail.describe_malformed_lines();
            let lines = lines.map(|lines| format!("{lines} cannot be read"));
            let actual = end.into_iter().chain(lines).collect::<Vec<_>>().join(", and ");
            let broken = (!actual.is_empty()).then_some(actual);
            checks.extend(
                broken.map(|actual| RuleCheck::violation(DETAIL_FILE, actual, "the whole log")),
            );
        }
        checks
    }

    /// Returns the scenario, by the detail log, else by the summary. An Interactive run logs `Server`.
    pub fn scenario(&self) -> Option<TestScenario> {
        let detail = self.detail.as_ref().and_then(|detail| detail.scenario);
        detail.or_else(|| self.summary.as_ref()?.scenario)
    }

    /// Returns the mode, by the detail log, else by the summary.
    pub fn mode(&self) -> Option<TestMode> {
        let detail = self.detail.as_ref().and_then(|detail| detail.mode);
        detail.or_else(|| self.summary.as_ref()?.mode)
    }

    /// LoadGen's own result: INVALID where either log states it.
    pub fn result(&self) -> Option<ResultStatus> {
        let of_detail = self.detail.as_ref().and_then(|detail| detail.result);
        let of_summary = self.summary.as_ref().and_then(|summary| summary.result);
        of_detail.max(of_summary)
    }

    /// Returns the constraints that were met; where the two logs differ, one that was not met counts.
    pub fn constraints(&self) -> Constraints {
        let of_summary = self.summary.iter().map(|summary| summary.constraints);
        let of_detail = self.detail.iter().map(|detail| detail.constraints);
        let all = of_summary.chain(of_detail);
        all.fold(Constraints::default(), Constraints::combine_with)
    }

    /// Returns the settings, each by the detail log, else by the summary.
    pub fn parameters(&self) -> Parameters {
        let of_detail = self.detail.iter().map(|detail| &detail.parameters);
        let of_summary = self.summary.iter().map(|summary| &summary.parameters);
        let all = of_detail.chain(of_summary);
        all.fold(Parameters::default(), |all, next| all.or(next))
    }

    /// Returns the early-stopping blocks, each by the summary, else by the detail log.
    pub fn early_stopping(&self) -> EarlyStopping {
        let of_summary = self.summary.iter().map(|summary| &summary.early_stopping);
        let of_detail = self.detail.iter().map(|detail| &detail.early_stopping);
        let all = of_summary.chain(of_detail);
        all.fold(EarlyStopping::default(), |all, next| all.or(next))
    }

    /// Returns all figures, each by the detail log, from which MLCommons publishes, else by the summary.
    pub fn figures(&self) -> Figures {
        let of_summary = self.summary.iter().flat_map(|summary| &summary.figures);
        let of_detail = self.detail.iter().flat_map(|detail| &detail.figures);
        of_summary.chain(of_detail).map(|(name, figure)| (name.clone(), figure.clone())).collect()
    }

    pub fn figure(&self, name: &str) -> Option<&Figure> {
        let detail = self.detail.as_ref().and_then(|detail| detail.figures.get(name));
        detail.or_else(|| self.summary.as_ref()?.figures.get(name))
    }

    /// Returns the figure that a recipe means by `name`: its own name, an [alias](super::figure_aliases), or
    /// either with `_us`, `_ms` or `_s` in place of `_ns`.
    pub fn resolve_figure(&self, name: &str) -> Option<Figure> {
        names::resolve_figure(name, |name| self.figure(name))
    }

    /// Returns the summary's figures that a whole detail log lacks because they were removed. Estimates of early
    /// stopping are sentences there, and it has a target percentile only if that is a usual one.
    pub fn figures_missing_in_detail(&self) -> Vec<&str> {
        let (Some(summary), Some(detail)) = (&self.summary, &self.detail) else {
            return Vec::new();
        };
        let names = summary.figures.keys().map(AsRef::as_ref);
        let is_logged = |name: &str| {
            detail.figures.contains_key(name)
                || name.contains(ESTIMATE_NAME_PART)
                || names::is_of_target_percentile(name)
        };
        names.filter(|name| !is_logged(name)).collect()
    }

    /// Returns the figures for which the two logs differ by more than rounding explains, with the
    /// summary's value and the detail log's: they are not of one run, or one was changed.
    pub fn figure_disagreements(&self) -> Vec<(&str, f64, f64)> {
        let (Some(summary), Some(detail)) = (&self.summary, &self.detail) else {
            return Vec::new();
        };
        summary
            .figures
            .iter()
            .filter_map(|(name, ours)| {
                let theirs = detail.figures.get(name)?;
                let scale = ours.value.abs().max(theirs.value.abs());
                let tolerance = ours.half_digit + MAX_RELATIVE_DISAGREEMENT * scale;
                let differ = (ours.value - theirs.value).abs() > tolerance;
                differ.then_some((name.as_ref(), ours.value, theirs.value))
            })
            .collect()
    }

    /// Returns the figures that the summary prints without a number, with what stands there, and the detail log's
    /// value: one of them was changed.
    pub fn unreadable_in_summary(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        let summary = self.summary.iter();
        let unreadable = summary.flat_map(|summary| &summary.unreadable);
        unreadable.filter_map(|(name, text)| {
            let figure = self.detail.as_ref()?.figures.get(name.as_str())?;
            Some((name.as_str(), text.as_str(), figure.value))
        })
    }

    /// Returns how many errors LoadGen counted or logged, whichever is more; `None` where both logs end
    /// too early to decide.
    pub fn error_count(&self) -> Option<u64> {
        let counted = self.summary.as_ref().and_then(|summary| summary.errors);
        let detail = self.detail.as_ref();
        let logged = detail.and_then(|detail| {
            (detail.is_complete() || detail.errors > 0).then_some(detail.errors)
        });
        let own = detail.and_then(|detail| detail.num_errors);
        counted.max(logged).max(own)
    }

    /// Returns the start of the run's own log, to the second (UTC); only the detail log states it. A log of
    /// a step that began at 12:00:00.7 may state 12:00:00.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.detail.as_ref()?.started_at
    }
}
