//! From runs to a submission's files.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::gather::{OfBenchmark, OfScenario, gather};
use super::layout::Tree;
use super::model::{
    Broken, Content, Division, Export, ExportRequest, Exported, File, Origin, Refusal, RunRead,
};
use super::result::{Gathered, json, origin};
use super::{conf, lacking, names, readme, system};
use crate::results::verdict::{Outcome, notice};
use retrial_mlperf::loadgen::Scenario;
use retrial_mlperf::rounds::{Layout, Round};
use retrial_mlperf::submission::fields::MEASUREMENTS;
use retrial_recipe::model::Submission;

/// Makes a submission of runs, by a round's layout and rules.
///
/// # Errors
/// Where the runs cannot stand in one tree, or not in the division that was asked for.
pub fn build(runs: &[RunRead], asked: &ExportRequest, round: &Round) -> Result<Export, Refusal> {
    let benchmarks = gather(runs, asked, round)?;
    let mut gathered = Gathered::default();
    let broken_rules = broken_rules(&benchmarks, round);
    let division = division(runs, asked, &broken_rules, &mut gathered.notes)?;
    let fell_open = asked.division.is_none() && !gathered.notes.is_empty();
    let tree = tree(runs, asked, round, division);
    let mut results = Vec::new();
    for benchmark in &benchmarks {
        for (scenario, of) in &benchmark.scenarios {
            let scenario = *scenario;
            files_of(&mut gathered, &tree, benchmark, scenario, of, asked);
            results.extend(exported(&tree, benchmark, scenario, of));
        }
        measurement_fields(&mut gathered, &tree, benchmark, asked);
        code(&mut gathered, &tree, benchmark, runs);
        lacking::of_benchmark(&mut gathered, &tree, benchmark, asked, round);
    }
    whole(&mut gathered, &tree, &benchmarks, runs, asked, round);
    let kept = |one: &BrokenRule| division == Division::Closed || !one.closed_only;
    let broken = broken_rules.into_iter().filter(kept).map(|one| Broken {
        place: tree.results(&one.folder, one.scenario.as_str()),
        rule: one.rule,
    });
    let mut export = Export {
        round: round.round.clone(),
        division,
        fell_open,
        submitter: tree.submitter.clone(),
        system: tree.system.clone(),
        results,
        broken: broken.collect(),
        notice: notice(&Submission {
            suite: round.suite.clone(),
            round: Some(round.round.clone()),
            division: Some(division.to_string()),
            benchmark: benchmarks
                .iter()
                .map(|one| one.folder.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            ..Submission::default()
        }),
        files: gathered.files,
        missing: gathered.missing,
        notes: gathered.notes,
    };
    export.missing.sort();
    export.missing.dedup();
    let text = readme::of_tree(&export);
    export.files.push(File {
        path: "README.md".to_owned(),
        content: Content::Text(text),
    });
    export.files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(export)
}

fn tree(runs: &[RunRead], asked: &ExportRequest, round: &Round, division: Division) -> Tree {
    let first = runs.first();
    let said = asked.info.system.get("submitter");
    let published = || first.and_then(|run| run.plan.submission.submitter.clone());
    let submitter = asked.submitter.clone().or_else(|| said.cloned());
    let submitter = submitter.or_else(published).unwrap_or_default();
    let system = asked.system.clone();
    let system = system
        .or_else(|| first.map(system::name))
        .unwrap_or_default();
    Tree {
        layout: round.layout,
        division,
        submitter: names::folder(&submitter),
        system: names::folder(&system),
    }
}

/// A rule that a result breaks, before its place is known.
struct BrokenRule {
    folder: String,
    scenario: Scenario,
    rule: String,
    /// The open division does not ask it.
    closed_only: bool,
}

fn broken_rules(benchmarks: &[OfBenchmark<'_>], round: &Round) -> Vec<BrokenRule> {
    let mut broken = Vec::new();
    for benchmark in benchmarks {
        for (scenario, of) in &benchmark.scenarios {
            let mut add = |rule: String| {
                broken.push(BrokenRule {
                    folder: benchmark.folder.clone(),
                    scenario: *scenario,
                    rule,
                    closed_only: false,
                });
            };
            if let Some(official) = &benchmark.official
                && round.rules(official, *scenario).is_none()
            {
                add(format!("{official} has no {scenario} in {}", round.round));
            }
            let mut told: Vec<(&str, &str)> = Vec::new();
            for chosen in of.chosen() {
                let Some(verdict) = chosen.verdict else {
                    continue;
                };
                // A run of the audit has a verdict for all its tests.
                let result = (chosen.run.id.as_str(), verdict.path.as_str());
                if verdict.outcome != Outcome::Invalid || told.contains(&result) {
                    continue;
                }
                told.push(result);
                let mode = verdict.mode;
                let failed: Vec<_> = verdict.rules.iter().filter(|rule| !rule.passed).collect();
                for rule in &failed {
                    let trial = rule
                        .trial
                        .map_or_else(String::new, |trial| format!(", trial {trial}"));
                    add(format!(
                        "{mode}{trial}: {}: {}; required {}",
                        rule.rule, rule.measured, rule.required
                    ));
                }
                if failed.is_empty() {
                    add(format!("{mode}: {}", verdict.sentence));
                }
            }
        }
        if benchmark.official.is_none() {
            broken.extend(
                benchmark
                    .scenarios
                    .keys()
                    .take(1)
                    .map(|scenario| BrokenRule {
                        folder: benchmark.folder.clone(),
                        scenario: *scenario,
                        rule: format!("{} is no benchmark of {}", benchmark.folder, round.round),
                        closed_only: true,
                    }),
            );
        }
    }
    broken
}

/// Closed only where the rules are kept: asked for it is refused else, and only meant it becomes open.
fn division(
    runs: &[RunRead],
    asked: &ExportRequest,
    broken: &[BrokenRule],
    notes: &mut Vec<String>,
) -> Result<Division, Refusal> {
    let told = || -> Vec<String> {
        let lines = broken.iter();
        lines
            .map(|one| format!("  {} {}: {}", one.folder, one.scenario, one.rule))
            .collect()
    };
    let meant_closed = runs
        .iter()
        .all(|run| run.plan.submission.division.as_deref() == Some("closed"));
    match (asked.division, broken.is_empty()) {
        (Some(Division::Closed), false) => Err(Refusal::NotClosed { broken: told() }),
        (Some(division), _) => Ok(division),
        (None, true) if meant_closed => Ok(Division::Closed),
        (None, false) if meant_closed => {
            let rules = told().join(";");
            notes.push(format!("open, not closed as its recipe:{rules}"));
            Ok(Division::Open)
        }
        (None, _) => Ok(Division::Open),
    }
}

fn files_of(
    gathered: &mut Gathered,
    tree: &Tree,
    benchmark: &OfBenchmark<'_>,
    scenario: Scenario,
    of: &OfScenario<'_>,
    asked: &ExportRequest,
) {
    let folder = &benchmark.folder;
    let results = tree.results(folder, scenario.as_str());
    if let Some(chosen) = &of.performance {
        gathered.performance(chosen, &format!("{results}/performance/run_1"));
    }
    if let Some(chosen) = &of.accuracy {
        gathered.accuracy(chosen, &format!("{results}/accuracy"));
    }
    for (test, (chosen, below)) in &of.tests {
        let place = tree.compliance(folder, scenario.as_str(), test);
        gathered.compliance(chosen, below, test, &place);
    }
    let measurements = tree.measurements(folder, scenario.as_str());
    user_conf(gathered, &measurements, scenario, of);
    let chosen: Vec<_> = of.chosen().collect();
    let text = readme::of_scenario(folder, scenario.as_str(), &chosen);
    gathered.text(format!("{measurements}/README.md"), text);
    let fields: Map<String, Value> = MEASUREMENTS
        .iter()
        .map(|field| {
            let said = asked.info.measurement(folder, field).unwrap_or_default();
            ((*field).to_owned(), Value::from(said))
        })
        .collect();
    let path = tree.measurements_file(folder, scenario.as_str());
    gathered.text(path, json(&Value::Object(fields)));
}

fn user_conf(gathered: &mut Gathered, place: &str, scenario: Scenario, of: &OfScenario<'_>) {
    let measured = || of.performance.iter().chain(&of.accuracy);
    for name in ["user.conf", "mlperf.conf"] {
        if let Some(chosen) = measured().find(|one| one.found.files.contains_key(name)) {
            gathered.files.push(File {
                path: format!("{place}/{name}"),
                content: Content::Copy(origin(chosen, name)),
            });
            continue;
        }
        if name == "mlperf.conf" {
            // Since v5.0 it is built into LoadGen, and nobody asks for it.
            continue;
        }
        let made = measured()
            .find_map(|one| conf::from_log(scenario.as_str(), &one.run.id, &one.found.parameters));
        let path = format!("{place}/{name}");
        match made {
            Some(text) => {
                gathered.notes.push(format!(
                    "{path} is put together from the settings that LoadGen logged"
                ));
                gathered.text(path, text);
            }
            None => gathered.lacks(
                place,
                name,
                "no log tells the settings: let the benchmark keep its user.conf in `results:`",
            ),
        }
    }
}

/// Fields that nobody said, once for all scenarios.
fn measurement_fields(
    gathered: &mut Gathered,
    tree: &Tree,
    benchmark: &OfBenchmark<'_>,
    asked: &ExportRequest,
) {
    let place = tree.measurements_file(&benchmark.folder, "*");
    for field in MEASUREMENTS {
        if asked.info.measurement(&benchmark.folder, field).is_none() {
            let advice = "no run knows it, say it in --system-info, under `measurements`";
            gathered.lacks(&place, field, advice);
        }
    }
}

fn exported(
    tree: &Tree,
    benchmark: &OfBenchmark<'_>,
    scenario: Scenario,
    of: &OfScenario<'_>,
) -> Vec<Exported> {
    let results = tree.results(&benchmark.folder, scenario.as_str());
    let performance = of.performance.iter();
    let performance = performance.map(|one| (one, None, format!("{results}/performance/run_1")));
    let accuracy = of.accuracy.iter();
    let accuracy = accuracy.map(|one| (one, None, format!("{results}/accuracy")));
    let tests = of.tests.iter().map(|(test, (one, _))| {
        let place = tree.compliance(&benchmark.folder, scenario.as_str(), test);
        (one, Some(test.clone()), place)
    });
    performance
        .chain(accuracy)
        .chain(tests)
        .map(|(one, test, path)| Exported {
            benchmark: benchmark.folder.clone(),
            scenario: scenario.to_string(),
            mode: one.measured.mode,
            figure: one
                .figure
                .clone()
                .filter(|_| test.is_none())
                .map(|(name, figure)| (name, figure.value, figure.unit)),
            test,
            path,
            run: one.run.id.clone(),
            trial: one.found.trial,
            trials: one.trials,
            because: one.because.clone(),
        })
        .collect()
}

/// Each run's recipe and steps: how to do it again.
fn code(gathered: &mut Gathered, tree: &Tree, benchmark: &OfBenchmark<'_>, runs: &[RunRead]) {
    let mut used: BTreeMap<usize, &RunRead> = BTreeMap::new();
    for chosen in benchmark.scenarios.values().flat_map(OfScenario::chosen) {
        used.insert(chosen.index, &runs[chosen.index]);
    }
    let folder = tree.code(&benchmark.folder);
    for (index, run) in &used {
        let own = format!("{folder}/{}", names::folder(&run.id));
        gathered.files.push(File {
            path: format!("{own}/recipe.yaml"),
            content: Content::Copy(Origin {
                run: *index,
                path: "recipe.yaml".to_owned(),
            }),
        });
        let script = crate::plan::shell::script(&run.plan);
        gathered.text(format!("{own}/run.sh"), script);
    }
    let runs: Vec<&RunRead> = used.into_values().collect();
    let text = readme::of_code(&benchmark.folder, &runs);
    gathered.text(format!("{folder}/README.md"), text);
}

/// What there is once: the system, who submits, calibration, names of benchmarks.
fn whole(
    gathered: &mut Gathered,
    tree: &Tree,
    benchmarks: &[OfBenchmark<'_>],
    runs: &[RunRead],
    asked: &ExportRequest,
    round: &Round,
) {
    lacking::submitter(gathered, tree, asked, runs);
    let place = tree.system_file();
    let own = [
        ("division", tree.division.to_string()),
        ("submitter", tree.submitter.clone()),
    ];
    let (text, missing) = system::describe(runs, &own, asked, &place);
    gathered.text(place, text);
    gathered.missing.extend(missing);
    let root = tree.root();
    match &asked.info.calibration_text {
        Some(text) => gathered.text(format!("{root}/calibration.md"), text.clone()),
        // Since v6.0 the checker does not look for it.
        None if tree.division == Division::Closed && tree.layout == Layout::Beside => gathered
            .lacks(
                &root,
                "calibration.md: how the weights were quantized",
                "`calibration: FILE` in --system-info",
            ),
        None => {}
    }
    let mapping: Map<String, Value> = benchmarks
        .iter()
        .filter(|one| one.is_mapped(round))
        .filter_map(|one| Some((one.folder.clone(), Value::from(one.official.clone()?))))
        .collect();
    if !mapping.is_empty() {
        gathered.text(
            format!("{root}/model_mapping.json"),
            json(&Value::Object(mapping)),
        );
    }
}
