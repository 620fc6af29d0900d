//! The rules of the result's round, trial by trial.

use super::TrialRules;
use crate::verdict::StatedValidity;
use retrial_document::measures::format;
use retrial_mlperf::check::{RuleCheck, RuleCheckKind};
use retrial_mlperf::rounds::check_no_audit_settings;
use retrial_recipe::model::Mode;

impl TrialRules<'_> {
    pub(super) fn check_round(&mut self) {
        let (evidence, trial) = (self.evidence, self.trial);
        let Some(rules) = &evidence.plan.rules else {
            return;
        };
        let lookup = |name: &str| {
            let figure = trial.figure(name)?;
            Some((figure.value, figure.unit.clone()))
        };
        let checks = match (evidence.plan.mode, &trial.run_settings) {
            (Mode::Performance, Some(run_settings)) => {
                let mut checks = rules.check_performance(run_settings, &lookup);
                checks.extend(check_no_audit_settings(&run_settings.settings));
                checks
            }
            (Mode::Accuracy, run_settings) => rules.check_accuracy(run_settings.as_ref(), &lookup),
            _ => Vec::new(),
        };
        let is_omitted = |check: &RuleCheck| {
            trial.excerpt && !check.passed && check.kind == RuleCheckKind::NotStated
        };
        let (omitted, checks): (Vec<_>, Vec<_>) = checks.into_iter().partition(is_omitted);
        if !omitted.is_empty() {
            let count = format::format_count(omitted.len(), "value");
            let measured = format!("an excerpt without {count} that the rules require");
            self.add_check(RuleCheck {
                kind: RuleCheckKind::Excerpt,
                ..RuleCheck::violation("LoadGen's summary", measured, "the whole log")
            });
        }
        // LoadGen's own statement is already a reason.
        let says_invalid = matches!(trial.validity, StatedValidity::Invalid(_));
        for check in checks {
            let is_known = says_invalid && check.kind == RuleCheckKind::ByLoadgen;
            if !check.passed && !is_known {
                let missing_reason = trial.reason_missing(&check.rule);
                let reason = missing_reason.map_or(String::new(), |reason| format!(" ({reason})"));
                let (prefix, rule, measured) = (&self.prefix, &check.rule, &check.measured);
                let required = &check.required;
                let cause = format!("{rule}: {measured}{reason}; required {required}");
                self.checked.invalid.push(format!("{prefix}{cause}"));
                self.checked.causes.add(rule, &cause);
            }
            self.add_check(check);
        }
    }
}
