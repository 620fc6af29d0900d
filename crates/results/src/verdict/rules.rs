//! The benchmark's own rules, which come before speed: did every trial finish, give a result of
//! its own, say that it is valid, give the figures that are required, keep their limits?
//!
//! One bad trial of several makes the result bad: to leave it out would be a best-of-n.

mod round;

use super::evidence::{named, table_of};
use super::{
    Evidence, FigureValue, RuleCheck, StatedValidity, StepOutcome, TrialEvidence, convergence,
    number,
};
use retrial_readings::nearest::listed;
use retrial_recipe::model::{Limit, Mode};

/// The outcome of the rules for one scenario in one mode.
#[derive(Debug, Default)]
pub(crate) struct RuleFindings {
    /// Every rule that was checked.
    pub rules: Vec<RuleCheck>,
    /// The reasons why it failed; none if it did not.
    pub failed: Vec<String>,
    /// The reasons why it is invalid; none if it is not.
    pub invalid: Vec<String>,
    /// The trials that passed every rule.
    pub valid_trials: Vec<bool>,
}

/// Checks the rules of every trial, and adds those that were checked with the files.
pub(crate) fn check(evidence: &Evidence) -> RuleFindings {
    let mut checked = RuleFindings::default();
    check_outside(&mut checked, evidence);
    if evidence.trials.is_empty() && checked.invalid.is_empty() {
        let check = RuleCheck::failed("step", "no trial", "a trial");
        checked.rules.push(check);
        checked.failed.push("it never ran".to_owned());
        return checked;
    }
    for trial in &evidence.trials {
        let before = checked.failed.len() + checked.invalid.len();
        TrialRules {
            prefix: trial_prefix(evidence, trial.trial),
            checked: &mut checked,
            evidence,
            trial,
        }
        .check();
        let passed = checked.failed.len() + checked.invalid.len() == before;
        let is_broken = |check: &RuleCheck| !check.passed && check.trial == Some(trial.trial);
        let found_outside = evidence.checks.iter().any(is_broken);
        checked.valid_trials.push(passed && !found_outside);
    }
    check_convergence(&mut checked, evidence);
    checked
}

/// Adds what was checked where the files are, as it was found.
fn check_outside(checked: &mut RuleFindings, evidence: &Evidence) {
    for check in evidence.checks.iter().filter(|check| !check.passed) {
        let prefix = check.trial.map(|trial| trial_prefix(evidence, trial));
        let prefix = prefix.unwrap_or_default();
        checked.invalid.push(format!("{prefix}{check}"));
    }
    checked.rules.extend_from_slice(&evidence.checks);
}

/// `trial 2: `, where there are several.
fn trial_prefix(evidence: &Evidence, trial: u32) -> String {
    if evidence.trials.len() > 1 {
        format!("trial {trial}: ")
    } else {
        String::new()
    }
}

/// MLPerf Training: not faster than chance can explain.
fn check_convergence(checked: &mut RuleFindings, evidence: &Evidence) {
    const RULE: &str = "convergence";
    let named = evidence.figures.iter();
    for convergence in named.filter_map(|(name, _)| convergence::of(evidence, name)) {
        checked.rules.push(match convergence {
            Ok(convergence) => {
                let required = format!("at least {} samples", number::grouped(convergence.fewest));
                let samples = number::grouped(convergence.samples);
                let reference = number::grouped(convergence.reference);
                let measured = format!("{samples} samples, {reference} in the reference");
                RuleCheck::new(RULE, measured, required, true)
            }
            Err(error) => {
                checked.invalid.push(error.to_string());
                RuleCheck::failed(RULE, error.to_string(), "as the reference")
            }
        });
    }
}

/// The rules of one trial.
struct TrialRules<'a> {
    checked: &'a mut RuleFindings,
    evidence: &'a Evidence,
    trial: &'a TrialEvidence,
    /// Names the trial in reasons.
    prefix: String,
}

impl TrialRules<'_> {
    fn pass(&mut self, rule: &str, measured: impl Into<String>, required: &str) {
        self.add(RuleCheck::new(rule, measured, required, true));
    }

    /// Adds a violated rule, and why the result is invalid by it.
    fn violate(&mut self, rule: &str, measured: impl Into<String>, required: &str, why: &str) {
        self.checked.invalid.push(format!("{}{why}", self.prefix));
        self.add(RuleCheck::failed(rule, measured, required));
    }

    fn add(&mut self, check: RuleCheck) {
        let check = check.on(Some(self.trial.trial));
        self.checked.rules.push(check);
    }

    fn check(&mut self) {
        let failure = match &self.trial.outcome {
            StepOutcome::Finished => {
                self.pass("step", "finished", "finished");
                self.validity();
                self.round();
                return self.figures();
            }
            StepOutcome::NoNewResult { reason } => {
                let why = format!("no new result: {reason}");
                return self.violate("result", why.as_str(), "a result of this step", &why);
            }
            StepOutcome::Failed { reason, .. } => format!("the step failed: {reason}"),
            StepOutcome::TimedOut { reason } => format!("the step ran out of time: {reason}"),
            StepOutcome::NotRun { reason } => format!("the step did not run: {reason}"),
        };
        self.checked
            .failed
            .push(format!("{}{failure}", self.prefix));
        self.add(RuleCheck::failed("step", failure, "finished"));
    }

    fn validity(&mut self) {
        let (who, rule) = if self.evidence.loadgen {
            ("LoadGen", "LoadGen's result")
        } else {
            ("the benchmark", "the benchmark's result")
        };
        match &self.trial.validity {
            StatedValidity::Valid if self.is_without_word() => {
                self.pass("LoadGen's logs", "no errors", "no errors");
            }
            StatedValidity::Valid => self.pass(rule, "VALID", "VALID"),
            StatedValidity::Invalid(reasons) => {
                let reasons = reasons.join("; ");
                if reasons.is_empty() {
                    self.violate(rule, "INVALID", "VALID", &format!("{who} says INVALID"));
                } else if self.is_without_word() {
                    self.violate("LoadGen's logs", reasons.as_str(), "no errors", &reasons);
                } else if self.trial.run_settings.is_some() {
                    // Of LoadGen's logs the reasons say themselves who says what, also against LoadGen's own word.
                    self.violate(rule, reasons.as_str(), "VALID", &reasons);
                } else {
                    let actual = format!("INVALID ({reasons})");
                    let why = format!("{who} says {actual}");
                    self.violate(rule, actual, "VALID", &why);
                }
            }
            // An accuracy summary has no such line; a performance summary without one was truncated.
            StatedValidity::NotStated
                if self.evidence.loadgen && self.evidence.mode == Mode::Performance =>
            {
                let actual = "neither VALID nor INVALID";
                let why = format!("LoadGen's summary reports {actual}");
                self.violate(rule, actual, "VALID", &why);
            }
            StatedValidity::NotStated => {}
        }
    }

    /// Returns whether LoadGen states no result, as in an accuracy run.
    fn is_without_word(&self) -> bool {
        let settings = self.trial.run_settings.as_ref();
        let is_accuracy = self.evidence.mode == Mode::Accuracy;
        is_accuracy && settings.is_some_and(|settings| settings.result.is_none())
    }

    fn figures(&mut self) {
        let evidence = self.evidence;
        for (name, _) in &evidence.expect {
            self.expected(name);
        }
        for (name, limit) in &evidence.limits {
            self.limit(name, limit);
        }
        self.declared();
        if evidence.expect.is_empty() && evidence.limits.is_empty() {
            self.any_figure();
        }
    }

    /// Returns whether the run did not converge.
    fn is_lost(&self) -> bool {
        let samples = self.trial.parameters.get(convergence::SAMPLES);
        samples.is_some_and(|samples| convergence::is_infinite(*samples))
    }

    /// Checks a figure that something was published for. A ratio to it is taken, which zero, less and NaN
    /// have none of.
    fn expected(&mut self, name: &str) {
        let figure = self.trial.figure(name);
        let text = figure.map_or_else(|| "no such figure".to_owned(), FigureValue::to_string);
        let required = "a figure above zero";
        let dropped = convergence::dropped(self.evidence, name)
            .and_then(|position| self.evidence.trials.get(position))
            .is_some_and(|dropped| dropped.trial == self.trial.trial);
        if figure.is_some_and(|figure| figure.value.is_finite() && figure.value > 0.0) {
            self.pass(name, text, required);
        } else if dropped {
            let measured = "did not converge: the slowest, which is dropped";
            self.pass(name, measured, "one such run at most");
        } else {
            let why = match figure {
                Some(_) if self.is_lost() => "the run did not converge".to_owned(),
                Some(_) => format!("{name} is {text}, which cannot be compared"),
                None => format!("{name} is missing{}", why_missing(self.trial, name)),
            };
            self.violate(name, text, required, &why);
        }
    }

    /// Compliance may be only a statement on validity, or rules that were checked; accuracy and
    /// speed are figures. A run that did not converge was counted where all logs of its score were
    /// checked.
    fn any_figure(&mut self) {
        let (evidence, trial) = (self.evidence, self.trial);
        let word = evidence.mode == Mode::Compliance
            && (trial.validity == StatedValidity::Valid || !evidence.checks.is_empty());
        let is_counted = evidence.scaling.is_some() && self.is_lost();
        let mut figures = trial.figures.values();
        if word || is_counted || figures.any(|figure| figure.value.is_finite()) {
            return;
        }
        let why = trial.missing.iter().next();
        let why = why.map_or(String::new(), |(name, reason)| {
            format!(": {name}: {reason}")
        });
        let why = format!("it has no figure{why}");
        self.violate("figures", "none", "at least one", &why);
    }

    /// Checks that every declared figure is there, even if nothing is required of it.
    fn declared(&mut self) {
        let evidence = self.evidence;
        let is_required = |declared: &str| {
            let mut required = evidence.required_figures();
            required.any(|name| name == declared || table_of(name) == Some(declared))
        };
        for (name, reason) in &self.trial.missing {
            let is_declared = evidence.figures.iter().any(|(figure, _)| figure == name);
            if is_declared && !is_required(name) {
                let why = format!("{name} is missing: {reason}");
                self.violate(name, "no such figure", "a figure", &why);
            }
        }
    }

    fn limit(&mut self, name: &str, limit: &Limit) {
        let figure = self.trial.figure(name);
        let unit = figure.map_or("", |figure| figure.unit.as_str());
        let required = described(limit, unit);
        let Some(figure) = figure else {
            let missing = why_missing(self.trial, name);
            let why = format!("{name} is missing{missing}; required {required}");
            return self.violate(name, "no such figure", &required, &why);
        };
        let text = figure.to_string();
        let may_be_negative = limit.min.is_some_and(|min| min < 0.0);
        if figure.value < 0.0 && figure.is_rate_or_time() && !may_be_negative {
            let why = format!("{name} is {text}, and no rate or time is below zero");
            self.violate(name, text, &required, &why);
        } else if limit.allows(figure.value) {
            self.pass(name, text, &required);
        } else {
            let why = format!("{name} is {text}; required {required}");
            self.violate(name, text, &required, &why);
        }
    }
}

fn why_missing(trial: &TrialEvidence, name: &str) -> String {
    let table = table_of(name);
    let reason = named(&trial.missing, name);
    let reason = reason.or_else(|| named(&trial.missing, table?));
    if let Some((_, reason)) = reason {
        return format!(": {reason}");
    }
    let Some(table) = table else {
        return String::new();
    };
    let there = trial.figures.keys().map(String::as_str);
    let there = there.filter(|figure| table_of(figure) == Some(table));
    format!(": the table has {}", listed(there))
}

/// `at least 43.9869`, `below 450 ms`.
fn described(limit: &Limit, unit: &str) -> String {
    let bounds = limit.describe(|bound| number::figure(bound, unit));
    if bounds.is_empty() {
        "a figure".to_owned()
    } else {
        bounds
    }
}
