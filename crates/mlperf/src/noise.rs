//! The scatter of a trial of MLPerf Inference's benchmarks on one system: the noise that is
//! assumed of a single trial. From pairs of published runs, by `examples/noise.rs`.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::built_in;
use crate::rounds::built_in_rounds;

static NOISE_TABLE: LazyLock<NoiseTable> = LazyLock::new(|| {
    let table = serde_saphyr::from_str(include_str!("../noise/mlperf-inference.yaml"));
    built_in::unwrap_built_in("noise/mlperf-inference.yaml", table)
});

/// Two runs differ by more than this many deviations of one in one of ten cases: the normal's 95th
/// percentile times the root of two.
const NINTH_DECILE: f64 = 1.644_853_626_951_472_7 * std::f64::consts::SQRT_2;
/// The fewest pairs of a group: of fewer, a 90th percentile is the largest of them.
const MIN_PAIRS: u32 = 8;
/// The least that is assumed. Servers of one target rate differ by less, since they complete what they
/// are sent, whatever the system.
const MIN_DEVIATION: f64 = 0.001;

/// The differences between published pairs of runs on one system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseTable {
    pub source: String,
    /// The groups: of a benchmark in a scenario, of a scenario in a round, of a round.
    pub groups: Vec<PairGroup>,
}

/// Pairs of runs that are alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairGroup {
    /// The round; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    /// The benchmark, without its accuracy target; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The scenario; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    pub pairs: u32,
    /// Median of the absolute log ratios.
    pub median: f64,
    /// 90th percentile of the absolute log ratios.
    pub p90: f64,
}

impl PairGroup {
    /// Relative standard deviation of one trial that makes the 90th percentile what it is.
    pub fn relative_deviation(&self) -> f64 {
        self.deviation_of_pairs().max(MIN_DEVIATION)
    }

    fn deviation_of_pairs(&self) -> f64 {
        self.p90 / NINTH_DECILE
    }
}

/// `16 published pairs of llama2-70b Offline`
impl fmt::Display for PairGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} published pairs", self.pairs)?;
        let labels = [&self.round, &self.benchmark, &self.scenario];
        let names: Vec<&str> = labels.into_iter().flatten().map(String::as_str).collect();
        if !names.is_empty() {
            write!(formatter, " of {}", names.join(" "))?;
        }
        if self.deviation_of_pairs() < MIN_DEVIATION {
            formatter.write_str(", which show less")?;
        }
        Ok(())
    }
}

pub fn groups_with_enough_pairs() -> impl Iterator<Item = &'static PairGroup> {
    NOISE_TABLE.groups.iter().filter(|group| group.pairs >= MIN_PAIRS)
}

/// Returns the most relevant pairs of a benchmark in a scenario: its own if there are enough, else the
/// scenario's of the latest round that has enough, else all of the latest round. Later rounds scatter
/// more, and a benchmark without pairs is a new one.
pub fn published_pairs(benchmark: &str, scenario: &str) -> Option<&'static PairGroup> {
    let (benchmark, scenario) = (benchmark_family(benchmark), normalize_name(scenario));
    let is = |actual: &Option<String>, requested: Option<&str>| {
        actual.as_deref().map(normalize_name).as_deref() == requested
    };
    let find = |of_round: bool, benchmark: Option<&str>, scenario: Option<&str>| {
        let groups = groups_with_enough_pairs().filter(move |group| {
            group.round.is_some() == of_round
                && is(&group.benchmark, benchmark)
                && is(&group.scenario, scenario)
        });
        // Rounds are in chronological order.
        groups.last()
    };
    find(false, Some(&normalize_name(&benchmark)), Some(&scenario))
        .or_else(|| find(true, None, Some(&scenario)))
        .or_else(|| find(true, None, None))
}

/// Returns whether a round of MLPerf Inference has a benchmark of this name: of another nothing is known, whatever
/// published pairs of others show.
pub fn is_inference_benchmark(name: &str) -> bool {
    let family = benchmark_family(name);
    let is_known =
        |name: &str| built_in_rounds().iter().any(|round| round.find_benchmark(name).is_some());
    is_known(name) || is_known(&family)
}

/// Returns a benchmark without its accuracy target, by one name for all rounds.
pub fn benchmark_family(benchmark: &str) -> String {
    let lower_name = benchmark.to_ascii_lowercase().replace("-interactive", "");
    let name = lower_name.trim_end_matches("-99.9").trim_end_matches("-99");
    match name {
        "resnet50" => "resnet",
        name => name,
    }
    .to_owned()
}

/// Folds case and separators: `single-stream` is `SingleStream`.
fn normalize_name(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '_'], "")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("llama2-70b-99.9", "Offline", "of llama2-70b Offline")]
    #[case("llama2-70b-99", "offline", "of llama2-70b Offline")]
    #[case("resnet50", "Offline", "of resnet Offline")]
    #[case("whisper", "Offline", "of whisper Offline")]
    #[case("llama2-70b-99", "Server", "of llama2-70b Server, which show less")]
    // Without pairs of its own, or with too few.
    #[case("gpt-oss-120b", "Offline", "of v6.0 Offline")]
    #[case("retinanet", "single-stream", "of v6.0 SingleStream")]
    #[case("llama2-70b-interactive-99", "Interactive", "of v6.0")]
    #[case("anything", "Anything", "of v6.0")]
    fn the_most_specific_pairs_are_used(
        #[case] benchmark: &str,
        #[case] scenario: &str,
        #[case] expected: &str,
    ) {
        let group = published_pairs(benchmark, scenario).unwrap();
        assert!(group.to_string().ends_with(expected), "{group}");
        assert!(group.pairs >= MIN_PAIRS);
    }

    #[rstest]
    #[case("llama2-70b-99.9", true)]
    #[case("gpt-oss-120b", true)]
    #[case("resnet50", true)]
    #[case("ResNet-50-of-ours", false)]
    #[case("anything", false)]
    #[case("", false)]
    fn benchmarks_of_the_rounds_are_known(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_inference_benchmark(name), expected);
    }

    /// Two runs of noise 0.8 % differ by 1.87 % or more in one of ten cases.
    #[test]
    fn the_deviation_is_derived_from_the_90th_percentile() {
        let of = |p90| PairGroup { p90, ..PairGroup::default() };
        assert!((of(0.0187).relative_deviation() - 0.008).abs() < 5e-5);
        assert!((of(0.0).relative_deviation() - MIN_DEVIATION).abs() < 1e-12);
    }

    #[test]
    fn the_table_is_sorted() {
        let table = &*NOISE_TABLE;
        assert!(!table.source.is_empty() && !table.groups.is_empty());
        for group in &table.groups {
            assert!(0.0 <= group.median && group.median <= group.p90 && group.p90 < 0.1, "{group}");
        }
        let rounds: Vec<&String> =
            table.groups.iter().filter_map(|group| group.round.as_ref()).collect();
        assert!(rounds.is_sorted(), "{rounds:?}");
    }
}
