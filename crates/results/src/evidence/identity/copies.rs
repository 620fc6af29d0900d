//! Copies of logs among the trials of a measurement, and among the measurements of a run.

use std::ffi::OsStr;
use std::path::Path;

use itertools::Itertools as _;

use crate::evidence::result_path::trial_number;
use crate::verdict::{
    Evidence, FigureLocation, LogIdentity, RuleCheck, StepOutcome, TrialEvidence, TrialLog,
};
use retrial_mlperf::check::Rule;
use retrial_mlperf::loadgen::TestScenario;
use retrial_plan::Plan;
use retrial_recipe::model::Mode;

/// Takes the figures from each trial whose log is a copy of an earlier one's, and says so: it is no trial of its
/// own. A log that is also in the folder that holds the trials claims no further one, and is only
/// noted.
pub fn reject_copies(evidence: &mut Evidence) {
    note_copies_above_trials(evidence);
    for at in 0..evidence.trials.len() {
        let (before, rest) = evidence.trials.split_at_mut(at);
        let earlier = evidence.warmups.iter().chain(&*before);
        if let Some(copied) = find_copy(&rest[0], earlier) {
            reject_trial(&mut rest[0], copied);
        }
    }
}

/// Takes the figures from each trial of a run that an earlier run has, too: one run may be named twice, or lie in two
/// directories.
pub fn reject_copies_of_run(run: &mut [Evidence], earlier: &[Evidence]) {
    for trial in run.iter_mut().flat_map(|evidence| &mut evidence.trials) {
        if let Some(copied) = find_copy_of_run(trial, earlier) {
            reject_trial(trial, copied);
        }
    }
}

/// Returns what of a trial an earlier run has, too.
pub fn find_copy_of_run<'a>(
    trial: &TrialEvidence,
    earlier: impl IntoIterator<Item = &'a Evidence>,
) -> Option<String> {
    let earlier = earlier.into_iter();
    let trials: Vec<_> = earlier.flat_map(|one| one.trials.iter().chain(&one.warmups)).collect();
    let same = trials.iter().find_map(|other| {
        let is_same_step = trial.step.is_some() && trial.step == other.step;
        if is_same_step && trial.figures == other.figures {
            return Some(format!("{} is of the same step as {}", trial.path, other.path));
        }
        let log = trial.logs.iter().find(|log| other.logs.contains(log))?;
        Some(format!("{} is read a second time", log.file))
    });
    same.or_else(|| find_copy(trial, trials.iter().copied()))
}

fn reject_trial(trial: &mut TrialEvidence, reason: String) {
    if trial.outcome == StepOutcome::Finished {
        trial.outcome = StepOutcome::NoNewResult { reason };
    }
    trial.figures.clear();
    trial.missing.clear();
}

/// Drops results in the folder that holds the trials' folders, `run_1`, `run_2`, if they are copies of one of
/// these. MLPerf's checker reads the trials' folders only.
fn note_copies_above_trials(evidence: &mut Evidence) {
    let trials = std::mem::take(&mut evidence.trials);
    for trial in &trials {
        let copied = find_copied_log(trial, trials.iter());
        match copied.filter(|(copy, original)| is_in_trial_folder_below(original, copy)) {
            Some((copy, original)) => {
                let measured = describe_copy(copy, original);
                let check = RuleCheck::warning("logs", measured, "results only in trials' folders");
                evidence.checks.push(check);
            }
            None => evidence.trials.push(trial.clone()),
        }
    }
}

/// Returns whether a log lies in a trial's folder, such as `run_1`, within the folder of another log.
fn is_in_trial_folder_below(log: &TrialLog, above: &TrialLog) -> bool {
    let folder = Path::new(&log.directory);
    let name = folder.file_name().and_then(OsStr::to_str);
    folder.parent() == Some(Path::new(&above.directory)) && name.and_then(trial_number).is_some()
}

/// Adds a check to each measurement that has a log of an earlier one. Measurements that share a command read
/// the same results.
pub fn check_copied_measurements(all: &mut [Evidence], plan: Option<&Plan>) {
    if let Some(plan) = plan {
        reject_shared_records(all, plan);
    }
    for at in 1..all.len() {
        let (earlier, rest) = all.split_at_mut(at);
        let evidence = &mut rest[0];
        let mut others = earlier
            .iter()
            .filter(|other| !plan.is_some_and(|plan| share_step(plan, evidence, other)));
        let check = others.find_map(|other| check_shared_log(evidence, other));
        evidence.checks.extend(check);
    }
}

/// Adds a failed check to each of two scenarios of which a figure is read of the same record, unless one command
/// measures both: of which it is, is unknown.
fn reject_shared_records(all: &mut [Evidence], plan: &Plan) {
    let pairs = (0..all.len()).tuple_combinations();
    let shared: Vec<(usize, usize, String)> = pairs
        .filter_map(|(one, other)| {
            let record = find_shared_record(&all[one], &all[other])?;
            let is_other_claim = all[one].plan.mode == all[other].plan.mode
                && all[one].plan.scenario != all[other].plan.scenario
                && !share_step(plan, &all[one], &all[other]);
            is_other_claim.then_some((one, other, record))
        })
        .collect();
    for (one, other, record) in shared {
        for (at, with) in [(one, other), (other, one)] {
            let measured = format!("{record} is read for {}, too", all[with].plan.scenario);
            let required = "results of its own for each scenario; --scenario NAME: which was run";
            let check = RuleCheck::violation("results", measured, required);
            all[at].checks.push(check);
        }
    }
}

/// Returns a record of which figures of both are read: `output.log, line 3`.
fn find_shared_record(one: &Evidence, other: &Evidence) -> Option<String> {
    let mut pairs = one.trials.iter().cartesian_product(&other.trials);
    pairs.find_map(|(one, other)| {
        let mut logs = one.logs.iter();
        logs.find_map(|log| {
            let is_same =
                |other: &&TrialLog| (&other.directory, &other.file) == (&log.directory, &log.file);
            other.logs.iter().find(is_same)?;
            if let LogIdentity::Training(_) = log.identity {
                return Some(log.file.clone());
            }
            let origins = |trial: &'_ TrialEvidence| -> Vec<FigureLocation> {
                let origins = trial.figures.values().filter_map(|figure| figure.origin.clone());
                origins.filter(|origin| origin.file == log.file).collect()
            };
            let others = origins(other);
            let mut own = origins(one).into_iter();
            own.find(|origin| others.iter().any(|other| other.line == origin.line)).map(|origin| {
                FigureLocation { passed_over: None, repeated: None, ..origin }.to_string()
            })
        })
    })
}

/// Returns which log of a trial is a copy of an earlier trial's.
fn find_copy<'a>(
    trial: &'a TrialEvidence,
    earlier: impl Iterator<Item = &'a TrialEvidence>,
) -> Option<String> {
    find_copied_log(trial, earlier).map(|(copy, original)| describe_copy(copy, original))
}

fn find_copied_log<'a>(
    trial: &'a TrialEvidence,
    earlier: impl Iterator<Item = &'a TrialEvidence>,
) -> Option<(&'a TrialLog, &'a TrialLog)> {
    let mut logs = earlier.flat_map(|earlier| &earlier.logs);
    logs.find_map(|original| {
        let copy = trial.logs.iter().find(|log| log.is_copy_of(original))?;
        Some((copy, original))
    })
}

pub(super) fn describe_copy(copy: &TrialLog, original: &TrialLog) -> String {
    let (copy, original) = copy.relative_names(original);
    format!("{copy} is of the same run as {original}")
}

/// Checks that a measurement has no log of another one: a test or a scenario with that of another has not been run. A
/// folder that is read twice is no second claim.
pub(crate) fn check_shared_log(evidence: &Evidence, other: &Evidence) -> Option<RuleCheck> {
    let mut trials = evidence.trials.iter();
    let measured = trials.find_map(|trial| find_copy(trial, other.trials.iter()))?;
    let required = "a run of its own for each measurement";
    // Two logs of one run begin at the same time.
    let rule = Rule::of_entries("logs", ["test_datetime"]);
    let modes = [evidence.plan.mode, other.plan.mode];
    let is_other_scenario = modes[0] == modes[1]
        && evidence.plan.scenario != other.plan.scenario
        && !is_inferred(evidence)
        && !is_inferred(other);
    let is_test = modes[0] != modes[1] && modes.contains(&Mode::Compliance);
    Some(if is_other_scenario || is_test {
        RuleCheck::violation(rule, measured, required)
    } else {
        RuleCheck::warning(rule, measured, required)
    })
}

/// Returns whether `LoadGen` ran another scenario than the result's: an edge system's may stand for others.
fn is_inferred(result: &Evidence) -> bool {
    let mut settings = result.trials.iter().filter_map(|trial| trial.run_settings.as_ref());
    let ran = settings.find_map(|settings| settings.scenario).filter(|_| result.plan.loadgen);
    let scenario = result.plan.scenario.test_scenario().map(TestScenario::to_logged);
    ran.is_some_and(|ran| Some(ran.to_logged()) != scenario)
}

/// Returns whether one step measures both.
fn share_step(plan: &Plan, one: &Evidence, other: &Evidence) -> bool {
    let index = |evidence: &Evidence| {
        let mut measurements = plan.measurements.iter();
        measurements.position(|measured| {
            measured.key == evidence.plan.key && measured.mode == evidence.plan.mode
        })
    };
    let Some((one, other)) = index(one).zip(index(other)) else {
        return false;
    };
    let mut steps = plan.steps.iter().filter(|step| step.runs_measurement());
    steps.any(|step| {
        step.measurement_and_trial().is_some_and(|(_, trial)| {
            step.belongs_to_trial(one, trial) && step.belongs_to_trial(other, trial)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::FigureValue;
    use retrial_mlperf::mllog::TrainingRunIdentity;

    fn trial(number: u32, file: &str, started_ms: f64) -> TrialEvidence {
        let mut trial = TrialEvidence::new_finished(number, "out");
        trial.figures.insert("ttt".to_owned(), FigureValue::new(21.5, "min"));
        trial.logs.push(TrialLog {
            directory: "out".to_owned(),
            file: file.to_owned(),
            identity: LogIdentity::Training(TrainingRunIdentity {
                started_ms: Some(started_ms),
                elapsed_ms: Some(5000.0),
                ..TrainingRunIdentity::default()
            }),
        });
        trial
    }

    fn evidence(scenario: &str, trials: Vec<TrialEvidence>) -> Evidence {
        Evidence { trials, ..Evidence::new(scenario, Mode::Performance) }
    }

    const START: f64 = 1_759_734_393_481.0;

    #[test]
    fn a_copied_log_is_no_trial_and_is_named_with_its_original() {
        let trials = vec![
            trial(1, "result_0.txt", START),
            trial(2, "result_1.txt", START + 9000.0),
            trial(3, "result_2.txt", START),
        ];
        let mut evidence = evidence("training", trials);
        reject_copies(&mut evidence);
        let [first, second, copy] = &evidence.trials[..] else { panic!() };
        assert_eq!(first.outcome, StepOutcome::Finished);
        assert_eq!(second.outcome, StepOutcome::Finished);
        let reason = "result_2.txt is of the same run as result_0.txt".to_owned();
        assert_eq!(copy.outcome, StepOutcome::NoNewResult { reason });
        assert!(copy.figures.is_empty());
    }

    #[test]
    fn a_copy_in_the_folder_that_holds_the_trials_is_noted_and_is_no_trial() {
        let mut trials = vec![
            trial(1, "result.txt", START),
            trial(2, "result.txt", START + 9000.0),
            trial(3, "result.txt", START),
        ];
        let folders = ["performance/run_1", "performance/run_2", "performance"];
        for (trial, folder) in trials.iter_mut().zip(folders) {
            folder.clone_into(&mut trial.logs[0].directory);
        }
        let mut evidence = evidence("training", trials);
        reject_copies(&mut evidence);
        let numbers: Vec<u32> = evidence.trials.iter().map(|trial| trial.trial).collect();
        assert_eq!(numbers, [1, 2]);
        let [note] = &evidence.checks[..] else { panic!("{:?}", evidence.checks) };
        let measured = "result.txt is of the same run as run_1/result.txt";
        assert!(note.passed && note.warning && note.measured == measured, "{note:?}");
    }

    #[test]
    fn a_copied_warm_up_is_no_trial() {
        let mut evidence = evidence("training", vec![trial(2, "result_1.txt", START)]);
        evidence.warmups = vec![trial(1, "result_0.txt", START)];
        reject_copies(&mut evidence);
        assert!(evidence.trials[0].figures.is_empty());
    }

    #[test]
    fn a_log_is_no_result_of_two_scenarios() {
        let mut all = [
            evidence("8k", vec![trial(1, "8k.txt", START)]),
            evidence("16k", vec![trial(1, "16k.txt", START)]),
            evidence("16k", vec![trial(1, "16k-again.txt", START)]),
            evidence("32k", vec![trial(1, "32k.txt", START + 9000.0)]),
        ];
        check_copied_measurements(&mut all, None);
        let measured = |evidence: &Evidence| {
            let check = evidence.checks.first()?;
            Some((check.passed, check.measured.clone()))
        };
        let checks: Vec<_> = all.iter().map(measured).collect();
        let copy = |passed, text: &str| Some((passed, text.to_owned()));
        assert_eq!(
            checks,
            [
                None,
                copy(false, "16k.txt is of the same run as 8k.txt"),
                copy(false, "16k-again.txt is of the same run as 8k.txt"),
                None
            ]
        );
        let mut twice = [all[1].clone(), all[2].clone()];
        for one in &mut twice {
            one.checks.clear();
        }
        check_copied_measurements(&mut twice, None);
        assert!(twice[1].checks[0].passed && twice[1].checks[0].warning);
    }

    #[test]
    fn figures_of_one_file_may_belong_to_two_measurements() {
        let mut all = [
            evidence("8k", vec![trial(1, "log.txt", START)]),
            evidence("16k", vec![trial(1, "log.txt", START)]),
        ];
        check_copied_measurements(&mut all, None);
        assert!(all[1].checks.is_empty());
    }
}
