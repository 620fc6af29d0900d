//! Which results the runs have between them, each once.

use std::collections::BTreeMap;

use super::choose::{Chosen, choose};
use super::model::{ExportRequest, Refusal, RunRead};
use super::names;
use super::result::SUMMARY;
use super::system::difference;
use retrial_mlperf::loadgen::Scenario;
use retrial_mlperf::rounds::Round;
use retrial_recipe::model::Mode;

/// The results of one benchmark in one scenario.
#[derive(Debug, Default)]
pub(super) struct OfScenario<'a> {
    pub performance: Option<Chosen<'a>>,
    pub accuracy: Option<Chosen<'a>>,
    /// By the test's name: the run, and where the test's folder lies in what was collected.
    pub tests: BTreeMap<String, (Chosen<'a>, String)>,
    /// Runs of the audit that left no test's folder.
    pub without_test: Vec<Chosen<'a>>,
}

impl<'a> OfScenario<'a> {
    /// All of its runs.
    pub fn chosen(&self) -> impl Iterator<Item = &Chosen<'a>> {
        let measured = self.performance.iter().chain(&self.accuracy);
        let tests = self.tests.values().map(|(chosen, _)| chosen);
        measured.chain(tests).chain(&self.without_test)
    }
}

/// A benchmark as it is filed.
#[derive(Debug)]
pub(super) struct OfBenchmark<'a> {
    /// Its folder.
    pub folder: String,
    /// Its official name; none where the round has no such benchmark.
    pub official: Option<String>,
    /// By scenario.
    pub scenarios: BTreeMap<Scenario, OfScenario<'a>>,
}

impl OfBenchmark<'_> {
    /// A folder's name that the round does not know needs a mapping.
    pub fn is_mapped(&self, round: &Round) -> bool {
        self.official.is_some() && round.benchmark(&self.folder).is_none()
    }
}

/// Puts the runs' results together.
pub(super) fn gather<'a>(
    runs: &'a [RunRead],
    asked: &ExportRequest,
    round: &Round,
) -> Result<Vec<OfBenchmark<'a>>, Refusal> {
    one_system(runs)?;
    let mut benchmarks: Vec<OfBenchmark<'_>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut has_any = false;
        for (measurement, measured) in run.plan.measurements.iter().enumerate() {
            let Some(scenario) = Scenario::from_word(&measured.scenario) else {
                continue;
            };
            let Some(chosen) = choose(index, run, measurement) else {
                continue;
            };
            if measured.mode != Mode::Compliance && !chosen.found.files.contains_key(SUMMARY) {
                continue;
            }
            has_any = true;
            let own = &run.plan.submission.benchmark;
            let known = benchmarks.iter().position(|one| one.folder == *own);
            let at = known.unwrap_or_else(|| {
                benchmarks.push(OfBenchmark {
                    folder: own.clone(),
                    official: round.benchmark(own).map(|(name, _)| name.to_owned()),
                    scenarios: BTreeMap::new(),
                });
                benchmarks.len() - 1
            });
            let of = benchmarks[at].scenarios.entry(scenario).or_default();
            put(of, chosen, own)?;
        }
        if !has_any {
            return Err(Refusal::Nothing {
                run: run.id.clone(),
                because: run.verdict.sentence.clone(),
            });
        }
    }
    rename(&mut benchmarks, asked, round)?;
    Ok(benchmarks)
}

fn put<'a>(of: &mut OfScenario<'a>, chosen: Chosen<'a>, benchmark: &str) -> Result<(), Refusal> {
    let scenario = &chosen.measured.scenario;
    let twice = |what: &str, before: &Chosen<'_>| Refusal::Conflict {
        what: format!("{benchmark} {scenario} {what}"),
        runs: vec![before.run.id.clone(), chosen.run.id.clone()],
    };
    let place = match chosen.measured.mode {
        Mode::Performance => &mut of.performance,
        Mode::Accuracy => &mut of.accuracy,
        Mode::Compliance => {
            for (test, folder) in &chosen.found.tests {
                if let Some((before, _)) = of.tests.get(test) {
                    return Err(twice(test, before));
                }
                let entry = (chosen.clone(), folder.clone());
                of.tests.insert(test.clone(), entry);
            }
            if chosen.found.tests.is_empty() {
                of.without_test.push(chosen);
            }
            return Ok(());
        }
    };
    if let Some(before) = place {
        return Err(twice(&chosen.measured.mode.to_string(), before));
    }
    *place = Some(chosen);
    Ok(())
}

/// One tree describes one system.
fn one_system(runs: &[RunRead]) -> Result<(), Refusal> {
    let Some(first) = runs.first() else {
        return Ok(());
    };
    let other = runs
        .iter()
        .find_map(|run| Some((run, difference(first, run)?)));
    match other {
        None => Ok(()),
        Some((second, differs)) => Err(Refusal::Systems {
            first: first.id.clone(),
            second: second.id.clone(),
            differs,
        }),
    }
}

/// `--benchmark`: the folder's own name stays where the round does not know it, and is mapped.
fn rename(
    benchmarks: &mut [OfBenchmark<'_>],
    asked: &ExportRequest,
    round: &Round,
) -> Result<(), Refusal> {
    if let Some(name) = &asked.benchmark {
        if benchmarks.len() > 1 {
            return Err(Refusal::SeveralBenchmarks {
                asked: name.clone(),
                benchmarks: benchmarks.iter().map(|one| one.folder.clone()).collect(),
            });
        }
        let Some((official, _)) = round.benchmark(name) else {
            return Err(unknown(name, round));
        };
        for one in benchmarks.iter_mut() {
            if one.official.is_some() {
                one.folder.clone_from(name);
            }
            one.official = Some(official.to_owned());
        }
    }
    for one in benchmarks {
        one.folder = names::folder(&one.folder);
    }
    Ok(())
}

fn unknown(asked: &str, round: &Round) -> Refusal {
    let known: Vec<&str> = round.benchmarks.iter().map(|(name, _)| &**name).collect();
    let help = match retrial_recipe::nearest(asked, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", known.join(", ")),
    };
    Refusal::UnknownBenchmark {
        asked: asked.to_owned(),
        round: round.round.clone(),
        help,
    }
}
