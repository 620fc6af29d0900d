//! The verdict on one training result: its logs, its system, and its convergence.

use std::path::PathBuf;

use itertools::join;
use jiff::civil::Date;
use rayon::prelude::*;

use super::find::TrainingResult;
use super::round::to_utc_date;
use super::system::{self, TrainingSystem};
use crate::evidence::evidence_lines::add_evidence_lines;
use crate::evidence::figures::for_each_line;
use crate::evidence::identity::ResultRun;
use crate::evidence::texts::TextError;
use crate::evidence::tree::published::ResultKey;
use crate::evidence::tree::{JudgedBenchmark, PublishedFigures, TreeFault};
use crate::verdict::convergence::SAMPLES_PARAMETER;
use crate::verdict::{
    self, BenchmarkVerdict, Evidence, FigureValue, LogIdentity, RuleCheck, RunContext,
    TrialEvidence, TrialLog,
};
use retrial_document::measures::format;
use retrial_mlperf::Division;
use retrial_mlperf::check::{Rule, StatingLines};
use retrial_mlperf::mllog::{SAMPLES_TO_CONVERGE, TIME_TO_TRAIN};
use retrial_mlperf::submission::is_same_organization;
use retrial_mlperf::training::{
    self, LogEnding, LogReader, NamedLog, TrainingRound, TrainingRules,
};
use retrial_recipe::model::{
    Aggregate, Better, FigureLocator, FigureSource, JudgeRules, MatchSelection, MllogFigure, Mode,
    Submission,
};
use retrial_store::open;

const SUITE: &str = "mlperf-training";
/// The name in place of a scenario.
pub const TRAINING_SCENARIO: &str = "training";
/// The largest log that is read: published ones have up to 2.4 MB.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// The rules by which training results are judged, and the published figures to compare with.
#[derive(Debug, Clone, Copy)]
pub struct TrainingContext<'a> {
    /// The round by whose rules results are judged.
    pub round: &'a TrainingRound,
    /// The division by the command line, in place of the one that the system's description states.
    pub division: Option<Division>,
    /// Published figures to compare with.
    pub published: Option<&'a PublishedFigures>,
    /// Margin and confidence of comparisons.
    pub rules: &'a JudgeRules,
}

/// The verdict on one result, and what is remarkable though no rule forbids it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedTraining {
    /// The verdict on the result, with the rules of its benchmark.
    pub judged: JudgedBenchmark,
    /// Remarks on unusual facts that no rule forbids.
    pub remarks: Vec<TreeFault>,
}

/// The evidence of one result, with what else was read.
struct ResultEvidence {
    system: TrainingSystem,
    logs: Vec<NamedLog>,
    evidence: Evidence,
}

fn result_context(
    result: &TrainingResult,
    context: &TrainingContext<'_>,
    division: Option<Division>,
) -> RunContext {
    RunContext {
        submission: Submission {
            suite: SUITE.to_owned(),
            round: Some(context.round.round.clone()),
            division,
            submitter: Some(result.submitter.clone()),
            system: Some(result.system.clone()),
            benchmark: result.benchmark.clone(),
            sources: Vec::new(),
        },
        rules: context.rules.clone(),
        ..RunContext::default()
    }
}

pub fn gather_evidence(
    result: &TrainingResult,
    by: &TrainingContext<'_>,
) -> (RunContext, Evidence) {
    let read = read_result(result, by);
    (result_context(result, by, read.system.division), read.evidence)
}

/// Reads and judges one result.
pub fn judge_training_result(result: &TrainingResult, by: &TrainingContext<'_>) -> JudgedTraining {
    let read = read_result(result, by);
    let context = result_context(result, by, read.system.division);
    let (evidence, rules) = (std::slice::from_ref(&read.evidence), read.system.checks);
    let mut result_verdict = verdict::judge_whole_benchmark(&context, evidence, &rules);
    for judged in &mut result_verdict.results {
        add_evidence_lines(&result.root, judged);
    }
    let is_valid = result_verdict.results.iter().all(|result| result.valid);
    let benchmark = BenchmarkVerdict {
        path: result.relative_path().display().to_string(),
        round: context.submission.round,
        division: context.submission.division,
        submitter: context.submission.submitter,
        system: result.system.clone(),
        system_type: None,
        benchmark: result.benchmark.clone(),
        official: Some(result.benchmark.clone()),
        valid: is_valid && rules.iter().all(|rule| rule.passed),
        rules,
    };
    JudgedTraining {
        remarks: find_remarks(result, &read.logs, by.round),
        judged: JudgedBenchmark {
            owner: benchmark.path.clone(),
            runs: ResultRun::from_evidence(std::slice::from_ref(&read.evidence)),
            verdict: result_verdict,
            benchmark,
        },
    }
}

fn read_result(result: &TrainingResult, by: &TrainingContext<'_>) -> ResultEvidence {
    let described_system = system::read_system(result, by.division);
    let mut evidence = Evidence::new(TRAINING_SCENARIO, Mode::Performance);
    evidence.path = result.relative_path().display().to_string();
    evidence.published_metric = Some(TIME_TO_TRAIN.to_owned());
    evidence.plan.figures = vec![
        (TIME_TO_TRAIN.to_owned(), mllog_source(TIME_TO_TRAIN, "min")),
        (SAMPLES_TO_CONVERGE.to_owned(), mllog_source(SAMPLES_TO_CONVERGE, "")),
    ];
    let named = result.benchmark.as_str();
    let division = described_system.division.unwrap_or(Division::Closed);
    let Some(rules) = by.round.benchmark_rules(named, division) else {
        let benchmarks = join(by.round.benchmark_names(), ", ");
        let required = format!("one of round {}: {benchmarks}", by.round.round);
        evidence.checks.push(RuleCheck::violation("benchmark", named, required));
        return ResultEvidence { system: described_system, logs: Vec::new(), evidence };
    };
    let logs = read_logs(result, &rules, &mut evidence.checks);
    evidence.checks.extend(check_against_path(&rules, &logs));
    let scaling = system::read_scaling_factor(result).unwrap_or_else(|check| {
        evidence.checks.push(*check);
        None
    });
    let checked = training::check_result(&rules, &logs, scaling);
    evidence.checks.extend(checked.checks);
    evidence.scaling = Some(checked.factor);
    evidence.trials =
        (1..).zip(&logs).map(|(number, log)| trial_evidence(number, result, log)).collect();
    if let Some(published) = by.published {
        let key = ResultKey {
            division: Some(division),
            submitter: Some(&result.submitter),
            system: Some(&result.system),
            benchmark: &result.benchmark,
            official: named,
            scenario: &TRAINING_SCENARIO.into(),
        };
        let published_time = published.expectation(&key, "min");
        let expectation = published_time.map(|expected| (TIME_TO_TRAIN.to_owned(), vec![expected]));
        evidence.plan.expect.extend(expectation);
    }
    ResultEvidence { system: described_system, logs, evidence }
}

fn mllog_source(key: &str, unit: &str) -> FigureSource {
    FigureSource {
        find: FigureLocator::Mllog(MllogFigure { key: key.to_owned(), ..MllogFigure::default() }),
        file: None,
        by: Vec::new(),
        unit: (!unit.is_empty()).then(|| unit.to_owned()),
        label: None,
        better: Better::Lower,
        take: Some(MatchSelection::Last),
        skip: None,
        aggregate: Aggregate::Olympic,
        noise: None,
    }
}

fn read_logs(
    result: &TrainingResult,
    rules: &TrainingRules,
    checks: &mut Vec<RuleCheck>,
) -> Vec<NamedLog> {
    let reading = result.logs.par_iter().map(|name| {
        let mut file = open::open_beneath(&result.root, &result.relative_path().join(name))?;
        if file.metadata()?.len() > MAX_LOG_BYTES {
            let limit = format::format_bytes(MAX_LOG_BYTES);
            return Err(TextError::TooLarge { limit });
        }
        let mut reader = LogReader::new(rules, name);
        for_each_line(&mut file, |line| reader.feed_line(line))?;
        Ok(reader.finish())
    });
    let read: Vec<Result<_, TextError>> = reading.collect();
    let mut logs = Vec::new();
    for (name, log) in result.logs.iter().zip(read) {
        match log {
            Ok(log) => logs.push(NamedLog { name: name.clone(), log }),
            Err(error) => {
                let unreadable = RuleCheck::violation(name, error.to_string(), "a log of a run");
                checks.push(unreadable);
            }
        }
    }
    logs
}

/// Benchmark and division are the folder's and the system's; the first log that says otherwise is
/// reported, since logs of one result are also compared with each other.
fn check_against_path(rules: &TrainingRules, logs: &[NamedLog]) -> Vec<RuleCheck> {
    let expected = [
        ("submission_benchmark", rules.benchmark.as_str(), "as its folder"),
        ("submission_division", rules.division.word(), "as its system's description"),
    ];
    let differing = expected.into_iter().filter_map(|(key, expected, basis)| {
        let (log, stated) = logs.iter().find_map(|log| {
            let stated = log.log.setting_text(key)?;
            (stated != expected).then_some((log, stated))
        })?;
        let line = StatingLines::of_line(&log.name, log.log.settings.get(key)?.line);
        let rule = Rule::stated_in(format!("{}: {key}", log.name), line);
        Some(RuleCheck::violation(rule, stated, format!("{expected}, {basis}")))
    });
    differing.collect()
}

fn trial_evidence(number: u32, result: &TrainingResult, log: &NamedLog) -> TrialEvidence {
    let path = result.relative_path().join(&log.name);
    let mut trial = TrialEvidence::new_finished(number, path.display().to_string());
    trial.logs.push(TrialLog {
        directory: result.relative_path().display().to_string(),
        file: log.name.clone(),
        identity: LogIdentity::Training(log.log.identity()),
    });
    let figures = [
        (TIME_TO_TRAIN, log.log.minutes, "min"),
        (SAMPLES_TO_CONVERGE, log.log.converged_after, ""),
    ];
    for (name, value, unit) in figures {
        let named_value = value.map(|value| (name.to_owned(), FigureValue::new(value, unit)));
        trial.figures.extend(named_value);
    }
    let samples = log.log.converged_after.map(|samples| (SAMPLES_PARAMETER.to_owned(), samples));
    trial.parameters.extend(samples);
    trial
}

/// Returns remarks on what no rule forbids: a run that failed, logs of another organization, and logs of a later round
/// than is known.
fn find_remarks(
    result: &TrainingResult,
    logs: &[NamedLog],
    round: &TrainingRound,
) -> Vec<TreeFault> {
    let remark = |path: PathBuf, actual: String, required: &str| TreeFault {
        is_violation: false,
        ..TreeFault::new(&path, actual, required)
    };
    let lost = logs.iter().filter_map(|log| {
        let actual = match log.log.ending {
            LogEnding::Converged => return None,
            LogEnding::Aborted => "the run did not converge".to_owned(),
            LogEnding::Truncated => format!("incomplete log: it ends after {}", log.log.last_event),
        };
        let path = result.relative_path().join(&log.name);
        Some(remark(path, actual, "at most one such run, which counts as the slowest"))
    });
    let organization = logs.first().and_then(|log| log.log.setting_text("submission_org"));
    let other_organization = organization.filter(|name| {
        !name.contains("PLACEHOLDER") && !is_same_organization(name, &result.submitter)
    });
    let other = other_organization.map(|name| {
        let actual = format!("its logs name the submitter {name}");
        remark(result.relative_path(), actual, &result.submitter)
    });
    let later = day_after_round(round, logs).map(|day| {
        let (name, ended) = (&round.round, round.last_day);
        let actual =
            format!("its logs are of {day}, and the submissions of {name} ended on {ended}");
        let required = format!("the rules of a later round, which are not known: those of {name}");
        remark(result.relative_path(), actual, &required)
    });
    lost.chain(other).chain(later).collect()
}

/// Returns the day of the newest log, if the submissions of the newest round that is known had ended before.
fn day_after_round(round: &TrainingRound, logs: &[NamedLog]) -> Option<Date> {
    let days = logs.iter().filter_map(|log| to_utc_date(log.log.started_ms?));
    let newest = days.max()?;
    (round.is_newest() && round.ended_before(newest)).then_some(newest)
}
