//! Verdicts on the results of one benchmark on one system, and on the benchmark as a whole.

use super::gather::gather_place;
use super::submission::{ScenarioFolder, SubmittedBenchmark};
use super::system::{self, InferenceSystem};
use super::{JudgeContext, files, one_result, performance, required};
use crate::evidence::evidence_lines::add_evidence_lines;
use crate::evidence::identity::ResultRun;
use crate::verdict::{self, BenchmarkVerdict, RunContext, Verdict, qualifier_of_part};
use retrial_recipe::model::{Mode, Submission};

/// The suite of all submission trees.
const SUITE: &str = "mlperf-inference";

/// The verdicts on one benchmark on one system.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedBenchmark {
    pub verdict: Verdict,
    /// The benchmark as a whole: its scenarios, its system.
    pub benchmark: BenchmarkVerdict,
    /// The owner of the results: a benchmark's two targets of accuracy may have one run on a system.
    pub owner: String,
    /// Its runs, by which copies in other results are found.
    pub runs: Vec<ResultRun>,
}

/// Returns the context of a benchmark on a system, whatever its scenarios measured.
pub fn benchmark_context(
    benchmark: &SubmittedBenchmark,
    judge_context: &JudgeContext<'_>,
) -> RunContext {
    let submitter = &benchmark.submitter;
    let with_accuracy = benchmark.scenarios.iter().filter(|place| performance::has_accuracy(place));
    RunContext {
        submission: Submission {
            suite: SUITE.to_owned(),
            round: judge_context.round.map(|round| round.round.clone()),
            division: Some(submitter.division),
            submitter: Some(submitter.name.clone()),
            system: Some(benchmark.system.clone()),
            benchmark: benchmark.name.clone(),
            sources: Vec::new(),
        },
        rules: judge_context.rules.clone(),
        part: qualifier_of_part(&benchmark.excluded),
        require_accuracy: judge_context.require_accuracy,
        accuracy_scenarios: with_accuracy.map(ScenarioFolder::scenario_name).collect(),
        ..RunContext::default()
    }
}

/// Reads and judges the scenarios of a benchmark, in their order.
pub fn judge_benchmark(
    benchmark: &SubmittedBenchmark,
    judge_context: &JudgeContext<'_>,
) -> JudgedBenchmark {
    let InferenceSystem { kind, checks } = system::read_system(benchmark);
    let (mut rules, mut missing, mut evidence) = (checks, Vec::new(), Vec::new());
    let mut official = None;
    for scenario in &benchmark.scenarios {
        let gathered = gather_place(scenario, judge_context);
        official = official.or(gathered.rules.map(|rules| rules.benchmark));
        rules.extend(gathered.rules_of_benchmark);
        missing.extend(gathered.missing);
        evidence.extend(gathered.evidence);
    }
    one_result::check_copied_scenarios(&mut evidence);
    rules.extend(one_result::compare_tokens_of_scenarios(&evidence));
    rules.extend(files::check_missing_files(&missing, &benchmark.relative_path()));
    rules.extend(required::check_benchmark(benchmark, kind, judge_context));
    let context = benchmark_context(benchmark, judge_context);
    let mut results_verdict = verdict::judge_whole_benchmark(&context, &evidence, &rules);
    for result in &mut results_verdict.results {
        add_evidence_lines(&benchmark.submitter.root, result);
    }
    let runs = ResultRun::from_evidence(&evidence);
    let suite_name = official.as_ref().unwrap_or(&benchmark.name);
    let family = suite_name.trim_end_matches("-99.9").trim_end_matches("-99");
    let owner = format!("{}/{}/{family}", benchmark.submitter.name, benchmark.system);
    let mut results = results_verdict.results.iter();
    let is_valid = results.all(|result| result.valid || result.mode == Mode::Compliance);
    let benchmark = BenchmarkVerdict {
        path: benchmark.relative_path().display().to_string(),
        round: context.submission.round,
        division: context.submission.division,
        submitter: context.submission.submitter,
        system: benchmark.system.clone(),
        system_type: kind,
        benchmark: benchmark.name.clone(),
        official,
        valid: is_valid && rules.iter().all(|rule| rule.passed),
        rules,
    };
    JudgedBenchmark { verdict: results_verdict, benchmark, owner, runs }
}
