//! The benchmark's own rules, which come before speed: did every trial finish, give a result of
//! its own, say that it is valid, give the figures that are required, keep their limits?
//!
//! One bad trial of several makes the result bad: to leave it out would be a best-of-n.

mod causes;
mod round;

use super::evidence::{find_by_name, table_name};
use super::{
    Evidence, FigureValue, RuleCheck, StatedValidity, StepOutcome, TrialEvidence, convergence,
    number,
};
use causes::ViolationCauses;
use retrial_mlperf::check::{Rule, RuleCheckKind};
use retrial_mlperf::loadgen::{error_rule, validity_rule};
use retrial_readings::nearest::join_first_names;
use retrial_recipe::model::{Limit, Mode};

/// The measured value of a figure that was not found.
const NO_FIGURE: &str = "no such figure";

/// The outcome of the rules for one scenario in one mode.
#[derive(Debug, Default)]
pub(crate) struct RuleFindings {
    pub rules: Vec<RuleCheck>,
    /// The reasons why it failed; none if it did not.
    pub failed: Vec<String>,
    /// The reasons why it is invalid; none if it is not.
    pub invalid: Vec<String>,
    /// A trial has not ended.
    pub is_running: bool,
    pub causes: ViolationCauses,
    /// The trials that passed every rule.
    pub valid_trials: Vec<bool>,
}

/// Checks the rules of every trial, and adds those that were checked with the files. A smoke test has to finish and to
/// give its figures: it is too short for the rules of a round and for limits.
pub(crate) fn check_rules(evidence: &Evidence, is_smoke_test: bool) -> RuleFindings {
    let mut checked = RuleFindings::default();
    add_file_checks(&mut checked, evidence);
    if evidence.trials.is_empty() && checked.invalid.is_empty() {
        let check = RuleCheck::violation("step", "no trial", "a trial");
        checked.rules.push(check);
        checked.failed.push("it never ran".to_owned());
        checked.causes.add("step", "it never ran");
        return checked;
    }
    for trial in &evidence.trials {
        let before = checked.failed.len() + checked.invalid.len();
        TrialRules {
            prefix: trial_prefix(evidence, trial.trial),
            checked: &mut checked,
            evidence,
            trial,
            is_smoke_test,
        }
        .check_trial();
        let passed = checked.failed.len() + checked.invalid.len() == before;
        let is_broken = |check: &RuleCheck| !check.passed && check.trial == Some(trial.trial);
        let found_outside = evidence.checks.iter().any(is_broken);
        let has_ended = trial.outcome != StepOutcome::Running;
        checked.valid_trials.push(passed && has_ended && !found_outside);
    }
    if !is_smoke_test {
        check_convergence(&mut checked, evidence);
    }
    checked
}

/// Adds what was checked where the files are, as it was found.
fn add_file_checks(checked: &mut RuleFindings, evidence: &Evidence) {
    for check in evidence.checks.iter().filter(|check| !check.passed) {
        let trial_name = check.trial.map(|trial| trial_prefix(evidence, trial));
        let prefix = trial_name.unwrap_or_default();
        checked.causes.add(&check.rule, &check.to_string());
        checked.invalid.push(format!("{prefix}{check}"));
    }
    checked.rules.extend_from_slice(&evidence.checks);
}

/// `trial 2: `, where there are several.
fn trial_prefix(evidence: &Evidence, trial: u32) -> String {
    if evidence.trials.len() > 1 { format!("trial {trial}: ") } else { String::new() }
}

/// MLPerf Training: not faster than chance can explain.
fn check_convergence(checked: &mut RuleFindings, evidence: &Evidence) {
    const RULE: &str = "convergence";
    let named = evidence.plan.figures.iter();
    for convergence in
        named.filter_map(|(name, _)| convergence::compute_convergence(evidence, name))
    {
        checked.rules.push(match convergence {
            Ok(convergence) => {
                let required =
                    format!("at least {} samples", number::format_grouped(convergence.fewest));
                let samples = number::format_grouped(convergence.samples);
                let reference = number::format_grouped(convergence.reference);
                let measured = format!("{samples} samples, {reference} in the reference");
                RuleCheck::new(RULE, measured, required, true)
            }
            Err(error) => {
                checked.invalid.push(error.to_string());
                checked.causes.add(RULE, &error.to_string());
                RuleCheck::violation(RULE, error.to_string(), "as the reference")
            }
        });
    }
}

struct TrialRules<'a> {
    checked: &'a mut RuleFindings,
    evidence: &'a Evidence,
    trial: &'a TrialEvidence,
    is_smoke_test: bool,
    /// Names the trial in reasons.
    prefix: String,
}

impl TrialRules<'_> {
    fn add_passed(&mut self, rule: impl Into<Rule>, measured: impl Into<String>, required: &str) {
        self.add_check(RuleCheck::new(rule, measured, required, true));
    }

    /// Adds a violated rule, and why the result is invalid by it.
    fn add_violation(
        &mut self,
        rule: impl Into<Rule>,
        measured: impl Into<String>,
        required: &str,
        why: &str,
    ) {
        let check = RuleCheck::violation(rule, measured, required);
        self.checked.invalid.push(format!("{}{why}", self.prefix));
        self.checked.causes.add(&check.rule, why);
        self.add_check(check);
    }

    /// Adds a figure that was not found; the cause may be its table's.
    fn add_missing_figure(
        &mut self,
        rule: &str,
        measured: &str,
        required: &str,
        why: &str,
        cause: Option<&str>,
    ) {
        self.checked.invalid.push(format!("{}{why}", self.prefix));
        self.checked.causes.add(rule, cause.unwrap_or(why));
        self.add_check(RuleCheck {
            kind: RuleCheckKind::NoFigure,
            ..RuleCheck::violation(rule, measured, required)
        });
    }

    fn add_check(&mut self, check: RuleCheck) {
        let trial_check = check.for_trial(Some(self.trial.trial));
        self.checked.rules.push(trial_check);
    }

    fn check_trial(&mut self) {
        let failure = match &self.trial.outcome {
            StepOutcome::Finished => {
                self.add_passed("step", "finished", "finished");
                if !self.is_smoke_test {
                    self.check_validity();
                    self.check_round();
                }
                return self.check_figures();
            }
            StepOutcome::NoNewResult { reason } => {
                let why = format!("no new result: {reason}");
                return self.add_violation("result", why.as_str(), "a result of this step", &why);
            }
            StepOutcome::Running => {
                self.checked.is_running = true;
                return;
            }
            StepOutcome::Failed { reason, .. } => format!("the step failed: {reason}"),
            StepOutcome::TimedOut { reason } => format!("the step ran out of time: {reason}"),
            StepOutcome::Stopped => "the step was stopped with the run".to_owned(),
            StepOutcome::NotRun { reason } => format!("the step did not run: {reason}"),
        };
        self.checked.failed.push(format!("{}{failure}", self.prefix));
        self.checked.causes.add("step", &failure);
        self.add_check(RuleCheck::violation("step", failure, "finished"));
    }

    fn check_validity(&mut self) {
        let (who, rule) = if self.evidence.plan.loadgen {
            ("LoadGen", validity_rule())
        } else {
            ("the benchmark", "the benchmark's result".into())
        };
        match &self.trial.validity {
            StatedValidity::Valid if self.lacks_stated_result() => {
                self.add_passed("LoadGen's logs", "no errors", "no errors");
            }
            StatedValidity::Valid => self.add_passed(rule, "VALID", "VALID"),
            StatedValidity::Invalid(reasons) => {
                let reason_text = reasons.join("; ");
                if reason_text.is_empty() {
                    self.add_violation(rule, "INVALID", "VALID", &format!("{who} says INVALID"));
                } else if self.lacks_stated_result() {
                    self.add_violation(
                        error_rule("LoadGen's logs"),
                        reason_text.as_str(),
                        "no errors",
                        &reason_text,
                    );
                } else if self.trial.run_settings.is_some() {
                    // Of LoadGen's logs the reasons say themselves who says what, also against LoadGen's own word.
                    let lines = &self.trial.invalid_in;
                    let rule = if lines.is_empty() { rule } else { rule.with_lines(lines.clone()) };
                    self.add_violation(rule, reason_text.as_str(), "VALID", &reason_text);
                } else {
                    let actual = format!("INVALID ({reason_text})");
                    let why = format!("{who} says {actual}");
                    self.add_violation(rule, actual, "VALID", &why);
                }
            }
            // An accuracy summary has no such line; a performance summary without one was truncated.
            StatedValidity::NotStated
                if self.evidence.plan.loadgen && self.evidence.plan.mode == Mode::Performance =>
            {
                let actual = "neither VALID nor INVALID";
                let why = format!("LoadGen's summary reports {actual}");
                self.add_violation(rule, actual, "VALID", &why);
            }
            StatedValidity::NotStated => {}
        }
    }

    /// Returns whether LoadGen states no result, as in an accuracy run.
    fn lacks_stated_result(&self) -> bool {
        let settings = self.trial.run_settings.as_ref();
        let is_accuracy = self.evidence.plan.mode == Mode::Accuracy;
        is_accuracy && settings.is_some_and(|settings| settings.result.is_none())
    }

    fn check_figures(&mut self) {
        let evidence = self.evidence;
        for (name, _) in &evidence.plan.expect {
            self.check_expected_figure(name);
        }
        let limits = if self.is_smoke_test { &[] } else { evidence.plan.limits.as_slice() };
        for (name, limit) in limits {
            self.check_limit(name, limit);
        }
        self.check_declared_figures();
        self.warn_of_repeated_figures();
        if evidence.plan.expect.is_empty() && limits.is_empty() {
            self.check_any_figure();
        }
    }

    /// Returns whether the run did not converge.
    fn has_not_converged(&self) -> bool {
        let samples = self.trial.parameters.get(convergence::SAMPLES_PARAMETER);
        samples.is_some_and(|samples| convergence::is_infinite(*samples))
    }

    /// Checks a figure that something was published for. A ratio to it is taken, which zero, less and NaN
    /// have none of.
    fn check_expected_figure(&mut self, name: &str) {
        let figure = self.trial.figure(name);
        let text = figure.map(FigureValue::to_string);
        let required = "a figure above zero";
        let dropped = convergence::dropped_trial(self.evidence, name)
            .and_then(|position| self.evidence.trials.get(position))
            .is_some_and(|dropped| dropped.trial == self.trial.trial);
        if figure.is_some_and(|figure| figure.value.is_finite() && figure.value > 0.0) {
            self.add_passed(name, text.unwrap_or_default(), required);
        } else if dropped {
            let measured = "did not converge: the slowest, which is dropped";
            self.add_passed(name, measured, "one such run at most");
        } else {
            let rule = Rule::of_figure(name, name);
            match text {
                Some(text) if self.has_not_converged() => {
                    self.add_violation(rule, text, required, "the run did not converge");
                }
                Some(text) => {
                    let why = format!("{name} is {text}, which cannot be compared");
                    self.add_violation(rule, text, required, &why);
                }
                None => {
                    let why = format!("{name} is missing{}", describe_missing(self.trial, name));
                    let cause = find_missing_reason(self.trial, name);
                    self.add_missing_figure(name, NO_FIGURE, required, &why, cause);
                }
            }
        }
    }

    /// Compliance may be only a statement on validity, or rules that were checked; accuracy and
    /// speed are figures. A run that did not converge was counted where all logs of its score were
    /// checked.
    fn check_any_figure(&mut self) {
        let (evidence, trial) = (self.evidence, self.trial);
        let word = evidence.plan.mode == Mode::Compliance
            && (trial.validity == StatedValidity::Valid || !evidence.checks.is_empty());
        let is_counted = evidence.scaling.is_some() && self.has_not_converged();
        let mut figures = trial.figures.values();
        if word || is_counted || figures.any(|figure| figure.value.is_finite()) {
            return;
        }
        let first_missing = trial.missing.iter().next();
        let why =
            first_missing.map_or(String::new(), |(name, reason)| format!(": {name}: {reason}"));
        let why = format!("it has no figure{why}");
        let cause = first_missing.map(|(_, reason)| reason.as_str());
        self.add_missing_figure("figures", "none", "at least one", &why, cause);
    }

    /// Checks that every declared figure is there, even if nothing is required of it.
    fn check_declared_figures(&mut self) {
        let evidence = self.evidence;
        let is_required = |declared: &str| {
            let mut required = evidence.required_figures();
            required.any(|name| name == declared || table_name(name) == Some(declared))
        };
        for (name, reason) in &self.trial.missing {
            let is_declared = evidence.plan.figures.iter().any(|(figure, _)| figure == name);
            if is_declared && !is_required(name) {
                let why = format!("{name} is missing: {reason}");
                self.add_missing_figure(name, NO_FIGURE, "a figure", &why, Some(reason));
            }
        }
    }

    /// Warns of figures that are printed several times with different values, where the recipe does not choose one.
    fn warn_of_repeated_figures(&mut self) {
        for (declared, _) in &self.evidence.plan.figures {
            let mut figures = self.trial.figures.iter().filter(|(name, _)| {
                *name == declared || table_name(name) == Some(declared.as_str())
            });
            let repeated = figures.find_map(|(name, figure)| {
                let origin = figure.origin.as_ref()?;
                Some((name, origin.repeated?))
            });
            if let Some((name, repeated)) = repeated {
                let required = "a choice in the recipe: `take:` last, first, min, max, mean or sum";
                // By the figure's name alone it would be its limit.
                let rule = Rule::of_figure(format!("values of {name}"), name);
                self.add_check(RuleCheck::warning(rule, repeated.to_string(), required));
            }
        }
    }

    fn check_limit(&mut self, name: &str, limit: &Limit) {
        let figure = self.trial.figure(name);
        let unit = figure.map_or("", |figure| figure.unit.as_str());
        let required = describe_limit(limit, unit);
        let Some(figure) = figure else {
            let mut expected = self.evidence.plan.expect.iter();
            if expected.any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                // It is reported as missing already.
                return;
            }
            let missing = describe_missing(self.trial, name);
            let why = format!("{name} is missing{missing}; required {required}");
            let cause = find_missing_reason(self.trial, name);
            return self.add_missing_figure(name, NO_FIGURE, &required, &why, cause);
        };
        let text = figure.to_string();
        let may_be_negative = limit.min.is_some_and(|min| min < 0.0);
        if figure.value < 0.0 && figure.is_rate_or_time() && !may_be_negative {
            let why = format!("{name} is {text}, and no rate or time is below zero");
            self.add_violation(Rule::of_figure(name, name), text, &required, &why);
        } else if limit.allows(figure.value) {
            self.add_passed(name, text, &required);
        } else {
            let why = format!("{name} is {text}; required {required}");
            self.add_violation(Rule::of_figure(name, name), text, &required, &why);
        }
    }
}

/// The reason why a figure is missing: its own, or its table's.
fn find_missing_reason<'a>(trial: &'a TrialEvidence, name: &str) -> Option<&'a str> {
    let reason = find_by_name(&trial.missing, name);
    let reason = reason.or_else(|| find_by_name(&trial.missing, table_name(name)?));
    reason.map(|(_, reason)| reason.as_str())
}

fn describe_missing(trial: &TrialEvidence, name: &str) -> String {
    if let Some(reason) = find_missing_reason(trial, name) {
        return format!(": {reason}");
    }
    let Some(table) = table_name(name) else {
        return String::new();
    };
    let names = trial.figures.keys().map(String::as_str);
    let there = names.filter(|figure| table_name(figure) == Some(table));
    format!(": the table has {}", join_first_names(there))
}

/// `at least 43.9869`, `below 450 ms`.
fn describe_limit(limit: &Limit, unit: &str) -> String {
    let bounds = limit.describe(|bound| number::format_figure(bound, unit));
    if bounds.is_empty() { "a figure".to_owned() } else { bounds }
}
