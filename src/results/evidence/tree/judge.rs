//! Verdicts on the results of one benchmark on one system, and on the benchmark as a whole.

use super::files::{self, Missing};
use super::gather::{Gathered, gather};
use super::submission::{Benchmark, ScenarioFolder};
use super::{JudgeContext, accuracy, required, system};
use crate::results::verdict::{self, BenchmarkVerdict, Context, Evidence, Verdict};
use retrial_recipe::model::{Mode, Submission};

/// The suite of all submission trees.
const SUITE: &str = "mlperf-inference";

/// What is said of one benchmark on one system.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Its results.
    pub verdict: Verdict,
    /// The benchmark as a whole: its scenarios, its system.
    pub benchmark: BenchmarkVerdict,
}

/// Reads and judges a benchmark's places.
#[must_use]
pub fn judge(benchmark: &Benchmark, judge_context: &JudgeContext<'_>) -> Judged {
    let gathered = benchmark
        .scenarios
        .iter()
        .map(|place| gather(place, judge_context))
        .collect();
    judge_gathered(benchmark, gathered, judge_context)
}

/// What holds for a benchmark on a system, whatever its scenarios measured.
#[must_use]
pub fn context(benchmark: &Benchmark, judge_context: &JudgeContext<'_>) -> Context {
    let submitter = &benchmark.submitter;
    let with_accuracy = benchmark
        .scenarios
        .iter()
        .filter(|place| accuracy::is_there(place));
    Context {
        submission: Submission {
            suite: SUITE.to_owned(),
            round: judge_context.round.map(|round| round.round.clone()),
            division: Some(submitter.division.clone()),
            submitter: Some(submitter.name.clone()),
            system: Some(benchmark.system.clone()),
            benchmark: benchmark.name.clone(),
            sources: Vec::new(),
        },
        rules: judge_context.rules.clone(),
        require_accuracy: judge_context.require_accuracy,
        accuracy_scenarios: with_accuracy.map(ScenarioFolder::scenario_name).collect(),
        ..Context::default()
    }
}

/// Judges what was read of a benchmark's places, in their order.
#[must_use]
pub fn judge_gathered(
    benchmark: &Benchmark,
    gathered: Vec<Gathered>,
    judge_context: &JudgeContext<'_>,
) -> Judged {
    let system = system::read(benchmark);
    let official = gathered.iter().find_map(|one| one.rules.as_ref());
    let official = official.map(|rules| rules.benchmark.clone());
    let mut rules = system.checks;
    let missing: Vec<Missing> = gathered
        .iter()
        .flat_map(|one| one.missing.clone())
        .collect();
    rules.extend(
        gathered
            .iter()
            .flat_map(|one| one.rules_of_benchmark.clone()),
    );
    rules.extend(files::check(&missing, &benchmark.relative()));
    let evidence: Vec<Evidence> = gathered.into_iter().flat_map(|one| one.evidence).collect();
    let submitter = &benchmark.submitter;
    let context = context(benchmark, judge_context);
    rules.extend(required::check(benchmark, system.kind, judge_context));
    let verdict = verdict::judge(&context, &evidence);
    let benchmark = BenchmarkVerdict {
        path: benchmark.relative().display().to_string(),
        round: context.submission.round,
        division: Some(submitter.division.clone()),
        submitter: Some(submitter.name.clone()),
        system: benchmark.system.clone(),
        system_type: system.kind,
        benchmark: benchmark.name.clone(),
        official,
        valid: rules.iter().all(|rule| rule.passed)
            && verdict
                .results
                .iter()
                .filter(|result| result.mode != Mode::Compliance)
                .all(|result| result.valid),
        rules,
    };
    Judged { verdict, benchmark }
}
