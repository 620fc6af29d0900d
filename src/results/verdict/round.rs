//! The rules of the result's round, trial by trial.

use super::rules::Checked;
use super::{Evidence, TrialEvidence, Validity};
use retrial_mlperf::check::{CheckKind, RuleCheck};
use retrial_mlperf::rounds::check_submitted;
use retrial_recipe::model::Mode;

/// Checks one trial; `which` names it in reasons.
pub(crate) fn check(
    checked: &mut Checked,
    evidence: &Evidence,
    trial: &TrialEvidence,
    which: &str,
) {
    let Some(rules) = &evidence.rules else {
        return;
    };
    let lookup = |name: &str| {
        let found = trial.figure(name)?;
        Some((found.value, found.unit.clone()))
    };
    let checks = match (evidence.mode, &trial.run_settings) {
        (Mode::Performance, Some(run_settings)) => {
            let mut checks = rules.check_performance(run_settings, &lookup);
            checks.extend(check_submitted(&run_settings.settings));
            checks
        }
        (Mode::Accuracy, run_settings) => rules.check_accuracy(run_settings.as_ref(), &lookup),
        _ => Vec::new(),
    };
    // What LoadGen says itself is a reason already.
    let is_told = |check: &RuleCheck| {
        matches!(trial.validity, Validity::Invalid(_)) && check.kind == CheckKind::ByLoadgen
    };
    let is_left_out =
        |check: &RuleCheck| trial.excerpt && !check.passed && check.kind == CheckKind::NotStated;
    let (left_out, checks): (Vec<_>, Vec<_>) = checks.into_iter().partition(is_left_out);
    if !left_out.is_empty() {
        let count = crate::format::count(left_out.len(), "value");
        let measured = format!("an excerpt, without {count} that the rules ask for");
        let check = RuleCheck {
            kind: CheckKind::Excerpt,
            ..RuleCheck::failed("LoadGen's summary", measured, "the whole log")
        };
        checked.rules.push(check.on(Some(trial.trial)));
    }
    for check in checks {
        if !check.passed && !is_told(&check) {
            let because = trial.why_missing(&check.rule);
            let because = because.map_or(String::new(), |because| format!(" ({because})"));
            checked.invalid.push(format!(
                "{which}{}: {}{because}; required {}",
                check.rule, check.measured, check.required
            ));
        }
        checked.rules.push(check.on(Some(trial.trial)));
    }
}
