//! The rules of a round as its file has them, and those of one benchmark in one division.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::civil::Date;
use serde::Deserialize;

use super::convergence::ReferencePoints;
use super::rule::{KeyRule, NumberRange};
use super::schedule::EvaluationSchedule;
use crate::{Division, built_in};

/// Rules by the key of a log's event.
pub(super) type KeyRules = BTreeMap<String, KeyRule>;

/// A round: its rules for each benchmark in each division.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRound {
    /// The name of the round, `v5.1`.
    pub round: String,
    /// Where its rules were published.
    pub sources: Vec<String>,
    /// The end of its submissions: a newer log is of a later round.
    pub last_day: Date,
    keys: KeyRules,
    closed: DivisionRules,
    open: DivisionRules,
    benchmarks: BTreeMap<String, BenchmarkRules>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DivisionRules {
    init_minutes: f64,
    #[serde(default)]
    keys: KeyRules,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchmarkRules {
    runs: u32,
    closed: BenchmarkDivisionRules,
    open: BenchmarkDivisionRules,
    rcp: ReferencePoints,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchmarkDivisionRules {
    evaluation: EvaluationRules,
    #[serde(default)]
    keys: KeyRules,
}

/// The form in which a run's quality is logged, and its target.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EvaluationRules {
    /// The event that logs it.
    #[serde(default = "default_evaluation_key")]
    pub key: String,
    /// The unit of convergence: `samples_count` or `epoch_num`.
    pub counts: String,
    /// The value that one evaluation must have.
    #[serde(default)]
    pub target: NumberRange,
    /// The range of every evaluation's value.
    #[serde(default)]
    pub each: Option<NumberRange>,
    /// When a run is evaluated.
    #[serde(default)]
    pub schedule: EvaluationSchedule,
    /// Targets by metric, where one evaluation logs several. They are computed after the clock has
    /// stopped, of checkpoints.
    #[serde(default)]
    pub metrics: BTreeMap<String, NumberRange>,
    /// The fewest evaluations of a run.
    #[serde(default = "default_min_evaluations")]
    pub least: usize,
}

fn default_evaluation_key() -> String {
    "eval_accuracy".to_owned()
}

fn default_min_evaluations() -> usize {
    1
}

/// A round's rules for one benchmark in one division.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingRules {
    /// The name of the round, `v5.1`.
    pub round: String,
    /// The benchmark, for example `llama2_70b_lora`.
    pub benchmark: String,
    pub division: Division,
    /// The number of logs of a result.
    pub runs: u32,
    /// Every key's rule: of all logs, of the division, of the benchmark; the last one counts.
    pub(super) keys: KeyRules,
    /// The benchmark's own keys, which are the same in all logs of a result.
    pub(super) settings: Vec<String>,
    pub(super) evaluation: EvaluationRules,
    /// Minutes from the first `init_start` to `init_stop`, at most.
    pub(super) init_minutes: f64,
    /// The reference convergence points; only the closed division has them.
    pub(super) reference: Option<ReferencePoints>,
}

impl TrainingRound {
    /// Returns whether its submissions had ended before this day.
    pub fn ended_before(&self, day: Date) -> bool {
        self.last_day < day
    }

    /// Returns whether no later round is known.
    pub fn is_newest(&self) -> bool {
        built_in_training_rounds().last().is_some_and(|last| last.round == self.round)
    }

    /// Returns the round's benchmarks, sorted.
    pub fn benchmark_names(&self) -> impl Iterator<Item = &str> {
        self.benchmarks.keys().map(String::as_str)
    }

    /// Returns its rules for a benchmark; `None` where it does not have it.
    pub fn benchmark_rules(&self, benchmark: &str, division: Division) -> Option<TrainingRules> {
        let rules = self.benchmarks.get(benchmark)?;
        let (of_division, own) = match division {
            Division::Open => (&self.open, &rules.open),
            Division::Closed | Division::Network => (&self.closed, &rules.closed),
        };
        let mut keys = self.keys.clone();
        keys.extend(of_division.keys.clone());
        keys.extend(own.keys.clone());
        Some(TrainingRules {
            round: self.round.clone(),
            benchmark: benchmark.to_owned(),
            division,
            runs: rules.runs,
            settings: own.keys.keys().cloned().collect(),
            keys,
            evaluation: own.evaluation.clone(),
            init_minutes: of_division.init_minutes,
            reference: (division == Division::Closed).then(|| rules.rcp.clone()),
        })
    }
}

impl TrainingRules {
    /// Quality is computed after the clock has stopped.
    pub(super) fn is_evaluated_later(&self) -> bool {
        !self.evaluation.metrics.is_empty()
    }
}

const SUITE: &str = "mlperf-training";

static BUILT_IN: LazyLock<Vec<TrainingRound>> = LazyLock::new(|| {
    let rounds = crate::rounds::built_in_texts(SUITE).map(|(round, text)| {
        let path = format!("rules/{SUITE}/{round}.yaml");
        built_in::unwrap_built_in(&path, serde_saphyr::from_str(text))
    });
    rounds.collect()
});

/// Returns the built-in rounds, the oldest first.
pub fn built_in_training_rounds() -> &'static [TrainingRound] {
    &BUILT_IN
}

/// Returns the round that has all of these benchmarks, and whose submissions ended no earlier than this day:
/// the first of several. Logs do not name their round. Newer logs than those of any known round are of
/// the newest one that is known if it has one of the benchmarks.
pub fn find_training_round<'a>(
    benchmarks: &[&str],
    newest: Option<Date>,
) -> Option<&'a TrainingRound> {
    let has = |round: &TrainingRound, name: &str| round.benchmarks.contains_key(name);
    let fits = |round: &TrainingRound| {
        newest.is_none_or(|day| day <= round.last_day)
            && benchmarks.iter().all(|name| has(round, name))
    };
    let last = built_in_training_rounds().last().filter(|last| {
        newest.is_some_and(|day| last.ended_before(day))
            && benchmarks.iter().any(|name| has(last, name))
    });
    built_in_training_rounds().iter().find(|round| fits(round)).or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_round_is_read() {
        let texts: Vec<_> = crate::rounds::built_in_texts("mlperf-training").collect();
        for (name, text) in &texts {
            let round: TrainingRound =
                serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(&round.round, name);
            for benchmark in round.benchmark_names() {
                for division in [Division::Closed, Division::Open] {
                    let rules = round.benchmark_rules(benchmark, division).unwrap();
                    assert!(rules.runs >= 3 && rules.keys.len() > 15, "{benchmark}");
                }
            }
        }
        let names: Vec<&str> =
            built_in_training_rounds().iter().map(|round| &*round.round).collect();
        assert_eq!(names, ["v5.0", "v5.1", "v6.0", "v6.1"]);
    }

    #[test]
    fn a_round_is_identified_by_benchmarks_and_dates() {
        let day = |text: &str| Some(text.parse().unwrap());
        let of = |benchmarks: &[&str], newest: Option<Date>| {
            find_training_round(benchmarks, newest).map(|round| round.round.as_str())
        };
        assert_eq!(of(&["bert"], None), Some("v5.0"));
        assert_eq!(of(&["rgat"], day("2025-04-30")), Some("v5.0"));
        assert_eq!(of(&["rgat"], day("2025-10-02")), Some("v5.1"));
        assert_eq!(of(&["rgat", "flux1"], day("2024-10-04")), Some("v5.1"));
        assert_eq!(of(&["flux1"], day("2026-04-30")), Some("v6.0"));
        assert_eq!(of(&["bert"], day("2025-10-02")), None);
        assert_eq!(of(&["resnet"], None), None);
        assert_eq!(of(&["flux1"], day("2026-11-02")), Some("v6.1"));
        assert_eq!(of(&["dlrmv4"], None), Some("v6.1"));
        assert_eq!(of(&["llama31_405b"], day("2026-11-02")), None);
    }

    #[test]
    fn newer_logs_are_of_the_newest_round() {
        let later = Some("2028-03-01".parse().unwrap());
        let of =
            |benchmarks: &[&str]| find_training_round(benchmarks, later).map(|round| &*round.round);
        let newest = built_in_training_rounds().last().map(|round| &*round.round);
        assert_eq!(of(&["flux1"]), newest);
        assert_eq!(of(&["flux1", "bert"]), newest);
        assert_eq!(of(&["bert"]), None);
    }
}
