//! The benchmark's own rules, which come before speed: did every trial finish, give a result of
//! its own, say that it is valid, give the figures that are required, keep their limits?
//!
//! One bad trial of several makes the result bad: to leave it out would be a best-of-n.

use super::evidence::{named, table_of};
use super::{
    Evidence, FigureValue, RuleCheck, StepOutcome, TrialEvidence, Validity, convergence, number,
    round,
};
use retrial_mlperf::loadgen::ResultWord;
use retrial_readings::nearest::listed;
use retrial_recipe::model::{Limit, Mode};

/// What the rules say of one scenario in one mode.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Every rule that was checked.
    pub rules: Vec<RuleCheck>,
    /// Why it failed, if it did.
    pub failed: Vec<String>,
    /// Why it is invalid, if it is.
    pub invalid: Vec<String>,
    /// The trials that passed every rule.
    pub valid_trials: Vec<bool>,
}

impl Checked {
    fn pass(&mut self, trial: Option<u32>, rule: &str, measured: String, required: &str) {
        let check = RuleCheck::new(rule, measured, required, true);
        self.rules.push(check.on(trial));
    }

    fn fail(&mut self, trial: Option<u32>, rule: &str, measured: String, required: &str) {
        let check = RuleCheck::failed(rule, measured, required);
        self.rules.push(check.on(trial));
    }
}

/// Checks all trials.
pub(crate) fn check(evidence: &Evidence) -> Checked {
    let mut checked = Checked::default();
    check_outside(&mut checked, evidence);
    if evidence.trials.is_empty() && checked.invalid.is_empty() {
        checked.fail(None, "step", "no trial".to_owned(), "a trial");
        checked.failed.push("it never ran".to_owned());
        return checked;
    }
    for trial in &evidence.trials {
        let before = checked.failed.len() + checked.invalid.len();
        check_trial(&mut checked, evidence, trial);
        let passed = checked.failed.len() + checked.invalid.len() == before;
        let is_broken = |check: &RuleCheck| !check.passed && check.trial == Some(trial.trial);
        let found_outside = evidence.checks.iter().any(is_broken);
        checked.valid_trials.push(passed && !found_outside);
    }
    check_convergence(&mut checked, evidence);
    checked
}

/// What was checked where the files are: it is told as it was found.
fn check_outside(checked: &mut Checked, evidence: &Evidence) {
    for check in evidence.checks.iter().filter(|check| !check.passed) {
        let which = check.trial.map(|trial| which(evidence, trial));
        let which = which.unwrap_or_default();
        checked.invalid.push(format!("{which}{check}"));
    }
    checked.rules.extend_from_slice(&evidence.checks);
}

/// `trial 2: `, where there are several.
fn which(evidence: &Evidence, trial: u32) -> String {
    if evidence.trials.len() > 1 {
        format!("trial {trial}: ")
    } else {
        String::new()
    }
}

/// MLPerf Training: not faster than chance explains.
fn check_convergence(checked: &mut Checked, evidence: &Evidence) {
    const RULE: &str = "convergence";
    let named = evidence.figures.iter();
    for found in named.filter_map(|(name, _)| convergence::of(evidence, name)) {
        match found {
            Ok(found) => {
                let required = format!("at least {} samples", number::grouped(found.fewest));
                let found = format!(
                    "{} samples, {} in the reference",
                    number::grouped(found.samples),
                    number::grouped(found.reference)
                );
                checked.pass(None, RULE, found, &required);
            }
            Err(error) => {
                checked.fail(None, RULE, error.to_string(), "as the reference");
                checked.invalid.push(error.to_string());
            }
        }
    }
}

fn check_trial(checked: &mut Checked, evidence: &Evidence, trial: &TrialEvidence) {
    let which = which(evidence, trial.trial);
    let number = Some(trial.trial);
    let (found, is_failure) = match &trial.outcome {
        StepOutcome::Finished => {
            checked.pass(number, "step", "finished".to_owned(), "finished");
            check_validity(checked, evidence, trial, &which);
            round::check(checked, evidence, trial, &which);
            check_figures(checked, evidence, trial, &which);
            return;
        }
        StepOutcome::Failed { because, .. } => (format!("the step failed: {because}"), true),
        StepOutcome::TimedOut { because } => (format!("the step ran out of time: {because}"), true),
        StepOutcome::NotRun { because } => (format!("the step did not run: {because}"), true),
        StepOutcome::NoNewResult { because } => (format!("no new result: {because}"), false),
    };
    if is_failure {
        checked.fail(number, "step", found.clone(), "finished");
        checked.failed.push(format!("{which}{found}"));
    } else {
        checked.fail(number, "result", found.clone(), "a result of this step");
        checked.invalid.push(format!("{which}{found}"));
    }
}

fn check_validity(checked: &mut Checked, evidence: &Evidence, trial: &TrialEvidence, which: &str) {
    let number = Some(trial.trial);
    let (who, rule) = if evidence.loadgen {
        ("LoadGen says", "LoadGen's result")
    } else {
        ("the benchmark says", "the benchmark's result")
    };
    match &trial.validity {
        Validity::Valid => checked.pass(number, rule, "VALID".to_owned(), "VALID"),
        Validity::Invalid(reasons) => {
            let settings = trial.run_settings.as_ref();
            let says_valid = settings.is_some_and(|said| said.result == Some(ResultWord::Valid));
            let reasons = reasons.join("; ");
            let found = match (reasons.is_empty(), says_valid) {
                (true, _) => "INVALID".to_owned(),
                // The logs contradict LoadGen's own word, or each other.
                (false, true) => reasons,
                (false, false) => format!("INVALID ({reasons})"),
            };
            let who = if says_valid {
                String::new()
            } else {
                format!("{who} ")
            };
            checked.invalid.push(format!("{which}{who}{found}"));
            checked.fail(number, rule, found, "VALID");
        }
        // An accuracy summary has no such line; a performance summary without one was truncated.
        Validity::NotStated if evidence.loadgen && evidence.mode == Mode::Performance => {
            let found = "neither VALID nor INVALID";
            checked
                .invalid
                .push(format!("{which}LoadGen's summary says {found}"));
            checked.fail(number, rule, found.to_owned(), "VALID");
        }
        Validity::NotStated => {}
    }
}

fn check_figures(checked: &mut Checked, evidence: &Evidence, trial: &TrialEvidence, which: &str) {
    let number = Some(trial.trial);
    for (name, _) in &evidence.expect {
        let found = trial.figure(name);
        let shown = found.map_or_else(|| "no such figure".to_owned(), show);
        let required = "a figure above zero";
        // A ratio to it is taken, which zero, less and NaN have none of.
        let samples = trial.parameters.get(convergence::SAMPLES);
        let lost = samples.is_some_and(|samples| convergence::is_infinite(*samples));
        let dropped = convergence::dropped(evidence, name)
            .and_then(|position| evidence.trials.get(position))
            .is_some_and(|dropped| dropped.trial == trial.trial);
        if found.is_some_and(|figure| figure.value.is_finite() && figure.value > 0.0) {
            checked.pass(number, name, shown, required);
        } else if dropped {
            let found = "did not converge: the slowest, which is dropped".to_owned();
            checked.pass(number, name, found, "one such run at most");
        } else {
            checked.invalid.push(match found {
                Some(_) if lost => format!("{which}the run did not converge"),
                Some(_) => format!("{which}{name} is {shown}, which cannot be compared"),
                None => format!("{which}{name} is missing{}", why_missing(trial, name)),
            });
            checked.fail(number, name, shown, required);
        }
    }
    for (name, limit) in &evidence.limits {
        check_limit(checked, trial, which, name, limit);
    }
    check_declared(checked, evidence, trial, which);
    if evidence.expect.is_empty() && evidence.limits.is_empty() {
        // Compliance may be nothing but a word on validity, or rules that were checked; accuracy and
        // speed are figures.
        let word = evidence.mode == Mode::Compliance
            && (trial.validity == Validity::Valid || !evidence.checks.is_empty());
        // A run that did not converge was counted where all logs of the score were checked.
        let samples = trial.parameters.get(convergence::SAMPLES);
        let lost = evidence.scaling.is_some()
            && samples.is_some_and(|samples| convergence::is_infinite(*samples));
        if !word
            && !lost
            && !trial
                .figures
                .values()
                .any(|figure| figure.value.is_finite())
        {
            let why = trial.missing.iter().next();
            let why = why.map_or(String::new(), |(name, because)| {
                format!(": {name}: {because}")
            });
            checked
                .invalid
                .push(format!("{which}it has no figure{why}"));
            checked.fail(number, "figures", "none".to_owned(), "at least one");
        }
    }
}

/// Every figure that the recipe declares is there, whatever is asked of it.
fn check_declared(checked: &mut Checked, evidence: &Evidence, trial: &TrialEvidence, which: &str) {
    let is_asked = |declared: &str| {
        let expected = evidence.expect.iter().map(|(name, _)| name);
        let limited = evidence.limits.iter().map(|(name, _)| name);
        let mut asked = expected.chain(limited);
        asked.any(|name| name == declared || table_of(name) == Some(declared))
    };
    for (name, because) in &trial.missing {
        let is_declared = evidence.figures.iter().any(|(known, _)| known == name);
        if !is_declared || is_asked(name) {
            continue;
        }
        let why = format!("{which}{name} is missing: {because}");
        checked.invalid.push(why);
        let measured = "no such figure".to_owned();
        checked.fail(Some(trial.trial), name, measured, "a figure");
    }
}

fn why_missing(trial: &TrialEvidence, name: &str) -> String {
    let table = table_of(name);
    let because = named(&trial.missing, name);
    let because = because.or_else(|| named(&trial.missing, table?));
    if let Some((_, because)) = because {
        return format!(": {because}");
    }
    let Some(table) = table else {
        return String::new();
    };
    let there = trial.figures.keys().map(String::as_str);
    let there = there.filter(|known| table_of(known) == Some(table));
    format!(": the table has {}", listed(there))
}

fn check_limit(
    checked: &mut Checked,
    trial: &TrialEvidence,
    which: &str,
    name: &str,
    limit: &Limit,
) {
    let found = trial.figure(name);
    let unit = found.map_or("", |figure| figure.unit.as_str());
    let required = described(limit, unit);
    let Some(figure) = found else {
        checked.invalid.push(format!(
            "{which}{name} is missing{}; required {required}",
            why_missing(trial, name)
        ));
        checked.fail(
            Some(trial.trial),
            name,
            "no such figure".to_owned(),
            &required,
        );
        return;
    };
    let shown = show(figure);
    if limit.allows(figure.value) {
        checked.pass(Some(trial.trial), name, shown, &required);
    } else {
        checked
            .invalid
            .push(format!("{which}{name} is {shown}; required {required}"));
        checked.fail(Some(trial.trial), name, shown, &required);
    }
}

fn show(figure: &FigureValue) -> String {
    number::figure(figure.value, &figure.unit)
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
