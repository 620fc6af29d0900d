//! Derives the noise that is assumed of one trial from published results:
//!
//! ```text
//! cargo run --release -p retrial-mlperf --example noise -- v4.1=TREE v5.1=TREE v6.0=TREE >crates/mlperf/noise/mlperf-inference.yaml
//! ```
//!
//! A pair is two runs of one benchmark in one scenario on one system: the submitted run and its TEST01
//! run, or the runs for the two accuracy targets (-99, -99.9) where they are two runs. The closed
//! division; logs that are copies count once.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::float_cmp))]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use retrial_mlperf::loadgen::{LoadgenRun, TestScenario, detail, published_metric, summary};
use retrial_mlperf::noise::{NoiseTable, PairGroup, benchmark_family};

/// What TEST01 allows: runs that are further apart are of another configuration. Such are most pairs
/// of two accuracy targets, which take another precision.
const TOLERANCE: f64 = 0.1;

/// The published figure of a run, with the data that distinguishes runs.
#[derive(Clone)]
struct Figure {
    log: String,
    value: f64,
    target_qps: Option<f64>,
}

/// One pair.
struct Pair {
    round: String,
    benchmark: String,
    scenario: String,
    /// Absolute log ratio.
    apart: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut pairs, mut rounds) = (Vec::new(), Vec::new());
    for argument in std::env::args().skip(1) {
        let (round, tree) = argument.split_once('=').ok_or("usage: noise ROUND=TREE …")?;
        rounds.push(round.to_owned());
        of_round(round, Path::new(tree), &mut pairs)?;
    }
    let source = format!(
        "MLPerf Inference {}, closed division: submitted runs and their TEST01 runs, and the runs for two accuracy targets",
        rounds.join(", ")
    );
    let table = NoiseTable { source, groups: groups(&pairs) };
    println!("# Written by crates/mlperf/examples/noise.rs; docs/statistics.md explains it.");
    print!("{}", yaml(&table));
    Ok(())
}

/// The pairs of all systems of a round.
fn of_round(round: &str, tree: &Path, pairs: &mut Vec<Pair>) -> Result<(), Box<dyn Error>> {
    let mut compared = BTreeSet::new();
    for submitter in folders(&tree.join("closed"))? {
        for system in folders(&submitter.join("results")).unwrap_or_default() {
            let mut figures = BTreeMap::new();
            for benchmark in folders(&system)? {
                for scenario in folders(&benchmark)? {
                    let (name, case) = (name_of(&benchmark), canonical(&name_of(&scenario)));
                    let Some(submitted) = figure(&scenario.join("performance/run_1"), &case) else {
                        continue;
                    };
                    let below = scenario.strip_prefix(submitter.join("results"))?;
                    // Up to v5.1 the tests are in a separate tree.
                    let audits = [submitter.join("compliance").join(below), scenario.clone()];
                    let pair = audits
                        .iter()
                        .find_map(|audit| figure(&audit.join("TEST01/performance/run_1"), &case))
                        .and_then(|audit| apart(&submitted, &audit, &case, &mut compared));
                    let of = |apart| Pair {
                        round: round.to_owned(),
                        benchmark: benchmark_family(&name),
                        scenario: case.clone(),
                        apart,
                    };
                    pairs.extend(pair.map(of));
                    figures.insert((name, case), submitted);
                }
            }
            for ((name, case), one) in &figures {
                let other = figures.get(&(format!("{name}.9"), case.clone()));
                let other = other.filter(|_| name.ends_with("-99"));
                let pair = other.and_then(|other| apart(one, other, case, &mut compared));
                pairs.extend(pair.map(|apart| Pair {
                    round: round.to_owned(),
                    benchmark: benchmark_family(name),
                    scenario: case.clone(),
                    apart,
                }));
            }
        }
    }
    Ok(())
}

/// Returns how far two runs are apart, where they are two and ran with the same settings. A server completes
/// the scheduled load: at another rate it is another measurement.
fn apart(
    one: &Figure,
    other: &Figure,
    scenario: &str,
    compared: &mut BTreeSet<[String; 2]>,
) -> Option<f64> {
    let mut logs = [one.log.clone(), other.log.clone()];
    logs.sort();
    if logs[0] == logs[1] || !compared.insert(logs) {
        return None;
    }
    let is_served = matches!(scenario, "Server" | "Interactive");
    let apart = (one.value / other.value).ln().abs();
    let same_rate = !is_served || one.target_qps == other.target_qps;
    (same_rate && apart <= TOLERANCE).then_some(apart)
}

/// The figure by which a run is published.
fn figure(folder: &Path, scenario: &str) -> Option<Figure> {
    let log = fs::read_to_string(folder.join("mlperf_log_summary.txt")).ok()?;
    let detail = fs::read(folder.join("mlperf_log_detail.txt")).ok();
    let run = LoadgenRun {
        summary: Some(summary::parse_summary(&log).ok()?),
        detail: detail.map(|log| detail::parse_detail_log(&log)),
    };
    let scenario = TestScenario::from_word(scenario)?;
    let tokens = run.figure(published_metric(scenario, true));
    let metric = tokens.or_else(|| run.figure(published_metric(scenario, false)))?;
    Some(Figure { value: metric.value, target_qps: run.parameters().target_qps, log })
}

/// The groups: rounds, their scenarios, and benchmarks over all rounds.
fn groups(pairs: &[Pair]) -> Vec<PairGroup> {
    type Key = (Option<String>, Option<String>, Option<String>);
    let mut groups: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    for pair in pairs {
        let round = Some(pair.round.clone());
        let (benchmark, scenario) = (Some(pair.benchmark.clone()), Some(pair.scenario.clone()));
        let keys = [
            (None, benchmark, scenario.clone()),
            (round.clone(), None, scenario),
            (round, None, None),
        ];
        for key in keys {
            groups.entry(key).or_default().push(pair.apart);
        }
    }
    let group = |((round, benchmark, scenario), mut apart): (Key, Vec<f64>)| {
        apart.sort_by(f64::total_cmp);
        PairGroup {
            round,
            benchmark,
            scenario,
            pairs: u32::try_from(apart.len()).unwrap_or(u32::MAX),
            median: percentile(&apart, 50),
            p90: percentile(&apart, 90),
        }
    };
    groups.into_iter().map(group).collect()
}

/// A percentile of sorted values, between the two nearest, to a thousandth of a per cent.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let hundredths = (sorted.len() - 1) * percent;
    let (below, rest) = (hundredths / 100, hundredths % 100);
    let above = sorted[(below + 1).min(sorted.len() - 1)];
    let share = f64::from(u32::try_from(rest).unwrap_or_default()) / 100.0;
    let value = sorted[below] + (above - sorted[below]) * share;
    (value * 1e5).round() / 1e5
}

/// One line a group.
fn yaml(table: &NoiseTable) -> String {
    let line = |group: &PairGroup| {
        let keys = [
            ("round", &group.round),
            ("benchmark", &group.benchmark),
            ("scenario", &group.scenario),
        ];
        let labels =
            keys.into_iter().filter_map(|(key, name)| Some(format!("{key}: {}, ", name.as_ref()?)));
        let labels: String = labels.collect();
        let (pairs, median, p90) = (group.pairs, group.median, group.p90);
        format!("  - {{ {labels}pairs: {pairs}, median: {median}, p90: {p90} }}\n")
    };
    let lines: String = table.groups.iter().map(line).collect();
    format!("source: \"{}\"\ngroups:\n{lines}", table.source)
}

/// The folders below one, sorted.
fn folders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The suite's spelling: submitters also write `offline`.
fn canonical(scenario: &str) -> String {
    TestScenario::from_word(scenario)
        .map_or_else(|| scenario.to_owned(), |scenario| scenario.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(log: &str, value: f64, target_qps: f64) -> Figure {
        Figure { log: log.to_owned(), value, target_qps: Some(target_qps) }
    }

    #[test]
    fn similar_runs_form_a_pair() {
        let one = figure("one", 100.0, 80.0);
        let with =
            |other: &Figure, scenario: &str| apart(&one, other, scenario, &mut BTreeSet::new());
        let near = figure("other", 101.0, 80.0);
        assert!((with(&near, "Server").unwrap() - 1.01_f64.ln()).abs() < 1e-12);
        assert_eq!(with(&figure("one", 100.0, 80.0), "Offline"), None, "a copy");
        assert_eq!(with(&figure("other", 115.0, 80.0), "Offline"), None, "another precision");
        let slower = figure("other", 101.0, 79.0);
        assert_eq!(with(&slower, "Server"), None, "another rate");
        assert!(with(&slower, "Offline").is_some());
        // The same two logs elsewhere, the other way round.
        let mut compared = BTreeSet::new();
        assert!(apart(&one, &near, "Offline", &mut compared).is_some());
        assert_eq!(apart(&near, &one, "Offline", &mut compared), None);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let eleven: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!([percentile(&eleven, 50), percentile(&eleven, 90)], [5.0, 9.0]);
        assert!((percentile(&[0.0, 0.01], 90) - 0.009).abs() < 1e-12);
    }

    #[test]
    fn written_groups_can_be_read_back() {
        let pair = |round: &str, apart| Pair {
            round: round.to_owned(),
            benchmark: "rgat".to_owned(),
            scenario: "Offline".to_owned(),
            apart,
        };
        let table = NoiseTable {
            source: "two rounds".to_owned(),
            groups: groups(&[pair("v1", 0.01), pair("v2", 0.03)]),
        };
        let read: NoiseTable = serde_saphyr::from_str(&yaml(&table)).unwrap();
        assert_eq!(read, table);
        assert_eq!(table.groups.len(), 5);
        assert_eq!((table.groups[0].pairs, table.groups[0].median), (2, 0.02));
    }
}
