//! Checks of a run against its round's rules. `LoadGen`'s own statements on it (VALID, its errors)
//! belong to the verdict; these are only the round's requirements.
//!
//! A setting that the logs do not state fails its rule, with two exceptions that only a detail log
//! states: without one they are skipped.

mod audit;
mod endpoints;
mod loadgen_version;
mod performance;

use super::InferenceRules;
use crate::check::{Rule, RuleCheck, RuleCheckKind};
use crate::loadgen::{RunSettings, TestScenario};
pub use audit::{check_audit, check_no_audit_settings};
use retrial_readings::Limit;
use retrial_readings::number::{format_figure, format_grouped, group_digits, to_f64};

/// A figure and its unit, by its name.
pub type FigureLookup<'a> = &'a dyn Fn(&str) -> Option<(f64, String)>;

impl InferenceRules {
    /// Checks everything required of a performance run.
    pub fn check_performance(
        &self,
        run_settings: &RunSettings,
        figures: FigureLookup<'_>,
    ) -> Vec<RuleCheck> {
        performance::check_performance_rules(self, run_settings, figures)
    }

    /// Checks everything required of an accuracy run: its figures, and its sample count.
    pub fn check_accuracy(
        &self,
        run_settings: Option<&RunSettings>,
        figures: FigureLookup<'_>,
    ) -> Vec<RuleCheck> {
        let mut checks: Vec<RuleCheck> = self
            .accuracy
            .iter()
            // An upper limit alone requires no figure: gpt-oss-120b's script prints no tokens.
            .filter(|(name, limit)| limit.min.is_some() || figures(name).is_some())
            .map(|(name, limit)| check_within_limit(name, figures(name).as_ref(), limit))
            .collect();
        let most = self
            .accuracy
            .iter()
            .filter_map(|(name, limit)| check_possible_score(name, figures(name).as_ref(), limit));
        checks.extend(most);
        checks.extend(
            run_settings.and_then(|run_settings| self.check_accuracy_samples(run_settings)),
        );
        checks
    }

    /// Checks that it was the whole data set, no more and no less; skipped where the logs do not state it.
    fn check_accuracy_samples(&self, run_settings: &RunSettings) -> Option<RuleCheck> {
        let required = self.accuracy_samples?;
        // v6.x logs the size of the accuracy set; before, the library was that set.
        let logged = run_settings.settings.accuracy_sample_count;
        let measured = logged.or(run_settings.library_samples)?;
        let keys = ["effective_accuracy_sample_count", "qsl_reported_total_count"];
        let rule = Rule::of_entries("accuracy sample count", keys);
        Some(RuleCheck::new(
            rule,
            format_count(measured),
            format_count(required),
            measured == required,
        ))
    }

    /// Returns whether a run of `logged` may stand for this scenario: on edge systems it may.
    pub(super) fn stands_for(&self, logged: TestScenario) -> bool {
        use TestScenario::{Interactive, MultiStream, Offline, Server, SingleStream};
        matches!(
            (logged, self.scenario),
            (Server, Interactive) | (SingleStream, MultiStream | Offline) | (MultiStream, Offline)
        ) || logged == self.scenario
    }
}

/// Checks a figure against its limit.
fn check_within_limit(name: &str, found: Option<&(f64, String)>, limit: &Limit) -> RuleCheck {
    let unit = found.map_or("", |(_, unit)| unit.as_str());
    let required = limit.describe(|bound| format_figure(bound, unit));
    let Some((value, unit)) = found else {
        let check = RuleCheck::violation(name, "no such figure", required);
        return RuleCheck { kind: RuleCheckKind::NoFigure, ..check };
    };
    let rule = Rule::of_figure(name, name);
    RuleCheck::new(rule, format_figure(*value, unit), required, limit.allows(*value))
}

/// Checks that a score is possible: a share is at most 1, a percentage at most 100. Which of them it is shows in its
/// limit; lengths have larger ones, and those with an upper limit are no scores.
fn check_possible_score(
    name: &str,
    found: Option<&(f64, String)>,
    limit: &Limit,
) -> Option<RuleCheck> {
    let least = limit.min.filter(|_| limit.max.is_none())?;
    let most = [1.0, 100.0].into_iter().find(|most| least <= *most)?;
    let (value, unit) = found.filter(|(value, _)| *value > most)?;
    let required = format!("at most {}", format_figure(most, unit));
    let rule = Rule::of_figure(format!("possible {name}"), name);
    Some(RuleCheck::violation(rule, format_figure(*value, unit), required))
}

/// Formats a whole number, exactly.
fn format_count(value: u64) -> String {
    group_digits(&value.to_string())
}

/// Formats a time in ns.
fn format_nanoseconds(nanoseconds: f64) -> String {
    format_figure(nanoseconds, "ns")
}

/// Milliseconds, as a time.
fn format_milliseconds(value: u64) -> String {
    let value = to_f64(value);
    if value >= 1000.0 {
        format!("{} s", format_grouped(value / 1000.0))
    } else {
        format!("{} ms", format_grouped(value))
    }
}

#[cfg(test)]
mod endpoints_tests;
#[cfg(test)]
mod tests;
