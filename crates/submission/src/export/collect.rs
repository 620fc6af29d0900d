//! Collects the results of the runs, each once.

use std::collections::BTreeMap;

use super::choose::{RepresentativeTrial, choose_trial};
use super::model::{ExportError, ExportRequest, SourceRun};
use super::names;
use super::system::describe_difference;
use retrial_document::did_you_mean;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::Round;
use retrial_recipe::model::Mode;
use retrial_results::evidence::folder::SUMMARY;

/// The results of one benchmark in one scenario.
#[derive(Debug, Default)]
pub(super) struct ScenarioResults<'a> {
    pub performance: Option<RepresentativeTrial<'a>>,
    pub accuracy: Option<RepresentativeTrial<'a>>,
    /// The runs of compliance tests by the test's name, each with the test's folder among its results.
    pub tests: BTreeMap<String, (RepresentativeTrial<'a>, String)>,
    /// Runs of the audit without a test's folder.
    pub without_test: Vec<RepresentativeTrial<'a>>,
}

impl<'a> ScenarioResults<'a> {
    /// Returns all of its runs.
    pub fn chosen_trials(&self) -> impl Iterator<Item = &RepresentativeTrial<'a>> {
        let measured = self.performance.iter().chain(&self.accuracy);
        let tests = self.tests.values().map(|(chosen, _)| chosen);
        measured.chain(tests).chain(&self.without_test)
    }
}

#[derive(Debug)]
pub(super) struct BenchmarkResults<'a> {
    /// The folder's name in the tree.
    pub folder: String,
    /// Its official name; none if the round has no such benchmark.
    pub official: Option<String>,
    pub scenarios: BTreeMap<TestScenario, ScenarioResults<'a>>,
}

impl BenchmarkResults<'_> {
    /// Returns whether the folder's name needs a mapping, since the round does not have it.
    pub fn is_mapped(&self, round: &Round) -> bool {
        self.official.is_some() && round.find_benchmark(&self.folder).is_none()
    }
}

pub(super) fn collect_results<'a>(
    runs: &'a [SourceRun],
    request: &ExportRequest,
    round: &Round,
) -> Result<Vec<BenchmarkResults<'a>>, ExportError> {
    check_same_system(runs)?;
    let mut benchmarks: Vec<BenchmarkResults<'_>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut has_any = false;
        for (measurement, measured) in run.plan.measurements.iter().enumerate() {
            let Some(scenario) = TestScenario::from_word(&measured.scenario) else {
                continue;
            };
            let Some(chosen) = choose_trial(index, run, measurement) else {
                continue;
            };
            if measured.mode != Mode::Compliance && !chosen.files.files.contains_key(SUMMARY) {
                continue;
            }
            has_any = true;
            let own = &run.plan.submission.benchmark;
            let position = benchmarks.iter().position(|other| other.folder == *own);
            let at = position.unwrap_or_else(|| {
                benchmarks.push(BenchmarkResults {
                    folder: own.clone(),
                    official: round.find_benchmark(own).map(|(name, _)| name.to_owned()),
                    scenarios: BTreeMap::new(),
                });
                benchmarks.len() - 1
            });
            let results = benchmarks[at].scenarios.entry(scenario).or_default();
            insert_result(results, chosen, own)?;
        }
        if !has_any {
            return Err(ExportError::NoResult {
                run: run.id.clone(),
                reason: run.verdict.sentence(),
            });
        }
    }
    apply_benchmark_name(&mut benchmarks, request, round)?;
    Ok(benchmarks)
}

fn insert_result<'a>(
    results: &mut ScenarioResults<'a>,
    chosen: RepresentativeTrial<'a>,
    benchmark: &str,
) -> Result<(), ExportError> {
    let scenario = &chosen.measurement.scenario;
    let conflict = |part: &str, earlier: &RepresentativeTrial<'_>| ExportError::Conflict {
        what: format!("{benchmark} {scenario} {part}"),
        runs: vec![earlier.run.id.clone(), chosen.run.id.clone()],
    };
    let place = match chosen.measurement.mode {
        Mode::Performance => &mut results.performance,
        Mode::Accuracy => &mut results.accuracy,
        Mode::Compliance => {
            for (test, folder) in &chosen.files.tests {
                if let Some((earlier, _)) = results.tests.get(test) {
                    return Err(conflict(test, earlier));
                }
                let entry = (chosen.clone(), folder.clone());
                results.tests.insert(test.clone(), entry);
            }
            if chosen.files.tests.is_empty() {
                results.without_test.push(chosen);
            }
            return Ok(());
        }
    };
    if let Some(earlier) = place {
        return Err(conflict(&chosen.measurement.mode.to_string(), earlier));
    }
    *place = Some(chosen);
    Ok(())
}

/// Checks that all runs are of one system, as a tree describes one.
fn check_same_system(runs: &[SourceRun]) -> Result<(), ExportError> {
    for run in runs {
        let first = &runs[0];
        if let Some(differs) = describe_difference(first, run) {
            return Err(ExportError::Systems {
                first: first.id.clone(),
                second: run.id.clone(),
                differs,
            });
        }
    }
    Ok(())
}

/// Applies `--benchmark`. A folder's name that the round does not have is kept, and is mapped.
fn apply_benchmark_name(
    benchmarks: &mut [BenchmarkResults<'_>],
    request: &ExportRequest,
    round: &Round,
) -> Result<(), ExportError> {
    if let Some(name) = &request.benchmark {
        if benchmarks.len() > 1 {
            return Err(ExportError::SeveralBenchmarks {
                name: name.clone(),
                benchmarks: benchmarks.iter().map(|one| one.folder.clone()).collect(),
            });
        }
        let Some((official, _)) = round.find_benchmark(name) else {
            return Err(unknown_benchmark_error(name, round));
        };
        for benchmark in benchmarks.iter_mut() {
            if benchmark.official.is_some() {
                benchmark.folder.clone_from(name);
            }
            benchmark.official = Some(official.to_owned());
        }
    }
    for benchmark in benchmarks {
        benchmark.folder = names::to_folder_name(&benchmark.folder);
    }
    Ok(())
}

fn unknown_benchmark_error(name: &str, round: &Round) -> ExportError {
    let known = round.benchmarks.iter().map(|(name, _)| &**name);
    ExportError::UnknownBenchmark {
        name: name.to_owned(),
        round: round.round.clone(),
        help: Some(did_you_mean(name, known, "known are")),
    }
}
