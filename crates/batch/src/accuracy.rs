//! Compares a result with the benchmark's own accuracy limits, for claims and searches.

use itertools::join;

use retrial_results::verdict::{ResultVerdict, RuleCheck};

/// The position of a result relative to the benchmark's own accuracy limits. Each text is a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccuracyLimits {
    /// Every limited figure was measured, and is within its limit.
    Within(String),
    /// A figure was measured, and is outside its limit.
    Outside(String),
    /// Unknown, with the reason.
    Unknown(String),
}

/// Reads the limits of these figures off a result, or that of one of them. A figure that is missing is not outside
/// its limit, and where another rule is violated, too, the figures need not be those of the whole data set.
pub(crate) fn check_accuracy_limits(
    result: &ResultVerdict,
    limited: &[String],
    figure: Option<&str>,
) -> AccuracyLimits {
    let applies = |check: &&RuleCheck| {
        limited.contains(&check.rule) && figure.is_none_or(|figure| figure == check.rule)
    };
    let is_outside = violates_only_limits(result, limited);
    let mut violated = result.rules.iter().filter(|check| !check.passed);
    if is_outside && let Some(outside) = violated.find(applies) {
        return AccuracyLimits::Outside(describe_check(outside));
    }
    // Another figure than the one in question may be outside its own limit.
    if result.violates_rule() && !is_outside {
        let reason = result.sentence.clause();
        return AccuracyLimits::Unknown(format!(
            "its accuracy run is {}: {reason}",
            result.outcome
        ));
    }
    let mut checked = result.rules.iter().filter(applies).peekable();
    if checked.peek().is_none() {
        return AccuracyLimits::Unknown("it has no accuracy limit".to_owned());
    }
    AccuracyLimits::Within(join(checked.map(describe_check), ", "))
}

/// Returns whether a result violates limits of figures that it has, and no other rule: it measured its accuracy then.
pub(crate) fn violates_only_limits(result: &ResultVerdict, limited: &[String]) -> bool {
    let mut violated = result.rules.iter().filter(|check| !check.passed).peekable();
    let is_limit = |check: &RuleCheck| limited.contains(&check.rule) && is_measured(result, check);
    violated.peek().is_some() && violated.all(is_limit)
}

/// Returns whether the trial of a check has the figure that the check is about.
fn is_measured(result: &ResultVerdict, check: &RuleCheck) -> bool {
    let mut trials =
        result.trials.iter().filter(|trial| check.trial.is_none_or(|number| number == trial.trial));
    let is_named = |name: &String| name.eq_ignore_ascii_case(&check.rule);
    trials.any(|trial| trial.figures.keys().any(is_named))
}

fn describe_check(check: &RuleCheck) -> String {
    format!("{} {}; required {}", check.rule, check.measured, check.required)
}
